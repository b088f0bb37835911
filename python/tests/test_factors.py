# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors of other programs, levels of fill, small pivots, and factors in float."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import (
    DTYPES,
    INDICES,
    LAYOUTS,
    in_layout,
    laplacian,
    random_array,
    random_matrix,
    random_triangle,
    tolerance,
    with_indices,
    with_zeros_outside,
)
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata


def general(rng, n, entries, dtype):
    """A matrix with a dominant diagonal."""
    A = random_matrix(rng, n, n, entries, dtype)
    A = (A + (abs(A).sum(axis=1).max() + 1) * sp.eye_array(n, dtype=dtype)).tocsr()
    A = A.astype(dtype)
    A.sort_indices()
    return A


# --- FactorSolver ------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(DTYPES),
       st.sampled_from(INDICES), st.sampled_from([None, 1, 4]), st.sampled_from(LAYOUTS),
       st.booleans(), st.booleans())
def test_factor_solver(seed, n, dtype, index, k, layout, permuted, scaled):
    rng = np.random.default_rng(seed)
    L = random_triangle(rng, n, 2 * n, dtype, index=index)
    U = random_triangle(rng, n, 2 * n, dtype, lower=False, index=index)
    perm_r, perm_c = (rng.permutation(n).astype(index) for _ in range(2))
    row_scale, col_scale = (rng.uniform(0.5, 2, n) for _ in range(2))
    of = {}
    # Pr Dr A Dc Pc = L U, all dense.
    Pr, Pc = np.zeros((n, n)), np.zeros((n, n))
    Pr[perm_r, np.arange(n)] = 1
    Pc[np.arange(n), perm_c] = 1
    A = (L @ U).toarray()
    if permuted:
        of.update(perm_r=perm_r, perm_c=perm_c)
        A = Pr.T @ A @ Pc.T
    if scaled:
        of.update(row_scale=row_scale, col_scale=col_scale)
        A = A / row_scale[:, None] / col_scale[None, :]
    solver = strata.FactorSolver(L, U, unit_lower=False, transpose=True, **of)
    b = in_layout(random_array(rng, n if k is None else (n, k), dtype), layout)
    error = 200 * tolerance(dtype)
    for op, x in ((A, solver.apply(b)), (A, solver @ b), (A, solver.solve(b)),
                  (A.T, solver.T @ b), (A.conj().T, solver.H @ b),
                  (A.T, solver.apply(b, trans="T"))):
        np.testing.assert_allclose(op @ x, b, atol=error)
    again = pickle.loads(pickle.dumps(solver))
    np.testing.assert_array_equal(again.apply(b), solver.apply(b))
    shared = solver.share_plan()
    np.testing.assert_array_equal(shared.apply(b), solver.apply(b))
    twice = L.copy()
    twice.data = 2 * L.data
    shared.update(with_indices(twice, index), U)
    np.testing.assert_allclose(2 * (A @ solver.apply(b)), b, atol=error)
    in_place = b.copy()
    assert solver.apply(in_place, in_place) is in_place


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factors_of_superlu(rng, dtype):
    A = general(rng, 80, 400, dtype).tocsc()
    lu = spla.splu(A)
    M = strata.FactorSolver(lu.L, lu.U, lu.perm_r, lu.perm_c)
    b = random_array(rng, (80, 3), dtype)
    np.testing.assert_allclose(A @ M.apply(b), b, atol=1e-10)
    np.testing.assert_allclose(M.apply(b), lu.solve(b), atol=1e-10)
    report = M.report()
    assert report.rows == 80 and report.lower_entries == lu.L.nnz
    assert report.bytes >= report.plan_bytes and report.lower.rows == 80
    for method in ("gmres", "bicgstab"):
        x, info = getattr(strata, method)(A.tocsr(), b[:, 0].copy(), M=M, rtol=1e-10)
        assert info == 0 and info.iterations <= 2
        x, info = getattr(spla, method)(A, b[:, 0], M=M, rtol=1e-10)
        assert info == 0


