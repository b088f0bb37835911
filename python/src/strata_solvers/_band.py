# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Band systems, and the reduced row echelon form of dense matrices."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _core, _kept
from ._errors import (
    DominanceError,
    FactorizationError,
    HandleError,
    OptionError,
    SizeMismatchError,
    TypeMismatchError,
)
from ._log import chosen
from ._operator import Linear, operator_class
from ._types import Array, ArrayLike, ArrayT, BandMethod, Numbers


def _dense(array: Any, argument: str, shape: str) -> Any:
    """A matrix of two dimensions that the extension takes."""
    array = _arrays.taken(array, argument)
    if _arrays.space_of(array) == "host" and not isinstance(array, np.ndarray):
        try:
            array = np.asarray(_arrays.plain(array))
        except Exception as error:
            raise TypeMismatchError(argument, f"is no array ({error})",
                                    "pass an array of NumPy") from error
    _arrays.expect_space(_arrays.space_of(array))
    if array.ndim != 2:
        raise SizeMismatchError(argument, f"has {array.ndim} dimensions",
                                f"pass an array of the shape {shape}")
    if isinstance(array, np.ndarray):
        if array.dtype.kind in "biu" or array.dtype == np.float16:
            array = array.astype(np.promote_types(array.dtype, np.float32)
                                 if array.dtype == np.float16 else np.float64)
        if not _arrays._usable(array):
            array = np.array(array)
    if _arrays.dtype_name(array) not in _arrays.scalars:
        raise TypeMismatchError(argument, f"is {_arrays.dtype_name(array)}",
                                "convert it to float32, float64, complex64 or complex128")
    return array


