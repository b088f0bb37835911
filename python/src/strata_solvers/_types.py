# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the entry points take, for type checkers."""

from __future__ import annotations

import sys
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Literal,
    Protocol,
    Sequence,
    TypedDict,
    TypeVar,
    Union,
    overload,
)

import numpy as np
from numpy.typing import NDArray


if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack
else:  # Annotations are not evaluated.
    Unpack = Any


class Array(Protocol):
    """An array of NumPy, CuPy, PyTorch or JAX, or one with the CUDA Array Interface."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class SparseMatrix(Protocol):
    """A sparse matrix of SciPy, CuPy, PyTorch or JAX, or a dense one of these."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class Factor(SparseMatrix, Protocol):
    """A sparse matrix of the framework that the factorised one is of."""

    def __matmul__(self, x: Array, /) -> Array: ...


class Operator(Protocol):
    """A LinearOperator, of SciPy or CuPy or of the same methods."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def matvec(self, x: NDArray[np.generic], /) -> object: ...


class SuperLU(Protocol):
    """What SciPy's or CuPy's `splu` returns."""

    @property
    def L(self) -> SparseMatrix: ...
    @property
    def U(self) -> SparseMatrix: ...
    @property
    def perm_r(self) -> Array: ...
    @property
    def perm_c(self) -> Array: ...


class HasNorms(Protocol):
    def __call__(self, iteration: int, residual_norm: float, /) -> object: ...


#: An array that is returned as what it was passed.
ArrayT = TypeVar("ArrayT", bound=Array)

#: Numbers of Python: the answer is an array of NumPy.
Numbers = Union[Sequence[float], Sequence[complex], Sequence[Sequence[float]],
                Sequence[Sequence[complex]]]
ArrayLike = Union[Array, Numbers]


class Solve(Protocol):
    """What `factorized` returns."""

    @overload
    def __call__(self, rhs: ArrayT, /) -> ArrayT: ...
    @overload
    def __call__(self, rhs: Numbers, /) -> np.ndarray: ...


Values = Union[SparseMatrix, Array]
Preconditioner = Union[Operator, SparseMatrix, Callable[[object], object], Literal["jacobi"]]
#: The new solution, or a norm.
Callback = Callable[[object], object]
Progress = HasNorms

Trans = Literal["N", "T", "H", "C"]
Algorithm = Literal["automatic", "substitution", "level_sets", "subgraphs", "sync_free",
                    "blocks", "tiles"]
Accuracy = Literal["rowwise", "componentwise"]
Order = Literal["natural", "automatic", "coloured", "rcm", "amd", "nested_dissection",
                "level_sets", "multicoloured"]
Scaling = Literal["none", "equilibration", "matching"]
Precision = Literal["working", "single"]
BandMethod = Literal["automatic", "tiles", "nested_dissection", "partial_pivoting"]
CallbackType = Literal["x", "pr_norm", "legacy"]


class Experimental(TypedDict, total=False):
    max_subgraph_rows: int
    team_size: int


class PlanOptions(TypedDict, total=False):
    """Those of the triangular solves in a preconditioner."""

    algorithm: Algorithm
    accuracy: Accuracy
    merged_levels: int
    max_right_hand_sides: int
    max_plan_bytes: int
    experimental: Experimental | None


class FactorPlanOptions(PlanOptions, total=False):
    take_triangle: bool


class TriangularKeywords(FactorPlanOptions, total=False):
    """Those of a solve with one sparsity pattern."""

    lower: bool
    unit_diagonal: bool


class FactorOptions(FactorPlanOptions, total=False):
    """Those of a FactorSolver."""

    unit_lower: bool
    unit_upper: bool
    transpose: bool
    precision: Precision
    copy: bool | None


class IncompleteOptions(PlanOptions, total=False):
    """Those of `ilu` and `ic` apart from the level of fill."""

    order: Order
    scaling: Scaling
    perm_r: ArrayLike | None
    perm_c: ArrayLike | None
    row_scale: ArrayLike | None
    col_scale: ArrayLike | None
    transpose: bool
    shift: float
    shift_tries: int
    small_pivot_threshold: float
    precision: Precision
    enqueue_updates: bool
    symmetry_tolerance: float | None
    copy: bool | None
