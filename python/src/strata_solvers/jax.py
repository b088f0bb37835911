# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The triangular solve for JAX, with derivatives, under ``jit`` and ``vmap``.

>>> from strata_solvers.jax import TriangularSolve
>>> solve = TriangularSolve(L)          # L: BCSR, or a CSR matrix of SciPy
>>> x = solve(L.data, b)                # differentiable in both arguments

Compiled programs call the library themselves, on a host or, with CUDA, on the stream that
XLA works on.  A build that had no headers of jaxlib (``native`` is False) calls it by way
of Python, on the host; arrays on a GPU then travel there and back.
"""

from __future__ import annotations

import functools
import threading
import weakref
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse import csr_array

from . import _arrays, _core
from ._errors import OptionError, SizeMismatchError, TypeMismatchError
from ._triangular import TriangularSolver, new_solver, plan_options
from ._types import ArrayLike, SparseMatrix, TriangularKeywords, Unpack

#: Whether compiled programs call the library without Python.
native: bool = _core.has_jax

_spaces = {"cpu": "host", "cuda": "cuda"}
_registered: set[str] = set()


def _target(dtype: str, platform: str) -> str:
    """The name by which XLA knows the solve, registered once."""
    name = f"strata_triangular_solve_{dtype}_{_spaces[platform]}"
    if name not in _registered:
        handler = _arrays.core("jax_handler", dtype, _spaces[platform])()
        jax.ffi.register_ffi_target(
            name, handler, platform="CUDA" if platform == "cuda" else "cpu")
        _registered.add(name)
    return name


def _platform_of(A: Any) -> Literal["cpu", "cuda"]:
    """Where programs with the solve will run, by default."""
    data = getattr(A, "data", None)
    if isinstance(data, jax.Array):
        name = next(iter(data.devices())).platform
    else:
        name = jax.default_backend()
    return "cuda" if name == "gpu" and native and _core.has_cuda else "cpu"


# Of new values and the solve with them, by whatever thread.
_turn = threading.Lock()


class TriangularSolve:
    """x = op(A)^-1 b for one pattern of a triangle A, n x n; differentiable.

    The pattern is analysed once, and once more for op's transpose where a derivative is
    asked for; values are passed with each solve.

    Parameters
    ----------
    A : jax.experimental.sparse.BCSR or SciPy's CSR, n x n
        Its pattern, and the values of the first analysis.
    trans : {'N', 'T'}
        Solve with A or with its transpose.  (For the adjoint, conjugate.)
    platform : {'cpu', 'cuda'}, optional
        Where programs with the solve run: by default where A is, or for a matrix of SciPy
        JAX's default.
    **options
        The others of :class:`strata_solvers.TriangularSolver`.

    Notes
    -----
    Derivatives of any order, in forward and in reverse mode.  With y the cotangent of x,
    that of b is z = op(A)^-T y and that of an entry a_ij is -z_i x_j (for 'T' -z_j x_i),
    added up over the right-hand sides.

    ``jax.vmap`` over right-hand sides solves for all of them at once; over values it solves
    for one after another.

    Compiled functions know the object by number: keep it for as long as them.  Values that
    are refused (a zero on the diagonal) are an error of JAX with the library's message.
    """

    def __init__(self, A: SparseMatrix, *, trans: Literal["N", "T"] = "N",
                 platform: Literal["cpu", "cuda"] | None = None,
                 **options: Unpack[TriangularKeywords]):
        if trans not in ("N", "T"):
            raise TypeMismatchError("trans", f"is {trans!r}", "use 'N' or 'T'")
        self.platform: Literal["cpu", "cuda"] = _platform_of(A) if platform is None else platform
        if self.platform not in _spaces:
            raise OptionError("platform", f"is {platform!r}", "use 'cpu' or 'cuda'")
        if self.platform == "cuda" and not (native and _core.has_cuda):
            raise OptionError("platform", "is 'cuda', and this build has no CUDA or no part "
                              "for JAX", "leave the choice to the library")
        matrix = _arrays.crs(A, copy=False)
        self._matrix = matrix._replace(
            indptr=np.array(matrix.indptr), indices=np.array(matrix.indices),
            data=np.array(matrix.data), space="host")
        self.n = matrix.shape[0]
        self._options = options
        self._row = np.repeat(np.arange(self.n), np.diff(self._matrix.indptr))
        self._col = self._matrix.indices
        self._plans: dict[tuple[str, str], tuple[TriangularSolver, np.ndarray]] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        if native:
            self._number(trans, self._matrix.dtype)
        else:
            self._plan(trans, self._matrix.data)
        self._solve = {op: _with_derivative(self, op) for op in "NT"}
        self._trans = trans

    def _solver(self, op: str, arrays: tuple[Any, Any, Any]) -> TriangularSolver:
        options = {**plan_options, **self._options}
        lower = bool(options.pop("lower", True))
        unit = bool(options.pop("unit_diagonal", False))
        space = _arrays.space_of(arrays[2])
        # No one looks at the values of each solve, so none may have to be zero.
        return new_solver(
            _arrays.Crs(*arrays, self._matrix.shape, False, space), lower, unit,
            {"N": "none", "T": "transpose"}[op], options, zeros=False)

    def __reduce__(self) -> Any:
        # Not as it is: numbers of solvers are those of one process, and of one object.
        matrix = self._matrix
        A = csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        return functools.partial(type(self), trans=self._trans, platform=self.platform,
                                 **self._options), (A,)

    # --- Called by XLA ---

    def _number(self, op: str, dtype: str) -> int:
        """That of a solver with op and the type, made where there is none."""
        key = op, dtype
        if key not in self._numbers:
            matrix = self._matrix
            arrays: Any = (matrix.indptr, matrix.indices, matrix.data.astype(dtype))
            if self.platform == "cuda":
                arrays = tuple(map(_arrays.on_gpu, arrays))
            solver = self._solver(op, arrays)
            space = _spaces[self.platform]
            number = _arrays.core("jax_put", dtype, space)(solver._core)
            weakref.finalize(self, _arrays.core("jax_take_out", dtype, space), number)
            self._numbers[key] = number
        return self._numbers[key]

    def _call(self, op: str, values: jax.Array, b: jax.Array) -> jax.Array:
        dtype = str(values.dtype)
        return jax.ffi.ffi_call(
            _target(dtype, self.platform), jax.ShapeDtypeStruct(b.shape, b.dtype),
            vmap_method="sequential")(values, b, plan=np.int64(self._number(op, dtype)))

    # --- Called by way of Python ---

    def _plan(self, op: str, values: np.ndarray) -> TriangularSolver:
        key = op, str(values.dtype)
        if key in self._plans:
            solver, has = self._plans[key]
            if not np.array_equal(has, values):
                solver.update(values)
        else:
            solver = self._solver(op, (self._matrix.indptr, self._matrix.indices, values))
        self._plans[key] = solver, values
        return solver

    def _on_host(self, op: str, values: Any, b: Any) -> np.ndarray:
        # A copy: the memory of a callback's arguments is JAX's again afterwards.
        with _turn:
            return self._plan(op, np.array(values)).solve(np.asarray(b))

    def _call_back(self, op: str, values: jax.Array, b: jax.Array) -> jax.Array:
        return jax.pure_callback(
            lambda v, r: self._on_host(op, v, r),
            jax.ShapeDtypeStruct(b.shape, b.dtype), values, b,
            vmap_method="sequential")

    def __call__(self, values: ArrayLike, b: ArrayLike) -> jax.Array:
        """x = op(A)^-1 b.

        Parameters
        ----------
        values : array of as many elements as the pattern has
            In the order of ``A.data``.
        b : array, n or n x k
            Of the dtype of `values`.
        """
        values, b = jnp.asarray(values), jnp.asarray(b)
        if str(values.dtype) not in _arrays.scalars or values.dtype != b.dtype:
            raise TypeMismatchError(
                "values, b", f"are {values.dtype} and {b.dtype}",
                "pass both as float32, float64, complex64 or complex128")
        if values.shape == (len(self._col) + self._matrix.spare,):
            values = values[:len(self._col)]
        if values.shape != self._col.shape:
            raise SizeMismatchError(
                "values", f"has the shape {values.shape} for {len(self._col)} entries",
                "pass a value for every entry")
        if b.ndim not in (1, 2) or b.shape[0] != self.n:
            raise SizeMismatchError(
                "b", f"has the shape {b.shape}, the matrix {self._matrix.shape}",
                f"pass {self.n} elements, or {self.n} x k")
        return self._solve[self._trans](values, b)


def _with_derivative(of: TriangularSolve, op: str) -> Any:
    """The solve as a linear solve of JAX, which differentiates it in both modes."""
    other = {"N": "T", "T": "N"}[op]
    outer, inner = (of._row, of._col) if op == "N" else (of._col, of._row)
    unit = bool(of._options.get("unit_diagonal"))
    strict = of._col < of._row if of._options.get("lower", True) else of._col > of._row
    used = strict if unit else strict | (of._row == of._col)
    call, call_transposed = _batched(of, op), _batched(of, other)

    def product(values: jax.Array, x: jax.Array) -> jax.Array:
        weights = values if used.all() else jnp.where(used, values, 0)
        made = jnp.zeros_like(x).at[outer].add((x[inner].T * weights).T)
        return made + x if unit else made

    def solve(values: jax.Array, b: jax.Array) -> jax.Array:
        return jax.lax.custom_linear_solve(
            lambda x: product(values, x), b,
            solve=lambda _, r: call(values, r),
            transpose_solve=lambda _, r: call_transposed(values, r))

    return solve


def _batched(of: TriangularSolve, op: str) -> Any:
    """The call of the library; for a batch of right-hand sides, one call."""

    @jax.custom_batching.custom_vmap
    def call(values: jax.Array, b: jax.Array) -> jax.Array:
        return (of._call if native else of._call_back)(op, values, b)

    @call.def_vmap
    def batch(size: int, batched: list[bool], values: jax.Array,
              b: jax.Array) -> tuple[jax.Array, bool]:
        if batched[0]:
            b = b if batched[1] else jnp.broadcast_to(b, (size, *b.shape))
            return jax.lax.map(lambda pair: call(*pair), (values, b)), True
        wide = jnp.moveaxis(b, 0, -1)
        x = call(values, wide.reshape(of.n, -1)).reshape(wide.shape)
        return jnp.moveaxis(x, -1, 0), True

    return call
