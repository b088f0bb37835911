# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Incomplete factorisations, as preconditioners."""

from __future__ import annotations

import math
import sys
from typing import Any, get_args

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _convert, _core, _kept
from ._errors import DuplicateEntryError, OptionError, UnsortedRowError
from ._factors import FactorSolver
from ._log import chosen
from ._operator import Applied
from ._triangular import UpdateStatus, plan_options
from ._types import (
    ArrayLike,
    Factor,
    IncompleteOptions,
    Order,
    PlanOptions,
    Precision,
    Scaling,
    SparseMatrix,
    Unpack,
    Values,
)

_kinds = {"ilu": "incomplete_lu", "ilut": "incomplete_lu", "ic": "incomplete_cholesky",
          "ildl": "incomplete_ldlh", "ildlt": "incomplete_ldlt"}

# Options of the factorisation by name, with their defaults: to give one of the library's
# options to Python, add it here, to `factorization_options` of extension/Factorization.cpp
# and to the texts of `ilu0`.
_factor_options: dict[str, Any] = {
    "fill_level": 0, "shift": 0.0, "shift_tries": 1, "small_pivot_threshold": 0.0,
    "precision": "working", "enqueue_updates": False, "symmetry_tolerance": None,
    "scaling": "none"}
_transformation = ("perm_r", "perm_c", "row_scale", "col_scale")


def _for_natural_order(options: dict[str, Any]) -> list[str]:
    """Names of options that the coloured order doesn't have."""
    return [name for name in options if name != "symmetry_tolerance"]


