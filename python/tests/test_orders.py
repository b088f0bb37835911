# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders and scalings of incomplete factorisations."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, laplacian, random_array, random_matrix, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

import strata_solvers as strata


def is_built(order):
    try:
        strata.ilu0(laplacian(2), order=order)
    except strata.OptionError as error:
        assert error.argument == "order" and "-D Strata_ENABLE_" in str(error)
        return False
    return True


ORDERS = ["natural", "rcm", "level_sets", "multicoloured"]
ORDERS += [order for order in ("amd", "nested_dissection") if is_built(order)]
SCALINGS = ["none", "equilibration", "matching"]


def matrix(rng, n, dtype, kind, scaling):
    """Dominant, and then badly scaled; for a matching with shuffled rows."""
    A = random_matrix(rng, n, n, 3 * n, dtype)
    if kind == "ic":
        A = A + A.conj().T
    A = A + sp.diags_array(abs(A).sum(axis=1) + abs(A).sum(axis=0) + 1)
    rows = 2.0 ** rng.integers(-5, 6, n)
    columns = rows if kind == "ic" else 2.0 ** rng.integers(-5, 6, n)
    A = (sp.diags_array(rows) @ A @ sp.diags_array(columns)).tocsr()
    if scaling == "matching":
        A = A[rng.permutation(n)]
    A = A.astype(dtype)
    A.sort_indices()
    return A


def parts(M):
    """Permutations and scalings, none of them None."""
    n = M.shape[0]
    made = [np.arange(n) if perm is None else perm for perm in (M.perm_r, M.perm_c)]
    made += [np.ones(n, M.dtype) if scale is None else scale
             for scale in (M.row_scale, M.col_scale)]
    for perm in made[:2]:
        assert sorted(perm) == list(range(n))
    return made


def permuted(A, perm_r, perm_c, row_scale, col_scale):
    A = (sp.diags_array(row_scale) @ A @ sp.diags_array(col_scale)).tocoo()
    B = sp.coo_array((A.data, (perm_r[A.row], perm_c[A.col])), A.shape).tocsr()
    B.sort_indices()
    return B


def assert_as_reference(M, A, kind, options, b):
    """M permutes and scales as NumPy does, around the factors of the permuted matrix."""
    perm_r, perm_c, row_scale, col_scale = parts(M)
    inside = getattr(strata, kind)(permuted(A, perm_r, perm_c, row_scale, col_scale),
                                   order="natural", **options)
    w = np.empty_like(b)
    w[perm_r] = row_scale * b
    x = col_scale * (inside @ w)[perm_c]
    found = M @ b
    close = 100 * tolerance(A.dtype) * abs(x).max()
    assert abs(found - x).max() <= close
    solver = strata.FactorSolver(M.lower, M.upper, M.perm_r, M.perm_c, M.row_scale,
                                 M.col_scale, unit_lower=kind != "ic")
    assert abs(solver @ b - x).max() <= close
    assert np.isclose(np.vdot(M.H @ b, b), np.vdot(b, M @ b), rtol=1e4 * tolerance(A.dtype))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(DTYPES),
       st.sampled_from(["ilu", "ic"]), st.sampled_from(ORDERS), st.sampled_from(SCALINGS),
       st.integers(0, 2))
def test_orders_and_scalings(seed, n, dtype, kind, order, scaling, fill_level):
    rng = np.random.default_rng(seed)
    if kind == "ic" and scaling == "matching":
        scaling = "none"
    A = matrix(rng, n, dtype, kind, scaling)
    options = {"fill_level": fill_level}
    M = getattr(strata, kind)(A, order=order, scaling=scaling, **options)
    report = M.report()
    if scaling != "matching":
        assert report.order == order
    moves = order != "natural" or scaling == "matching"
    assert (report.level_sets_before > 0) == (report.level_sets_after > 0) == moves
    assert (report.order_us > 0) == (moves or scaling != "none")
    b = random_array(rng, n, dtype)
    assert_as_reference(M, A, kind, options, b)
    new = A.copy()
    new.data *= 2.0 ** (rng.integers(0, 2, n)[A.indices] if kind == "ilu" else 1)
    M.update(new.data)
    assert_as_reference(M, new, kind, options, b)
    for made in pickle.loads(pickle.dumps(M)), copy.deepcopy(M):
        np.testing.assert_array_equal(made @ b, M @ b)
        assert_as_reference(made, new, kind, options, b)
    np.testing.assert_array_equal(M.share_plan() @ b, M @ b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["ilu", "ic"])
