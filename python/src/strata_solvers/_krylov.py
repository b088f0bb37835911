# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library's Krylov methods."""

from __future__ import annotations

import sys
from typing import Any, Callable, TypeVar

import numpy as np

from . import _arrays, _convert, _core
from ._errors import NotSquareError, OptionError, SizeMismatchError, TypeMismatchError
from ._log import log
from ._operator import Applied, is_operator
from ._sell import SellMatrix, new_matrix
from ._types import (
    ArrayLike,
    ArrayT,
    Callback,
    CallbackType,
    Numbers,
    Operator,
    Preconditioner,
    Progress,
    SparseMatrix,
)


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
    conversion : str
        What was converted of A; empty if nothing was.
    """

    status: str
    iterations: int
    rhs_norm: float
    residual_norm: float
    history: list[float]
    restarts: int
    conversion: str

    @classmethod
    def _of(cls, result: Any, conversion: str) -> KrylovInfo:
        number = {"converged": 0, "indefinite_matrix": -1, "indefinite_preconditioner": -2,
                  "not_finite": -3, "breakdown": -4, "diverged": -5}.get(
                      result.status, max(1, result.iterations))
        made = cls(number)
        for name in ("status", "iterations", "rhs_norm", "residual_norm", "history",
                     "restarts"):
            setattr(made, name, getattr(result, name))
        made.conversion = conversion
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self),), self.__dict__

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} {int(self)}: {self.status} after "
                f"{self.iterations} iterations, residual {self.residual_norm:.3g}>")


class CgInfo(KrylovInfo):
    """What :func:`cg` returns."""


_arguments = """The arguments are those of ``scipy.sparse.linalg.{name}``.{more}

    Parameters
    ----------
    A : sparse matrix, n x n, a SellMatrix, or another LinearOperator
        A SellMatrix spares the conversion where one A serves many solves.  A matrix is
        converted to CSR format and to the type that holds A and b: ``info.conversion``
        says so.
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
        M^-1: what :func:`ic0`, :func:`ilu0` and their like return, a :class:`FactorSolver`,
        'jacobi' for the diagonal of A, which is real and positive then, or any
        LinearOperator, sparse matrix or function of an array that is the same linear map
        each time.  Functions are called on the current stream, and are slower.
    callback : callable, optional
        {callback}
        The solve waits for each iteration, then; M and `callback` may use the library.
    progress : callable, optional
        Called as progress(iteration, norm of the residual), some iterations late; the
        solve stops where it returns False.
    copy : bool, optional
        False: refuse an A that has to be converted.

    Returns
    -------
    x : array of n
    info : {info}
        0 where it has converged, the number of iterations where it has not, negative for
        numbers that go wrong, as SciPy's; ``info.status`` says which.
    """

_of_x = """Called as callback(x) after each iteration.  The array is the solver's: copy what
        is to be kept.  (An OptionError if A or b is beyond 2^300 or below 2^-300.)"""
_of_either = """Called as `callback_type` says."""


_Function = TypeVar("_Function", bound=Callable[..., object])


def _documented(name: str, info: str, more: str = "", extra: str = "",
                callback: str = _of_x) -> Callable[[_Function], _Function]:
    def fill(function: _Function) -> _Function:
        function.__doc__ = (function.__doc__ or "") + _arguments.format(
            name=name, info=info, more=more, extra=extra, callback=callback)
        return function

    return fill


@_documented("cg", "CgInfo")
def cg(
    A: SparseMatrix | Operator,
    b: ArrayT | Numbers,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    dtol: float = 1e5,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    callback: Callback | None = None,
    progress: Progress | None = None,
    copy: bool | None = None,
) -> tuple[ArrayT | np.ndarray, CgInfo]:
    """Conjugate gradients for A x = b with a Hermitian positive definite A.

    """
    return _solve("ConjugateGradient", CgInfo, A, b, x0, rtol, atol, dtol, maxiter, M,
                  callback, "iteration", progress, copy, {})


@_documented(
    "gmres", "KrylovInfo", callback=_of_either,
    more="  `maxiter`\n    counts iterations, where SciPy counts cycles, and the norm is "
         "that of b - A x, as\n    M is applied from the right.",
    extra="\n    restart : int\n        Iterations of a cycle, 1 to 1000: each more takes "
          "one vector of memory.\n    callback_type : {'pr_norm', 'legacy', 'x'}\n        "
          "'pr_norm' and 'legacy': callback(||r|| / ||b||) after each iteration.  'x':\n"
          "        callback(x) after each cycle; copy what is to be kept.")
def gmres(
    A: SparseMatrix | Operator,
    b: ArrayT | Numbers,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    dtol: float = 1e5,
    restart: int = 30,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    callback: Callback | None = None,
    callback_type: CallbackType = "pr_norm",
    progress: Progress | None = None,
    copy: bool | None = None,
) -> tuple[ArrayT | np.ndarray, KrylovInfo]:
    """GMRES with restarts for A x = b with any A that is not singular.

    """
    if callback_type not in ("x", "pr_norm", "legacy"):
        raise OptionError("callback_type", f"is {callback_type!r}",
                          "use 'x', 'pr_norm' or 'legacy'")
    return _solve("Gmres", KrylovInfo, A, b, x0, rtol, atol, dtol, maxiter, M, callback,
                  "cycle" if callback_type == "x" else "norm", progress, copy,
                  {"restart": restart})


@_documented(
    "bicgstab", "KrylovInfo",
    extra="\n    max_new_starts : int\n        Times that a solve which broke down begins "
          "anew, 0 to 1000.")
def bicgstab(
    A: SparseMatrix | Operator,
    b: ArrayT | Numbers,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    dtol: float = 1e5,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    max_new_starts: int = 5,
    callback: Callback | None = None,
    progress: Progress | None = None,
    copy: bool | None = None,
) -> tuple[ArrayT | np.ndarray, KrylovInfo]:
    """The stabilised method of biconjugate gradients for A x = b with any A.

    """
    return _solve("BiCgStab", KrylovInfo, A, b, x0, rtol, atol, dtol, maxiter, M, callback,
                  "iteration", progress, copy, {"max_new_starts": max_new_starts})


class _System:
    """A as a solve takes it, and what vectors have to be."""

    def __init__(self, A: Any, b: Any, copy: bool | None):
        self.matrix: _arrays.Crs | None = None
        self.conversion = ""
        if isinstance(A, SellMatrix):
            self.matrix, self.dtype, self.space = A._matrix, A._type.name, A._space
        elif _convert.form_of(A) is None and is_operator(A):
            self.space = _arrays.space_of(b)
            self.dtype = _common_type(getattr(A, "dtype", None), b)
        else:
            matrix = _arrays.crs(A, square=False, copy=copy)
            self.space, self.dtype = matrix.space, _common_type(matrix.dtype, b)
            done = [matrix.conversion] if matrix.conversion else []
            if self.dtype != matrix.dtype:
                done.append(f"{matrix.dtype} to {self.dtype}")
                _arrays.expect_leave_to_convert("A", done, copy, matrix.data)
                matrix = matrix._replace(data=_convert.cast(matrix.data, self.dtype))
            self.matrix, self.conversion = matrix, ", ".join(done)
        shape = A.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise NotSquareError("A", f"has the shape {tuple(shape)}", "pass a square matrix")
        self.rows = int(shape[0])

    def vector(self, of: Any, name: str) -> Any:
        of = _arrays.right_hand_side(of, self.rows, self.dtype, self.space, name)
        if of.ndim != 1:
            if tuple(of.shape) != (self.rows, 1):
                raise SizeMismatchError(name, f"has the shape {tuple(of.shape)}",
                                        f"pass {self.rows} elements: there is one right-hand "
                                        "side")
            of = of.reshape(self.rows)
        return of


def _common_type(dtype: Any, b: Any) -> str:
    names = [] if dtype is None else [_arrays.dtype_text(dtype)]
    return _convert.common_type(
        "A, b", *names, _arrays.dtype_name(b if hasattr(b, "dtype") else np.asarray(b)))


def _function_of(M: Any) -> Callable[[Any], Any]:
    """The product with a preconditioner of a caller's."""
    if _convert.form_of(M) is not None:
        return lambda r: M @ r
    if is_operator(M):
        return M.matvec
    if callable(M):
        return M
    if all(hasattr(M, name) for name in ("L", "U", "perm_r", "perm_c")):
        raise TypeMismatchError("M", "holds factors and is no operator",
                                "pass strata.splu_solver(lu)")
    raise TypeMismatchError(
        "M", f"is {M!r}", "pass what strata.ic0 or strata.ilu0 returns, a FactorSolver, another "
        "LinearOperator, a sparse matrix, a function of an array, or 'jacobi'")