class IncompletePreconditioner(Applied, LinearOperator):
    """M^-1 of an incomplete factorisation M: what `ilu0`, `ic0`, `ilu` and `ic` return.

    A ``scipy.sparse.linalg.LinearOperator`` (of a matrix of CuPy, one of CuPy's) of the shape
    and dtype of A, for the `M=` of Krylov methods.  ``M @ r``, n or n x k, applies it, as do
    :meth:`apply` with an array to write and :meth:`solve`; ``M.H @ r`` applies the adjoint.
    Products with other types than A's are converted: a real M serves complex vectors.
    """

    def __init__(self, matrix: _arrays.Crs, kind: str, order: str, transpose: bool,
                 options: dict[str, Any], copy: bool | None = None,
                 given: tuple[Any, ...] = (None,) * 4,
                 pattern: _arrays.Crs | None = None):
        self._pattern = pattern
        self._set(matrix.shape, matrix.dtype, matrix.space)
        self._kind, self._order, self._options = kind, order, options
        self._has_transposes = transpose
        self._given = FactorSolver._transformation(matrix, *given)
        self._factors: tuple[Any, Any] | None = None
        try:
            _arrays.make_in_order(self._factorize_first, matrix, copy=copy)
        except (UnsortedRowError, DuplicateEntryError) as error:
            if pattern is None or copy is False or not error.argument.startswith("pattern"):
                raise
            self._pattern = _arrays.in_order(pattern, "pattern")
            _arrays.make_in_order(self._factorize_first, matrix)
        # That which was chosen: adjoints and copies have the same factors.
        self._order = self._core.report().order
        if options.get("scaling") == "matching":
            # It is of these values, whatever comes later.
            self._given = FactorSolver._transformation(
                self._matrix, self.perm_r, self.perm_c, self.row_scale, self.col_scale)
            self._order = "natural"
            self._options = {name: options[name] for name in options if name != "scaling"}
        chosen(self)

    def _factorize_first(self, matrix: _arrays.Crs) -> None:
        # Adjoints and copies are of this matrix, whatever becomes of A.
        self._shared = _kept.Shared(matrix=_kept.owned(matrix))
        self._core = self._factorize(self._has_transposes)

    @property
    def _matrix(self) -> _arrays.Crs:
        return self._shared.matrix

    def _factorize(self, transpose: bool) -> Any:
        matrix = self._matrix
        return _arrays.core("IncompleteFactorization", matrix.dtype, matrix.space)(
            *matrix.handed(), _kinds[self._kind], *map(_arrays.handed, self._given),
            {**self._options, "order": self._order, "transpose": transpose},
            _arrays.waiting_stream(matrix.data),
            *(self._pattern.handed()[:2] if self._pattern else ()))

    def _run(self, r: Any, out: Any, op: str, stream: int) -> None:
        if op != "none" and not self._has_transposes:
            if self._shared.by_several:
                raise OptionError("trans", "needs factors that were not made",
                                  "pass transpose=True when you make the preconditioner")
            _kept.wait_for_values(self, self._matrix.data,
                                  bool(self._options.get("enqueue_updates")))
            self._keep_pattern()
            self._core = self._factorize(True)
            self._has_transposes = True
        self._core.apply(r, out, op, stream)

    def update(self, values: Values, *, wait: bool = True) -> None:
        """Factorises new values on the same pattern, without an analysis.

        The factors are computed beside those in use, which stay where the new values are
        refused: :meth:`apply` then returns the same as before.

        Parameters
        ----------
        values : sparse matrix, or array of as many elements as A stores
            An array is in the order of ``A.data``, and refused if A was converted to
            another order.  Values are copied.
        wait : bool
            Without it, with the option ``enqueue_updates=True``, the host does not wait,
            and a matrix's pattern is not looked at: :meth:`update_status` says what was
            found, and :meth:`apply` gives NaN until there are good values.  Do not change
            the values before that.  A CUDA graph may record such an update.

        Raises
        ------
        PatternMismatchError, SizeMismatchError, TypeMismatchError, FactorizationError,
        NotHermitianError, IndefiniteError, MemoryError
            The old factors stay.
        OptionError
            `wait` is not set, and `enqueue_updates` was not.
        """
        kept = self._matrix
        given, _ = _arrays.updated(values, kept, wait)
        room = _kept.room(kept.data)
        if wait:
            self._core.update(*given.handed(), room, _arrays.waiting_stream(given.data))
        else:
            stream = _arrays.stream_of(given.data)
            self._core.enqueue_values(_arrays.handed(given.data), room, stream)
            _arrays.settle(given.data, stream)
        self._shared.matrix = kept._replace(data=_kept.renewed(kept.data, given.data))
        self._factors = None

    def update_status(self) -> UpdateStatus:
        """What the last update has found, with the option ``enqueue_updates=True``.  Waits
        for it."""
        return UpdateStatus._of(
            self._core.status(_arrays.waiting_stream(self._matrix.data)))

    def share_plan(self) -> IncompletePreconditioner:
        """A preconditioner with these factors and plans, and workspaces of its own.

        For each stream of a GPU that works at the same time.  Both give the same bits.  An
        :meth:`update` of either is for both, and must not overlap in time with other calls.
        Adjoints then need the option ``transpose=True``, and the coloured order has no
        such thing.
        """
        core = self._core.share_plan(_arrays.waiting_stream(self._matrix.data))
        made = object.__new__(type(self))
        self._shared.by_several = True
        made.__dict__.update(self.__dict__)
        made._core = core
        return made

    @property
    def lower(self) -> Factor:
        """The lower factor, n x n, in CSR format: a SciPy array on the host.

        Of `ilu0` it has ones on its diagonal; of `ic0` it is Cholesky's L with
        L L^H = M.  Of a matrix of CuPy it is one of CuPy, of a tensor of PyTorch a sparse
        CSR tensor.
        """
        return self._make_factors()[0]

    @property
    def upper(self) -> Factor:
        """The upper factor, n x n, in CSR format: `lower` times it is M."""
        return self._make_factors()[1]

    @property
    def perm_r(self) -> np.ndarray | None:
        """Row i of A is row perm_r[i] of the matrix Pr Dr A Dc Pc that `lower` and `upper` are
        factors of: with `perm_c`, `row_scale` and `col_scale`, for a :class:`FactorSolver`.
        A NumPy array; None if rows are not permuted."""
        return self._copied("copy_places", True, np.int32)

    @property
    def perm_c(self) -> np.ndarray | None:
        """Column i of A is column perm_c[i] of that matrix."""
        return self._copied("copy_places", False, np.int32)

    @property
    def row_scale(self) -> np.ndarray | None:
        """The diagonal of Dr, a copy; None if rows are not scaled."""
        return self._copied("copy_scaling", True, self.dtype)

    @property
    def col_scale(self) -> np.ndarray | None:
        """The diagonal of Dc."""
        return self._copied("copy_scaling", False, self.dtype)

    def _copied(self, copy: str, rows: bool, dtype: Any) -> np.ndarray | None:
        to = np.empty(self.shape[0], dtype)
        stream = _arrays.waiting_stream(self._matrix.data)
        return to if getattr(self._core, copy)(rows, to, stream) else None

    def report(self) -> _core.IncompleteFactorizationReport:
        """Sizes, and the reports of the triangular solvers: ``.lower``, ``.upper``."""
        return _arrays.told(self._core.report(), self._matrix)

    def _make_factors(self) -> tuple[Any, Any]:
        # One that shares the plan may have updated it.
        if self._factors is not None and not self._shared.by_several:
            return self._factors
        core, matrix = self._core, self._matrix
        report = core.report()
        # JAX's arrays can't be written.
        like = matrix.data
        if _arrays.framework_of(like) not in ("numpy", "cupy", "torch"):
            like = np.empty(0, matrix.dtype)
        made = []
        for lower, entries in ((True, report.lower_entries), (False, report.upper_entries)):
            indptr = _arrays.new_array(like, matrix.shape[0] + 1, matrix.indices)
            indices = _arrays.new_array(like, entries, matrix.indices)
            data = _arrays.new_array(like, entries)
            core.copy_factor(lower, *map(_arrays.handed, (indptr, indices, data)),
                             _arrays.waiting_stream(like))
            made.append((indptr, indices, data))
        if self._kind == "ic":
            _split_diagonal(*made, matrix.dtype)
        self._factors = tuple(_csr_like(like, arrays, matrix.shape) for arrays in made)
        return self._factors

    @property
    def _name(self) -> str:
        level = str(self._options.get("fill_level", 0))
        return self._kind + ("" if self._pattern or self._kind == "ilut" else level)

    def __repr__(self) -> str:
        return (f"<IncompletePreconditioner {self._name} of a {self.shape[0]} x "
                f"{self.shape[1]} matrix, {self.dtype}>")

    def _keep_pattern(self) -> None:
        """The pattern that ILUT has found stays, whatever the values have become."""
        if self._kind != "ilut" or self._pattern:
            return
        (lower, left), (upper, right) = map(_host_pattern, self._make_factors())
        # L without its diagonal, which is last in its rows.
        inside = np.ones(len(left), bool)
        inside[lower[1:] - 1] = False
        rows = np.arange(len(lower) - 1, dtype=lower.dtype)
        row = np.concatenate([np.repeat(rows, np.diff(lower))[inside],
                              np.repeat(rows, np.diff(upper))])
        column = np.concatenate([left[inside], right])
        # Stable: a row has its part of L first.
        arrays = [lower + upper - np.arange(len(lower), dtype=lower.dtype),
                  column[np.argsort(row, kind="stable")]]
        matrix = self._matrix
        if matrix.space == "cuda":
            arrays = [_convert.to_device_of(array, matrix.data) for array in arrays]
        self._pattern = _arrays.Crs(*arrays, matrix.data, matrix.shape, False, matrix.space)

    def __reduce__(self) -> tuple[Any, ...]:
        self._keep_pattern()
        _kept.wait_for_values(self, self._matrix.data,
                              bool(self._options.get("enqueue_updates")))
        return _restore, (tuple(self._matrix), self._kind, self._order,
                          self._has_transposes, self._options, None, self._given,
                          tuple(self._pattern) if self._pattern else None)


