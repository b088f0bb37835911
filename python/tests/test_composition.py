# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What SciPy's users pass works: matrices of any format, operators of anyone, callbacks."""

import contextlib
import copy
import logging
import pickle
import re
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import (
    DTYPES, INDICES, laplacian, random_array, random_matrix, random_triangle, tolerance,
    with_indices,
)
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata

FORMS = ["coo", "csc", "csr", "bsr", "dia", "lil", "dok", "dense", "matrix"]


def general(rng, n, dtype="float64"):
    """Diagonally dominant, with sorted rows, and not Hermitian."""
    A = random_matrix(rng, n, n, 4 * n, dtype)
    A.setdiag(0)
    A.eliminate_zeros()
    A = (A + sp.diags_array(1 + abs(A).sum(axis=1)).astype(dtype)).tocsr().astype(dtype)
    A.sort_indices()
    return A


def hermitian(rng, n, dtype="float64"):
    A = general(rng, n, dtype)
    A = (A + A.conj().T).tocsr()
    A.sort_indices()
    return A


def in_form(A, form):
    if form == "dense":
        return A.toarray()
    return sp.csr_matrix(A) if form == "matrix" else A.asformat(form)


def unsorted(rng, A, duplicates=False):
    """A with its rows in random order, and perhaps with halves of entries named twice."""
    A = A.tocsr()
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    column, data = A.indices, A.data
    if duplicates:
        row, column = np.tile(row, 2), np.tile(column, 2)
        data = np.concatenate([data / 2, data / 2])
    order = np.lexsort((rng.random(row.size), row))
    made = sp.csr_array(A.shape, dtype=A.dtype)
    made.indptr = np.searchsorted(row[order], np.arange(A.shape[0] + 1)).astype(A.indptr.dtype)
    made.indices, made.data = column[order].astype(A.indices.dtype), data[order].astype(A.dtype)
    return made


@contextlib.contextmanager
def listening(messages):
    """The library's messages for debugging are added to a list."""
    class Handler(logging.Handler):
        def emit(self, record):
            messages.append(record.getMessage())

    log, handler = logging.getLogger("strata_solvers"), Handler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


# --- Matrices are converted as SciPy converts them ---------------------------

MAKERS = {
    "ilu0": strata.ilu0, "ilu": lambda A, **more: strata.ilu(A, 1, **more),
    "ic0": strata.ic0, "ic": strata.ic, "sell": strata.SellMatrix,
    "lower": lambda A, **more: strata.TriangularSolver(A, **more),
}


def matrix_for(maker, rng, n, dtype):
    if maker in ("ic0", "ic"):
        return hermitian(rng, n, dtype)
    return random_triangle(rng, n, 3 * n, dtype) if maker == "lower" else general(rng, n, dtype)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(DTYPES),
       st.sampled_from(FORMS), st.sampled_from(sorted(MAKERS)))
def test_formats(seed, n, dtype, form, maker):
    rng = np.random.default_rng(seed)
    A = matrix_for(maker, rng, n, dtype)
    make, given_ = MAKERS[maker], in_form(A, form)
    # The same entries in CSR: the blocks of BSR store zeros, too.
    wanted, made = make(sp.csr_matrix(given_)), make(given_)
    x = random_array(rng, (n, 2), dtype)
    np.testing.assert_allclose(made @ x, wanted @ x, atol=tolerance(dtype))
    assert wanted.report().conversion == ""
    as_it_is = form in ("csr", "matrix") or form == "csc" and maker == "lower"
    text = made.report().conversion
    assert (text == "") if as_it_is else text.startswith(f"{form} to csr")
    if not as_it_is:
        with pytest.raises(strata.TypeMismatchError, match="copy=False"):
            make(given_, copy=False)
    make(A, copy=False)
    for again in (copy.copy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(again @ x, made @ x)
        assert again.report().conversion == text
    # New values in the same format, or in CSR.
    scaled = in_form((3 * A).astype(dtype).asformat("csr"), form)
    for new in (scaled, sp.csr_matrix(scaled)):
        made.update(new)
        factor = 3 if maker == "sell" else 1 / 3
        np.testing.assert_allclose(made @ x, factor * (wanted @ x), atol=3 * tolerance(dtype))
    if not as_it_is:
        with pytest.raises(strata.TypeMismatchError, match="order"):
            made.update(A.data)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from(DTYPES),
       st.sampled_from(INDICES), st.booleans(), st.sampled_from(sorted(MAKERS)))
