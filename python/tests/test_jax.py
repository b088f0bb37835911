# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest
from conftest import random_triangle

import strata_solvers as strata

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def wide():
    jax.config.update("jax_enable_x64", True)


def dense_solve(A, trans, unit):
    """The same solve through a dense matrix, for JAX to differentiate."""
    import jax.numpy as jnp

    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))

    def solve(values, b):
        L = jnp.zeros(A.shape, values.dtype).at[row, A.indices].set(values)
        if unit:
            L = L - jnp.diag(jnp.diag(L)) + jnp.eye(A.shape[0])
        return jnp.linalg.solve(L.T if trans == "T" else L, b)

    return solve


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_derivatives(rng, dtype, trans, unit, columns):
    import jax.numpy as jnp

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, dtype)
    ours = TriangularSolve(A, trans=trans, unit_diagonal=unit)
    dense = dense_solve(A, trans, unit)
    b = jnp.asarray(rng.random((6,) if columns is None else (6, columns)), dtype)
    values = jnp.asarray(A.data)
    np.testing.assert_allclose(ours(values, b), dense(values, b), atol=1e-12)
    np.testing.assert_allclose(jax.jit(ours)(values, b), dense(values, b), atol=1e-12)

    def size(solve):
        return lambda v, r: (abs(solve(v, r)) ** 2).sum()

    found = jax.jit(jax.grad(size(ours), argnums=(0, 1)))(values, b)
    wanted = jax.grad(size(dense), argnums=(0, 1))(values, b)
    for f, w in zip(found, wanted):
        np.testing.assert_allclose(f, w, atol=1e-10)


def test_derivatives_are_those_of_finite_differences(rng):
    from jax.test_util import check_grads

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    solve = TriangularSolve(A)
    check_grads(solve, (jax.numpy.asarray(A.data), jax.numpy.asarray(rng.random(6))),
                order=2, modes=["rev"], atol=1e-4, rtol=1e-4)


def test_vmap(rng):
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    solve = TriangularSolve(A)
    values = jax.numpy.stack([A.data, 2 * A.data])
    x = jax.vmap(solve, in_axes=(0, None))(values, jax.numpy.ones(6))
    np.testing.assert_allclose(x[0], 2 * x[1])


def test_takes_bcsr(rng):
    from jax.experimental.sparse import BCSR

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    of = BCSR((jax.numpy.asarray(A.data), jax.numpy.asarray(A.indices),
               jax.numpy.asarray(A.indptr)), shape=A.shape)
    x = TriangularSolve(of)(of.data, jax.numpy.ones(6))
    np.testing.assert_allclose(A @ np.asarray(x), np.ones(6), atol=1e-12)
    x = strata.TriangularSolver(of).solve(jax.numpy.ones(6))
    np.testing.assert_allclose(A @ np.asarray(x), np.ones(6), atol=1e-12)


def test_refuses(rng):
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    solve = TriangularSolve(A)
    with pytest.raises(strata.TypeMismatchError):
        TriangularSolve(A, trans="H")
    with pytest.raises(strata.TypeMismatchError):
        solve(A.data, np.ones(6, "float32"))
    with pytest.raises(strata.SizeMismatchError):
        solve(A.data[:-1], np.ones(6))
    with pytest.raises(strata.SizeMismatchError):
        solve(A.data, np.ones(5))