def _csr_like(like: Any, arrays: tuple[Any, Any, Any], shape: tuple[int, int]) -> Any:
    """indptr, indices, data as a CSR matrix of the framework of `like`."""
    indptr, indices, data = arrays
    framework = _arrays.framework_of(like)
    if framework == "torch":
        return sys.modules["torch"].sparse_csr_tensor(indptr, indices, data, shape)
    if framework == "cupy":
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((data, indices, indptr), shape=shape)
    from scipy.sparse import csr_array

    return csr_array((data, indices, indptr), shape=shape)


def _host_pattern(matrix: Any) -> tuple[Any, ...]:
    """indptr and indices of a CSR matrix as NumPy arrays."""
    arrays = ((matrix.crow_indices(), matrix.col_indices()) if hasattr(matrix, "crow_indices")
              else (matrix.indptr, matrix.indices))
    return tuple(map(_arrays.on_host, arrays))


def _row_numbers(indptr: Any, entries: int) -> Any:
    """The row of each entry of a matrix without empty rows, in indptr's framework."""
    begins = _arrays.new_array(indptr, entries)
    begins[...] = 0
    begins[indptr[1:-1]] = 1
    return begins.cumsum(0)


def _split_diagonal(lower: Any, upper: Any, dtype: str) -> None:
    """Makes C, C^H of L, U = D L^H in place: arrays of rows whose diagonal is the last
    entry in L and the first in U."""
    indptr, _, data = upper
    diagonal = data[indptr[:-1]]
    root = (diagonal if _arrays.is_real(dtype) else diagonal.real) ** 0.5
    upper_row, lower_column = _row_numbers(indptr, len(data)), lower[1]
    data /= root[upper_row]
    values = lower[2]
    values *= root[lower_column]


