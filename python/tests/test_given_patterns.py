# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors on given patterns, threshold ILU, L D L^H and shifts that are doubled."""
import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import DTYPES, INDICES, laplacian, random_array, random_matrix, tolerance, \
    with_indices

import strata_solvers as strata


def general(rng, n, entries, dtype="float64"):
    A = random_matrix(rng, n, n, entries, dtype)
    A = (A + sp.diags_array(abs(A).sum(axis=1) + 1)).tocsr().astype(dtype)
    A.sort_indices()
    return A


def complete(A):
    """The pattern of L + U, by elimination on sets."""
    rows = [set(A.indices[A.indptr[i]:A.indptr[i + 1]]) | {i} for i in range(A.shape[0])]
    for i, row in enumerate(rows):
        for k in range(i):
            if k in row:
                row |= {j for j in rows[k] if j > k}
    return sp.csr_array((np.ones(sum(map(len, rows))), np.concatenate([sorted(r) for r in rows]),
                         np.cumsum([0, *map(len, rows)])), shape=A.shape)


def steps(A, M, b):
    """GMRES steps to 1e-8."""
    count = [0]
    x, info = spla.gmres(A, b, M=M, rtol=1e-8, restart=60, maxiter=40, callback_type="pr_norm",
                         callback=lambda _: count.__setitem__(0, count[0] + 1))
    assert info == 0 and np.linalg.norm(A @ x - b) <= 1e-6 * np.linalg.norm(b)
    return count[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
def test_complete_factors(rng, dtype, index):
    A = general(rng, 60, 200, dtype)
    pattern = with_indices(complete(A), index)
    M = strata.ilu(A, pattern=pattern)
    assert M.report().fill_entries == pattern.nnz - A.nnz
    again = pickle.loads(pickle.dumps(M))
    b = random_array(rng, 60, dtype)
    np.testing.assert_array_equal(again @ b, M @ b)
    assert repr(again) == repr(M) and "ilu of" in repr(M)
    for factor in (1, 3):
        M.update((A * factor).astype(dtype))
        np.testing.assert_allclose((M.lower @ M.upper).toarray(), factor * A.toarray(),
                                   atol=tolerance(dtype) * abs(A).max())
        np.testing.assert_allclose(A @ (M @ b) * factor, b, atol=tolerance(dtype))
        np.testing.assert_allclose(A.conj().T @ (M.H @ b) * factor, b, atol=tolerance(dtype))
    report = M.report()
    assert report.largest_multiplier > 0 and 0 < report.smallest_pivot <= 1
    np.testing.assert_allclose(report.growth, abs(M.upper).max() / abs(3 * A).max(),
                               rtol=tolerance(dtype))


def test_a_pattern_is_sorted_and_checked(rng):
    A = general(rng, 40, 120)
    pattern = complete(A)
    unsorted = pattern.copy()
    for i in range(40):
        at = slice(*pattern.indptr[i:i + 2])
        unsorted.indices[at] = pattern.indices[at][::-1]
    unsorted.has_sorted_indices = False
    b = rng.random(40)
    np.testing.assert_array_equal(strata.ilu(A, pattern=unsorted) @ b,
                                  strata.ilu(A, pattern=pattern) @ b)
    with pytest.raises(strata.UnsortedRowError, match="pattern"):
        strata.ilu(A, pattern=unsorted, copy=False)
    lacking = sp.eye_array(40, format="csr")
    with pytest.raises(strata.PatternMismatchError, match="pattern") as caught:
        strata.ilu(A, pattern=lacking)
    row = caught.value.row
    assert np.diff(A.indptr)[row] > 1 and (np.diff(A.indptr)[:row] == 1).all()
    with pytest.raises(strata.SizeMismatchError, match="pattern"):
        strata.ilu(A, pattern=complete(general(rng, 41, 50)))
    with pytest.raises(strata.OptionError, match="fill_level"):
        strata.ilu(A, 1, pattern=pattern)


def test_ilut_beside_spilu(rng):
    """Fill by size is worth iterations, as SciPy's is."""
    A = (laplacian(30) + 0.3 * sp.diags_array(np.ones(899), offsets=1)).tocsr()
    A.sort_indices()
    b = rng.random(900)
    ilu0 = steps(A, strata.ilu0(A), b)
    ours = [steps(A, strata.ilut(A, tol), b) for tol in (0.1, 1e-2, 1e-3)]
    theirs = steps(A, spla.LinearOperator(A.shape, spla.spilu(A.tocsc(), 1e-2).solve), b)
    assert ilu0 >= ours[0] > ours[1] > ours[2], (ilu0, ours)
    assert ours[1] <= 2 * theirs, (ours, theirs)
    M = strata.ilut(A, 1e-3, transpose=True)
    M.update(A * 2)
    np.testing.assert_allclose((M.lower @ M.upper).toarray()[A.toarray() != 0], 2 * A.data)
    np.testing.assert_allclose(M.H @ b, spla.spsolve_triangular(
        M.lower.T.tocsr(), spla.spsolve_triangular(M.upper.T.tocsr(), b), lower=False))
    assert "ilut of" in repr(M)


def test_ilut_keeps_its_pattern(rng):
    """Over new values, in copies, and in an adjoint that is made later."""
    A, b = general(rng, 120, 500), rng.random(120)
    M, transposable = strata.ilut(A, 0.05), strata.ilut(A, 0.05, transpose=True)
    other = A.copy()
    other.data = other.data * (1 + 5 * rng.random(A.nnz))
    other.setdiag(2 * abs(other).sum(axis=1))
    for each in (M, transposable):
        each.update(other)
    for copied in (pickle.loads(pickle.dumps(M)), copy.deepcopy(M)):
        np.testing.assert_allclose(copied @ b, M @ b, rtol=1e-13)
        assert copied.report().fill_entries == M.report().fill_entries
    np.testing.assert_allclose(M.H @ b, transposable.H @ b, rtol=1e-13)
    M.update(A)
    np.testing.assert_allclose(M @ b, strata.ilut(A, 0.05) @ b, rtol=1e-13)


@pytest.mark.parametrize("fill_factor", [1, 1.5, 3])
def test_ilut_keeps_to_the_fill_factor(rng, fill_factor):
    A = general(rng, 300, 1200)
    M = strata.ilut(A, 0, fill_factor)
    total = M.lower.nnz + M.upper.nnz - 300
    assert total == A.nnz + M.report().fill_entries <= fill_factor * A.nnz + 2 * 300
    if fill_factor == 1:
        assert M.report().fill_entries == 0


def test_ilut_refuses(rng):
    A = general(rng, 20, 60)
    for bad in (dict(drop_tol=-1), dict(drop_tol=np.nan), dict(fill_factor=0.5),
                dict(fill_factor=np.inf), dict(no_such=1), dict(order="coloured")):
        with pytest.raises(strata.OptionError):
            strata.ilut(A, **bad)
    with pytest.raises(strata.FactorizationError) as caught:
        strata.ilut(sp.csr_array(np.array([[1.0, 1], [1, 1]])))
    assert caught.value.row == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [True, False])