def test_factors_in_one_matrix(rng):
    A = general(rng, 30, 100, "float64")
    M = strata.ilu0(A)
    both = (M.lower + M.upper - sp.eye_array(30)).tocsr()
    solver = strata.FactorSolver(both, both, take_triangle=True)
    b = rng.random(30)
    np.testing.assert_allclose(solver.apply(b), M.apply(b), rtol=1e-12)


def test_zeros_in_the_other_triangles(rng):
    L, U = (random_triangle(rng, 30, 90, "float64", lower=lower) for lower in (True, False))
    longer = [with_zeros_outside(rng, of, lower) for of, lower in ((L, True), (U, False))]
    (M, of_L), (V, of_U) = longer
    b = rng.random((30, 2))
    plain = strata.FactorSolver(L, U, unit_lower=False, algorithm="level_sets")
    wanted = plain.apply(b)
    for factors in ((M, V), (M, U), (L, V), (M.tocsc(), V.tocsc())):
        F = strata.FactorSolver(*factors, unit_lower=False, algorithm="level_sets")
        np.testing.assert_array_equal(F.apply(b), wanted)
        F.update(*factors)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(F)).apply(b), wanted)
    F = strata.FactorSolver(M, V, unit_lower=False)
    for which, places in enumerate((of_L, of_U)):
        factors = [M.copy(), V.copy()]
        factors[which].data[places[-1]] = 1e-30
        row = np.searchsorted(factors[which].indptr, places[-1], side="right") - 1
        for call in (strata.FactorSolver, F.update, F.share_plan().update):
            with pytest.raises(strata.WrongTriangleError) as caught:
                call(*factors)
            assert caught.value.row == row and caught.value.argument == "LU"[which]
        np.testing.assert_array_equal(F.apply(b), strata.FactorSolver(
            M, V, unit_lower=False).apply(b))


def test_factor_solver_refuses(rng):
    L, U = (random_triangle(rng, 9, 20, "float64", lower=lower) for lower in (True, False))
    solver = strata.FactorSolver(L, U)
    b = np.ones(9)
    before = solver.apply(b)
    small = random_triangle(rng, 8, 20, "float64")
    for arguments, error in (
            ((L, small), strata.SizeMismatchError), ((L, U.astype("float32")),
                                                     strata.TypeMismatchError),
            ((U, L), strata.WrongTriangleError), ((None, U), strata.TypeMismatchError),
            ((L, U, np.arange(8)), strata.SizeMismatchError),
            ((L, U, np.ones(9)), strata.TypeMismatchError),
            ((L, U, None, None, 1j * b), strata.TypeMismatchError),
            ((L, U, None, None, 0 * b), strata.ZeroDiagonalError),
            ((L, U, None, None, np.nan * b), strata.NotFiniteError)):
        with pytest.raises(error):
            strata.FactorSolver(*arguments)
        # Of another pattern, too: an update says so first.
        with pytest.raises((error, strata.PatternMismatchError)):
            solver.update(*arguments)
        np.testing.assert_array_equal(solver.apply(b), before)
    for wrong in (np.zeros(9, "int32"), np.full(9, 9), np.arange(9) - 1):
        with pytest.raises(strata.PermutationError) as caught:
            strata.FactorSolver(L, U, wrong)
        assert caught.value.row is not None
    for options in (dict(no_such=1), dict(trans="T"), dict(precision="half"),
                    dict(enqueue_updates=True)):
        with pytest.raises(strata.OptionError):
            strata.FactorSolver(L, U, **options)
    with pytest.raises(strata.OptionError, match="transpose"):
        solver.apply(b, trans="T")
    with pytest.raises(strata.PatternMismatchError):
        solver.update(random_triangle(rng, 9, 3, "float64"), U)
    with pytest.raises(strata.SizeMismatchError):
        strata.cg(small, np.ones(8), M=solver)


# --- Levels of fill ----------------------------------------------------------