def _called(function: Callable[[Any], Any], system: _System, like: Any, stream: int,
            name: str) -> Any:
    """The extension's operator that calls a function of arrays in the framework of `like`.

    The function has a copy of the vector, which it may keep.
    """
    latest: list[Any] = [None]

    def call(address: int) -> Any:
        given = _arrays.copy_at(address, system.rows, like, stream)
        latest[0] = made = system.vector(function(given), f"the result of {name}")
        theirs = _arrays.stream_of(made)
        if theirs != stream:
            _core.wait_for(theirs)
        return _arrays.handed(made)

    return _arrays.core("Called", system.dtype, system.space)(call)


def _preconditioner(M: Any, system: _System, b: Any, stream: int, watched: bool) -> Any:
    """What the extension takes for M, None or 'jacobi' aside."""
    if isinstance(M, str):
        raise OptionError("M", f"is {M!r}", "use 'jacobi', or pass a preconditioner")
    function = _function_of(M)
    shape = tuple(getattr(M, "shape", (system.rows,) * 2))
    if shape != (system.rows,) * 2:
        raise SizeMismatchError("M", f"has the shape {shape}, A has {system.rows} rows",
                                "make it of A")
    if isinstance(M, Applied) and M._space != system.space:
        raise TypeMismatchError("M", "is not in the memory where A is", "make it of A")
    # With the coloured order, conjugate gradients have no x before the end.
    if isinstance(M, Applied) and M._type.name == system.dtype and not (
            watched and getattr(M, "_order", "") == "coloured"):
        return M._core
    return _called(function, system, b, stream, "M")


