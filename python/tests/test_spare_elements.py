# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that are longer than a matrix has entries: SciPy allows them, and counts by indptr."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, INDICES, laplacian, random_array, random_triangle, tolerance
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata


def lengthened(A, indices, data):
    """A with so many elements more at the end of its arrays, which mean nothing."""
    made = A.copy()
    made.indices = np.append(A.indices, np.full(indices, 10**6, A.indices.dtype))
    made.data = np.append(A.data, np.full(data, np.nan, A.dtype))
    assert made.nnz == A.nnz
    return made


spare = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(st.integers(0, 2**32 - 1), st.sampled_from(DTYPES), st.sampled_from(INDICES),
       st.sampled_from(["csr", "csc"]), spare, spare)
def test_triangles(seed, dtype, index, form, first, second):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    A = random_triangle(rng, n, 2 * n, dtype, form, index=index)
    b = random_array(rng, n, dtype)
    long, other = lengthened(A, *first), lengthened((2 * A).asformat(form), *second)
    other.indptr, other.indices = other.indptr.astype(index), other.indices.astype(index)
    np.testing.assert_array_equal(strata.spsolve_triangular(long, b),
                                  strata.spsolve_triangular(A, b))
    solver = strata.TriangularSolver(long)
    twice = strata.TriangularSolver((2 * A).asformat(form)).solve(b)
    np.testing.assert_array_equal(strata.level_sets(solver),
                                  strata.level_sets(strata.TriangularSolver(A)))
    for values in (2 * A.data, 2 * long.data, other):
        solver.update(A.data)
        np.testing.assert_allclose(A @ solver.solve(b), b, atol=tolerance(dtype))
        solver.update(values)
        for made in (solver, pickle.loads(pickle.dumps(solver))):
            np.testing.assert_allclose(made.solve(b), twice, rtol=10 * tolerance(dtype))
    for wrong in (A.nnz - 1, A.nnz + first[1] + 1):
        with pytest.raises(strata.SizeMismatchError, match=f"{A.nnz} entries"):
            solver.update(np.ones(wrong, dtype))


@given(st.integers(0, 2**32 - 1), st.sampled_from(DTYPES), spare, spare)
def test_factors_products_and_preconditioners(seed, dtype, first, second):
    rng = np.random.default_rng(seed)
    L, U = (random_triangle(rng, 12, 40, dtype, lower=lower) for lower in (True, False))
    A, b = laplacian(4, dtype), random_array(rng, 16, dtype)
    F = strata.FactorSolver(lengthened(L, *first), lengthened(U, *second), unit_lower=False)
    wanted = strata.FactorSolver(L, U, unit_lower=False).apply(b[:12])
    np.testing.assert_array_equal(F.apply(b[:12]), wanted)
    for make, apply in ((strata.ilu0, lambda made: made @ b), (strata.ic0, lambda made: made @ b),
                        (strata.SellMatrix, lambda made: made @ b),
                        (lambda of: strata.ic0(of, order="coloured"), lambda made: made @ b)):
        made, wanted = make(lengthened(A, *first)), apply(make(A))
        np.testing.assert_array_equal(apply(made), wanted)
        made.update(2 * A.data)
        made.update(lengthened(A, *second))
        np.testing.assert_array_equal(apply(made), wanted)
        np.testing.assert_array_equal(apply(pickle.loads(pickle.dumps(made))), wanted)
    F.update(lengthened(L, *second), lengthened((2 * U).tocsr(), *first))
    np.testing.assert_allclose(2 * F.apply(b[:12]), strata.FactorSolver(
        L, U, unit_lower=False).apply(b[:12]), rtol=10 * tolerance(dtype))
    for M in (None, "jacobi"):
        x, info = strata.cg(lengthened(A, *first), b, M=M)
        np.testing.assert_array_equal(x, strata.cg(A, b, M=M)[0])


def test_matrices_with_other_numbers_of_entries(rng):
    """No one compares the pattern of an update without a wait: the numbers have to agree."""
    A = random_triangle(rng, 20, 60, "float64")
    more, fewer = sp.tril(np.ones((20, 20))).tocsr(), sp.eye_array(20, format="csr")
    for of in (A, lengthened(A, 2, 2)):
        solver = strata.TriangularSolver(of, enqueue_updates=True)
        x = solver.solve(np.ones(20))
        for wrong in (more, fewer, lengthened(more, 1, 1), lengthened(fewer, 0, A.nnz - 20)):
            for wait in (True, False):
                with pytest.raises((strata.PatternMismatchError, strata.SizeMismatchError)):
                    solver.update(wrong, wait=wait)
                np.testing.assert_array_equal(solver.solve(np.ones(20)), x)


def test_arrays_that_are_too_short(rng):
    A = laplacian(4)
    for name in ("indices", "data"):
        short = A.copy()
        setattr(short, name, getattr(A, name)[:-1])
        for make in (strata.ilu0, strata.SellMatrix,
                     lambda of: strata.TriangularSolver(of, take_triangle=True)):
            with pytest.raises(strata.Error):
                make(short)
    # The row is still the one at fault, and not where a shorter array would end.
    A.indptr[5] = A.indptr[-1] + 1
    with pytest.raises(strata.RowMapError) as caught:
        strata.SellMatrix(A)
    assert caught.value.row == 4


def test_a_matrix_that_scipy_has_shortened(rng):
    A = sp.tril(laplacian(4)).tocsr()
    A.data[1] = 0
    solver = strata.TriangularSolver(lengthened(A, 3, 3))
    A.eliminate_zeros()
    with pytest.raises(strata.SizeMismatchError):
        solver.update(A.data)
    with pytest.raises(strata.PatternMismatchError):
        solver.update(A)