def filled_pattern(A, level):
    """The rule of ILU(k), written out: an entry's level is the least over eliminated
    columns of the sum of two levels and one."""
    n = A.shape[0]
    levels = np.where(A.toarray() != 0, 0, 10**6)
    for i in range(1, n):
        for k in range(i):
            if levels[i, k] <= level:
                levels[i, k + 1:] = np.minimum(levels[i, k + 1:],
                                               levels[i, k] + levels[k, k + 1:] + 1)
    return levels <= level


@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(0, 3),
       st.sampled_from(DTYPES))
def test_levels_of_fill(seed, n, level, dtype):
    rng = np.random.default_rng(seed)
    A = general(rng, n, 2 * n, dtype)
    M = strata.ilu(A, level)
    pattern = filled_pattern(A, level)
    wanted = pattern.sum()
    assert M.lower.nnz + M.upper.nnz - n == wanted
    assert M.report().fill_entries == wanted - A.nnz
    product = (M.lower @ M.upper).toarray()
    np.testing.assert_allclose(product[pattern], A.toarray()[pattern],
                               atol=20 * tolerance(dtype) * abs(A).max())
    M.update(2 * A.data)
    np.testing.assert_allclose((M.lower @ M.upper).toarray(), 2 * product,
                               atol=20 * tolerance(dtype) * abs(A).max())


@pytest.mark.parametrize("kind", ["ilu", "ic"])
def test_fill_takes_fewer_iterations(rng, kind):
    A = laplacian(25)
    b = rng.random(625)
    iterations = []
    for level in range(4):
        M = getattr(strata, kind)(A, level)
        assert f"{kind}{level}" in repr(M)
        x, info = strata.cg(A, b, M=M, rtol=1e-9)
        assert info == 0
        np.testing.assert_allclose(A @ x, b, atol=1e-6)
        iterations.append(info.iterations)
        again = pickle.loads(pickle.dumps(M))
        np.testing.assert_array_equal(again @ b, M @ b)
        np.testing.assert_allclose(M.H @ b, again.H @ b)
    assert iterations == sorted(iterations, reverse=True) and iterations[3] < iterations[0]
    np.testing.assert_array_equal(getattr(strata, kind)(A) @ b,
                                  getattr(strata, kind + "0")(A) @ b)


@pytest.mark.parametrize("level", [-1, 1.5, True, "1", None])
def test_levels_that_are_none(level):
    with pytest.raises(strata.OptionError, match="fill_level"):
        strata.ilu(laplacian(3), level)


# --- Small pivots ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_small_pivots(kind, dtype):
    A = laplacian(5, dtype)
    assert A.indices[0] == 0
    A.data[0] = 0
    with pytest.raises(strata.MatrixError):
        getattr(strata, kind)(A)
    M = getattr(strata, kind)(A, small_pivot_threshold=0.1)
    report = M.report()
    assert report.replaced_pivots >= 1 and report.largest_pivot_change > 0
    assert np.isfinite(M @ np.ones(25, dtype)).all()
    good = laplacian(5, dtype)
    M.update(good.data)
    assert M.report().replaced_pivots == 0
    np.testing.assert_array_equal(M @ np.ones(25, dtype),
                                  getattr(strata, kind)(good) @ np.ones(25, dtype))
    for wrong in (-1, 2, np.nan, "much"):
        with pytest.raises(strata.OptionError, match="small_pivot_threshold"):
            getattr(strata, kind)(good, small_pivot_threshold=wrong)