def test_unsorted_rows(seed, n, dtype, index, duplicates, maker):
    rng = np.random.default_rng(seed)
    A = matrix_for(maker, rng, n, dtype)
    make, mixed = MAKERS[maker], unsorted(rng, A, duplicates)
    mixed.indptr, mixed.indices = mixed.indptr.astype(index), mixed.indices.astype(index)
    before = mixed.indices.copy(), mixed.data.copy()
    wanted, made = make(A), make(mixed)
    x = random_array(rng, n, dtype)
    np.testing.assert_allclose(made @ x, wanted @ x, atol=tolerance(dtype))
    # The caller's arrays stay, unlike with SciPy's spilu.
    np.testing.assert_array_equal(mixed.indices, before[0])
    np.testing.assert_array_equal(mixed.data, before[1])
    if made.report().conversion:
        assert made.report().conversion == "sorted"
        with pytest.raises((strata.UnsortedRowError, strata.DuplicateEntryError)):
            make(mixed, copy=False)
        mixed.data = 2 * mixed.data
        made.update(mixed)
        np.testing.assert_allclose(made @ x, (wanted @ x) / 2, atol=tolerance(dtype))
        with pytest.raises(strata.TypeMismatchError, match="order"):
            made.update(mixed.data)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "bool", "float16"])
def test_shorter_types(dtype):
    A = sp.csr_array(np.array([[4, 0, 0], [1, 4, 0], [0, 1, 4]]), dtype="float64")
    if dtype in ("bool", "float16"):
        A.data[:] = 1
    given_ = A.copy()
    given_.data = A.data.astype(dtype)
    for make in (strata.TriangularSolver, strata.ilu0, strata.SellMatrix):
        made = make(given_)
        # As SciPy's upcast.
        assert made.dtype == next(t for t in "fd" if np.can_cast(dtype, t))
        assert made.report().conversion == f"{dtype} to {made.dtype}"
        np.testing.assert_allclose(made @ np.ones(3), make(A) @ np.ones(3), rtol=1e-6)
        made.update(made._matrix.data * 2)
        with pytest.raises(strata.TypeMismatchError, match="copy=False"):
            make(given_, copy=False)


def test_arrays_of_a_matrix_that_are_converted():
    A = sp.csr_array(np.tril(np.arange(1.0, 17).reshape(4, 4)))
    for change in (dict(indices=A.indices.astype("int16")),
                   dict(indices=A.indices.astype("int64"), indptr=A.indptr.astype("int32")),
                   dict(data=np.repeat(A.data, 2)[::2]), dict(data=A.data.astype(">f8")),
                   dict(indices=A.indices.astype("uint32"), indptr=A.indptr.astype("uint32"))):
        B = A.copy()
        for name, array in change.items():
            setattr(B, name, array)
        solver = strata.TriangularSolver(B)
        assert solver.report().conversion
        assert "converted: " in str(solver.report())
        np.testing.assert_allclose(A @ solver.solve(np.ones(4)), np.ones(4))
        with pytest.raises(strata.TypeMismatchError, match="copy=False"):
            strata.TriangularSolver(B, copy=False)
    solver = strata.TriangularSolver(A)
    solver.update(np.repeat(2 * A.data, 2)[::2])
    np.testing.assert_allclose(A @ solver.solve(np.ones(4)), np.full(4, 0.5))


@given(st.integers(0, 2**32 - 1), st.sampled_from(FORMS), st.sampled_from(DTYPES))
def test_factors_of_any_format(seed, form, dtype):
    rng = np.random.default_rng(seed)
    A = general(rng, 20, dtype)
    lu = spla.splu(A.tocsc())
    M = strata.FactorSolver(in_form(lu.L, form), in_form(lu.U, form), lu.perm_r, lu.perm_c)
    b = random_array(rng, 20, dtype)
    np.testing.assert_allclose(A @ (M @ b), b, atol=100 * tolerance(dtype))
    assert (M.report().conversion == "") == (form in ("csr", "matrix"))
    if form not in ("csr", "matrix"):
        with pytest.raises(strata.TypeMismatchError, match="copy=False"):
            strata.FactorSolver(in_form(lu.L, form), lu.U, copy=False)


@given(st.integers(0, 2**32 - 1), st.sampled_from(FORMS),
       st.sampled_from(["cg", "gmres", "bicgstab"]), st.sampled_from(DTYPES),
       st.sampled_from(DTYPES))