def _restore(matrix: tuple[Any, ...], *rest: Any) -> Any:
    *others, pattern = rest
    return IncompletePreconditioner(_arrays.Crs(*matrix), *others,
                                    pattern and _arrays.Crs(*pattern))


def ilu0(A: SparseMatrix, *, order: Order = "natural", scaling: Scaling = "none",
         perm_r: ArrayLike | None = None, perm_c: ArrayLike | None = None,
         row_scale: ArrayLike | None = None, col_scale: ArrayLike | None = None,
         transpose: bool = False, shift: float = 0.0, shift_tries: int = 1,
         small_pivot_threshold: float = 0.0,
         precision: Precision = "working", enqueue_updates: bool = False,
         copy: bool | None = None, **options: Unpack[PlanOptions]) -> IncompletePreconditioner:
    """Incomplete LU factorisation without fill: (L U)_ij = a_ij where A stores entries.

    Parameters
    ----------
    A : sparse matrix, n x n
        With a complete, non-zero diagonal (zeros are taken where small pivots are
        replaced).  Of SciPy on a host; on a GPU of CuPy, PyTorch or JAX.  CSR format with
        sorted rows is taken as it is; others are converted, and entries named twice add
        up: ``report().conversion`` says so.
    order : {'natural', 'rcm', 'amd', 'nested_dissection', 'level_sets', 'multicoloured', \
'automatic', 'coloured'}
        The order of rows and columns in which A is factorised.  Vectors stay in that of A.
        'rcm' (reverse Cuthill-McKee), 'amd' (approximate minimum degree, by SuiteSparse),
        'nested_dissection' (by METIS) and 'level_sets' are orders of the pattern of A + A^T;
        'multicoloured' puts rows of one colour together, of any number of colours.  One
        thread of the host finds them.  'amd' and 'nested_dissection' raise OptionError
        unless the package was built with ``-C cmake.define.Strata_ENABLE_AMD=ON`` and
        ``Strata_ENABLE_METIS``. 'coloured' factorises in the order of two colours
        (red-black), for a Hermitian A, up to `symmetry_tolerance` as in :func:`ic0`, whose
        rows two colours are enough for, such as 5- and 7-point stencils: more iterations,
        faster solves on a GPU. It has no `lower` and `upper`, no adjoint and none of the
        options below.
    scaling : {'none', 'equilibration', 'matching'}
        'equilibration' scales rows and columns by powers of two, so that their largest
        entries are about 1, anew for each update.  'matching' also permutes rows, so that
        the product of the diagonal is largest (as MC64), for an A with zeros or small
        numbers there; updates keep what was found.
    perm_r, perm_c, row_scale, col_scale : arrays of n, optional
        Permutations and scalings of your own in place of `order` and `scaling`, as
        :class:`FactorSolver` takes them.
    transpose : bool
        Analyse the transposed factors at once, for ``M.H``, ``M.T`` and ``apply(trans=)``.
        Without it the first of these does so.
    shift : float
        a_ii (1 + shift) takes the place of a_ii; finite, not negative.
    shift_tries : int
        Factorisations to try, 64 at most: after one that fails, the shift is doubled, or
        0.001 if it was 0.  ``report().shift`` is the one that succeeded.  Not with
        `enqueue_updates`.
    small_pivot_threshold : float
        Above 0, a pivot that is smaller than this times the largest modulus in its row of
        A is replaced by one of that size; at most 1, 1.5e-8 is usual in float64.  The
        report says how many were.
    precision : {'working', 'single'}
        'single' solves with factors rounded to float32 (complex64): half the memory
        traffic.  Vectors and factorisation stay in A's type.
    enqueue_updates : bool
        Let ``update(values, wait=False)`` factorise without a wait.
    copy : bool, optional
        False: refuse a matrix that has to be converted.
    **options
        Of the triangular solves: `algorithm`, `accuracy`, `merged_levels`,
        `max_right_hand_sides` and the others of :class:`TriangularSolver`, but for
        `trans` and `take_triangle`.

    Returns
    -------
    IncompletePreconditioner
        A LinearOperator, n x n, for the `M=` of ``cg``, ``gmres``, ``bicgstab`` of SciPy
        (CuPy's, for matrices of CuPy), with ``update(values)``, ``lower`` and ``upper``.

    Raises
    ------
    MatrixError
        MissingDiagonalError, ZeroDiagonalError, with `copy` False UnsortedRowError and
        DuplicateEntryError; FactorizationError for a pivot that becomes zero, with its ``row``.
    OptionError, TypeMismatchError, MemoryError

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, strata_solvers as strata
    >>> M = strata.ilu0(sp.csr_array([[2.0, 1.0], [4.0, 4.0]]))
    >>> M.lower.toarray()
    array([[1., 0.],
           [2., 1.]])
    >>> M @ np.array([3.0, 8.0])
    array([1., 1.])
    """
    return _incomplete(A, "ilu", order, transpose, {
        "scaling": scaling, "perm_r": perm_r, "perm_c": perm_c, "row_scale": row_scale,
        "col_scale": col_scale, "shift": shift,
        "shift_tries": shift_tries, "small_pivot_threshold": small_pivot_threshold,
        "precision": precision, "enqueue_updates": enqueue_updates, "copy": copy, **options})


