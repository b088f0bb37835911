# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import inspect
import pickle

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from conftest import DTYPES, LAYOUTS, in_layout, random_array, tolerance
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import strata_solvers as strata


def band(rng, n, lower, upper, dtype, dominant=True):
    ab = random_array(rng, (lower + upper + 1, n), dtype)
    if dominant:
        ab[upper] += 2 * (lower + upper + 1)
    return ab


def dense(l_and_u, ab):
    (lower, upper), n = l_and_u, ab.shape[1]
    inside = [k for k in range(upper, -lower - 1, -1) if abs(k) < n]
    return sp.dia_array((ab[[upper - k for k in inside]], inside), shape=(n, n)).toarray()


@st.composite
def bands(draw, dominant=True):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 90) | st.integers(1, 5))
    lower, upper = (draw(st.integers(0, 6)) for _ in range(2))
    dtype = draw(st.sampled_from(DTYPES))
    ab = in_layout(band(rng, n, lower, upper, dtype, dominant), draw(st.sampled_from(LAYOUTS)))
    k = draw(st.sampled_from([None, 1, 3, 20]))
    b = in_layout(random_array(rng, n if k is None else (n, k), dtype),
                  draw(st.sampled_from(LAYOUTS)))
    return (lower, upper), ab, b


@settings(max_examples=50)
@given(bands(), st.sampled_from(["automatic", "tiles", "nested_dissection",
                                 "partial_pivoting"]))
def test_band_solver(case, method):
    l_and_u, ab, b = case
    kept, before = ab.copy(), b.copy()
    solver = strata.BandSolver(l_and_u, ab, method=method)
    wanted = np.linalg.solve(dense(l_and_u, ab), b)
    close = dict(atol=10 * tolerance(ab.dtype))
    x = solver.solve(b)
    assert x.dtype == ab.dtype and x.shape == b.shape
    np.testing.assert_allclose(x, wanted, **close)
    out = np.full(b.shape, np.nan, ab.dtype, order="F")
    assert solver.solve(b, out) is out
    np.testing.assert_allclose(out, wanted, **close)
    again = pickle.loads(pickle.dumps(solver))
    np.testing.assert_allclose(again.solve(b), wanted, **close)
    solver.update(2 * ab)
    np.testing.assert_allclose(solver.solve(b), wanted / 2, **close)
    assert (ab == kept).all() and (b == before).all()


@settings(max_examples=50)
@given(bands(dominant=False), st.booleans())
def test_solve_banded(case, overwrite):
    l_and_u, ab, b = case
    before = b.copy()
    A = dense(l_and_u, ab)
    try:
        x = strata.solve_banded(l_and_u, ab, b, overwrite_b=overwrite)
    except np.linalg.LinAlgError:
        # A matrix that is singular but for roundings may lose its last pivot.
        assert np.linalg.cond(A.astype("complex128")) > 0.01 / np.finfo(ab.dtype).eps
        return
    assert x.dtype == ab.dtype and x.shape == b.shape
    # Random bands are of any condition: the residual is small beside A and x.
    size = (abs(A).sum(axis=1) * abs(x).max() + 1).max()
    assert abs(A @ x - before).max() <= 100 * np.finfo(ab.dtype).eps * size
    if not overwrite:
        assert (b == before).all()
    elif strata._arrays._usable(b):
        assert x is b


def test_signature_is_scipys():
    ours = inspect.signature(strata.solve_banded).parameters
    theirs = inspect.signature(sla.solve_banded).parameters
    assert list(ours) == list(theirs)
    assert [p.default for p in ours.values()] == [p.default for p in theirs.values()]


def test_solve_banded_takes_what_scipy_takes():
    ab = [[0, 1, 1], [4, 4, 4], [1, 1, 0]]
    x = strata.solve_banded((1, 1), ab, [1, 2, 3])
    np.testing.assert_allclose(x, sla.solve_banded((1, 1), ab, [1, 2, 3]))
    with pytest.raises(ValueError):
        strata.solve_banded((1, 1), ab, [1, np.nan, 3])
    assert np.isnan(strata.solve_banded((1, 1), ab, [1, np.nan, 3],
                                        check_finite=False)).any()
    with pytest.raises(np.linalg.LinAlgError):
        strata.solve_banded((1, 1), np.zeros((3, 3)), [1, 2, 3])


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(0, 8), st.integers(0, 8),
       st.sampled_from([None, 0, 1, 3]), st.sampled_from(DTYPES), st.booleans())