# --- Factors in float --------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_single_precision(rng, dtype):
    A = general(rng, 200, 1000, dtype)
    b = random_array(rng, (200, 3), dtype)
    exact, single = strata.ilu0(A), strata.ilu0(A, precision="single")
    z, rounded = exact.apply(b), single.apply(b)
    assert rounded.dtype == dtype and (rounded != z).any()
    np.testing.assert_allclose(rounded, z, atol=1e-5 * abs(z).max())
    # Of any size.
    np.testing.assert_allclose(single.apply(b * 1e200), z * 1e200, atol=1e195 * abs(z).max())
    assert single.report().plan_bytes < exact.report().plan_bytes
    solver = strata.FactorSolver(exact.lower, exact.upper, precision="single")
    assert solver.report().precision == "single"
    np.testing.assert_allclose(solver.apply(b), z, atol=1e-5 * abs(z).max())
    x, info = strata.gmres(A, b[:, 0].copy(), M=single, rtol=1e-11)
    assert info == 0
    np.testing.assert_allclose(A @ x, b[:, 0], atol=1e-8)
    with pytest.raises(strata.PrecisionError) as caught:
        strata.ilu0(A * 1e60, precision="single")
    assert caught.value.row is not None
    with pytest.raises(strata.OptionError, match="precision"):
        strata.ilu0(A, precision="half")


# --- Updates without a wait, and shared plans --------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_updates_without_a_wait(rng, dtype):
    A = random_triangle(rng, 60, 200, dtype)
    b = random_array(rng, 60, dtype)
    solver = strata.TriangularSolver(A, enqueue_updates=True)
    solver.update(2 * A.data, wait=False)
    assert solver.update_status()[:2] == (None, None)
    np.testing.assert_allclose(2 * (A @ solver.solve(b)), b, atol=tolerance(dtype))
    zero = A.copy()
    zero.data = A.data.copy()
    zero.data[A.indptr[5] - 1] = 0
    solver.update(zero, wait=False)
    assert solver.update_status()[:2] == ("zero_diagonal", 4)
    assert np.isnan(solver.solve(b)).all()
    solver.update(A.data, wait=False)
    np.testing.assert_allclose(A @ solver.solve(b), b, atol=tolerance(dtype))

    of = laplacian(8, dtype)
    M = strata.ilu0(of, enqueue_updates=True)
    wanted = M.apply(np.ones(64, dtype))
    M.update(of.data * 0, wait=False)
    status = M.update_status()
    assert status.fault == "zero_diagonal" and status.row == 0
    assert np.isnan(M.apply(np.ones(64, dtype))).all()
    M.update(of, wait=False)
    assert M.update_status().fault is None
    np.testing.assert_allclose(M.apply(np.ones(64, dtype)), wanted, rtol=1e-4)
    again = pickle.loads(pickle.dumps(M))
    again.update(of.data, wait=False)


def test_updates_without_a_wait_need_the_option():
    A = laplacian(4)
    for solver in (strata.TriangularSolver(sp.tril(A).tocsr()), strata.ilu0(A)):
        with pytest.raises(strata.OptionError):
            solver.update(solver._matrix.data, wait=False)
        with pytest.raises(strata.OptionError):
            solver.update_status()
    with pytest.raises(strata.OptionError):
        strata.ilu0(A, enqueue_updates=True, precision="single")


def test_shared_plans(rng):
    A = random_triangle(rng, 200, 800, "float64")
    one = strata.TriangularSolver(A)
    other = one.share_plan()
    b = rng.random((200, 2))
    np.testing.assert_array_equal(one.solve(b), other.solve(b))
    other.update(3 * A.data)
    np.testing.assert_allclose(3 * (A @ one.solve(b)), b, atol=1e-10)
    # Of the values that both have.
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).solve(b), other.solve(b))
    assert one.report().workspace_bytes <= one.report().plan_bytes

    of = laplacian(10)
    M = strata.ilu0(of)
    shared = M.share_plan()
    lower = M.lower
    shared.update(2 * of.data)
    r = rng.random(100)
    np.testing.assert_array_equal(M @ r, shared @ r)
    assert (M.lower != shared.lower).nnz == 0 and (M.lower != lower).nnz == 0
    assert (M.upper != shared.upper).nnz == 0
    with pytest.raises(strata.OptionError, match="transpose"):
        M.H @ r
    M = strata.ilu0(of, transpose=True)
    np.testing.assert_array_equal(M.share_plan().H @ r, M.H @ r)
    with pytest.raises(strata.OptionError, match="natural"):
        strata.ic0(of, order="coloured").share_plan()
