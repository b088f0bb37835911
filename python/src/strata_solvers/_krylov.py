# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library's Krylov methods."""

from __future__ import annotations

import sys
from typing import Any, Callable

from . import _arrays
from ._errors import NotSquareError, OptionError, SizeMismatchError, TypeMismatchError
from ._operator import Applied
from ._sell import SellMatrix


class KrylovInfo(int):
    """SciPy's `info`, 0 where the solve has converged, with the rest of what is known.

    Attributes
    ----------
    status : str
        'converged', 'max_iterations', 'breakdown' (GMRES and BiCGStab),
        'indefinite_matrix', 'indefinite_preconditioner' (conjugate gradients),
        'not_finite', 'stagnated', 'stopped' or 'diverged'.
    iterations : int
    rhs_norm, residual_norm : float
        ||b||, and ||b - A x|| worked out anew for the x returned.
    history : list of float
        Norms of the residual as followed through the iterations.
    restarts : int
        Times that the iteration was begun anew from b - A x.
    """

    status: str
    iterations: int
    rhs_norm: float
    residual_norm: float
    history: list[float]
    restarts: int

    @classmethod
    def _of(cls, result: Any) -> KrylovInfo:
        number = {"converged": 0, "indefinite_matrix": -1, "indefinite_preconditioner": -2,
                  "not_finite": -3, "breakdown": -4, "diverged": -5}.get(
                      result.status, max(1, result.iterations))
        made = cls(number)
        for name in ("status", "iterations", "rhs_norm", "residual_norm", "history",
                     "restarts"):
            setattr(made, name, getattr(result, name))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self),), self.__dict__

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} {int(self)}: {self.status} after "
                f"{self.iterations} iterations, residual {self.residual_norm:.3g}>")


class CgInfo(KrylovInfo):
    """What :func:`cg` returns."""


_arguments = """The arguments are those of ``scipy.sparse.linalg.{name}``, but for its
    `callback`, which would ask for x in each iteration.{more}

    Parameters
    ----------
    A : sparse matrix, n x n, in CSR format, or a SellMatrix
        The latter spares the conversion where one A serves many solves.
    b : array of n
    x0 : array of n, optional
        Where to begin; zero by default.  It is not changed.
    rtol, atol : float
        Converged where ||b - A x|| <= max(rtol ||b||, atol).
    dtol : float
        Diverged when the residual exceeds dtol times the larger of ||b|| and the first
        residual, and when the solve ends with an x that is worse than x0.{extra}
    maxiter : int, optional
        Iterations; 10 n by default.
    M : preconditioner, optional
        What :func:`ic0`, :func:`ilu0` and their like return, a :class:`FactorSolver`, or
        'jacobi' for the diagonal of A, which is real and positive then.
    progress : callable, optional
        Called as progress(iteration, norm of the residual), some iterations late; the
        solve stops where it returns False.

    Returns
    -------
    x : array of n
    info : {info}
        0 where it has converged, the number of iterations where it has not, negative for
        numbers that go wrong, as SciPy's; ``info.status`` says which.
    """


def _documented(name: str, info: str, more: str = "", extra: str = "") -> Any:
    def fill(function: Any) -> Any:
        function.__doc__ += _arguments.format(name=name, info=info, more=more, extra=extra)
        return function

    return fill


@_documented("cg", "CgInfo")
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    dtol: float = 1e5,
    maxiter: int | None = None,
    M: Any = None,
    progress: Callable[[int, float], Any] | None = None,
) -> tuple[Any, CgInfo]:
    """Conjugate gradients for A x = b with a Hermitian positive definite A.

    """
    return _solve("ConjugateGradient", CgInfo, A, b, x0, rtol, atol, dtol, maxiter, M, progress,
                  {})