def ic0(A: SparseMatrix, *, order: Order = "automatic", scaling: Scaling = "none",
        perm_r: ArrayLike | None = None, perm_c: ArrayLike | None = None,
        row_scale: ArrayLike | None = None, col_scale: ArrayLike | None = None,
        transpose: bool = False, shift: float = 0.0, shift_tries: int = 1,
        small_pivot_threshold: float = 0.0,
        precision: Precision = "working", enqueue_updates: bool = False,
        symmetry_tolerance: float | None = None, copy: bool | None = None,
        **options: Unpack[PlanOptions]) -> IncompletePreconditioner:
    """Incomplete Cholesky factorisation without fill of a Hermitian A.

    The upper triangle of A is read.  Parameters and result are those of :func:`ilu0`, and
    also the one below.  'automatic' is the coloured order on a GPU if no options are
    given and the rows have two colours, none with more than 1,024 entries; else it is the
    natural order.  Rows and columns are permuted and scaled alike, so there is no matching,
    and `perm_c` is `perm_r`, `col_scale` the conjugate of `row_scale`.

    Parameters
    ----------
    symmetry_tolerance : float, optional
        a_ij and conj(a_ji) may differ by this times the largest of ``abs(a_ij)``,
        ``abs(a_ji)`` and ``sqrt(abs(a_ii * a_jj))``.  The default is the square root of
        the machine epsilon (1.5e-8 in float64), which rounding errors do not reach.  With
        ``np.inf`` the lower triangle is not read, and need not be stored.

    Raises
    ------
    MatrixError
        As for :func:`ilu0`; NotHermitianError if the triangles differ by more than
        `symmetry_tolerance`, and IndefiniteError for a pivot that is not positive.
    """
    return _incomplete(A, "ic", order, transpose, {
        "scaling": scaling, "perm_r": perm_r, "perm_c": perm_c, "row_scale": row_scale,
        "col_scale": col_scale, "shift": shift,
        "shift_tries": shift_tries, "small_pivot_threshold": small_pivot_threshold,
        "precision": precision, "enqueue_updates": enqueue_updates,
        "symmetry_tolerance": symmetry_tolerance, "copy": copy, **options})


