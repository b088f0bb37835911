# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solves with factors that other programs have computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _convert, _core, _kept
from ._errors import OptionError, SizeMismatchError, TypeMismatchError, WrongTriangleError
from ._log import chosen, log
from ._operator import Applied, operator_class
from ._triangular import plan_options
from ._types import (
    ArrayLike,
    FactorOptions,
    FactorPlanOptions,
    Precision,
    Solve,
    SparseMatrix,
    SuperLU,
    Unpack,
)


def _triangle(A: Any, argument: str, like: _arrays.Crs | None = None,
              copy: bool | None = None) -> _arrays.Crs:
    """A factor by rows: SuperLU's are by columns.  On a GPU with as many entries as `like`
    has, which the pattern is compared with later."""
    as_is = like is not None and like.space == "cuda" and not like.reordered
    return _arrays.crs(A, argument, copy=copy,
                       entries=like.data.shape[0] if as_is and like is not None else None)


class FactorSolver(Applied, LinearOperator):
    """Solves A x = b with factors that others have computed: Pr Dr A Dc Pc = L U.

    A LinearOperator, n x n, for the `M=` of SciPy's and CuPy's Krylov methods and of
    :func:`cg`, :func:`gmres` and :func:`bicgstab`.  ``FactorSolver(...) @ b``, n or n x k,
    and ``.apply(b, out)`` solve; with `transpose`, ``.H``, ``.T`` and ``apply(trans=)``,
    too.

    Parameters
    ----------
    L, U : sparse matrices, n x n
        Lower and upper triangular, of one type, in any format (CSR is taken as it is).  The
        solver keeps copies, for pickling and copies of it.  Entries of the other triangle
        have to be zero, as for :class:`TriangularSolver`.
    perm_r, perm_c : arrays of n integers, optional
        As SciPy's ``splu`` has them: row i of A is row perm_r[i] of Pr A, and column i of A
        is column perm_c[i] of A Pc.  Those of a host are copied to where the factors are.
    row_scale, col_scale : arrays of n, optional
        The diagonals of Dr and Dc; likewise.
    unit_lower, unit_upper : bool
        Whose diagonal is ones, whatever is stored of it.
    transpose : bool
        Analyse the transposed factors, too.
    precision : {'working', 'single'}
        'single' solves with factors rounded to float32 (complex64): half the memory
        traffic.
    copy : bool, optional
        False: refuse factors that have to be converted.
    **options
        Of the triangular solves: `algorithm`, `accuracy`, `max_right_hand_sides` and the
        others of :class:`TriangularSolver`.  With `take_triangle` both factors may be
        stored in one matrix, which is passed twice.

    Raises
    ------
    MatrixError
        WrongTriangleError, MissingDiagonalError, ZeroDiagonalError, PermutationError,
        PrecisionError, NotFiniteError, with the ``row``.
    SizeMismatchError, TypeMismatchError, OptionError, MemoryError

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as spla
    >>> import strata_solvers as strata
    >>> A = sp.csc_array([[1.0, 4.0], [2.0, 2.0]])
    >>> lu = spla.splu(A)
    >>> M = strata.FactorSolver(lu.L, lu.U, lu.perm_r, lu.perm_c)
    >>> M @ np.array([5.0, 4.0])
    array([1., 1.])
    """

    def __init__(self, L: SparseMatrix, U: SparseMatrix, perm_r: ArrayLike | None = None,
                 perm_c: ArrayLike | None = None, row_scale: ArrayLike | None = None,
                 col_scale: ArrayLike | None = None, *, unit_lower: bool = True,
                 unit_upper: bool = False, transpose: bool = False,
                 precision: Precision = "working", copy: bool | None = None,
                 **options: Unpack[FactorPlanOptions]):
        known = {name: value for name, value in plan_options.items()
                 if name != "enqueue_updates"}
        for name in options:
            if name not in known:
                raise OptionError(name, "is no option of a solver with factors",
                                  "use " + ", ".join(sorted(known)))
        settings = {**options, "unit_lower": bool(unit_lower), "unit_upper": bool(unit_upper),
                    "transpose": bool(transpose), "precision": precision}
        lower, upper = (_kept.owned(_triangle(factor, name, copy=copy))
                        for factor, name in ((L, "L"), (U, "U")))
        self._make(lower, upper, self._transformation(
            lower, perm_r, perm_c, row_scale, col_scale), settings)
        chosen(self)

    def _make(self, lower: _arrays.Crs, upper: _arrays.Crs, transformation: tuple[Any, ...],
              options: dict[str, Any]) -> None:
        """All arrays are the solver's own."""
        self._check(upper, lower)
        self._set(lower.shape, lower.dtype, lower.space)
        self._options = options
        made = _arrays.core("FactorSolver", lower.dtype, lower.space)
        arguments = lower.handed(), upper.handed(), *map(_arrays.handed, transformation)
        stream, outside = _arrays.waiting_stream(lower.data), None
        try:
            self._core = made(*arguments, options, stream)
        except WrongTriangleError:
            outside = _kept.places_outside(lower, True), _kept.places_outside(upper, False)
            for factor, places, name in zip((lower, upper), outside, "LU"):
                _kept.require_zeros(factor, places, name)
            self._core = made(*arguments, {**options, "take_triangle": True}, stream)
        #: Those of the last update, and where the factors have entries in other triangles.
        self._shared = _kept.Shared(factors=(lower, upper), transformation=transformation,
                                    outside=outside)

    @property
    def _factors(self) -> tuple[_arrays.Crs, _arrays.Crs]:
        return self._shared.factors

    @staticmethod
    def _check(matrix: _arrays.Crs, like: _arrays.Crs, argument: str = "U") -> None:
        if matrix.shape != like.shape:
            raise SizeMismatchError(argument, f"has the shape {matrix.shape}, L {like.shape}",
                                    "pass factors of one size")
        if matrix.dtype != like.dtype:
            raise TypeMismatchError(argument, f"is {matrix.dtype}, L {like.dtype}",
                                    f"convert one: .astype(np.{like.dtype})")
        _arrays.same_space(matrix.data, like.space, argument)

    @staticmethod
    def _transformation(lower: _arrays.Crs, *given: Any) -> tuple[Any, ...]:
        """Permutations and scalings as the extension takes them, in copies."""
        made = []
        for name, array in zip(("perm_r", "perm_c", "row_scale", "col_scale"), given):
            if array is not None:
                array = _arrays.taken(_arrays.plain(array), name)
                if not isinstance(array, np.ndarray) and (
                        lower.space == "host" or _arrays.space_of(array) == "host"):
                    array = np.asarray(array)
                if name.startswith("perm"):
                    if isinstance(array, np.ndarray) and array.dtype.kind in "iu":
                        array = np.ascontiguousarray(array, np.int32 if array.dtype.itemsize < 4
                                                     else np.int64 if array.dtype.itemsize > 4
                                                     else array.dtype)
                    array = _arrays.index_array(array, name)
                else:
                    if isinstance(array, np.ndarray) and array.dtype.kind in "biufc":
                        if array.dtype.kind == "c" and _arrays.is_real(lower.dtype):
                            raise TypeMismatchError(name, f"is {array.dtype}, L {lower.dtype}",
                                                    "pass real numbers")
                        array = np.ascontiguousarray(array, lower.dtype)
                    array = _arrays.in_dtype(array, lower.dtype)
                    _arrays.same_dtype(array, lower.dtype, name)
                if array.ndim != 1 or array.shape[0] != lower.shape[0]:
                    raise SizeMismatchError(
                        name, f"has the shape {tuple(array.shape)}, L {lower.shape}",
                        f"pass {lower.shape[0]} elements")
                if lower.space == "cuda" and isinstance(array, np.ndarray):
                    array = _convert.to_device_of(array, lower.data)
                else:
                    _arrays.same_space(array, lower.space, name)
                    array = _arrays.copy_of(array)
            made.append(array)
        return tuple(made)

    def update(self, L: SparseMatrix, U: SparseMatrix, perm_r: ArrayLike | None = None,
               perm_c: ArrayLike | None = None, row_scale: ArrayLike | None = None,
               col_scale: ArrayLike | None = None) -> None:
        """Takes new values of factors with the analysed patterns, without an analysis.

        Parameters
        ----------
        L, U : sparse matrices, n x n
            As for the constructor; copied, as are the others.
        perm_r, perm_c, row_scale, col_scale : arrays of n, optional
            Another transformation in place of the one before; without any of them, that
            stays.

        Raises
        ------
        PatternMismatchError, ZeroDiagonalError, WrongTriangleError, PrecisionError,
        PermutationError, NotFiniteError, SizeMismatchError, TypeMismatchError, MemoryError
            The old factors stay.
        """
        shared = self._shared
        old = shared.factors
        new = tuple(_triangle(of, name, kept)
                    for of, name, kept in zip((L, U), "LU", old))
        self._check(new[0], old[0], "L")
        self._check(new[1], new[0])
        stream = _arrays.waiting_stream(new[0].data)
        given = perm_r, perm_c, row_scale, col_scale
        transformation = shared.transformation
        if any(array is not None for array in given):
            transformation = self._transformation(new[0], *given)
        if shared.outside is not None:
            for kept, factor, places, name in zip(old, new, shared.outside, "LU"):
                _kept.require_zeros(kept._replace(data=factor.data), places, name)
        self._core.update(new[0].handed(), new[1].handed(),
                          *map(_arrays.handed, transformation),
                          *(_kept.room(kept.data) for kept in old), stream)
        shared.factors = tuple(
            kept._replace(data=_kept.renewed(kept.data, factor.data))
            for kept, factor in zip(old, new))
        shared.transformation = transformation

    def share_plan(self) -> FactorSolver:
        """A solver with these factors and plans, and workspaces of its own.

        For each stream of a GPU that works at the same time.  Both give the same bits.  An
        :meth:`update` of either is for both, and must not overlap in time with other calls.
        """
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._core = self._core.share_plan(_arrays.waiting_stream(self._factors[0].data))
        return made

    def report(self) -> _core.FactorSolverReport:
        """Sizes, and the reports of the triangular solvers: ``.lower``, ``.upper``."""
        return _arrays.told(self._core.report(), *self._factors)

    def __repr__(self) -> str:
        return f"<FactorSolver, {self.shape[0]} x {self.shape[1]}, {self.dtype}>"

    def __reduce__(self) -> tuple[Any, ...]:
        _kept.wait_for_values(self, self._factors[0].data, False)
        return _restore, (*(tuple(factor) for factor in self._factors),
                          self._shared.transformation, self._options)