@_documented(
    "gmres", "KrylovInfo",
    more="  `maxiter`\n    counts iterations, where SciPy counts cycles, and the norm is "
         "that of b - A x, as\n    M is applied from the right.",
    extra="\n    restart : int\n        Iterations of a cycle, 1 to 1000: each more takes "
          "one vector of memory.")
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    dtol: float = 1e5,
    restart: int = 30,
    maxiter: int | None = None,
    M: Any = None,
    progress: Callable[[int, float], Any] | None = None,
) -> tuple[Any, KrylovInfo]:
    """GMRES with restarts for A x = b with any A that is not singular.

    """
    return _solve("Gmres", KrylovInfo, A, b, x0, rtol, atol, dtol, maxiter, M, progress,
                  {"restart": restart})


@_documented(
    "bicgstab", "KrylovInfo",
    extra="\n    max_new_starts : int\n        Times that a solve which broke down begins "
          "anew, 0 to 1000.")
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    dtol: float = 1e5,
    maxiter: int | None = None,
    M: Any = None,
    max_new_starts: int = 5,
    progress: Callable[[int, float], Any] | None = None,
) -> tuple[Any, KrylovInfo]:
    """The stabilised method of biconjugate gradients for A x = b with any A.

    """
    return _solve("BiCgStab", KrylovInfo, A, b, x0, rtol, atol, dtol, maxiter, M, progress,
                  {"max_new_starts": max_new_starts})


def _vector(of: Any, n: int, matrix: _arrays.Crs, name: str) -> Any:
    of = _arrays.right_hand_side(of, n, matrix.dtype, matrix.space, name)
    if of.ndim != 1:
        raise SizeMismatchError(name, f"has the shape {tuple(of.shape)}",
                                f"pass {n} elements: there is one right-hand side")
    return of


def _solve(method: str, kind: Any, A: Any, b: Any, x0: Any, rtol: float, atol: float,
           dtol: float, maxiter: int | None, M: Any, progress: Any,
           more: dict[str, Any]) -> Any:
    sell = A if isinstance(A, SellMatrix) else SellMatrix._of(A)
    matrix = sell._matrix
    if matrix.shape[0] != matrix.shape[1]:
        raise NotSquareError("A", f"has the shape {matrix.shape}", "pass a square matrix")
    n = matrix.shape[0]
    b = _vector(b, n, matrix, "b")
    stream = _arrays.waiting_stream(b)
    start: Any = _vector(x0, n, matrix, "x0") if x0 is not None else (
        sys.modules["jax"].numpy.zeros_like(b) if _arrays.framework_of(b) == "jax" else 0)
    target = _arrays.Target(None, b, matrix.dtype, matrix.space, start=start)
    x = target.array
    for name, number in more.items():
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise OptionError(name, f"is {number!r}", "pass a whole number")
    options: dict[str, Any] = dict(
        relative_tolerance=float(rtol), absolute_tolerance=float(atol),
        divergence_tolerance=float(dtol),
        max_iterations=min(10 * n, 10**8) if maxiter is None else int(maxiter), **more)
    if progress is not None:
        options["progress"] = progress
    b, x = _arrays.handed(b), _arrays.handed(x)
    solver = _arrays.core(method, matrix.dtype, matrix.space)(n, options, stream)
    if M is None:
        result = solver.solve(sell._core, b, x, stream)
    elif isinstance(M, str) and M == "jacobi":
        result = solver.solve_jacobi(sell._core, *matrix.handed(), b, x, stream)
    elif isinstance(M, Applied):
        if M._type.name != matrix.dtype:
            raise TypeMismatchError("M", f"is {M._type.name}, A {matrix.dtype}",
                                    "make it of a matrix of A's type")
        if M._rows != n:
            raise SizeMismatchError("M", f"has {M._rows} rows, A {n}", "make it of A")
        if M._space != matrix.space:
            raise TypeMismatchError("M", "is not in the memory where A is", "make it of A")
        result = solver.solve(sell._core, M._core, b, x, stream)
    else:
        raise TypeMismatchError(
            "M", f"is {M!r}", "pass what strata.ic0 or strata.ilu0 returns, a FactorSolver, or "
            "'jacobi'; scipy.sparse.linalg takes other operators")
    return target.done(stream), kind._of(result)
