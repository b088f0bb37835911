# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Incomplete factorisations without fill, as preconditioners."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _core
from ._errors import OptionError
from ._triangular import TriangularSolver

_kinds = {"ilu0": "incomplete_lu", "ic0": "incomplete_cholesky"}


class _Incomplete:
    """What a preconditioner does, whatever LinearOperator it is."""

    def _make(self, matrix: _arrays.Crs, kind: str, order: str,
              options: dict[str, Any]) -> None:
        self._matrix, self._kind = matrix, kind
        self._order, self._options = order, options
        # `lower` and `upper` are those of these values, whatever becomes of A's.
        self._matrix = matrix._replace(data=_copy(matrix.data))
        self._core = _arrays.core("IncompletePreconditioner", matrix.dtype, matrix.space)(
            matrix.indptr, matrix.indices, matrix.data, _kinds[kind], order, options,
            _arrays.stream_of(matrix.data))
        self._factors: tuple[csr_array, csr_array] | None = None
        self._adjoint_solvers: tuple[TriangularSolver, TriangularSolver] | None = None

    def apply(self, r: Any, out: Any = None) -> Any:
        """z = M^-1 r, where M is the product of the factors.

        Parameters
        ----------
        r : array, n or n x k
            Of the dtype of A.
        out : array, optional
            As r; may be r itself.  It is written, and returned.
        """
        matrix = self._matrix
        r = _arrays.right_hand_side(r, matrix.shape[0], matrix.dtype, matrix.space, "r")
        if out is None:
            out = _arrays.empty_like(r)
        else:
            _arrays.output(out, r.shape, matrix.dtype, matrix.space)
        self._core.apply(r, out, _arrays.stream_of(r))
        return out

    def solve(self, rhs: Any) -> Any:
        """M^-1 rhs: the call that SciPy's and CuPy's `spilu` objects have."""
        return self.apply(rhs)

    def update(self, values: Any) -> None:
        """Factorises new values on the same pattern, without an analysis.

        Parameters
        ----------
        values : sparse matrix in CSR format, or array of as many elements as A stores
            In the order of ``A.data``.

        Raises
        ------
        PatternMismatchError, SizeMismatchError, TypeMismatchError, FactorizationError,
        NotHermitianError, IndefiniteError, MemoryError
            The old values stay.
        """
        matrix, _ = _arrays.updated(values, self._matrix)
        self._core.update(matrix.indptr, matrix.indices, matrix.data,
                          _arrays.stream_of(matrix.data))
        self._matrix = matrix._replace(data=_copy(matrix.data))
        self._factors = self._adjoint_solvers = None

    @property
    def lower(self) -> csr_array:
        """The lower factor, n x n, as a SciPy array on the host.

        Of `ilu0` it has ones on its diagonal; of `ic0` it is Cholesky's L with
        L L^H = M.
        """
        return self._make_factors()[0]

    @property
    def upper(self) -> csr_array:
        """The upper factor, n x n: `lower` times it is M."""
        return self._make_factors()[1]

    def report(self) -> tuple[_core.TriangularReport, _core.TriangularReport]:
        """Reports of the solves with the lower and the upper factor."""
        return self._core.lower_report(), self._core.upper_report()

    def _make_factors(self) -> tuple[csr_array, csr_array]:
        if self._factors is not None:
            return self._factors
        matrix = self._matrix
        if self._core.order() != "natural":
            raise OptionError("order", "is coloured: the factors are of other rows",
                              "ask for order='natural'")
        arrays = _arrays.core("incomplete_lu", matrix.dtype, matrix.space)(
            matrix.indptr, matrix.indices, matrix.data, _arrays.stream_of(matrix.data))
        lower, upper = (csr_array((data, indices, indptr), shape=matrix.shape)
                        for indptr, indices, data in arrays)
        if self._kind == "ic0":
            # L U = (L D) (D^-1 U) with D the diagonal of U, and D^-1 U is L^H.
            root = np.sqrt(upper.diagonal().real)
            lower = lower.copy()
            lower.data *= root[lower.indices]
            upper = upper.copy()
            upper.data /= np.repeat(root, np.diff(upper.indptr))
        self._factors = lower, upper
        return self._factors

    # --- What LinearOperator asks for ---

    def _matvec(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return self.apply(x)
        return self._in_dtype(x, self.apply)

    _matmat = _matvec

    def _rmatvec(self, x: Any) -> Any:
        if self._adjoint_solvers is None:
            lower, upper = self._make_factors()
            self._adjoint_solvers = (TriangularSolver(upper, lower=False, trans="H"),
                             TriangularSolver(lower, trans="H"))
        first, second = self._adjoint_solvers
        return self._in_dtype(x, lambda y: second.solve(first.solve(y)))

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
        return _restore, (tuple(self._matrix), self._kind, self._order, self._options)


class IncompletePreconditioner(_Incomplete, LinearOperator):
    """M^-1 of an incomplete factorisation M: what `ilu0` and `ic0` return.

    A ``scipy.sparse.linalg.LinearOperator`` of the shape and dtype of A, for the `M=` of
    SciPy's Krylov methods.  ``M @ r``, n or n x k, applies it, as do :meth:`apply` with
    an array to write and :meth:`solve`; ``M.H @ r`` applies the adjoint.
    """

    def __init__(self, matrix: _arrays.Crs, kind: str, order: str, options: dict[str, Any]):
        LinearOperator.__init__(self, np.dtype(matrix.dtype), matrix.shape)
        self._make(matrix, kind, order, options)

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


def ilu0(A: Any, *, order: str = "natural", **options: Any) -> IncompletePreconditioner:
    """Incomplete LU factorisation without fill: (L U)_ij = a_ij where A stores entries.

    Parameters
    ----------
    A : sparse matrix, n x n, in CSR format
        With sorted rows and a complete, non-zero diagonal.
    order : {'natural', 'automatic', 'coloured'}
        'coloured' factorises colour by colour and takes a Hermitian A: more iterations,
        faster solves on a GPU; it has no `lower` and `upper`.
    **options
        Of the triangular solves: `algorithm`, `accuracy`, `merged_levels` and the others
        of :class:`TriangularSolver`, but for `trans`.

    Returns
    -------
    IncompletePreconditioner
        A LinearOperator for the `M=` of ``cg``, ``gmres``, ``bicgstab`` of SciPy (CuPy's,
        for matrices of CuPy), with ``update(values)``, ``lower`` and ``upper``.

    Raises
    ------
    MatrixError
        UnsortedRowError, DuplicateEntryError, MissingDiagonalError, ZeroDiagonalError;
        FactorizationError for a pivot that becomes zero, with its ``row``.
    """
    return _incomplete(A, "ilu0", order, options)


def ic0(A: Any, *, order: str = "automatic", **options: Any) -> IncompletePreconditioner:
    """Incomplete Cholesky factorisation without fill of a Hermitian A.

    Parameters and result as for :func:`ilu0`; A has both triangles.  'automatic' is the
    natural order on a host, and the one with the smaller predicted time on a GPU.

    Raises
    ------
    MatrixError
        As for :func:`ilu0`; NotHermitianError, and IndefiniteError for a pivot that is
        not positive.
    """
    return _incomplete(A, "ic0", order, options)


def _incomplete(A: Any, kind: str, order: str, options: dict[str, Any]) -> Any:
    known = set(TriangularSolver.__init__.__kwdefaults__ or {})
    known -= {"trans", "take_triangle", "sort_rows"}
    for name in options:
        if name not in known:
            raise OptionError(name, "is no option of a preconditioner",
                              "use " + ", ".join(sorted(known)))
    matrix = _arrays.crs(A, csc=False)
    return _operator_class(matrix)(matrix, kind, order, dict(options))