class _Arrays(NamedTuple):
    """A CSR matrix of anyone's arrays."""

    indptr: Any
    indices: Any
    data: Any
    shape: tuple[int, int]
    format: str = "csr"


def splu_solver(lu: SuperLU, **options: Unpack[FactorOptions]) -> FactorSolver:
    """A :class:`FactorSolver` with the factors and permutations of SuperLU.

    Parameters
    ----------
    lu : SuperLU
        What `splu` or `spilu` of SciPy or CuPy returns.  It solves on the host if it is
        SciPy's, and on the GPU if it is CuPy's.
    **options
        Of :class:`FactorSolver`: `precision`, `transpose`, `algorithm` and the others.

    Returns
    -------
    FactorSolver
        ``solver.solve(b)`` is ``lu.solve(b)``.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as spla
    >>> import strata_solvers as strata
    >>> lu = spla.splu(sp.csc_array([[1.0, 4.0], [2.0, 2.0]]))
    >>> strata.splu_solver(lu).solve(np.array([5.0, 4.0]))
    array([1., 1.])
    """
    if not all(hasattr(lu, name) for name in ("L", "U", "perm_r", "perm_c")):
        raise TypeMismatchError("lu", f"is a {type(lu).__name__}",
                                "pass what scipy.sparse.linalg.splu(A.tocsc()) returns")
    return FactorSolver(lu.L, lu.U, lu.perm_r, lu.perm_c, **options)


