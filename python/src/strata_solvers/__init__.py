# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strata for Python: sparse triangular and structured solvers.

>>> import strata_solvers as strata

``strata.TriangularSolver`` analyses a sparse triangle once and solves many times;
``strata.spsolve_triangular`` has SciPy's signature; ``strata.ilu0`` and ``strata.ic0``
are preconditioners for SciPy's Krylov methods; ``strata.cg``, ``strata.gmres``,
``strata.bicgstab``, ``strata.SellMatrix``,
``strata.BandSolver``, ``strata.solve_banded`` and ``strata.rref`` are the other solvers.
``strata_solvers.torch`` and ``strata_solvers.jax`` have the triangular solve with
derivatives.
"""

import atexit as _atexit

from . import _core
from ._band import BandSolver, ReducedRowEchelonForm, rref, solve_banded
from ._core import (
    BandReport,
    IncompleteFactorizationReport,
    SellReport,
    TriangularCandidate,
    TriangularReport,
    release_memory_pool,
)
from ._errors import *  # noqa: F403
from ._errors import __all__ as _error_names
from ._krylov import CgInfo, KrylovInfo, bicgstab, cg, gmres
from ._precondition import IncompletePreconditioner, ic0, ilu0
from ._sell import SellMatrix
from ._show import level_sets, show
from ._triangular import TriangularSolver, spsolve_triangular

# Before modules are torn down, and whatever solvers are then alive.
_atexit.register(_core.finalize)

__version__: str = _core.version

__all__ = [
    "BandReport",
    "BandSolver",
    "CgInfo",
    "IncompleteFactorizationReport",
    "IncompletePreconditioner",
    "KrylovInfo",
    "ReducedRowEchelonForm",
    "SellMatrix",
    "SellReport",
    "TriangularCandidate",
    "TriangularReport",
    "TriangularSolver",
    "bicgstab",
    "cg",
    "gmres",
    "ic0",
    "ilu0",
    "level_sets",
    "release_memory_pool",
    "rref",
    "show",
    "solve_banded",
    "spsolve_triangular",
    *_error_names,
]