def ilu(A: SparseMatrix, fill_level: int = 0, *, pattern: SparseMatrix | None = None,
        **options: Unpack[IncompleteOptions]) -> IncompletePreconditioner:
    """Incomplete LU factorisation with fill: ILU(k) with `fill_level` for k.

    Parameters
    ----------
    A : sparse matrix, n x n
        As for :func:`ilu0`.
    fill_level : int
        Keep fill entries of this level at most, from 0 on.  A higher level takes fewer
        iterations, and more memory and time for each.  Set `max_plan_bytes` if you don't
        know how much fill there is: it is refused while it is counted.
    pattern : sparse matrix, n x n, optional
        The stored entries of L + U, in place of a level of fill: those of A, the diagonal
        and fill.  With the pattern of a complete elimination, from a symbolic
        factorisation, L U is A, without row exchanges.  Its values are not read, and A
        need not store its diagonal.  It is the pattern of the permuted A if you pass
        permutations; `order` and a matching are refused.
    **options
        As for :func:`ilu0`; the order of rows is the natural one where there is fill.

    Returns
    -------
    IncompletePreconditioner
        ``update`` takes values on A's own pattern; ``report().fill_entries`` counts the
        fill.

    Raises
    ------
    MatrixError, OptionError, TypeMismatchError
        As for :func:`ilu0`.
    PatternMismatchError
        `pattern` lacks an entry of A.
    PlanMemoryError, MemoryError
        The fill exceeds `max_plan_bytes`, or the memory of the host or the GPU.

    Examples
    --------
    >>> import scipy.sparse as sp, strata_solvers as strata
    >>> A = sp.csr_array([[2.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0]])
    >>> strata.ilu(A, 1).report().fill_entries
    2
    >>> M = strata.ilu(A, pattern=sp.csr_array([[1, 1, 1], [1, 1, 1], [1, 1, 1]]))
    >>> (M.lower @ M.upper).toarray()
    array([[2., 1., 1.],
           [1., 2., 0.],
           [1., 0., 2.]])
    """
    return _with_fill(A, "ilu", "natural", fill_level, dict(options), pattern)


def ilut(A: SparseMatrix, drop_tol: float = 1e-4, fill_factor: float = 10.0,
         **options: Unpack[IncompleteOptions]) -> IncompletePreconditioner:
    """Threshold ILU, ILUT(p, tau), with SciPy's names for both parameters (`spilu`).

    One thread of the host finds the pattern from A's values; rows are not exchanged, and
    entries of A are never dropped.  Factors and :meth:`~IncompletePreconditioner.update`
    are those of :func:`ilu` on that pattern, which stays.

    Parameters
    ----------
    A : sparse matrix, n x n
        As for :func:`ilu0`.
    drop_tol : float
        Drop fill smaller than this times the 2-norm of its row of A.
    fill_factor : float
        The factors have at most about this times the entries of A, in equal numbers left
        and right of the diagonal of each row; at least 1.
    **options
        As for :func:`ilu0`, but without orders and scalings.

    Examples
    --------
    >>> import scipy.sparse as sp, strata_solvers as strata
    >>> A = sp.csr_array([[4.0, 1.0, 0.1], [1.0, 4.0, 0.0], [0.1, 0.0, 4.0]])
    >>> strata.ilut(A, 0.1).report().fill_entries
    0
    >>> strata.ilut(A, 0.001).report().fill_entries
    2
    """
    if not drop_tol >= 0:
        raise OptionError("drop_tol", f"is {drop_tol!r}", "pass 0 or a positive number")
    if not 1 <= fill_factor < np.inf:
        raise OptionError("fill_factor", f"is {fill_factor!r}", "pass a number from 1 on")
    matrix = _arrays.crs(A)
    rows, entries = matrix.shape[0], int(matrix.indices.shape[0])
    most = min(math.ceil((fill_factor - 1) * entries / max(1, 2 * rows)), rows)
    return _incomplete(A, "ilut", "natural", bool(options.pop("transpose", False)),
                       {"drop_tolerance": float(drop_tol), "fill_per_row": most, **options})