class BandSolver(Linear, LinearOperator):
    """Factorises a band matrix, n x n, and solves for many right-hand sides.

    A LinearOperator of SciPy (of an array of CuPy, one of CuPy's) for A^-1.  ``solver.H`` is
    factorised when it is first applied.

    Parameters
    ----------
    l_and_u : (int, int)
        Diagonals below and above the main one.
    ab : array, (l + u + 1) x n
        The band in the layout of ``scipy.linalg.solve_banded``: a_ij is
        ``ab[u + i - j, j]``.  Any strides; it is not changed.  Elements outside of the
        matrix are not read, whole diagonals included (l or u of n or more).  The solver
        keeps a copy, for pickling and copies: it does not see what you change in ab later.
    method : str
        'automatic', 'tiles' or 'nested_dissection', which exchange no rows and take
        diagonally dominant matrices, or 'partial_pivoting' for any.
    max_right_hand_sides : int
        That one pass solves for; 0: what solves ask for.  Any number can be solved for.
    require_dominance : bool
        Without pivoting, refuse matrices that are not diagonally dominant.
    smallest_pivot : float
    tile : int

    Raises
    ------
    BandwidthError, SizeMismatchError, OptionError, MemoryError
    DominanceError, FactorizationError
        With the ``row``.
    """

    @staticmethod
    def _array_of(l_and_u: Any = None, ab: Any = None, **options: Any) -> Any:
        return ab

    def __init__(self, l_and_u: tuple[int, int], ab: ArrayLike, *,
                 method: BandMethod = "automatic",
                 max_right_hand_sides: int = 0, require_dominance: bool = True,
                 smallest_pivot: float = 0, tile: int = 0):
        try:
            lower, upper = (int(number) for number in l_and_u)
        except (TypeError, ValueError) as error:
            raise OptionError("l_and_u", f"is {l_and_u!r}",
                              "pass the diagonals below and above as two numbers") from error
        options = dict(method=method, max_right_hand_sides=max_right_hand_sides,
                       require_dominance=require_dominance, smallest_pivot=smallest_pivot,
                       tile=tile)
        ab = _dense(ab, "ab", "(l + u + 1) x n")
        _arrays.waiting_stream(ab)
        self._make((lower, upper), _arrays.copy_of(ab), options)
        chosen(self)

    def _make(self, l_and_u: tuple[int, int], ab: Any, options: dict[str, Any]) -> None:
        self._l_and_u, self._options = l_and_u, options
        self._dtype = _arrays.dtype_name(ab)
        n = int(ab.shape[1])
        self._set((n, n), self._dtype, _arrays.space_of(ab))
        self._check(ab)
        self._core = _arrays.core("BandSolver", self._dtype, self._space)(
            _arrays.handed(ab), *l_and_u, options, _arrays.waiting_stream(ab))
        self._ab, self._has_factors = ab, True
        self._of_adjoint: BandSolver | None = None

    def _check(self, ab: Any) -> None:
        wanted = sum(self._l_and_u) + 1
        if ab.shape[0] != wanted:
            raise SizeMismatchError("ab", f"has {ab.shape[0]} rows for {wanted} diagonals",
                                    f"pass {wanted} rows")

    def _forward(self, x: Any) -> Any:
        return self.solve(x)

    def _adjoint_product(self, x: Any) -> Any:
        if self._of_adjoint is None:
            _kept.wait_for_values(self, self._ab, False)
            lower, upper = self._l_and_u
            self._of_adjoint = _restore((upper, lower), _adjoint_band(self._l_and_u, self._ab),
                                        self._options)
        return self._of_adjoint.solve(x)

    @overload
    def solve(self, b: ArrayT, out: None = None) -> ArrayT: ...
    @overload
    def solve(self, b: Numbers, out: None = None) -> np.ndarray: ...
    @overload
    def solve(self, b: ArrayLike, out: ArrayT) -> ArrayT: ...
    def solve(self, b: ArrayLike, out: Array | None = None) -> Array:
        """x = A^-1 b.

        Parameters
        ----------
        b : array, n or n x k
            Of the solver's dtype, or of one that this holds, with any strides.
        out : array, optional
            As b; may be b itself.  It is written, and returned.
        """
        b = _arrays.right_hand_side(b, self.shape[0], self._dtype, self._space)
        target = _arrays.Target(out, b, self._dtype, self._space)
        stream = _arrays.stream_of(b)
        self._core.solve(_arrays.handed(b), _arrays.handed(target.array), stream)
        return target.done(stream)

    def update(self, ab: ArrayLike) -> None:
        """Factorises a matrix of the same sizes with other values, which are copied.

        After a DominanceError, FactorizationError or MemoryError the solver has no
        factors, and solves raise HandleError until an update succeeds.
        """
        ab = _dense(ab, "ab", "(l + u + 1) x n")
        _arrays.same_space(ab, self._space, "ab")
        _arrays.same_dtype(ab, self._dtype, "ab")
        if tuple(ab.shape) != tuple(self._ab.shape):
            raise SizeMismatchError(
                "ab", f"has the shape {tuple(ab.shape)}, the solver's band "
                f"{tuple(self._ab.shape)}", "make a new solver of it")
        stream = _arrays.waiting_stream(ab)
        self._of_adjoint = None
        try:
            self._core.update(_arrays.handed(ab), _kept.room(self._ab), stream)
        except (DominanceError, FactorizationError, MemoryError):
            self._has_factors = False
            raise
        self._ab, self._has_factors = _kept.renewed(self._ab, ab), True

    def report(self) -> _core.BandReport:
        """What was made of the matrix."""
        return self._core.report()

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._has_factors:
            raise HandleError("solver", "has no factors: its last update was refused",
                              "update it with good values before you copy or pickle it")
        _kept.wait_for_values(self, self._ab, False)
        return _restore, (self._l_and_u, self._ab, self._options)

    def __repr__(self) -> str:
        return (f"<BandSolver of {self.shape[0]} rows, {self._l_and_u[0]} diagonals below "
                f"and {self._l_and_u[1]} above, {self._dtype}>")


def _adjoint_band(l_and_u: tuple[int, int], ab: Any) -> Any:
    """The band of A^H, with as many diagonals above as A has below."""
    if _arrays.framework_of(ab) not in ("numpy", "cupy", "torch"):
        raise TypeMismatchError("ab", "is of a framework whose arrays can't be written",
                                "pass an array of NumPy, CuPy or PyTorch for adjoints")
    lower, upper = l_and_u
    n = int(ab.shape[1])
    made = _arrays.new_array(ab, tuple(ab.shape))
    made[...] = 0
    for above in range(max(-lower, 1 - n), min(upper, n - 1) + 1):
        first, last = max(0, -above), n - max(0, above)
        made[lower + above, first:last] = ab[upper - above, first + above:last + above].conj()
    return made


def _restore(l_and_u: tuple[int, int], ab: Any, options: dict[str, Any]) -> BandSolver:
    made = object.__new__(operator_class(BandSolver, ab))
    # Copied: copy.copy() passes another solver's.
    made._make(l_and_u, _arrays.copy_of(ab), options)
    return made


