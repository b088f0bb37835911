# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with sparse matrices."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _convert, _core, _kept
from ._errors import OptionError, TypeMismatchError
from ._log import chosen
from ._operator import Linear, operator_class
from ._types import Array, ArrayLike, ArrayT, Numbers, SparseMatrix, Values


class SellMatrix(Linear, LinearOperator):
    """A sparse matrix, m x n, in SELL-C-sigma form, for many products.

    A LinearOperator of SciPy (of a matrix of CuPy, one of CuPy's) for Krylov methods.  ``S.H``
    and ``S.T`` make a SellMatrix of the adjoint when they are first applied.

    Parameters
    ----------
    A : sparse matrix, m x n
        Of SciPy on a host; on a GPU of CuPy, PyTorch or JAX.  CSR format is taken as it is,
        others are converted: ``report().conversion`` says so.  Rows need not be sorted, and
        entries named twice add up.  The object keeps a copy of A, for pickling and copies:
        it does not see what you change in A later.
    chunk_rows, sigma, lanes_per_row, long_row : int
        The shape; 0 leaves the choice to the library.
    use_diagonals : bool
        Store diagonals in place of columns where that takes fewer bytes.
    copy : bool, optional
        False: refuse a matrix that has to be converted.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, strata_solvers as strata
    >>> strata.SellMatrix(sp.csr_array([[1.0, 2.0], [0.0, 3.0]])) @ np.ones(2)
    array([3., 3.])
    """

    def __init__(self, A: SparseMatrix, *, chunk_rows: int = 0, sigma: int = 0,
                 lanes_per_row: int = 0, long_row: int = 0, use_diagonals: bool = True,
                 copy: bool | None = None):
        options = dict(chunk_rows=chunk_rows, sigma=sigma, lanes_per_row=lanes_per_row,
                       long_row=long_row, use_diagonals=use_diagonals)
        self._make(_kept.owned(_arrays.crs(A, square=False, copy=copy)), options)
        chosen(self)

    def _make(self, matrix: _arrays.Crs, options: dict[str, Any]) -> None:
        self._set(matrix.shape, matrix.dtype, matrix.space)
        self._matrix, self._options = matrix, options
        self._of_adjoint: SellMatrix | None = None
        self._core = _arrays.core("SellMatrix", matrix.dtype, matrix.space)(
            *matrix.handed(), matrix.shape[1], options, _arrays.waiting_stream(matrix.data))

    def _forward(self, x: Any) -> Any:
        return self.apply(x)

    def _adjoint_product(self, x: Any) -> Any:
        if self._of_adjoint is None:
            matrix = self._matrix
            _kept.wait_for_values(self, matrix.data, False)
            # The arrays by rows are those of the transposed matrix by columns.
            arrays = _convert.transposed(matrix.indptr, matrix.indices, matrix.data,
                                         matrix.shape)
            self._of_adjoint = new_matrix(
                _arrays.Crs(*arrays, matrix.shape[::-1], False, matrix.space), self._options)
        return self._of_adjoint.apply(x)

    @overload
    def apply(self, x: ArrayT, out: None = None, *, alpha: complex = 1,
              beta: complex = 0) -> ArrayT: ...
    @overload
    def apply(self, x: Numbers, out: None = None, *, alpha: complex = 1,
              beta: complex = 0) -> np.ndarray: ...
    @overload
    def apply(self, x: ArrayLike, out: ArrayT, *, alpha: complex = 1,
              beta: complex = 0) -> ArrayT: ...
    def apply(self, x: ArrayLike, out: Array | None = None, *, alpha: complex = 1,
              beta: complex = 0) -> Array:
        """y = alpha A x + beta y.

        Parameters
        ----------
        x : array, n or n x k
            Of the matrix's dtype, or of one that this holds, with any strides.
        out : array, m or m x k, optional
            y: it is written, and returned; it must not share memory with x.  Without it
            `beta` has nothing to scale and has to be 0.
        """
        matrix = self._matrix
        x = _arrays.right_hand_side(x, matrix.shape[1], matrix.dtype, matrix.space, "x")
        shape = (matrix.shape[0], *x.shape[1:])
        if out is None and beta != 0:
            raise OptionError("beta", f"is {beta}, and there is no y to scale",
                              "pass the array y as out")
        target = _arrays.Target(out, x, matrix.dtype, matrix.space,
                                None if shape == tuple(x.shape) else shape)
        for name, factor in (("alpha", alpha), ("beta", beta)):
            try:
                imaginary = complex(factor).imag
            except (TypeError, ValueError) as error:
                raise TypeMismatchError(name, f"is {factor!r}", "pass a number") from error
            if imaginary and _arrays.is_real(matrix.dtype):
                raise TypeMismatchError(name, f"is {factor}, and the matrix is real",
                                        "pass a real number")
        alpha, beta = complex(alpha), complex(beta)
        if _arrays.is_real(matrix.dtype):
            alpha, beta = alpha.real, beta.real
        stream = _arrays.stream_of(x)
        self._core.apply(_arrays.handed(x), _arrays.handed(target.array), alpha, beta, stream)
        return target.done(stream)

    def update(self, values: Values) -> None:
        """Takes new values on the same pattern, which are copied: a matrix, or, unless A was
        converted, its values alone in the order of ``A.data``."""
        kept = self._matrix
        given, compare = _arrays.updated(values, kept)
        room, stream = _kept.room(kept.data), _arrays.waiting_stream(given.data)
        if compare:
            self._core.update(*given.handed(), room, stream)
        else:
            self._core.update_values(_arrays.handed(given.data), room, stream)
        self._matrix = kept._replace(data=_kept.renewed(kept.data, given.data))
        self._of_adjoint = None

    def report(self) -> _core.SellReport:
        """Shape, padding and sizes."""
        return _arrays.told(self._core.report(), self._matrix)

    def __reduce__(self) -> tuple[Any, ...]:
        _kept.wait_for_values(self, self._matrix.data, False)
        return _restore, (tuple(self._matrix), self._options)

    def __repr__(self) -> str:
        return f"<SellMatrix, {self.shape[0]} x {self.shape[1]}, {self._matrix.dtype}>"


def _restore(matrix: tuple[Any, ...], options: dict[str, Any]) -> SellMatrix:
    # Copied: copy.copy() passes another object's.
    return new_matrix(_kept.owned(_arrays.Crs(*matrix)), options)


def new_matrix(matrix: _arrays.Crs, options: dict[str, Any]) -> SellMatrix:
    """Of arrays that are its own, or that no one changes while it is used."""
    made = object.__new__(operator_class(SellMatrix, matrix.data))
    made._make(matrix, options)
    return made