def test_systems_of_any_format_and_type(seed, form, method, of_A, of_b):
    rng = np.random.default_rng(seed)
    A = hermitian(rng, 25, of_A)
    b = random_array(rng, 25, of_b)
    solve, given_ = getattr(strata, method), in_form(A, form)
    x, info = solve(given_, b, rtol=1e-4)
    assert info == 0 and x.dtype == np.result_type(of_A, of_b)
    assert np.linalg.norm(A @ x - b) <= 2.5e-4 * np.linalg.norm(b)
    done = [] if form in ("csr", "matrix") else [f"{form} to csr"]
    done += [f"{of_A} to {x.dtype}"] if x.dtype != of_A else []
    assert info.conversion == ", ".join(done)
    assert pickle.loads(pickle.dumps(info)).conversion == info.conversion
    if done:
        with pytest.raises(strata.TypeMismatchError, match=re.escape(done[0])) as caught:
            solve(given_, b, copy=False)
        assert caught.value.argument == "A" and "copy=False" in caught.value.remedy
    x, info = solve(A.astype(x.dtype), b, rtol=1e-4, copy=False)
    assert info == 0 and info.conversion == ""


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_systems_that_are_taken_as_they_are(rng, method):
    """Rows in any order, operators, and a SellMatrix, whose own report says the rest."""
    A, solve = hermitian(rng, 25), getattr(strata, method)
    S = strata.SellMatrix(A.tocoo())
    assert S.report().conversion == "coo to csr"
    for of in (unsorted(rng, A), unsorted(rng, A, True), spla.aslinearoperator(A), S):
        x, info = solve(of, np.ones(25), rtol=1e-10, copy=False)
        assert info == 0 and info.conversion == ""
        np.testing.assert_allclose(A @ x, np.ones(25), atol=1e-8)


@given(st.integers(0, 2**32 - 1), st.sampled_from(FORMS), st.sampled_from(INDICES),
       st.sampled_from(DTYPES), st.booleans())
def test_what_superlu_takes(seed, form, index, dtype, sort):
    rng = np.random.default_rng(seed)
    A = general(rng, 20, dtype)
    if form in ("csr", "csc"):
        # Of the transposed matrix for CSC.
        of = A if sort else unsorted(rng, A, True)
        of = with_indices(of, index)
        given_ = of if form == "csr" else of.T
        A = A if form == "csr" else A.T
    else:
        given_, index, sort = in_form(A, form), "int32", True
    kept = given_.copy()
    messages = []
    with listening(messages):
        solve = strata.factorized(given_)
    b = random_array(rng, 20, dtype)
    np.testing.assert_allclose(A @ solve(b), b, atol=100 * tolerance(dtype))
    assert (given_ != kept).nnz == 0 if sp.issparse(given_) else (given_ == kept).all()
    if form == "csc":
        np.testing.assert_array_equal(given_.indices, kept.indices)
    done = [] if form == "csc" else [
        f"{'csr' if form == 'matrix' else form} to csc"]
    done += ["indices to int32"] if index == "int64" else []
    done += [] if sort else ["sorted"]
    text = [message for message in messages if message.startswith("factorized")]
    assert text == (["factorized: converted: " + ", ".join(done)] if done else [])
    if done:
        with pytest.raises(strata.TypeMismatchError) as caught:
            strata.factorized(given_, copy=False)
        assert caught.value.argument == "A" and done[0] in str(caught.value)
        assert "copy=False" in caught.value.remedy
    else:
        np.testing.assert_array_equal(strata.factorized(given_, copy=False)(b), solve(b))


# --- Preconditioners ---------------------------------------------------------


