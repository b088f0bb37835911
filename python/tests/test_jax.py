# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import gc
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_array, random_triangle, tolerance

import strata_solvers as strata

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def wide():
    jax.config.update("jax_enable_x64", True)


@pytest.fixture(params=["by XLA", "by Python"])
def called(request, monkeypatch):
    """Who calls the library."""
    import strata_solvers.jax

    if request.param == "by Python":
        monkeypatch.setattr(strata_solvers.jax, "native", False)
    elif not strata_solvers.jax.native:
        pytest.skip("this build had no headers of jaxlib")


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


def test_derivatives_are_those_of_finite_differences(rng, called):
    from jax.test_util import check_grads

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    solve = TriangularSolve(A)
    check_grads(solve, (jax.numpy.asarray(A.data), jax.numpy.asarray(rng.random(6))),
                order=2, modes=["rev"], atol=1e-4, rtol=1e-4)


def test_vmap(rng, called):
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    solve = TriangularSolve(A)
    values = jax.numpy.stack([A.data, 2 * A.data])
    x = jax.vmap(solve, in_axes=(0, None))(values, jax.numpy.ones(6))
    np.testing.assert_allclose(x[0], 2 * x[1])


def test_takes_bcsr(rng, called):
    from jax.experimental.sparse import BCSR

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    of = BCSR((jax.numpy.asarray(A.data), jax.numpy.asarray(A.indices),
               jax.numpy.asarray(A.indptr)), shape=A.shape)
    x = TriangularSolve(of)(of.data, jax.numpy.ones(6))
    np.testing.assert_allclose(A @ np.asarray(x), np.ones(6), atol=1e-12)
    x = strata.TriangularSolver(of).solve(jax.numpy.ones(6))
    np.testing.assert_allclose(A @ np.asarray(x), np.ones(6), atol=1e-12)