def test_ildl(rng, dtype, hermitian):
    A = random_matrix(rng, 50, 50, 150, dtype)
    A = A + (A.conj().T if hermitian else A.T)
    signs = rng.choice([-1, 1], 50)
    A = (A - sp.diags_array(A.diagonal())
         + sp.diags_array(signs * (abs(A).sum(axis=1) + 1))).tocsr().astype(dtype)
    A.sort_indices()
    M = strata.ildl(A, hermitian=hermitian, pattern=complete(A))
    L, U = M.lower.toarray(), M.upper.toarray()
    np.testing.assert_allclose(L @ U, A.toarray(), atol=tolerance(dtype) * abs(A).max())
    np.testing.assert_allclose(U, np.diag(np.diag(U)) @ (L.conj() if hermitian else L).T,
                               atol=tolerance(dtype) * abs(A).max())
    if hermitian:
        report = M.report()
        assert (report.positive_pivots, report.negative_pivots) == (
            (signs > 0).sum(), (signs < 0).sum())
    with pytest.raises(strata.IndefiniteError):
        strata.ic0(A, symmetry_tolerance=np.inf, order="natural")


def test_shift_tries(rng):
    A = (laplacian(10) - 2.2 * sp.eye_array(100)).tocsr()
    with pytest.raises(strata.IndefiniteError):
        strata.ic0(A)
    M = strata.ic0(A, shift_tries=20)
    report = M.report()
    assert report.shift_tries > 1 and report.shift == 1e-3 * 2 ** (report.shift_tries - 2)
    b = rng.random(100)
    np.testing.assert_array_equal(M @ b, strata.ic0(A, shift=report.shift, order="natural") @ b)
    M.update(A + 4 * sp.eye_array(100))
    assert M.report().shift == 0 and M.report().shift_tries == 1
    for bad in (dict(shift_tries=0), dict(shift_tries=65),
                dict(shift_tries=2, enqueue_updates=True)):
        with pytest.raises(strata.OptionError):
            strata.ic0(A, **bad)