def operators(A, rng):
    """Ways to pass A^-1's approximation D^-1, with the name of each."""
    n, d = A.shape[0], A.diagonal()
    inverse = sp.diags_array(1 / d).tocsr()

    class Mine(spla.LinearOperator):
        def __init__(self):
            super().__init__(A.dtype, A.shape)

        def _matvec(self, r):
            return r / d

    class Duck:
        shape = A.shape

        def matvec(self, r):
            return (r / d).reshape(n, 1)

    return {"LinearOperator": spla.LinearOperator(A.shape, matvec=lambda r: r / d),
            "derived": Mine(), "duck": Duck(), "function": lambda r: r / d,
            "csr": inverse, "coo": inverse.tocoo(), "dense": inverse.toarray(),
            "list": lambda r: list(r / d),
            "triangle": strata.TriangularSolver(sp.diags_array(d).tocsr()),
            "float32": spla.aslinearoperator(inverse)}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_any_operator_is_a_preconditioner(rng, dtype, method):
    A = hermitian(rng, 60, dtype)
    A = sp.diags_array(10.0 ** rng.uniform(-1, 1, 60)).astype(dtype) @ A
    A = ((A + A.conj().T) / 2).tocsr().astype(dtype) + (
        20 * sp.eye_array(60)).astype(dtype)
    A = A.tocsr()
    A.sort_indices()
    b = random_array(rng, 60, dtype)
    rtol = 1e-4 if np.dtype(dtype).char in "fF" else 1e-10
    solve = getattr(strata, method)
    wanted, info = solve(A, b, M="jacobi" if method == "cg" else operators(A, rng)["csr"],
                         rtol=rtol)
    assert info == 0
    for name, M in operators(A, rng).items():
        x, found = solve(A, b, M=M, rtol=rtol)
        assert found == 0 and abs(found.iterations - info.iterations) <= 1, name
        np.testing.assert_allclose(x, wanted, atol=50 * rtol * abs(wanted).max(), err_msg=name)


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_the_library_within_a_preconditioner(rng, method):
    """A function that calls the library itself, from a solve that has its lock."""
    A = laplacian(12)
    b = rng.random(144)
    inner = strata.ic0(A)
    solve = getattr(strata, method)
    wanted, info = solve(A, b, M=inner, rtol=1e-10)
    for M in (lambda r: inner.apply(r), spla.LinearOperator(A.shape, matvec=inner.solve),
              lambda r: strata.ic0(A) @ r):
        x, found = solve(A, b, M=M, rtol=1e-10)
        assert found == 0 and abs(found.iterations - info.iterations) <= 1
        np.testing.assert_allclose(x, wanted, atol=1e-8)
    # A few steps of another method: not one linear map, but near enough for this.
    x, found = strata.gmres(A, b, M=lambda r: strata.cg(A, r, rtol=1e-12)[0], rtol=1e-8)
    assert found == 0 and found.iterations <= 2


def test_operators_as_matrices(rng):
    A = hermitian(rng, 50)
    b = rng.random(50).astype("float32")
    of = spla.aslinearoperator(A)
    for method in ("cg", "gmres", "bicgstab"):
        x, info = getattr(strata, method)(of, b, rtol=1e-10, M=strata.ilu0(A))
        assert info == 0 and x.dtype == "float64"
        np.testing.assert_allclose(A @ x, b, atol=1e-7)
    with pytest.raises(strata.OptionError, match="jacobi"):
        strata.cg(of, b, M="jacobi")
    with pytest.raises(strata.NotSquareError):
        strata.cg(spla.aslinearoperator(np.ones((3, 4))), np.ones(4))


def test_what_a_preconditioner_raises_reaches_the_caller(rng):
    A, calls = laplacian(6), []

    def M(r):
        calls.append(r)
        if len(calls) == 3:
            raise KeyError("mine")
        return r

    for method in ("cg", "gmres", "bicgstab"):
        calls.clear()
        with pytest.raises(KeyError, match="mine"):
            getattr(strata, method)(A, rng.random(36), M=M)
        # What it was passed is its own.
        assert all(np.isfinite(r).all() for r in calls) and len({id(r) for r in calls}) == 3
        x, info = getattr(strata, method)(A, rng.random(36))
        assert info == 0
    for wrong in (lambda r: r[:-1], lambda r: None, lambda r: "x", lambda r: r * 1j):
        with pytest.raises(strata.Error, match="the result of M"):
            strata.cg(A, np.ones(36), M=wrong)


def test_threads_solve_while_one_is_in_a_preconditioner(rng):
    A, faults = laplacian(20), []
    shared, b = strata.ic0(A), rng.random(400)
    wanted = strata.cg(A, b, M=shared)[0]

    def work(M):
        try:
            for _ in range(5):
                x, info = strata.cg(A, b, M=M)
                assert info == 0
                np.testing.assert_allclose(x, wanted, atol=1e-3)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(M,))
               for M in (shared, shared.solve, shared, lambda r: shared @ r)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


