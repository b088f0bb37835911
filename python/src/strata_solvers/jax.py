# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The triangular solve for JAX, with derivatives, under ``jit`` and ``vmap``.

>>> from strata_solvers.jax import TriangularSolve
>>> solve = TriangularSolve(L)          # L: BCSR, or a CSR matrix of SciPy
>>> x = solve(L.data, b)                # differentiable in both arguments

The solve itself is a callback on the host; arrays on a GPU travel there and back.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _arrays
from ._errors import SizeMismatchError, TypeMismatchError
from ._triangular import TriangularSolver


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
    **options
        The others of :class:`strata_solvers.TriangularSolver`.

    Notes
    -----
    Reverse-mode derivatives of any order.  With y the cotangent of x, that of b is
    z = op(A)^-T y and that of an entry a_ij is -z_i x_j (for 'T' -z_j x_i), added up over
    the right-hand sides.
    """

    def __init__(self, A: Any, *, trans: str = "N", **options: Any):
        if trans not in ("N", "T"):
            raise TypeMismatchError("trans", f"is {trans!r}", "use 'N' or 'T'")
        matrix = _arrays.crs(A, csc=False)
        self._matrix = matrix._replace(
            indptr=np.array(matrix.indptr), indices=np.array(matrix.indices),
            data=np.array(matrix.data), space="host")
        self.n = matrix.shape[0]
        self._options = options
        self._row = np.repeat(np.arange(self.n), np.diff(self._matrix.indptr))
        self._col = self._matrix.indices
        self._plans: dict[tuple[str, str], tuple[TriangularSolver, np.ndarray]] = {}
        self._plan(trans, self._matrix.data)
        self._solve = {op: _with_derivative(self, op) for op in "NT"}
        self._trans = trans

    def _plan(self, op: str, values: np.ndarray) -> TriangularSolver:
        key = op, str(values.dtype)
        if key in self._plans:
            solver, has = self._plans[key]
            if not np.array_equal(has, values):
                solver.update(values)
        else:
            from scipy.sparse import csr_array

            A = csr_array((values, self._matrix.indices, self._matrix.indptr),
                          shape=self._matrix.shape)
            solver = TriangularSolver(A, trans=op, **self._options)
        self._plans[key] = solver, values
        return solver

    def _on_host(self, op: str, values: Any, b: Any) -> np.ndarray:
        # A copy: the memory of a callback's arguments is JAX's again afterwards.
        return self._plan(op, np.array(values)).solve(np.asarray(b))

    def __call__(self, values: Any, b: Any) -> jax.Array:
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
    other = {"N": "T", "T": "N"}[op]

    @jax.custom_vjp
    def solve(values: jax.Array, b: jax.Array) -> jax.Array:
        return jax.pure_callback(
            lambda v, r: of._on_host(op, v, r),
            jax.ShapeDtypeStruct(b.shape, b.dtype), values, b,
            vmap_method="sequential")

    def forward(values: jax.Array, b: jax.Array) -> Any:
        x = solve(values, b)
        return x, (values, x)

    def backward(saved: Any, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        values, x = saved
        z = of._solve[other](values, y)
        i, j = (of._row, of._col) if op == "N" else (of._col, of._row)
        gradient = -(z[i] * x[j])
        if gradient.ndim == 2:
            gradient = gradient.sum(axis=1)
        if of._options.get("unit_diagonal"):
            gradient = jnp.where(i == j, 0, gradient)
        return gradient, z

    solve.defvjp(forward, backward)
    return solve