def test_solve_banded_has_scipys_answers(seed, n, lower, upper, k, dtype, dominant):
    """Also of bands that are wider than the matrix, and of nothing."""
    rng = np.random.default_rng(seed)
    ab = band(rng, n, lower, upper, dtype, dominant)
    b = random_array(rng, n if k is None else (n, k), dtype)
    condition = np.linalg.cond(dense((lower, upper), ab)) if n > 0 else 1
    assume(condition < 1e3)
    x = strata.solve_banded((lower, upper), ab, b)
    wanted = sla.solve_banded((lower, upper), ab, b)
    assert x.shape == wanted.shape and x.dtype == wanted.dtype
    np.testing.assert_allclose(x, wanted, rtol=0,
                               atol=100 * condition * np.finfo(dtype).eps * (1 + abs(wanted).max(
                                   initial=0)))
    if dominant:
        solver = strata.BandSolver((lower, upper), ab)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(solver)).solve(b),
                                      solver.solve(b))
        solver.update(2 * ab)
        assert solver.report().lower == min(lower, max(n - 1, 0))


def test_wide_bands():
    solve = strata.solve_banded
    np.testing.assert_array_equal(solve((1, 1), [[0], [1.0], [0]], [[1, 2, 3]]), [[1, 2, 3]])
    np.testing.assert_array_equal(solve((3, 0), [[2, 4], [1, 0], [0, 0], [0, 0]], [2, 5]), [1, 1])
    assert solve((1, 1), np.zeros((3, 0)), np.zeros(0)).shape == (0,)


def test_band_refuses(rng):
    ab = band(rng, 20, 2, 1, "float64")
    solver = strata.BandSolver((2, 1), ab)
    assert solver.shape == (20, 20) and solver.dtype == "float64"
    assert solver.report().lower == 2 and "method" in str(solver.report())
    for arguments, error in ((((2, 2), ab), strata.SizeMismatchError),
                             (((-1, 4), ab), strata.BandwidthError),
                             (((25, 0), np.ones((25, 20))), strata.SizeMismatchError),
                             ((3, ab), strata.OptionError),
                             (((2, 1), ab[0]), strata.SizeMismatchError),
                             (((2, 1), ab.astype("longdouble")), strata.TypeMismatchError)):
        with pytest.raises(error):
            strata.BandSolver(*arguments)
    with pytest.raises(strata.OptionError):
        strata.BandSolver((2, 1), ab, method="qr")
    weak = ab.copy()
    weak[1] = 0.1
    with pytest.raises(strata.DominanceError) as caught:
        strata.BandSolver((2, 1), weak)
    assert caught.value.remedy
    out = np.full(20, 7.0)
    for b in (np.ones(19), np.ones(20, "complex128"), np.ones((20, 1))):
        with pytest.raises(strata.Error):
            solver.solve(b, out)
    assert (out == 7).all()
    for wrong in (ab[:, :-1], ab.astype("float32")):
        with pytest.raises(strata.Error):
            solver.update(wrong)
    x = solver.solve(np.ones(20))
    with pytest.raises(strata.DominanceError):
        solver.update(weak)
    with pytest.raises(strata.HandleError):
        solver.solve(np.ones(20))
    solver.update(ab)
    assert (solver.solve(np.ones(20)) == x).all()


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 30), st.integers(0, 30),
       st.sampled_from(DTYPES), st.sampled_from(LAYOUTS))
def test_rref(seed, m, n, rank, dtype, layout):
    rng = np.random.default_rng(seed)
    rank = min(rank, m, n)
    wide = "complex128" if np.dtype(dtype).kind == "c" else "float64"
    A = random_array(rng, (m, rank), wide) @ random_array(rng, (rank, n), wide)
    A = in_layout(A.astype(dtype), layout)
    before = A.copy()
    single = np.dtype(dtype).char in "fF"
    form = strata.rref(A, tolerance=1e-3 if single else 1e-9)
    assert (A == before).all()
    R = form.matrix
    assert R.shape == A.shape and R.dtype == dtype and form.rank == len(form.pivot_columns)
    assert sorted(form.pivot_columns) == form.pivot_columns
    if not single:
        assert form.rank == rank
    np.testing.assert_array_equal(R[: form.rank, form.pivot_columns], np.eye(form.rank))
    assert (R[form.rank:] == 0).all()
    # A is what its pivot columns make of the form.
    scale = max(1, abs(R).max(initial=0))
    made = A[:, form.pivot_columns] @ R[: form.rank]
    np.testing.assert_allclose(made / scale, A / scale, atol=5e-2 if single else 1e-6)


def test_rref_takes_lists_and_refuses():
    form = strata.rref([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    np.testing.assert_allclose(form.matrix, [[1, 0, -1], [0, 1, 2], [0, 0, 0]], atol=1e-12)
    assert form.rank == 2 and form.pivot_columns == [0, 1] and form.tolerance > 0
    A = np.array([[2.0, 4.0], [1.0, 3.0]])
    assert strata.rref(A, overwrite_A=True).matrix is A
    assert strata.rref([[0.0, 1, 2], [0, 3, 4]], pivot_columns=2).pivot_columns == [1]
    with pytest.raises(strata.NotFiniteError):
        strata.rref([[1.0, np.nan]])
    for arguments in (([1.0],), ([[1.0]], -1.0), ([[1.0]], None, -1), ([["a"]],)):
        with pytest.raises(strata.Error):
            strata.rref(*arguments)
