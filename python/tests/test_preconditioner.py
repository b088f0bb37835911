# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import (
    DTYPES, INDICES, LAYOUTS, in_layout, laplacian, random_array, random_matrix, tolerance,
    with_indices,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import strata_solvers as strata


def hermitian(rng, n, entries, dtype, index="int32"):
    """Diagonally dominant, positive definite."""
    A = random_matrix(rng, n, n, entries, dtype)
    A = A + A.conj().T
    A = (A + sp.diags_array(abs(A).sum(axis=1) - A.diagonal() + 1)).tocsr().astype(dtype)
    A.sort_indices()
    return with_indices(A, index)


def general(rng, n, entries, dtype, index="int32"):
    A = random_matrix(rng, n, n, entries, dtype)
    A = (A + sp.diags_array(abs(A).sum(axis=1) + 1)).tocsr().astype(dtype)
    A.sort_indices()
    return with_indices(A, index)


def assert_factors(A, M, dtype):
    """M's factors multiply to A where A stores entries, and M applies them."""
    assert M.lower.dtype == dtype and M.upper.dtype == dtype
    assert sp.triu(M.lower, 1).nnz == 0 and sp.tril(M.upper, -1).nnz == 0
    pattern = A.toarray() != 0
    product = (M.lower @ M.upper).toarray()
    assert abs(product - A.toarray())[pattern].max() <= tolerance(dtype) * abs(A).max()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(DTYPES),
       st.sampled_from(INDICES), st.sampled_from(["ilu0", "ic0"]), st.sampled_from(LAYOUTS),
       st.sampled_from([None, 1, 3]))
def test_factors(seed, n, dtype, index, kind, layout, k):
    rng = np.random.default_rng(seed)
    A = (hermitian if kind == "ic0" else general)(rng, n, 3 * n, dtype, index)
    M = getattr(strata, kind)(A)
    assert M.shape == A.shape and M.dtype == A.dtype
    assert_factors(A, M, dtype)
    if kind == "ic0":
        np.testing.assert_allclose(M.upper.toarray(), M.lower.toarray().conj().T,
                                   atol=tolerance(dtype))
    else:
        assert (M.lower.diagonal() == 1).all()
    r = in_layout(random_array(rng, n if k is None else (n, k), dtype), layout)
    in_place = r.copy()
    assert M.apply(in_place, in_place) is in_place
    for z in (M @ r, M.apply(r), M.solve(r), M.apply(r, np.empty(r.shape, dtype)), in_place):
        np.testing.assert_allclose(M.lower @ (M.upper @ z), r, atol=10 * tolerance(dtype))
    product = M.lower @ M.upper
    for z, op in ((M.H @ r, product.conj().T), (M.T @ r, product.T),
                  (M.apply(r, trans="H"), product.conj().T), (M.apply(r, trans="T"), product.T)):
        np.testing.assert_allclose(op @ z, r, atol=20 * tolerance(dtype))
    assert M.lower.indices.dtype == index and M.lower.indptr.dtype == index


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
def test_shift(rng, kind):
    A = laplacian(6)
    shifted = (A + 0.25 * sp.diags_array(A.diagonal())).tocsr()
    M = getattr(strata, kind)(A, shift=0.25)
    assert_factors(shifted, M, "float64")
    again = pickle.loads(pickle.dumps(M))
    assert (again.lower != M.lower).nnz == 0
    M.update(2 * A.data)
    assert_factors((2 * shifted).tocsr(), M, "float64")
    for shift in (-1, np.nan, np.inf, "much"):
        with pytest.raises(strata.OptionError, match="shift"):
            getattr(strata, kind)(A, shift=shift)


def test_transposes_are_analysed_when_they_are_asked_for(rng):
    A = laplacian(6)
    b = rng.random((36, 2))
    late, early = strata.ilu0(A), strata.ilu0(A, transpose=True)
    assert late.report().lower_transposed.rows == 0
    assert early.report().lower_transposed.rows == 36
    before = late @ b
    np.testing.assert_array_equal(late.H @ b, early.H @ b)
    np.testing.assert_array_equal(late @ b, before)
    assert late.report().upper_transposed.rows == 36
    with pytest.raises(strata.OptionError, match="trans"):
        late.apply(b, trans="X")


