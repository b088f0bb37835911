# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with sparse matrices, and conjugate gradients."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _arrays, _core
from ._errors import NotSquareError, OptionError, SizeMismatchError, TypeMismatchError
from ._precondition import _Incomplete


class SellMatrix:
    """A sparse matrix, m x n, in SELL-C-sigma form, for many products.

    Parameters
    ----------
    A : sparse matrix, m x n, in CSR format
        Rows need not be sorted, and entries named twice add up.  Its arrays are not
        copied; the matrix keeps references to them, for :meth:`update` and pickling.
    chunk_rows, sigma, lanes_per_row, long_row : int
        The shape; 0 leaves the choice to the library.
    use_diagonals : bool
        Store diagonals in place of columns where that takes fewer bytes.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, strata_solvers as strata
    >>> strata.SellMatrix(sp.csr_array([[1.0, 2.0], [0.0, 3.0]])) @ np.ones(2)
    array([3., 3.])
    """

    # NumPy leaves array @ matrix to us, which is an error and not a loop.
    __array_ufunc__ = None

    def __init__(self, A: Any, *, chunk_rows: int = 0, sigma: int = 0,
                 lanes_per_row: int = 0, long_row: int = 0, use_diagonals: bool = True):
        options = dict(chunk_rows=chunk_rows, sigma=sigma, lanes_per_row=lanes_per_row,
                       long_row=long_row, use_diagonals=use_diagonals)
        self._make(_arrays.crs(A, square=False, csc=False), options)

    def _make(self, matrix: _arrays.Crs, options: dict[str, Any]) -> None:
        self._matrix, self._options = matrix, options
        self._core = _arrays.core("SellMatrix", matrix.dtype, matrix.space)(
            matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], options,
            _arrays.stream_of(matrix.data))

    @property
    def shape(self) -> tuple[int, int]:
        """m x n."""
        return self._matrix.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the matrix and the vectors."""
        return np.dtype(self._matrix.dtype)

    def __matmul__(self, x: Any) -> Any:
        return self.apply(x)

    def apply(self, x: Any, out: Any = None, *, alpha: complex = 1, beta: complex = 0) -> Any:
        """y = alpha A x + beta y.

        Parameters
        ----------
        x : array, n or n x k
            Of the matrix's dtype, with any strides.
        out : array, m or m x k, optional
            y: it is written, and returned; it must not share memory with x.  Without it
            `beta` has nothing to scale and has to be 0.
        """
        matrix = self._matrix
        x = _arrays.right_hand_side(x, matrix.shape[1], matrix.dtype, matrix.space, "x")
        shape = (matrix.shape[0], *x.shape[1:])
        if out is None:
            if beta != 0:
                raise OptionError("beta", f"is {beta}, and there is no y to scale",
                                  "pass the array y as out")
            out = (_arrays.empty_like(x) if shape == tuple(x.shape)
                   else _new_array(x, shape))
        else:
            _arrays.output(out, shape, matrix.dtype, matrix.space)
        for name, factor in (("alpha", alpha), ("beta", beta)):
            if _arrays.is_real(matrix.dtype) and isinstance(factor, complex) and factor.imag:
                raise TypeMismatchError(name, f"is {factor}, and the matrix is real",
                                        "pass a real number")
        if _arrays.is_real(matrix.dtype):
            alpha, beta = float(np.real(alpha)), float(np.real(beta))
        self._core.apply(x, out, alpha, beta, _arrays.stream_of(x))
        return out

    def update(self, values: Any) -> None:
        """Takes new values on the same pattern: a CSR matrix, or its values alone in
        the order of ``A.data``."""
        matrix, compare = _arrays.updated(values, self._matrix)
        stream = _arrays.stream_of(matrix.data)
        if compare:
            self._core.update(matrix.indptr, matrix.indices, matrix.data, stream)
        else:
            self._core.update_values(matrix.data, stream)
        self._matrix = matrix

    def report(self) -> _core.SellReport:
        """Shape, padding and sizes."""
        return self._core.report()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (tuple(self._matrix), self._options)

    def __repr__(self) -> str:
        return f"<SellMatrix, {self.shape[0]} x {self.shape[1]}, {self._matrix.dtype}>"


def _new_array(like: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(like, np.ndarray):
        return np.empty(shape, like.dtype)
    if hasattr(like, "new_empty"):
        return like.new_empty(shape)
    import sys

    return sys.modules[type(like).__module__.partition(".")[0]].empty(shape, like.dtype)


def _restore(matrix: tuple[Any, ...], options: dict[str, Any]) -> SellMatrix:
    made = SellMatrix.__new__(SellMatrix)
    made._make(_arrays.Crs(*matrix), options)
    return made


class CgInfo(int):
    """SciPy's `info`, 0 where the solve has converged, with the rest of what is known.

    Attributes
    ----------
    status : str
        'converged', 'max_iterations', 'indefinite_matrix', 'indefinite_preconditioner',
        'not_finite', 'stagnated' or 'stopped'.
    iterations : int
    rhs_norm, residual_norm : float
        ||b||, and ||b - A x|| worked out anew for the x returned.
    history : list of float
        Norms of the residual as followed through the iterations.
    restarts : int
    """

    status: str
    iterations: int
    rhs_norm: float
    residual_norm: float
    history: list[float]
    restarts: int

    @classmethod
    def _of(cls, result: Any) -> CgInfo:
        number = {"converged": 0, "indefinite_matrix": -1, "indefinite_preconditioner": -2,
                  "not_finite": -3}.get(result.status, max(1, result.iterations))
        made = cls(number)
        for name in ("status", "iterations", "rhs_norm", "residual_norm", "history",
                     "restarts"):
            setattr(made, name, getattr(result, name))
        return made

    def __repr__(self) -> str:
        return (f"<CgInfo {int(self)}: {self.status} after {self.iterations} iterations, "
                f"residual {self.residual_norm:.3g}>")


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    progress: Callable[[int, float], Any] | None = None,
) -> tuple[Any, CgInfo]:
    """Conjugate gradients for A x = b with a Hermitian positive definite A.

    The arguments are those of ``scipy.sparse.linalg.cg``, but for its `callback`, which
    would ask for x in each iteration.

    Parameters
    ----------
    A : sparse matrix, n x n, in CSR format, or a SellMatrix
        The latter spares the conversion where one A serves many solves.
    b : array of n
    x0 : array of n, optional
        Where to begin; zero by default.  It is not changed.
    rtol, atol : float
        Converged where ||b - A x|| <= max(rtol ||b||, atol).
    maxiter : int, optional
        10 n by default.
    M : preconditioner, optional
        What :func:`ic0` or :func:`ilu0` returns, or 'jacobi' for the diagonal of A.
    progress : callable, optional
        Called as progress(iteration, norm of the residual), some iterations late; the
        solve stops where it returns False.

    Returns
    -------
    x : array of n
    info : CgInfo
        0 where it has converged, the number of iterations where it has not, negative for
        numbers that go wrong, as SciPy's; ``info.status`` says which.
    """
    sell = A if isinstance(A, SellMatrix) else SellMatrix(A)
    matrix = sell._matrix
    if matrix.shape[0] != matrix.shape[1]:
        raise NotSquareError("A", f"has the shape {matrix.shape}", "pass a square matrix")
    n = matrix.shape[0]
    b = _arrays.right_hand_side(b, n, matrix.dtype, matrix.space)
    if b.ndim != 1:
        raise SizeMismatchError("b", f"has the shape {tuple(b.shape)}",
                                f"pass {n} elements: there is one right-hand side")
    if x0 is None:
        x = _arrays.empty_like(b)
        x[...] = 0
    else:
        x0 = _arrays.right_hand_side(x0, n, matrix.dtype, matrix.space, "x0")
        if x0.ndim != 1:
            raise SizeMismatchError("x0", f"has the shape {tuple(x0.shape)}",
                                    f"pass {n} elements")
        x = _arrays.empty_like(b)
        x[...] = x0
    options: dict[str, Any] = dict(
        relative_tolerance=float(rtol), absolute_tolerance=float(atol),
        max_iterations=min(10 * n, 10**8) if maxiter is None else int(maxiter))
    if progress is not None:
        options["progress"] = progress
    stream = _arrays.stream_of(b)
    solver = _arrays.core("ConjugateGradient", matrix.dtype, matrix.space)(n, options, stream)
    if M is None:
        result = solver.solve(sell._core, b, x, stream)
    elif isinstance(M, str) and M == "jacobi":
        result = solver.solve_jacobi(sell._core, matrix.indptr, matrix.indices, matrix.data,
                                     b, x, stream)
    elif isinstance(M, _Incomplete):
        _arrays.same_dtype(M._matrix.data, matrix.dtype, "M")
        if M._matrix.shape != matrix.shape:
            raise SizeMismatchError("M", f"has the shape {M._matrix.shape}, A {matrix.shape}",
                                    "make it of A")
        result = solver.solve_preconditioned(sell._core, M._core, b, x, stream)
    else:
        raise TypeMismatchError(
            "M", f"is {M!r}", "pass what strata.ic0 or strata.ilu0 returns, or 'jacobi'; "
            "scipy.sparse.linalg.cg takes other operators")
    return x, CgInfo._of(result)