def factorized(A: SparseMatrix, *, copy: bool | None = None) -> Solve:
    """A function that solves A x = b, as SciPy's and CuPy's of this name returns.

    SuperLU factorises on the host, with pivoting; solves are the library's, on the GPU if A
    is there.

    Parameters
    ----------
    A : sparse matrix, n x n
        In any format and of any type that :func:`ilu0` accepts.  SuperLU takes CSC with
        sorted columns and indices of 32 bits; what else is converted is logged.
    copy : bool, optional
        False: refuse a matrix that has to be converted.

    Returns
    -------
    solve : callable
        ``solve(b)`` for b of n or n x k elements: the method of a :class:`FactorSolver`.

    Raises
    ------
    RuntimeError
        A is singular: SuperLU's.
    """
    from scipy.sparse import csc_array, csr_array
    from scipy.sparse.linalg import splu

    matrix = _arrays.crs(A, forms=("csc", "csr"), copy=copy)
    kind = csc_array if matrix.transposed else csr_array
    on_host = [_arrays.on_host(array) for array in (matrix.data, matrix.indices, matrix.indptr)]
    made = kind(tuple(on_host), shape=matrix.shape)
    is_sorted = made.has_canonical_format
    done = [what for what, needed in (
        (matrix.conversion, matrix.conversion), ("csr to csc", not matrix.transposed),
        ("indices to int32", _arrays.dtype_name(matrix.indices) != "int32"),
        ("sorted", not is_sorted)) if needed]
    if done:
        _arrays.expect_leave_to_convert("A", done, copy, matrix.data)
        log.debug("factorized: converted: %s", ", ".join(done))
    # SuperLU would sort the caller's arrays.
    lu = splu(made.tocsc(copy=not is_sorted))
    if matrix.space == "host":
        return splu_solver(lu).solve
    L, U = (_Arrays(*(_convert.to_device_of(array, matrix.data) for array in (
        factor.indptr, factor.indices, factor.data)), matrix.shape)
        for factor in (lu.L.tocsr(), lu.U.tocsr()))
    return FactorSolver(L, U, lu.perm_r, lu.perm_c).solve


def _restore(lower: tuple[Any, ...], upper: tuple[Any, ...], transformation: tuple[Any, ...],
             options: dict[str, Any]) -> Any:
    # Copied: copy.copy() passes another solver's.
    factors = [_kept.owned(_arrays.Crs(*factor)) for factor in (lower, upper)]
    made = object.__new__(operator_class(FactorSolver, factors[0].data))
    made._make(*factors, tuple(None if array is None else _arrays.copy_of(array)
                               for array in transformation), options)
    return made