def ildl(A: SparseMatrix, fill_level: int = 0, *, hermitian: bool = True,
         pattern: SparseMatrix | None = None,
         **options: Unpack[IncompleteOptions]) -> IncompletePreconditioner:
    """Incomplete L D L^H of a Hermitian A that need not be definite, or with `hermitian`
    False L D L^T of a symmetric one.

    D is diagonal, and rows are not exchanged.  `lower` is L, and `upper` is D L^H.
    ``report().positive_pivots`` and ``negative_pivots`` count D's signs.  Other arguments
    and errors are those of :func:`ilu` and :func:`ic0`; the diagonal must be stored, and
    may contain zeros if elimination changes them.

    Examples
    --------
    >>> import scipy.sparse as sp, strata_solvers as strata
    >>> report = strata.ildl(sp.csr_array([[1.0, 2.0], [2.0, 1.0]])).report()
    >>> report.positive_pivots, report.negative_pivots
    (1, 1)
    """
    return _with_fill(A, "ildl" if hermitian else "ildlt", "natural", fill_level,
                      dict(options), pattern)


def ic(A: SparseMatrix, fill_level: int = 0, *, pattern: SparseMatrix | None = None,
       **options: Unpack[IncompleteOptions]) -> IncompletePreconditioner:
    """Incomplete Cholesky factorisation with fill, IC(k), of a Hermitian A: arguments and
    result as for :func:`ilu`, `symmetry_tolerance` and errors as for :func:`ic0`."""
    return _with_fill(A, "ic", "automatic" if pattern is None else "natural", fill_level,
                      dict(options), pattern)


def _with_fill(A: Any, kind: str, order: str, fill_level: int,
               options: dict[str, Any], pattern: Any = None) -> Any:
    if isinstance(fill_level, bool) or not hasattr(fill_level, "__index__") or fill_level < 0:
        raise OptionError("fill_level", f"is {fill_level!r}",
                          "pass a whole number that is not negative")
    return _incomplete(A, kind, options.pop("order", order),
                       bool(options.pop("transpose", False)),
                       {"fill_level": int(fill_level), **options}, pattern)


def _incomplete(A: Any, kind: str, order: str, transpose: bool,
                options: dict[str, Any], pattern: Any = None) -> Any:
    copy = options.pop("copy", None)
    given = tuple(options.pop(name, None) for name in _transformation)
    defaults = {**plan_options, **_factor_options}
    if kind == "ilut":
        defaults.update(drop_tolerance=None, fill_per_row=None)
    del defaults["take_triangle"]
    if order not in get_args(Order):
        raise OptionError("order", f"is {order!r}",
                          "use " + ", ".join(map(repr, get_args(Order))))
    for name in options:
        if name not in defaults:
            raise OptionError(name, "is no option of a preconditioner",
                              "use " + ", ".join(sorted(defaults)))
    options = {name: value for name, value in options.items() if value != defaults[name]}
    if order == "coloured" and (_for_natural_order(options) or transpose):
        raise OptionError(next(iter(_for_natural_order(options)), "transpose"),
                          "is none of order='coloured'", "ask for order='natural'")
    if kind == "ilut":
        for name in [*_transformation, "scaling"]:
            if name in options or name in _transformation and \
                    given[_transformation.index(name)] is not None:
                raise OptionError(name, "is no option of ilut",
                                  "permute and scale A and the vectors yourself")
    of_fill = None if pattern is None else _arrays.crs(pattern, "pattern", copy=copy)
    return IncompletePreconditioner(_arrays.crs(A, copy=copy), kind, order, bool(transpose),
                                    options, copy, given, of_fill)
