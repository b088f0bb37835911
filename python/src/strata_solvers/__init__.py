# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strata for Python: sparse triangular and structured solvers.

>>> import strata_solvers as strata

``strata.TriangularSolver`` analyses a sparse triangle once and solves many times;
``strata.spsolve_triangular`` has SciPy's signature; ``strata.ilu0``, ``strata.ic0``,
``strata.ilu``, ``strata.ic``, ``strata.ilut``, ``strata.ildl`` and
``strata.FactorSolver`` are preconditioners for SciPy's
Krylov methods; ``strata.cg``, ``strata.gmres``, ``strata.bicgstab``,
``strata.SellMatrix``, ``strata.BandSolver``, ``strata.solve_banded`` and ``strata.rref``
are the other solvers.
``strata_solvers.torch`` and ``strata_solvers.jax`` have the triangular solve with
derivatives.
"""

import atexit as _atexit
import builtins as _builtins

try:
    from . import _core
except ImportError as _error:
    if "libcuda.so" not in str(_error):
        raise
    raise ImportError(
        "strata_solvers: this build works on an NVIDIA GPU, and there is no driver here "
        "(libcuda.so.1): install the wheel for hosts") from _error
from ._band import BandSolver, ReducedRowEchelonForm, rref, solve_banded
from ._core import (
    BandReport,
    FactorSolverReport,
    IncompleteFactorizationReport,
    SellReport,
    TriangularCandidate,
    TriangularReport,
    release_memory_pool,
)
from ._errors import *  # noqa: F403
from ._errors import __all__ as _error_names
from ._factors import FactorSolver, factorized, splu_solver
from ._gallery import gallery, read_matrix_market
from ._krylov import CgInfo, KrylovInfo, bicgstab, cg, gmres
from ._pool import memory_pool
from ._precondition import IncompletePreconditioner, ic, ic0, ildl, ilu, ilu0, ilut
from ._sell import SellMatrix
from ._show import level_sets, show
from ._triangular import TriangularSolver, UpdateStatus, spsolve_triangular

# Before modules are torn down, and whatever solvers are then alive.
_atexit.register(_core.finalize)

__version__: str = _core.version

#: Whether this build takes arrays of a GPU.
has_cuda: bool = _core.has_cuda

# `from strata_solvers import *` hides nothing of Python's: strata.MemoryError has to be named.
__all__ = [
    "BandReport",
    "BandSolver",
    "CgInfo",
    "FactorSolver",
    "FactorSolverReport",
    "IncompleteFactorizationReport",
    "IncompletePreconditioner",
    "KrylovInfo",
    "ReducedRowEchelonForm",
    "SellMatrix",
    "SellReport",
    "TriangularCandidate",
    "TriangularReport",
    "TriangularSolver",
    "UpdateStatus",
    "bicgstab",
    "cg",
    "factorized",
    "gallery",
    "gmres",
    "has_cuda",
    "ic",
    "ic0",
    "ildl",
    "ilu",
    "ilu0",
    "ilut",
    "level_sets",
    "memory_pool",
    "read_matrix_market",
    "release_memory_pool",
    "rref",
    "show",
    "solve_banded",
    "splu_solver",
    "spsolve_triangular",
    *(name for name in _error_names if not hasattr(_builtins, name)),
]