# Beyond powers of two of that size, the library solves for other numbers than the caller's.
_ordinary = 2.0 ** 300


def _watch(callback: Any, when: str, target: _arrays.Target, b: Any, start_is_zero: bool,
           stream: int) -> tuple[Progress, Callable[[], None]]:
    """A function for the extension's reports of progress, and one for the end."""
    if when == "norm":
        size = [0.0]

        def of_norm(iteration: int, norm: float) -> None:
            if iteration == 0:
                size[0] = norm if start_is_zero else _arrays.norm(b)
            else:
                callback(norm / size[0] if size[0] > 0 else norm)

        return of_norm, lambda: None

    if when == "iteration":

        def of_x(iteration: int, norm: float) -> None:
            if iteration > 0:
                callback(target.seen(stream))

        return of_x, lambda: None

    # The solve adds a cycle's part to x before the next one's first iteration.
    before = [_arrays.copy_of(target.seen(stream))]

    def of_cycles(iteration: int = 1, norm: float = 0.0) -> None:
        x = target.seen(stream)
        if not bool((x == before[0]).all()):
            before[0] = _arrays.copy_of(x)
            callback(x)

    return of_cycles, of_cycles


def _solve(method: str, kind: Any, A: Any, b: Any, x0: Any, rtol: float, atol: float,
           dtol: float, maxiter: int | None, M: Any, callback: Any, when: str, progress: Any,
           copy: bool | None, more: dict[str, Any]) -> Any:
    system = _System(A, b, copy)
    n, matrix = system.rows, system.matrix
    b = system.vector(b, "b")
    stream = _arrays.waiting_stream(b)
    start: Any = system.vector(x0, "x0") if x0 is not None else (
        sys.modules["jax"].numpy.zeros_like(b) if _arrays.framework_of(b) == "jax" else 0)
    target = _arrays.Target(None, b, system.dtype, system.space, start=start)
    for name, number in more.items():
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise OptionError(name, f"is {number!r}", "pass a whole number")
    options: dict[str, Any] = dict(
        relative_tolerance=float(rtol), absolute_tolerance=float(atol),
        divergence_tolerance=float(dtol),
        max_iterations=min(10 * n, 10**8) if maxiter is None else int(maxiter), **more)

    if isinstance(A, SellMatrix):
        of_A = A._core
    elif matrix is not None:
        of_A = new_matrix(matrix, {})._core
    else:
        of_A = _called(A.matvec, system, b, stream, "A")
    operators = [of_A]
    jacobi = isinstance(M, str) and M == "jacobi"
    if jacobi and matrix is None:
        raise OptionError("M", "is 'jacobi', and A a LinearOperator", "pass A as a matrix")
    watched = callback is not None and when != "norm"
    if M is not None and not jacobi:
        operators.append(_preconditioner(M, system, b, stream, watched))

    end: Callable[[], None] = lambda: None
    report = progress
    if callback is not None:
        if watched:
            _expect_ordinary(b, matrix)
        tell, end = _watch(callback, when, target, b, x0 is None, stream)
        report = tell if progress is None else _both(tell, progress)
    if report is not None:
        options["progress"] = report
    if callback is not None or any(type(of).__name__.startswith("Called")
                                   for of in operators):
        options["iterations_ahead"] = 1
    given, x = _arrays.handed(b), _arrays.handed(target.array)
    solver = _arrays.core(method, system.dtype, system.space)(n, options, stream)
    if jacobi and matrix is not None:
        result = solver.solve_jacobi(of_A, *matrix.handed(), given, x, stream)
    else:
        result = solver.solve(*operators, given, x, stream)
    end()
    info = kind._of(result, system.conversion)
    log.debug("%s: %s%s", method, info,
              f"; converted: {info.conversion}" if info.conversion else "")
    return target.done(stream), info


def _both(tell: Any, progress: Any) -> Progress:
    def report(iteration: int, norm: float) -> Any:
        tell(iteration, norm)
        return progress(iteration, norm)

    return report


def _expect_ordinary(b: Any, matrix: _arrays.Crs | None) -> None:
    """@raises OptionError where a callback would not see the x of iterations"""
    if _arrays.dtype_name(b) in ("float32", "complex64"):
        return
    for name, array in (("b", b), ("A", None if matrix is None else matrix.data)):
        size = 0.0 if array is None or array.shape[0] == 0 else _arrays.largest(array)
        if np.isfinite(size) and size and not 1 / _ordinary < size < _ordinary:
            raise OptionError("callback", f"can't see x, as {name} has numbers of size "
                              f"{size:.0e}", f"scale {name} to a size near one")