def test_old_factors_stay_where_an_update_is_refused(rng):
    A = laplacian(8)
    b = rng.random(64)
    for kind in ("ilu0", "ic0"):
        M = getattr(strata, kind)(A)
        before, adjoint, lower = M @ b, M.H @ b, M.lower.copy()
        singular = A.copy()
        singular.data = singular.data.copy()
        # The second row becomes a multiple of the first where both have entries.
        singular.data[:] = 1.0
        for wrong in (singular.data, A.data * np.nan, singular):
            with pytest.raises(strata.MatrixError) as caught:
                M.update(wrong)
            assert caught.value.row is not None and caught.value.remedy
            np.testing.assert_array_equal(M @ b, before)
            np.testing.assert_array_equal(M.H @ b, adjoint)
            assert (M.lower != lower).nnz == 0


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_serves_scipys_methods(rng, kind, method):
    A = laplacian(25)
    b = rng.random(A.shape[0])
    M = getattr(strata, kind)(A)
    iterations = {}
    for name, of in (("with", M), ("without", None)):
        count = [0]
        x, info = getattr(spla, method)(
            A, b, M=of, rtol=1e-8, maxiter=2000,
            callback=lambda _, count=count: count.__setitem__(0, count[0] + 1),
            **({"callback_type": "pr_norm"} if method == "gmres" else {}))
        assert info == 0
        np.testing.assert_allclose(A @ x, b, atol=1e-5)
        iterations[name] = count[0]
    assert iterations["with"] < iterations["without"]


def test_has_the_iterations_of_an_ilu0_written_out(rng):
    """As a plain implementation of the factorisation."""
    A = laplacian(12)
    F = A.toarray()
    pattern = F != 0
    for i in range(1, len(F)):
        for k in np.flatnonzero(pattern[i, :i]):
            F[i, k] /= F[k, k]
            later = pattern[i] & (np.arange(len(F)) > k)
            F[i, later] -= F[i, k] * F[k, later]
    M = strata.ilu0(A)
    np.testing.assert_allclose(M.upper.toarray(), np.triu(F), atol=1e-13)
    np.testing.assert_allclose(M.lower.toarray(), np.tril(F, -1) + np.eye(len(F)), atol=1e-13)


def test_serves_another_type(rng):
    A = laplacian(10)
    M = strata.ilu0(A.astype("float32"))
    b = rng.random(100)
    assert (M @ b).dtype == "float64" and (M @ (1j * b)).dtype == "complex128"
    np.testing.assert_allclose(M @ (1j * b), 1j * (M @ b))
    x, info = spla.cg(A, b, M=M, rtol=1e-10)
    assert info == 0
    with pytest.raises(strata.TypeMismatchError):
        M.apply(b)


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
@pytest.mark.parametrize("values_alone", [True, False])
def test_update(rng, kind, values_alone):
    A = laplacian(10)
    M = getattr(strata, kind)(A, accuracy="componentwise")
    M @ np.ones(100), M.lower, M.H @ np.ones(100)
    new = A.copy()
    new.data = A.data * 3
    new.setdiag(new.diagonal() + rng.random(100))
    M.update(new.data if values_alone else new)
    assert_factors(new, M, "float64")
    fresh = getattr(strata, kind)(new)
    b = rng.random(100)
    np.testing.assert_allclose(M @ b, fresh @ b)
    np.testing.assert_allclose(M.H @ b, fresh.H @ b)
    assert M.report().lower.accuracy == M.report().upper.accuracy == "componentwise"
    for wrong, error in ((laplacian(9), strata.SizeMismatchError),
                         (A.data[:-1], strata.SizeMismatchError),
                         (A.data.astype("complex128"), strata.TypeMismatchError),
                         (A.data * 0, strata.ZeroDiagonalError)):
        with pytest.raises(error):
            M.update(wrong)
        np.testing.assert_allclose(M @ b, fresh @ b)


def test_values_that_change_later_do_not_reach_it(rng):
    A = laplacian(8)
    M = strata.ilu0(A)
    kept = A.copy()
    A.data *= 2
    assert_factors(kept, M, "float64")


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
def test_pickles(rng, kind):
    A = laplacian(8)
    M = getattr(strata, kind)(A, algorithm="level_sets")
    again = pickle.loads(pickle.dumps(M))
    b = rng.random(64)
    assert (again @ b == M @ b).all() and again.report().lower.algorithm == "level_sets"
    assert repr(again) == repr(M) and kind in repr(M)


