# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What objects keep of arrays of a GPU, and which arrays they take."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, random_triangle, with_zeros_outside
from test_cuda import Only, OnlyMatrix, cupy, on_gpu

import strata_solvers as strata

COPIES = [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))]


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_arrays_that_change_later(rng, form):
    """Objects, those that share their plans, and copies go on as they were."""
    n = 200
    A, full = random_triangle(rng, n, 600, "float64", form), laplacian(10)
    U = random_triangle(rng, n, 600, "float64", lower=False)
    ab = rng.random((3, n))
    ab[1] += 5
    matrices = [on_gpu(of) for of in (A, A.tocsr(), U, full)]
    band, order = cupy.asarray(ab), cupy.asarray(rng.permutation(n))
    new = [cupy.asarray(2 * of.data) for of in (A, full)]
    made = [(strata.TriangularSolver(matrices[0]), cupy.ones(n)),
            (strata.FactorSolver(matrices[1], matrices[2], order), cupy.ones(n)),
            (strata.ilu0(matrices[3], transpose=True), cupy.ones(100)),
            (strata.BandSolver((1, 1), band), cupy.ones(n))]
    made[0][0].update(new[0])
    made[2][0].update(new[1])
    made += [(of.share_plan(), b) for of, b in made[:3]]
    wanted = [of.solve(b).get() for of, b in made]
    for matrix in matrices:
        matrix.data *= 7
        matrix.indices[...] = 0
        matrix.indptr[...] = 0
    for array in (band, order, *new):
        array *= 3
    for (of, b), x in zip(made, wanted):
        np.testing.assert_array_equal(of.solve(b).get(), x)
        for make in COPIES:
            np.testing.assert_allclose(make(of).solve(b).get(), x, rtol=1e-10)


def test_what_one_has_updated_the_other_has(rng):
    L, U = (random_triangle(rng, 90, 300, "float64", lower=lower) for lower in (True, False))
    first, second = (cupy.asarray(rng.permutation(90)) for _ in range(2))
    b = cupy.asarray(rng.random(90))
    F = strata.FactorSolver(on_gpu(L), on_gpu(U), first, second)
    G = F.share_plan()
    F.update(on_gpu(L), on_gpu((2 * U).tocsr()), second, first)
    G.update(on_gpu(L), on_gpu((3 * U).tocsr()))
    wanted = strata.FactorSolver(L, (3 * U).tocsr(), second.get(), first.get()).apply(b.get())
    for made in (F, G, *(make(of) for of in (F, G) for make in COPIES)):
        np.testing.assert_allclose(made.apply(b).get(), wanted, rtol=1e-9)


def test_a_copy_waits_for_values_of_other_streams(rng):
    """Kept values are enqueued, and copied by work on another stream."""
    n = 200000
    A = random_triangle(rng, n, 3 * n, "float64")
    solver = strata.TriangularSolver(on_gpu(A), enqueue_updates=True)
    b = cupy.ones(n)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True):
        big = cupy.random.random((3000, 3000))
        for _ in range(10):
            big = big @ big
            big /= big.max()
        solver.update(cupy.asarray(4 * A.data) + 0 * big.sum(), wait=False)
    again = pickle.loads(pickle.dumps(solver))
    np.testing.assert_allclose(again.solve(b).get(), solver.solve(b).get(), rtol=1e-10)
    np.testing.assert_allclose(4 * (A @ again.solve(b).get()), np.ones(n), atol=1e-8)


def test_arrays_of_the_interface_alone_are_kept(rng):
    A = random_triangle(rng, 100, 300, "float64")
    of = on_gpu(A)
    solver = strata.TriangularSolver(OnlyMatrix(of))
    b = cupy.ones(100)
    x = solver.solve(b).get()
    of.data *= 3
    np.testing.assert_array_equal(copy.deepcopy(solver).solve(b).get(), x)
    solver.update(Only(cupy.asarray(2 * A.data)))
    np.testing.assert_allclose(2 * copy.deepcopy(solver).solve(b).get(), x, rtol=1e-10)
    with pytest.raises(strata.TypeMismatchError, match="pickled"):
        pickle.dumps(solver)


def test_spare_elements(rng):
    A = random_triangle(rng, 50, 150, "float64")
    long = on_gpu(A)
    long.indices = cupy.append(long.indices, cupy.asarray([10**6] * 2, "int32"))
    long.data = cupy.append(long.data, cupy.full(3, cupy.nan))
    b = cupy.ones(50)
    wanted = strata.TriangularSolver(A).solve(b.get())
    for of in (long, OnlyMatrix(long)):
        solver = strata.TriangularSolver(of, enqueue_updates=True)
        for values in (cupy.asarray(A.data), long.data, long):
            for wait in (True, False):
                solver.update(2 * values if values is not long else long, wait=wait)
                factor = 1 if values is long else 2
                np.testing.assert_allclose(factor * solver.solve(b).get(), wanted, rtol=1e-10)
        with pytest.raises(strata.SizeMismatchError, match=f"{A.nnz} entries"):
            solver.update(long.data[:-1])
        # No one looks at their offsets.
        more = on_gpu(sp.tril(np.ones((50, 50))).tocsr())
        with pytest.raises(strata.SizeMismatchError, match=f"{A.nnz} entries"):
            solver.update(more, wait=False)
        with pytest.raises(strata.PatternMismatchError):
            solver.update(more)
    S = strata.SellMatrix(long)
    S.update(2 * long.data)
    np.testing.assert_allclose((S @ b).get(), 2 * (A @ b.get()), rtol=1e-12)


def test_zeros_in_the_other_triangle(rng):
    A = random_triangle(rng, 60, 200, "float64")
    B, places = with_zeros_outside(rng, A, True)
    assert places.size
    b = cupy.asarray(rng.random(60))
    wanted = strata.TriangularSolver(A, algorithm="level_sets").solve(b.get())
    wrong = B.data.copy()
    wrong[places[-1]] = 1e-30
    for of in (on_gpu(B), OnlyMatrix(on_gpu(B))):
        solver = strata.TriangularSolver(of, algorithm="level_sets")
        np.testing.assert_allclose(solver.solve(b).get(), wanted, rtol=1e-10)
        with pytest.raises(strata.WrongTriangleError):
            solver.update(cupy.asarray(wrong))
        solver.update(cupy.asarray(2 * B.data))
        np.testing.assert_allclose(2 * solver.solve(b).get(), wanted, rtol=1e-10)
        with pytest.raises(strata.WrongTriangleError):
            strata.TriangularSolver(of, enqueue_updates=True)
    F = strata.FactorSolver(on_gpu(B), on_gpu(B.T.tocsr()), unit_lower=False)
    with pytest.raises(strata.WrongTriangleError):
        F.update(on_gpu(sp.csr_array((wrong, B.indices, B.indptr), B.shape)), on_gpu(B.T.tocsr()))


def test_arrays_that_are_not_contiguous(rng):
    A = random_triangle(rng, 50, 150, "float64")
    solver = strata.TriangularSolver(on_gpu(A))
    apart = cupy.zeros(2 * A.nnz)[::2]
    apart[...] = cupy.asarray(2 * A.data)
    with pytest.raises(strata.OptionError, match="contiguous"):
        solver.update(Only(apart))  # nothing can copy it
    solver.update(apart)
    x = solver.solve(cupy.ones(50)).get()
    np.testing.assert_allclose(2 * (A @ x), np.ones(50), atol=1e-10)
    mixed = on_gpu(A)
    mixed.indices = A.indices
    with pytest.raises(strata.TypeMismatchError, match="A.indices"):
        strata.TriangularSolver(mixed)