def test_padded_matrices(rng, called):
    """Of BCSR with more room than entries; as many values as that has room for."""
    from jax.experimental.sparse import BCSR

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    of = BCSR((jax.numpy.append(A.data, jax.numpy.array([9.0, 9.0])),
               jax.numpy.append(A.indices, jax.numpy.array([6, 6], "int32")),
               jax.numpy.asarray(A.indptr)), shape=A.shape)
    b = np.ones(6)
    solve, wanted = TriangularSolve(of), TriangularSolve(A)
    for values in (of.data, A.data):
        np.testing.assert_array_equal(solve(values, b), wanted(A.data, b))
    gradient = jax.grad(lambda v: solve(v, b).sum())(of.data)
    np.testing.assert_allclose(gradient[:-2], jax.grad(lambda v: wanted(v, b).sum())(
        jax.numpy.asarray(A.data)), atol=1e-12)
    assert (gradient[-2:] == 0).all()
    solver = strata.TriangularSolver(of)
    there = jax.numpy.asarray(b)  # where the matrix is
    new_values = [2 * of.data, 2 * jax.numpy.asarray(A.data)]
    if jax.default_backend() == "cpu":
        new_values.append(2 * A.data)
    for values in new_values:
        solver.update(values)
        for made in (solver, copy.copy(solver), copy.deepcopy(solver),
                     pickle.loads(pickle.dumps(solver))):
            np.testing.assert_allclose(2 * (A @ np.asarray(made.solve(there))), b, atol=1e-12)
    # No one looks at the values of a compiled program, so there is no place for zeros.
    zeros = sp.csr_array(([2.0, 0.0, 1.0, 4.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    with pytest.raises(strata.WrongTriangleError):
        TriangularSolve(zeros)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy,
                                 lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_outlive_their_object(rng, called, way):
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64", lower=False)
    solve = TriangularSolve(A, trans="T", lower=False)
    again = way(solve)
    del solve
    gc.collect()
    x = jax.jit(again)(A.data, np.ones(6))
    np.testing.assert_allclose(A.T @ np.asarray(x), np.ones(6), atol=1e-12)


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
    with pytest.raises(strata.OptionError, match="platform"):
        TriangularSolve(A, platform="tpu")
    if not strata.has_cuda:
        with pytest.raises(strata.OptionError, match="CUDA"):
            TriangularSolve(A, platform="cuda")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("columns", [None, 1, 4])
def test_types_and_gradients_of_one_object(rng, called, dtype, columns):
    """Values of another type than the pattern's, upper triangles, and both orders of calls."""
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 30, 90, "float64", lower=False)
    solve = TriangularSolve(A, lower=False)
    b = random_array(rng, (30,) if columns is None else (30, columns), dtype)
    for factor in (1, 2, 1):
        values = jax.numpy.asarray((factor * A.data).astype(dtype))
        for call in (solve, jax.jit(solve)):
            x = call(values, b)
            assert x.dtype == dtype and x.shape == b.shape
            np.testing.assert_allclose(factor * (A @ np.asarray(x)), b, atol=tolerance(dtype))


def test_values_that_are_refused(rng, called):
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, "float64")
    solve = jax.jit(TriangularSolve(A))
    values = A.data.copy()
    values[A.indptr[3] - 1] = 0
    with pytest.raises(Exception, match="diagonal"):
        solve(values, np.ones(6)).block_until_ready()
    np.testing.assert_allclose(A @ np.asarray(solve(A.data, np.ones(6))), np.ones(6), atol=1e-12)


def test_an_object_that_is_gone(rng):
    import strata_solvers.jax

    if not strata_solvers.jax.native:
        pytest.skip("this build had no headers of jaxlib")
    A = random_triangle(rng, 6, 12, "float64")
    solve = strata_solvers.jax.TriangularSolve(A)
    compiled = jax.jit(solve)
    compiled(A.data, np.ones(6)).block_until_ready()
    space = "cuda" if solve.platform == "cuda" else "host"
    take_out = getattr(strata._core, f"jax_take_out_float64_{space}")
    for number in solve._numbers.values():
        take_out(number)
    with pytest.raises(Exception, match="no longer exists"):
        compiled(A.data, np.ones(6)).block_until_ready()


def test_threads_and_programs(rng):
    """Threads of XLA and of Python work at the same time."""
    import threading

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 500, 2000, "float64")
    program, solver = jax.jit(TriangularSolve(A)), strata.TriangularSolver(A)
    b = rng.random(500)
    wanted, faults = solver.solve(b), []

    def work(call):
        try:
            for _ in range(20):
                np.testing.assert_allclose(call(), wanted, rtol=1e-9)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(call,)) for call in 2 * [
        lambda: np.asarray(program(A.data, b)), lambda: solver.solve(b)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_plans_may_be_alive_at_exit():
    """Whatever was registered for the exit before the package was imported."""
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", """
import weakref
class Early:
    pass
early = Early()
weakref.finalize(early, int)
import numpy as np, scipy.sparse as sp, jax
from strata_solvers.jax import TriangularSolve
solve = TriangularSolve(sp.eye_array(9, format="csr", dtype="float32"))
print(jax.jit(solve)(np.ones(9, "float32"), np.ones(9, "float32")).sum())
"""], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.strip() == "9.0", done.stderr


def test_matrices_of_jax(rng):
    from conftest import laplacian
    from jax.experimental.sparse import BCOO, BCSR

    A, b = laplacian(6), rng.random(36)
    dense, there = jax.numpy.asarray(A.toarray()), jax.numpy.asarray(b)
    twice = BCOO.fromdense(dense / 2)
    twice = BCOO((jax.numpy.tile(twice.data, 2), jax.numpy.tile(twice.indices, (2, 1))),
                 shape=dense.shape)
    row = np.repeat(np.arange(36), np.diff(A.indptr))
    order = np.lexsort((rng.random(row.size), row))
    mixed = BCSR(tuple(map(jax.numpy.asarray, (A.data[order], A.indices[order], A.indptr))),
                 shape=A.shape)
    for of, said in ((BCSR.fromdense(dense), ""), (mixed, "sorted"),
                     (BCOO.fromdense(dense), "coo to csr"),
                     (twice, "coo to csr"), (dense, "dense to csr")):
        M = strata.ilu0(of)
        assert M.report().conversion == said
        np.testing.assert_allclose(np.asarray(M @ there), strata.ilu0(A) @ b)
        M.update(of)
        S = strata.SellMatrix(of)
        adjoint = S.H @ there
        assert type(adjoint) is type(S @ there)
        np.testing.assert_allclose(np.asarray(adjoint), A.T @ b)
        x, info = strata.cg(of, there, M=lambda r: M @ r, rtol=1e-9)
        assert info == 0
        np.testing.assert_allclose(A @ np.asarray(x), b, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_forward_mode(rng, called, dtype, trans, unit, columns):
    import jax.numpy as jnp

    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 6, 12, dtype)
    ours = TriangularSolve(A, trans=trans, unit_diagonal=unit)
    dense = dense_solve(A, trans, unit)
    shape = (6,) if columns is None else (6, columns)
    values, b = jnp.asarray(A.data), jnp.asarray(random_array(rng, shape, dtype))
    tangents = (jnp.asarray(random_array(rng, A.data.shape, dtype)),
                jnp.asarray(random_array(rng, shape, dtype)))
    for found, wanted in zip(jax.jvp(ours, (values, b), tangents),
                             jax.jvp(dense, (values, b), tangents)):
        np.testing.assert_allclose(found, wanted, atol=1e-10)
    for found, wanted in zip(jax.jit(jax.jacfwd(ours, (0, 1), holomorphic=dtype[0] == "c"))(
            values, b), jax.jacfwd(dense, (0, 1), holomorphic=dtype[0] == "c")(values, b)):
        np.testing.assert_allclose(found, wanted, atol=1e-10)
    if dtype == "float64":
        def size(solve):
            return lambda v: (solve(v, b) ** 2).sum()

        np.testing.assert_allclose(jax.hessian(size(ours))(values),
                                   jax.hessian(size(dense))(values), atol=1e-8)


def test_entries_that_are_ignored_have_no_derivative(rng, called):
    from strata_solvers.jax import TriangularSolve

    A = random_triangle(rng, 5, 8, "float64") + 0.1 * sp.triu(np.ones((5, 5)), 1)
    A = A.tocsr()
    ours = TriangularSolve(A, take_triangle=True)
    gradient = jax.grad(lambda v: (ours(v, np.ones(5)) ** 2).sum())(A.data)
    row = np.repeat(np.arange(5), np.diff(A.indptr))
    assert (np.asarray(gradient)[A.indices > row] == 0).all()
    moved = A.data * (1 + (A.indices > row))
    np.testing.assert_array_equal(ours(moved, np.ones(5)), ours(A.data, np.ones(5)))


@pytest.mark.parametrize("columns", [None, 2])
def test_a_batch_of_right_hand_sides_is_one_call(rng, monkeypatch, columns):
    import strata_solvers.jax
    from strata_solvers.jax import TriangularSolve

    monkeypatch.setattr(strata_solvers.jax, "native", False)
    A = random_triangle(rng, 8, 20, "float64")
    ours, shapes = TriangularSolve(A), []
    solve = ours._on_host
    monkeypatch.setattr(ours, "_on_host", lambda op, values, b: shapes.append(
        b.shape) or solve(op, values, b))
    b = rng.random((4, 8) if columns is None else (4, 8, columns))
    many = jax.vmap(ours, (None, 0))(A.data, b)
    assert shapes == [(8, 4 * (columns or 1))]
    for x, r in zip(many, b):
        np.testing.assert_allclose(A @ x, r)
    shapes.clear()
    twice = jax.vmap(jax.vmap(ours, (None, 0)), (None, 1))(A.data, b[:, None].repeat(3, 1))
    assert len(shapes) == 1 and twice.shape == (3, *b.shape)
    np.testing.assert_allclose(twice[2], many)
    shapes.clear()
    both = jax.vmap(ours)(np.stack([A.data, 2 * A.data]), b[:2])
    np.testing.assert_allclose(both, [many[0], many[1] / 2])
    assert len(shapes) == 2
    both = jax.jit(jax.vmap(ours, (0, None)))(np.stack([A.data, 2 * A.data]), b[0])
    np.testing.assert_allclose(both, [many[0], many[0] / 2])
    shapes.clear()
    gradients = jax.vmap(jax.grad(lambda r: (ours(A.data, r) ** 2).sum()))(b)
    assert len(shapes) == 2 and gradients.shape == b.shape