def solve_banded(
    l_and_u: tuple[int, int],
    ab: ArrayLike,
    b: ArrayT | Numbers,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> ArrayT | np.ndarray:
    """Solves a band system once: the arguments of ``scipy.linalg.solve_banded``.

    Parameters
    ----------
    l_and_u : (int, int)
        Diagonals below and above the main one.
    ab : array_like, (l + u + 1) x n
        a_ij is ``ab[u + i - j, j]``.
    b : array_like, n or n x k
    overwrite_ab : bool
        Taken for the sake of SciPy's signature: ab is never changed.
    overwrite_b : bool
        b becomes the solution, where its type and layout allow that.
    check_finite : bool
        Raise ValueError where ab or b has an infinity or a NaN.

    Notes
    -----
    A diagonally dominant matrix is factorised without pivoting, any other with partial
    pivoting, as SciPy does.  To solve with one matrix again, make a
    :class:`BandSolver`.

    Raises
    ------
    FactorizationError
        The matrix is singular; a ``LinAlgError``.
    """
    if _arrays.space_of(ab) == "host":
        take = np.asarray_chkfinite if check_finite else np.asarray
        ab, b = take(ab), take(b)
        if ab.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
            raise TypeMismatchError("ab, b", f"are of {ab.dtype} and {b.dtype}",
                                    "pass numbers")
        dtype = np.result_type(ab.dtype, b.dtype)
        if dtype.kind in "biu":
            dtype = np.dtype(np.float64)
        dtype = np.promote_types(dtype, np.float32)
        ab, given = ab.astype(dtype, copy=False), b
        b = b.astype(dtype, copy=False)
    else:
        given = b
    try:
        solver = BandSolver(l_and_u, ab)
    except DominanceError:
        solver = BandSolver(l_and_u, ab, method="partial_pivoting")
    in_place = overwrite_b and b is given and (
        not isinstance(b, np.ndarray) or b.flags.writeable and _arrays._usable(b))
    return solver.solve(b, b if in_place else None)


class ReducedRowEchelonForm(NamedTuple):
    """What :func:`rref` returns."""

    #: The reduced row echelon form, m x n.
    matrix: Array
    #: Its rank.
    rank: int
    #: Column of the leading one of row 0, 1, ..., rank - 1.
    pivot_columns: list[int]
    #: Below it an entry was no pivot.
    tolerance: float


def rref(A: ArrayLike, tolerance: float | None = None, pivot_columns: int | None = None,
         overwrite_A: bool = False) -> ReducedRowEchelonForm:
    """Reduced row echelon form of a dense matrix, with partial pivoting.

    Parameters
    ----------
    A : array_like, m x n
    tolerance : float, optional
        An entry is a pivot where its magnitude (``|Re| + |Im|`` of a complex one) is larger;
        by default max(m, n) eps ||A||_1.
    pivot_columns : int, optional
        Pivots are looked for in so many columns at the front; the others are right-hand
        sides.
    overwrite_A : bool
        A becomes the form, where its type and layout allow that.

    Raises
    ------
    NotFiniteError, FactorizationError, OptionError, MemoryError
    """
    given, A = A, _dense(A, "A", "m x n")
    in_place = overwrite_A and A is given and (
        not isinstance(A, np.ndarray) or A.flags.writeable)
    if _arrays.framework_of(A) == "jax":
        raise TypeMismatchError("A", "is of JAX, whose arrays can't be written",
                                "pass an array of NumPy, CuPy or PyTorch")
    stream = _arrays.waiting_stream(A)
    if not in_place:
        A = _arrays.copy_of(A)
    if tolerance is not None and not tolerance >= 0:
        raise OptionError("tolerance", f"is {tolerance}", "pass a number that is not negative")
    if pivot_columns is not None and pivot_columns < 0:
        raise OptionError("pivot_columns", f"is {pivot_columns}",
                          "pass a number that is not negative")
    form = _arrays.core("reduce", _arrays.dtype_name(A), _arrays.space_of(A))(
        _arrays.handed(A), -1.0 if tolerance is None else float(tolerance),
        -1 if pivot_columns is None else int(pivot_columns), stream)
    return ReducedRowEchelonForm(A, form.rank, list(form.pivot_columns), form.tolerance)