def test_own_permutations(rng, dtype, kind):
    n = 30
    B = matrix(rng, n, dtype, kind, "none")
    perm_r = rng.permutation(n)
    perm_c = perm_r if kind == "ic" else rng.permutation(n)
    row_scale = random_array(rng, n, dtype) + 2
    col_scale = row_scale.conj() if kind == "ic" else random_array(rng, n, dtype) + 2
    A = B[perm_r][:, perm_c].tocsr()  # Pr A Pc is B
    A.sort_indices()
    M = getattr(strata, kind)(A, perm_r=perm_r, perm_c=perm_c, row_scale=row_scale,
                              col_scale=col_scale)
    np.testing.assert_array_equal(M.perm_r, perm_r)
    np.testing.assert_array_equal(M.perm_c, perm_c)
    np.testing.assert_array_equal(M.row_scale, row_scale.astype(dtype))
    np.testing.assert_array_equal(M.col_scale, col_scale.astype(dtype))
    b = random_array(rng, n, dtype)
    assert_as_reference(M, A, kind, {}, b)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(M)) @ b, M @ b)
    for options in (dict(order="rcm"), dict(scaling="equilibration"),
                    dict(perm_r=np.zeros(n, int)), dict(row_scale=np.zeros(n)),
                    dict(perm_r=np.arange(n - 1)), dict(col_scale=np.full(n, np.nan))):
        with pytest.raises(strata.Error):
            getattr(strata, kind)(A, **{"perm_r": perm_r, "perm_c": perm_c,
                                        "row_scale": row_scale, "col_scale": col_scale,
                                        **options})


def test_what_goes_wrong(rng):
    A = matrix(rng, 20, "float64", "ilu", "none")
    for options in (dict(order="random"), dict(scaling="mc64"), dict(scaling=True),
                    dict(order="coloured", scaling="equilibration")):
        with pytest.raises(strata.OptionError):
            strata.ilu0(A, **options)
    S = matrix(rng, 20, "float64", "ic", "none")
    with pytest.raises(strata.OptionError, match="symmetric"):
        strata.ic0(S, scaling="matching")
    with pytest.raises(strata.OptionError, match="symmetric"):
        strata.ic0(S, perm_r=np.arange(20)[::-1].copy())
    empty = A.copy()
    empty.data[empty.indices == 7] = 0
    with pytest.raises(strata.SingularError):
        strata.ilu0(empty, scaling="matching")
    bad = A.copy()
    bad.setdiag(0)
    for order in ORDERS:
        with pytest.raises(strata.ZeroDiagonalError) as caught:
            strata.ilu0(bad, order=order, scaling="equilibration")
        assert bad[caught.value.row, caught.value.row] == 0
        M = strata.ilu0(A, order=order, scaling="equilibration")
        before = M @ np.ones(20)
        one = A.copy()
        one[11, 11] = 0
        with pytest.raises(strata.ZeroDiagonalError, match="row 11 of A|in row 11") as caught:
            M.update(one)
        assert caught.value.row == 11
        np.testing.assert_array_equal(M @ np.ones(20), before)


def test_fewer_level_sets():
    A = laplacian(12)
    report = strata.ilu0(A, order="multicoloured").report()
    assert report.level_sets_after == 2 < report.level_sets_before
    if "amd" in ORDERS:
        assert (strata.ilu(A, 100, order="amd").report().fill_entries
                < strata.ilu(A, 100).report().fill_entries / 2)