# --- Callbacks ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ["cg", "bicgstab"])
@pytest.mark.parametrize("M", [None, "jacobi", "ic0", "coloured", "function"])
def test_callbacks_see_each_solution(rng, dtype, method, M):
    A = laplacian(9, dtype)
    b = random_array(rng, 81, dtype)
    of = {"ic0": lambda: strata.ic0(A), "coloured": lambda: strata.ic0(A, order="coloured"),
          "function": lambda: (lambda r: r / 4)}.get(M, lambda: M)()
    solve, seen = getattr(strata, method), []
    x, info = solve(A, b, M=of, rtol=1e-3, callback=lambda x: seen.append(x.copy()))
    assert len(seen) == info.iterations and info == 0
    np.testing.assert_array_equal(seen[-1], x)
    for it, xk in enumerate(seen, 1):
        np.testing.assert_allclose(np.linalg.norm(b - A @ xk), info.history[it],
                                   rtol=1e-2, atol=1e-5)
    if M in (None, "jacobi"):
        theirs = []
        getattr(spla, method)(A, b, rtol=1e-3, callback=lambda x: theirs.append(x.copy()),
                              M=None if M is None else sp.diags_array(1 / A.diagonal()))
        # Where SciPy ends in the middle of an iteration, it calls nothing.
        assert 0 <= len(seen) - len(theirs) <= 1
        for ours, its in zip(seen, theirs):
            np.testing.assert_allclose(ours, its, atol=2e-2 if dtype[-2:] in "3264" else 1e-2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.booleans(),
       st.booleans())
def test_callbacks_of_gmres(seed, n, restart, with_start, with_M):
    rng = np.random.default_rng(seed)
    A, b = general(rng, n), rng.random(n)
    x0 = rng.random(n) if with_start else None
    M = strata.ilu0(A) if with_M else None
    norms, legacy, cycles = [], [], []
    x, info = strata.gmres(A, b, x0, restart=restart, rtol=1e-10, M=M, callback=norms.append)
    np.testing.assert_allclose(norms, np.array(info.history[1:]) / np.linalg.norm(b))
    strata.gmres(A, b, x0, restart=restart, rtol=1e-10, M=M, callback=legacy.append,
                 callback_type="legacy")
    assert legacy == norms
    again, same = strata.gmres(A, b, x0, restart=restart, rtol=1e-10, M=M, callback_type="x",
                               callback=lambda x: cycles.append(x.copy()))
    np.testing.assert_array_equal(again, x)
    assert len(cycles) == same.restarts + 1
    np.testing.assert_array_equal(cycles[-1], x)
    residuals = [np.linalg.norm(b - A @ xk) for xk in cycles]
    assert residuals == sorted(residuals, reverse=True) or residuals[-1] < 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = []
        spla.gmres(A, b, x0, restart=restart, rtol=1e-10, callback=theirs.append,
                   callback_type="pr_norm", maxiter=200)
    if not with_M:
        # The same algorithm, until rounding shows.
        for ours, its in zip(norms, theirs):
            assert ours == pytest.approx(its, rel=1e-4, abs=1e-9)


def test_callbacks_and_progress(rng):
    A, b = laplacian(10), rng.random(100)
    for solve, more in ((strata.cg, {}), (strata.bicgstab, {}), (strata.gmres, {}),
                        (strata.gmres, dict(callback_type="x", restart=3))):
        def fails(of):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            solve(A, b, callback=fails, **more)
        # What it returns is of no account, as with SciPy.
        x, info = solve(A, b, callback=lambda of: False, **more)
        assert info == 0
        told, seen = [], []
        x, info = solve(A, b, callback=seen.append, **more,
                        progress=lambda it, norm: told.append(it) or it < 4)
        assert info.status == "stopped" and told == [0, 1, 2, 3, 4] and seen
        # The library is there for the callback.
        solve(A, b, callback=lambda of: strata.cg(A, b), maxiter=5, **more)
        called = []
        solve(A, 0 * b, callback=called.append, **more)
        assert not called
    with pytest.raises(strata.OptionError, match="callback_type"):
        strata.gmres(A, b, callback=print, callback_type="residual")
    for big in (1e200, 1e-200):
        with pytest.raises(strata.OptionError, match="scale b"):
            strata.cg(A, big * b, callback=print)
        strata.gmres(A, big * b, callback=lambda norm: None)


