# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Incomplete factorisations without fill, as preconditioners."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _core
from ._errors import OptionError
from ._triangular import TriangularSolver, op_of

_kinds = {"ilu0": "incomplete_lu", "ic0": "incomplete_cholesky"}

# Options of the factorisation by name, with their defaults: to give one of the library's
# options to Python, add it here, to `factorization_options` of extension/Factorization.cpp
# and to the texts of `ilu0`.
_factor_options: dict[str, Any] = {"shift": 0.0}

# Those whose factors are of permuted rows.
_other_orders = ("coloured", "level_sets")


class _Incomplete:
    """What a preconditioner does, whatever LinearOperator it is."""

    def _make(self, matrix: _arrays.Crs, kind: str, order: str, transpose: bool,
              options: dict[str, Any]) -> None:
        self._kind, self._order, self._options = kind, order, options
        # Adjoints and pickles are of these values, whatever becomes of A's.
        self._matrix = matrix._replace(data=_copy(matrix.data))
        self._has_transposes = transpose
        self._reordered = False
        self._factors: tuple[Any, Any] | None = None
        if order in _other_orders or (order == "automatic" and kind == "ic0" and
                                      matrix.space == "cuda" and not options and not transpose):
            self._core = _arrays.core("IncompletePreconditioner", matrix.dtype, matrix.space)(
                matrix.indptr, matrix.indices, self._matrix.data, _kinds[kind], order,
                _arrays.stream_of(matrix.data))
            # 'automatic' is the natural order where rows are too long.
            self._reordered = self._core.order() in _other_orders
        if not self._reordered:
            self._core = self._factorize(transpose)
        self._rows, self._type = matrix.shape[0], np.dtype(matrix.dtype)
        self._on_host = matrix.space == "host" and not self._reordered

    def _factorize(self, transpose: bool) -> Any:
        matrix = self._matrix
        return _arrays.core("IncompleteFactorization", matrix.dtype, matrix.space)(
            matrix.indptr, matrix.indices, matrix.data,
            {**self._options, "kind": _kinds[self._kind], "transpose": transpose},
            _arrays.stream_of(matrix.data))

    def _natural(self) -> Any:
        if self._reordered:
            raise OptionError("order", f"is {self._core.order()}: the factors are of other rows",
                              "ask for order='natural'")
        return self._core

    def apply(self, r: Any, out: Any = None, *, trans: str = "N") -> Any:
        """z = op(M)^-1 r, where M is the product of the factors.

        Other threads of Python run meanwhile.  On a GPU the work is enqueued on the
        current stream of the framework that r belongs to.

        Parameters
        ----------
        r : array, n or n x k
            Of the dtype of A.
        out : array, optional
            As r; may be r itself.  It is written, and returned.
        trans : {'N', 'T', 'H'}
            Apply the inverse of M, of its transpose, or of its conjugate transpose.  The
            first of the latter analyses the transposed factors, unless `transpose` was
            set.  Orders other than the natural one have none of them.

        Raises
        ------
        SizeMismatchError, TypeMismatchError, AliasError, OptionError, HandleError
            Before anything is written.
        """
        if self._on_host and trans == "N" and _arrays.is_plain(r, out, self._rows, self._type):
            if out is None:
                out = np.empty(r.shape, self._type)
            self._core.apply(r, out, "none", 0)
            return out
        matrix, op = self._matrix, op_of(trans)
        r = _arrays.right_hand_side(r, matrix.shape[0], matrix.dtype, matrix.space, "r")
        if out is None:
            out = _arrays.empty_like(r)
        else:
            _arrays.output(out, r.shape, matrix.dtype, matrix.space)
        stream = _arrays.stream_of(r)
        if self._reordered:
            if op != "none":
                self._natural()
            self._core.apply(r, out, stream)
        else:
            if op != "none" and not self._has_transposes:
                self._core = self._factorize(True)
                self._has_transposes = True
            self._core.apply(r, out, op, stream)
        return out

    def solve(self, rhs: Any) -> Any:
        """M^-1 rhs: the call that SciPy's and CuPy's `spilu` objects have."""
        return self.apply(rhs)

    def update(self, values: Any) -> None:
        """Factorises new values on the same pattern, without an analysis.

        The factors are computed beside those in use, which stay where the new values are
        refused: :meth:`apply` then returns the same as before.

        Parameters
        ----------
        values : sparse matrix in CSR format, or array of as many elements as A stores
            In the order of ``A.data``.

        Raises
        ------
        PatternMismatchError, SizeMismatchError, TypeMismatchError, FactorizationError,
        NotHermitianError, IndefiniteError, MemoryError
            The old factors stay.
        """
        matrix, _ = _arrays.updated(values, self._matrix)
        self._core.update(matrix.indptr, matrix.indices, matrix.data,
                          _arrays.stream_of(matrix.data))
        self._matrix = matrix._replace(data=_copy(matrix.data))
        self._factors = None

    @property
    def lower(self) -> Any:
        """The lower factor, n x n, in CSR format: a SciPy array on the host.

        Of `ilu0` it has ones on its diagonal; of `ic0` it is Cholesky's L with
        L L^H = M.  Of a matrix of CuPy it is one of CuPy, of a tensor of PyTorch a sparse
        CSR tensor.
        """
        return self._make_factors()[0]

    @property
    def upper(self) -> Any:
        """The upper factor, n x n, in CSR format: `lower` times it is M."""
        return self._make_factors()[1]

    def report(self) -> _core.IncompleteFactorizationReport:
        """Sizes, and the reports of the triangular solvers: ``.lower``, ``.upper``."""
        return self._natural().report()

    def _make_factors(self) -> tuple[Any, Any]:
        if self._factors is not None:
            return self._factors
        core, matrix = self._natural(), self._matrix
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
            core.copy_factor(lower, indptr, indices, data, _arrays.stream_of(like))
            made.append((indptr, indices, data))
        if self._kind == "ic0":
            _split_diagonal(*made, matrix.dtype)
        self._factors = tuple(_arrays.csr_like(like, arrays, matrix.shape) for arrays in made)
        return self._factors

    # --- What LinearOperator asks for ---

    def _matvec(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return self.apply(x)
        return self._in_dtype(x, self.apply)

    _matmat = _matvec

    def _rmatvec(self, x: Any) -> Any:
        def apply(y: Any) -> Any:
            return self.apply(y, trans="H")

        return self._in_dtype(x, apply) if isinstance(x, np.ndarray) else apply(x)

    _rmatmat = _rmatvec

    def _in_dtype(self, x: np.ndarray, apply: Any) -> np.ndarray:
        """`apply(x)` in the type of x, which may be another than the factors'."""
        dtype = self._matrix.dtype
        if x.dtype == dtype:
            return apply(x)
        if x.dtype.kind == "c" and _arrays.is_real(dtype):
            made = np.empty(x.shape, x.dtype)
            made.real = apply(x.real.astype(dtype))
            made.imag = apply(x.imag.astype(dtype))
            return made
        made = apply(x.astype(dtype))
        return made.astype(np.result_type(made.dtype, x.dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (tuple(self._matrix), self._kind, self._order, self._has_transposes,
                          self._options)


class IncompletePreconditioner(_Incomplete, LinearOperator):
    """M^-1 of an incomplete factorisation M: what `ilu0` and `ic0` return.

    A ``scipy.sparse.linalg.LinearOperator`` of the shape and dtype of A, for the `M=` of
    SciPy's Krylov methods.  ``M @ r``, n or n x k, applies it, as do :meth:`apply` with
    an array to write and :meth:`solve`; ``M.H @ r`` applies the adjoint.  Products with
    other types than A's are converted: a real M serves complex vectors.
    """

    def __init__(self, matrix: _arrays.Crs, kind: str, order: str, transpose: bool,
                 options: dict[str, Any]):
        LinearOperator.__init__(self, np.dtype(matrix.dtype), matrix.shape)
        self._make(matrix, kind, order, transpose, options)

    # LinearOperator chooses a class of its own for callables otherwise.
    def __new__(cls, *_: Any) -> IncompletePreconditioner:
        return object.__new__(cls)

    def __repr__(self) -> str:
        return (f"<IncompletePreconditioner {self._kind} of a {self.shape[0]} x "
                f"{self.shape[1]} matrix, {self.dtype}>")

    def __reduce__(self) -> tuple[Any, ...]:
        return _Incomplete.__reduce__(self)


def _copy(array: Any) -> Any:
    return array.copy() if hasattr(array, "copy") else array.clone()


def _split_diagonal(lower: Any, upper: Any, dtype: str) -> None:
    """Makes C, C^H of L, U = D L^H in place: arrays of rows whose diagonal is the last
    entry in L and the first in U."""
    indptr, _, data = upper
    diagonal = data[indptr[:-1]]
    root = (diagonal if _arrays.is_real(dtype) else diagonal.real) ** 0.5
    upper_row, lower_column = _arrays.row_numbers(indptr, len(data)), lower[1]
    data /= root[upper_row]
    values = lower[2]
    values *= root[lower_column]


def _operator_class(matrix: _arrays.Crs) -> Any:
    """CuPy's methods take operators of CuPy's class alone."""
    if type(matrix.data).__module__.partition(".")[0] != "cupy":
        return IncompletePreconditioner
    base = sys.modules["cupyx.scipy.sparse.linalg"].LinearOperator

    class CupyPreconditioner(_Incomplete, base):  # type: ignore[misc, valid-type]
        __doc__ = IncompletePreconditioner.__doc__

        def __init__(self, matrix: _arrays.Crs, *rest: Any):
            base.__init__(self, np.dtype(matrix.dtype), matrix.shape)
            self._make(matrix, *rest)

        def __new__(cls, *_: Any) -> Any:
            return object.__new__(cls)

    return CupyPreconditioner


def _restore(matrix: tuple[Any, ...], *rest: Any) -> Any:
    arrays = _arrays.Crs(*matrix)
    return _operator_class(arrays)(arrays, *rest)


def ilu0(A: Any, *, order: str = "natural", transpose: bool = False, shift: float = 0.0,
         **options: Any) -> IncompletePreconditioner:
    """Incomplete LU factorisation without fill: (L U)_ij = a_ij where A stores entries.

    Parameters
    ----------
    A : sparse matrix, n x n, in CSR format
        With sorted rows and a complete, non-zero diagonal.  Of SciPy on a host; on a GPU
        of CuPy, PyTorch or JAX.
    order : {'natural', 'automatic', 'coloured', 'level_sets'}
        'coloured' factorises colour by colour and takes a Hermitian A: more iterations,
        faster solves on a GPU.  'level_sets' permutes the rows to the order of level sets:
        the natural factors, permuted.  Both have no `lower` and `upper`, no adjoint and
        none of the options below.
    transpose : bool
        Analyse the transposed factors at once, for ``M.H``, ``M.T`` and ``apply(trans=)``.
        Without it the first of these does so.
    shift : float
        a_ii (1 + shift) takes the place of a_ii; finite, not negative.
    **options
        Of the triangular solves: `algorithm`, `accuracy`, `merged_levels`,
        `max_right_hand_sides` and the others of :class:`TriangularSolver`, but for
        `trans`, `take_triangle` and `sort_rows`.

    Returns
    -------
    IncompletePreconditioner
        A LinearOperator, n x n, for the `M=` of ``cg``, ``gmres``, ``bicgstab`` of SciPy
        (CuPy's, for matrices of CuPy), with ``update(values)``, ``lower`` and ``upper``.

    Raises
    ------
    MatrixError
        UnsortedRowError, DuplicateEntryError, MissingDiagonalError, ZeroDiagonalError;
        FactorizationError for a pivot that becomes zero, with its ``row``.
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
    return _incomplete(A, "ilu0", order, transpose, {"shift": shift, **options})


def ic0(A: Any, *, order: str = "automatic", transpose: bool = False, shift: float = 0.0,
        **options: Any) -> IncompletePreconditioner:
    """Incomplete Cholesky factorisation without fill of a Hermitian A.

    Parameters and result as for :func:`ilu0`; A has both triangles.  'automatic' is the
    natural order on a host and where options are given, and the one with the smaller
    predicted time on a GPU.

    Raises
    ------
    MatrixError
        As for :func:`ilu0`; NotHermitianError, and IndefiniteError for a pivot that is
        not positive.
    """
    return _incomplete(A, "ic0", order, transpose, {"shift": shift, **options})


def _incomplete(A: Any, kind: str, order: str, transpose: bool,
                options: dict[str, Any]) -> Any:
    defaults = {**(TriangularSolver.__init__.__kwdefaults__ or {}), **_factor_options}
    for name in ("trans", "take_triangle", "sort_rows"):
        del defaults[name]
    for name in options:
        if name not in defaults:
            raise OptionError(name, "is no option of a preconditioner",
                              "use " + ", ".join(sorted(defaults)))
    if order not in ("natural", "automatic", *_other_orders):
        raise OptionError("order", f"is {order!r}",
                          "use 'natural', 'automatic', 'coloured' or 'level_sets'")
    options = {name: value for name, value in options.items() if value != defaults[name]}
    if order in _other_orders and (options or transpose):
        raise OptionError(next(iter(options), "transpose"), f"is none of order={order!r}",
                          "ask for order='natural'")
    matrix = _arrays.crs(A, csc=False)
    return _operator_class(matrix)(matrix, kind, order, bool(transpose), options)