def test_coloured_order(rng):
    A = laplacian(12)
    M = strata.ic0(A, order="coloured")
    b = rng.random(144)
    x, info = spla.cg(A, b, M=M, rtol=1e-8)
    assert info == 0
    np.testing.assert_allclose(A @ x, b, atol=1e-5)
    with pytest.raises(strata.OptionError, match="natural"):
        M.lower
    with pytest.raises(strata.OptionError, match="natural"):
        M.H @ b
    for options in (dict(algorithm="level_sets"), dict(shift=0.1), dict(transpose=True)):
        with pytest.raises(strata.OptionError, match="natural"):
            strata.ic0(A, order="coloured", **options)
    three = sp.csr_array(np.array([[3.0, 1, 1], [1, 3, 1], [1, 1, 3]]))
    with pytest.raises(strata.OptionError, match="row 2 of A.*order=natural") as caught:
        strata.ic0(three, order="coloured")
    assert caught.value.argument == "order"
    assert strata.ic0(three).lower is not None


@pytest.mark.parametrize("kind", ["ilu", "ic"])
def test_fill_is_refused_while_it_is_counted(kind):
    """A dense first row and column: all of the 9 million entries would fill in."""
    n = 3000
    A = sp.diags_array(np.full(n, 2.0 * n)).tolil()
    A[0, 1:] = 1
    A[1:, 0] = 1
    with pytest.raises(strata.PlanMemoryError, match="fill of level 1") as caught:
        getattr(strata, kind)(A.tocsr(), 1, max_plan_bytes=1e6)
    assert caught.value.argument == "max_plan_bytes"
    assert caught.value.allowed == 10**6 < caught.value.needed < 3 * 10**6
    with pytest.raises(strata.OptionError, match="max_plan_bytes"):
        getattr(strata, kind)(A.tocsr(), 1, max_plan_bytes=1e6 + 0.5)


@pytest.mark.parametrize("order", ["natural", "coloured"])
def test_reads_the_upper_triangle(rng, order):
    A = laplacian(6)
    b = rng.random(36)
    expected = strata.ic0(A, order=order) @ b
    lower = A.indices < np.repeat(np.arange(36), np.diff(A.indptr))
    rounded, other = A.copy(), A.copy()
    rounded.data = np.where(lower, A.data * (1 + 1e-13), A.data)
    other.data = np.where(lower, np.nan, A.data)
    np.testing.assert_array_equal(strata.ic0(rounded, order=order) @ b, expected)
    M = strata.ic0(other, order=order, symmetry_tolerance=np.inf)
    for of in (M, pickle.loads(pickle.dumps(M))):
        np.testing.assert_array_equal(of @ b, expected)
    if order == "natural":
        upper = sp.triu(A, format="csr")
        M = strata.ic(upper, 1, symmetry_tolerance=np.inf)
        np.testing.assert_array_equal(M @ b, strata.ic(A, 1) @ b)
    for bad, tolerance in ((other, None), (rounded, 0)):
        with pytest.raises(strata.NotHermitianError, match="symmetry_tolerance") as caught:
            strata.ic0(bad, order=order, symmetry_tolerance=tolerance)
        assert caught.value.row == 0 and "entry (0, 1) is -1" in str(caught.value)
    for tolerance in (-1, np.nan, "much"):
        with pytest.raises(strata.OptionError, match="symmetry_tolerance"):
            strata.ic0(A, order=order, symmetry_tolerance=tolerance)


def test_refuses():
    A = laplacian(4)
    with pytest.raises(strata.NotHermitianError):
        strata.ic0((A + sp.diags_array(np.ones(15), offsets=1) * 0.1).tocsr())
    with pytest.raises(strata.IndefiniteError):
        strata.ic0((A - 8 * sp.eye_array(16)).tocsr())
    with pytest.raises(strata.FactorizationError) as caught:
        strata.ilu0(sp.csr_array(np.array([[1.0, 1], [1, 1]])))
    assert caught.value.row == 1 and isinstance(caught.value, np.linalg.LinAlgError)
    with pytest.raises(strata.MissingDiagonalError):
        strata.ilu0(sp.csr_array(np.array([[1.0, 1], [1, 0]])))
    unsorted = sp.csr_array(([1.0, 2, 3], [0, 1, 0], [0, 1, 3]), shape=(2, 2))
    with pytest.raises(strata.UnsortedRowError):
        strata.ilu0(unsorted, copy=False)
    for options in (dict(order="random"), dict(trans="T"), dict(no_such=1),
                    dict(algorithm="fast"), dict(symmetry_tolerance=1.0)):
        with pytest.raises(strata.OptionError):
            strata.ilu0(A, **options)
    M = strata.ilu0(A)
    out = np.full(16, 7.0)
    for r, to in ((np.ones(15), out), (np.ones(16, "complex128"), out),
                  (np.ones(16), out[:15]), (np.ones((16, 2)), out)):
        with pytest.raises(strata.Error):
            M.apply(r, to)
    assert (out == 7).all()