# --- Linear operators --------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 30),
       st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_products_are_linear_operators(seed, m, n, dtype, other):
    rng = np.random.default_rng(seed)
    A = random_matrix(rng, m, n, 4 * m, dtype)
    S = strata.SellMatrix(A)
    assert isinstance(S, spla.LinearOperator) and spla.aslinearoperator(S) is S
    close = dict(atol=20 * max(tolerance(dtype), tolerance(other)))
    x, y = random_array(rng, n, other), random_array(rng, (m, 3), other)
    for found, wanted in ((S @ x, A @ x), (S.matvec(x), A @ x), (S.H @ y, A.conj().T @ y),
                          (S.T @ y, A.T @ y), (S.rmatvec(y[:, 0]), A.conj().T @ y[:, 0]),
                          ((S.H @ S) @ x, A.conj().T @ (A @ x)), ((2 * S) @ x, 2 * (A @ x)),
                          (y.T @ S, y.T @ A)):
        np.testing.assert_allclose(found, wanted, **close)
        assert found.dtype == np.result_type(dtype, other)
    S.update((2 * A).tocsr())
    np.testing.assert_allclose(S.H @ y, 2 * (A.conj().T @ y), **close)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.sampled_from(DTYPES),
       st.sampled_from(["N", "T", "H"]), st.sampled_from(["csr", "csc"]), st.booleans(),
       st.booleans())
def test_triangles_are_linear_operators(seed, n, dtype, trans, form, lower, unit):
    rng = np.random.default_rng(seed)
    A = random_triangle(rng, n, 3 * n, dtype, form, lower)
    solver = strata.TriangularSolver(A, lower, unit, trans=trans)
    dense = A.toarray()
    if unit:
        np.fill_diagonal(dense, 1)
    op = np.linalg.inv({"N": dense, "T": dense.T, "H": dense.conj().T}[trans])
    x = random_array(rng, (n, 2), dtype)
    assert isinstance(solver, spla.LinearOperator)
    close = dict(atol=20 * tolerance(dtype) * max(1, abs(op).max()))
    for of in (solver, copy.deepcopy(solver), solver.share_plan()):
        for found, wanted in ((of @ x, op @ x), (of.matvec(x[:, 0]), op @ x[:, 0]),
                              (of.H @ x, op.conj().T @ x), (of.T @ x, op.T @ x)):
            np.testing.assert_allclose(found, wanted, **close)
    solver.update((2 * A.data).astype(dtype))
    if not unit:
        np.testing.assert_allclose(solver.H @ x, op.conj().T @ x / 2, **close)
        np.testing.assert_allclose(solver.share_plan().T @ x, op.T @ x / 2, **close)


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(0, 25), st.integers(0, 25),
       st.sampled_from(DTYPES))
def test_bands_are_linear_operators(seed, n, lower, upper, dtype):
    rng = np.random.default_rng(seed)
    ab = random_array(rng, (lower + upper + 1, n), dtype)
    ab[upper] = (1 + lower + upper) * 2
    solver = strata.BandSolver((lower, upper), ab)
    inverse = np.linalg.inv(sp.dia_array(
        (ab, np.arange(upper, -lower - 1, -1)), shape=(n, n)).toarray())
    x = random_array(rng, (n, 2), dtype)
    for found, wanted in ((solver @ x, inverse @ x), (solver.H @ x, inverse.conj().T @ x),
                          (solver.T @ x, inverse.T @ x)):
        np.testing.assert_allclose(found, wanted, atol=tolerance(dtype))
    solver.update(2 * ab)
    np.testing.assert_allclose(solver.H @ x, inverse.conj().T @ x / 2, atol=tolerance(dtype))


def test_scipys_methods_take_all_of_them(rng):
    A, b = laplacian(10), rng.random(100)
    S = strata.SellMatrix(A)
    L, U = (strata.TriangularSolver(of(A).tocsr(), lower=low)
            for of, low in ((sp.tril, True), (sp.triu, False)))
    D = spla.aslinearoperator(sp.diags_array(A.diagonal()))
    for M in (strata.ilu0(A), strata.TriangularSolver(sp.tril(A).tocsr()), U @ D @ L):
        x, info = spla.gmres(S, b, M=M, rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(A @ x, b, atol=1e-7)
    # Symmetric Gauss-Seidel, for both packages' conjugate gradients.
    for solve in (spla.cg, strata.cg):
        x, info = solve(S, b, M=U @ D @ L, rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(A @ x, b, atol=1e-7)
    smallest = spla.eigsh(S, k=1, sigma=0, OPinv=strata.splu_solver(spla.splu(A.tocsc())),
                          return_eigenvectors=False)
    assert smallest[0] == pytest.approx(np.linalg.eigvalsh(A.toarray())[0])


# --- Factors of others -------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_splu_solver_and_factorized(rng, dtype):
    A = general(rng, 40, dtype)
    b = random_array(rng, (40, 2), dtype)
    lu = spla.splu(A.tocsc())
    solver = strata.splu_solver(lu, transpose=True)
    assert isinstance(solver, strata.FactorSolver)
    np.testing.assert_allclose(solver.solve(b), lu.solve(b), atol=tolerance(dtype))
    np.testing.assert_allclose(solver.H @ b, lu.solve(b, "H"), atol=tolerance(dtype))
    incomplete = spla.spilu(A.tocsc(), drop_tol=0.1)
    np.testing.assert_allclose(strata.splu_solver(incomplete) @ b, incomplete.solve(b),
                               atol=tolerance(dtype))
    with pytest.raises(strata.TypeMismatchError, match="splu"):
        strata.splu_solver(A)
    for form in FORMS:
        solve = strata.factorized(in_form(A, form))
        np.testing.assert_allclose(solve(b[:, 0].copy()), lu.solve(b[:, 0]),
                                   atol=tolerance(dtype))
    with pytest.raises(RuntimeError, match="singular"):
        strata.factorized(sp.csc_array((2, 2)))
    with pytest.raises(strata.NotSquareError):
        strata.factorized(sp.csc_array((2, 3)))


# --- An object of CuPy's arrays, without CuPy --------------------------------


class CupysOperator:
    """What CuPy's LinearOperator does, as far as it matters here."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = np.dtype(dtype), tuple(shape)

    def matvec(self, x):
        return self._matvec(x).reshape(self.shape[0])

    def __matmul__(self, x):
        return "CuPy's"


@pytest.mark.parametrize("kind", ["SellMatrix", "TriangularSolver", "FactorSolver",
                                  "BandSolver", "IncompletePreconditioner"])
def test_classes_for_cupy(rng, monkeypatch, kind):
    from types import ModuleType

    from strata_solvers import _operator

    names = ["cupyx", "cupyx.scipy", "cupyx.scipy.sparse", "cupyx.scipy.sparse.linalg"]
    modules = [ModuleType(name) for name in names]
    modules[-1].LinearOperator = CupysOperator
    for name, module, inner in zip(names, modules, [*modules[1:], None]):
        monkeypatch.setitem(__import__("sys").modules, name, module)
        if inner is not None:
            setattr(module, inner.__name__.rpartition(".")[2], inner)
    monkeypatch.setattr(_operator, "_cupy_classes", {})
    array = type("ndarray", (), {"__module__": "cupy"})()
    ours = getattr(strata, kind)
    assert _operator.operator_class(ours, np.ones(3)) is ours
    made = _operator.operator_class(ours, array)
    assert made is _operator.operator_class(ours, array)
    assert made is _operator.operator_class(made, array)
    assert issubclass(made, ours) and issubclass(made, CupysOperator)
    assert made.matvec is CupysOperator.matvec
    for name in ("_matvec", "_rmatmat", "__matmul__", "__repr__", "__reduce__", "__init__"):
        assert getattr(made, name) is getattr(ours, name)
    if kind == "SellMatrix":
        A = laplacian(4)
        of = object.__new__(made)
        of._make(strata.SellMatrix(A)._matrix, strata.SellMatrix(A)._options)
        x = rng.random(16)
        np.testing.assert_allclose(of.matvec(x), A @ x)
        np.testing.assert_allclose(of @ x, A @ x)
        assert of @ "x" == "CuPy's" and of.shape == (16, 16) and of.dtype == "float64"


# --- What else belongs to a package ------------------------------------------


def public_functions():
    """The package's functions, and its classes' methods and properties, with names."""
    import inspect

    for name in strata.__all__:
        entry = getattr(strata, name)
        if inspect.isfunction(entry):
            yield name, entry
        kinds = [kind for kind in entry.__mro__ if kind.__module__.startswith(
            "strata_solvers._")] if inspect.isclass(entry) else []
        for key, member in ((key, member) for kind in kinds for key, member in vars(
                kind).items() if key == "__init__" or not key.startswith("_")):
            member = member.fget if isinstance(member, property) else getattr(
                member, "__func__", member)
            if inspect.isfunction(member):
                yield f"{name}.{key}", member


def test_nothing_at_the_door_is_of_any_type():
    import inspect
    import typing

    found, seen = [], set()
    for name, function in public_functions():
        # Made by ilu0() and its like alone, and by Error's own code.
        if name == "IncompletePreconditioner.__init__" or "Error" in name:
            continue
        seen.add(name)
        # Python 3.10 doesn't keep them.
        overloads = getattr(typing, "get_overloads", lambda of: [])(function)
        for signature in map(inspect.signature, [function, *overloads]):
            notes = {parameter.name: parameter.annotation
                     for parameter in signature.parameters.values()
                     if parameter.name not in ("self", "cls")}
            if not name.endswith("__init__"):
                notes["return"] = signature.return_annotation
            found += [f"{name}({key}: {note})" for key, note in notes.items()
                      if note is inspect.Signature.empty or "Any" in str(note)]
    assert found == []
    assert {"cg", "factorized", "IncompletePreconditioner.lower", "FactorSolver.apply",
            "IncompletePreconditioner.perm_r", "SellMatrix.apply"} <= seen
    assert "Any" not in str(strata.ReducedRowEchelonForm.__annotations__)


def test_reports_are_lines_of_text():
    A = laplacian(5)
    lu = spla.splu(A.tocsc())
    for made, solvers in ((strata.TriangularSolver(sp.tril(A).tocoo()), 0),
                          (strata.ilu0(A.tocoo()), 2),
                          (strata.ilu0(A.tocoo(), transpose=True), 4),
                          (strata.splu_solver(lu), 2), (strata.SellMatrix(A.tocoo()), 0)):
        report = made.report()
        text = str(report)
        assert "\nrows: 25\n" in "\n" + text and "memory: " in text
        assert text.count("solver with ") == solvers
        assert (f"converted: {report.conversion}" in text) == bool(report.conversion)
    report = strata.splu_solver(lu).report()
    assert str(report.lower) in str(report)


def test_choices_are_logged(caplog):
    A = laplacian(5)
    with caplog.at_level(logging.DEBUG, "strata_solvers"):
        solver = strata.TriangularSolver(sp.tril(A).tocoo())
        M = strata.ilu0(A)
        strata.cg(A, np.ones(25))
        strata.cg(A.tocoo(), np.ones(25))
    text = [record.getMessage() for record in caplog.records]
    assert "; converted: coo to csr" in text.pop()
    assert "converted" not in text[-1]
    assert solver.report().algorithm in text[0] and "converted: coo to csr" in text[0]
    assert solver.report().reason in text[0]
    assert "IncompletePreconditioner" in text[1] and "ConjugateGradient" in text[-1]
    assert "order natural" in text[1]
    for factor, of in ("L", M.report().lower), ("U", M.report().upper):
        assert f"{factor} by {of.algorithm}, {of.reason}" in text[1]
    assert all(record.name == "strata_solvers" for record in caplog.records)
    caplog.clear()
    strata.ilu0(A)
    assert not caplog.records


def test_a_pool_for_a_block(monkeypatch):
    """At the end, also of a block that raises, the extension frees what it keeps: once, and
    not what is in use.  (A host keeps nothing, so the calls are counted.)"""
    from strata_solvers import _core, _pool

    assert _pool.release_memory_pool is _core.release_memory_pool is strata.release_memory_pool
    calls = []
    monkeypatch.setattr(_pool, "release_memory_pool",
                        lambda: calls.append(_core.release_memory_pool()))
    A = laplacian(8)
    with strata.memory_pool():
        M = strata.ilu0(A)
        z = M @ np.ones(64)
        assert calls == []
    assert calls == [None]
    with pytest.raises(KeyError):
        with strata.memory_pool():
            assert calls == [None]
            raise KeyError
    assert calls == [None] * 2
    np.testing.assert_array_equal(M @ np.ones(64), z)


def test_literals_are_the_librarys_names():
    from typing import get_args

    from strata_solvers import _types

    A = sp.eye_array(3, format="csr")
    for kind, name, make in (
            ("Algorithm", "algorithm", lambda **of: strata.TriangularSolver(A, **of)),
            ("Accuracy", "accuracy", lambda **of: strata.TriangularSolver(A, **of)),
            ("Precision", "precision", lambda **of: strata.ilu0(A, **of)),
            ("Order", "order", lambda **of: strata.ilu0(A, **of)),
            ("BandMethod", "method", lambda **of: strata.BandSolver((0, 0), [[1.0]], **of)),
            ("CallbackType", "callback_type", lambda **of: strata.gmres(A, np.ones(3), **of))):
        with pytest.raises(strata.OptionError) as caught:
            make(**{name: "no such"})
        known = set(re.findall(r"[a-z_]+", caught.value.remedy)) - {"use", "or"}
        assert known == set(get_args(getattr(_types, kind)))
