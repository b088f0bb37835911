# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What CuPy's users pass works on a GPU: test_composition.py has the same on a host.  All of
it is skipped where the build, or the machine, has no CUDA."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import laplacian, random_array, random_matrix, random_triangle, tolerance

import strata_solvers as strata

if not strata._core.has_cuda:
    pytest.skip("this build has no CUDA", allow_module_level=True)
cupy = pytest.importorskip("cupy")
cupyx = pytest.importorskip("cupyx.scipy.sparse")
cupyx_linalg = pytest.importorskip("cupyx.scipy.sparse.linalg")

DTYPES = list(strata._core.scalars)
FORMS = ["coo", "csc", "csr", "dia", "dense"]
METHODS = ["cg", "gmres", "bicgstab"]


def on_gpu(A, form="csr"):
    if form == "dense":
        return cupy.asarray(A.toarray())
    return getattr(cupyx, form + "_matrix")(sp.coo_matrix(A) if form == "dia" else A)


def dominant(rng, n, dtype):
    A = random_matrix(rng, n, n, 4 * n, dtype)
    A = (A + sp.diags_array(1 + abs(A).sum(axis=1)).astype(dtype)).tocsr().astype(dtype)
    A.sort_indices()
    return A


def raw(A, order):
    """CuPy's CSR with the entries of A in another order."""
    made = cupyx.csr_matrix(A.shape, dtype=A.dtype)
    made.indptr = cupy.asarray(A.indptr)
    made.indices, made.data = (cupy.asarray(array[order]) for array in (A.indices, A.data))
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("maker", ["ilu0", "SellMatrix", "TriangularSolver"])
def test_formats(rng, dtype, form, maker):
    n = 80
    A = random_triangle(rng, n, 3 * n, dtype) if maker == "TriangularSolver" else dominant(
        rng, n, dtype)
    make = getattr(strata, maker)
    made, host = make(on_gpu(A, form)), make(A)
    assert isinstance(made, make if maker != "ilu0" else strata.IncompletePreconditioner)
    assert isinstance(made, cupyx_linalg.LinearOperator)
    x = random_array(rng, (n, 2), dtype)
    np.testing.assert_allclose((made @ cupy.asarray(x)).get(), host @ x,
                               atol=10 * tolerance(dtype))
    as_it_is = form == "csr" or form == "csc" and maker == "TriangularSolver"
    assert (made.report().conversion == "") == as_it_is
    if not as_it_is:
        with pytest.raises(strata.TypeMismatchError, match="copy=False"):
            make(on_gpu(A, form), copy=False)
        with pytest.raises(strata.TypeMismatchError, match="order"):
            made.update(cupy.asarray(A.data))
    made.update(on_gpu((2 * A).tocsr().astype(dtype), form))
    factor = 2 if maker == "SellMatrix" else 0.5
    for of in (made, copy.copy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_allclose((of @ cupy.asarray(x)).get(), factor * (host @ x),
                                   atol=10 * tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("maker", ["ilu0", "TriangularSolver"])
def test_unsorted_rows(rng, dtype, maker):
    n = 60
    A = random_triangle(rng, n, 3 * n, dtype) if maker == "TriangularSolver" else dominant(
        rng, n, dtype)
    row = np.repeat(np.arange(n), np.diff(A.indptr))
    mixed = raw(A, np.lexsort((rng.random(row.size), row)))
    make, x = getattr(strata, maker), random_array(rng, n, dtype)
    made = make(mixed)
    np.testing.assert_allclose((made @ cupy.asarray(x)).get(), make(A) @ x,
                               atol=10 * tolerance(dtype))
    if maker == "ilu0":
        assert made.report().conversion == "sorted"
        with pytest.raises(strata.UnsortedRowError):
            make(mixed, copy=False)


@pytest.mark.parametrize("method", METHODS)
def test_any_operator_is_a_preconditioner(rng, method):
    A = laplacian(20)
    of, d = on_gpu(A), A.diagonal()[0]
    b = cupy.asarray(rng.random(400))
    inner, solve = strata.ic0(of), getattr(strata, method)
    wanted, info = solve(of, b, M=inner, rtol=1e-10)
    kept = []
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        for M in (inner.apply, lambda r: kept.append(r) or inner.apply(r),
                  cupyx_linalg.LinearOperator(A.shape, matvec=inner.apply, dtype="float64")):
            x, found = solve(of, b, M=M, rtol=1e-10)
            assert found == 0 and abs(found.iterations - info.iterations) <= 1
            cupy.testing.assert_allclose(x, wanted, atol=1e-7)
        for M in (lambda r: r / d, lambda r: (r / d).astype("float32"),
                  on_gpu(sp.diags_array(np.full(400, 1 / d)).tocsr()), cupy.eye(400) / d):
            x, found = solve(of, b, M=M, rtol=1e-4)
            assert found == 0
            np.testing.assert_allclose(A @ x.get(), b.get(), atol=1e-2)
    # What a function was passed stays as it was.
    assert all(bool(cupy.isfinite(r).all()) for r in kept)
    for wrong in (lambda r: r[1:], lambda r: r.get(), lambda r: 1j * r, lambda r: None):
        with pytest.raises(strata.Error):
            solve(of, b, M=wrong)
    with pytest.raises(KeyError):
        solve(of, b, M=lambda r: {}["mine"])
    x, info = solve(cupyx_linalg.aslinearoperator(of), b, M=inner, rtol=1e-10)
    assert info == 0
    cupy.testing.assert_allclose(x, wanted, atol=1e-7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("M", [None, "ic0", "coloured"])
def test_callbacks(rng, dtype, method, M):
    A = laplacian(12, dtype)
    of = on_gpu(A)
    b = random_array(rng, 144, dtype)
    preconditioner = None if M is None else strata.ic0(
        of, order="coloured" if M == "coloured" else "natural")
    seen, more = [], dict(callback_type="x", restart=4) if method == "gmres" else {}
    x, info = getattr(strata, method)(of, cupy.asarray(b), M=preconditioner, rtol=1e-3,
                                      callback=lambda x: seen.append(x.get()), **more)
    assert info == 0 and isinstance(x, cupy.ndarray)
    assert len(seen) == (info.restarts + 1 if method == "gmres" else info.iterations)
    np.testing.assert_array_equal(seen[-1], x.get())
    if method != "gmres":
        for it, xk in enumerate(seen, 1):
            np.testing.assert_allclose(np.linalg.norm(b - A @ xk), info.history[it],
                                       rtol=1e-2, atol=1e-4)
        return
    norms = []
    strata.gmres(of, cupy.asarray(b), M=preconditioner, rtol=1e-3, restart=4,
                 callback=norms.append)
    np.testing.assert_allclose(norms, np.array(info.history[1:]) / np.linalg.norm(b), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cupys_methods_take_all_of_them(rng, dtype):
    A = laplacian(15, dtype)
    of, b = on_gpu(A), cupy.asarray(random_array(rng, 225, dtype))
    S = strata.SellMatrix(of)
    L = strata.TriangularSolver(on_gpu(sp.tril(A).tocsr()))
    for operator in (S, L):
        assert isinstance(operator, cupyx_linalg.LinearOperator)
        assert cupyx_linalg.aslinearoperator(operator) is operator
    # With their default tolerance.
    for M in (None, L, strata.ilu0(of)):
        x, info = cupyx_linalg.gmres(S, b, M=M, maxiter=1000)
        assert info == 0
        np.testing.assert_allclose(A @ x.get(), b.get(), atol=1e-2)
    x, info = cupyx_linalg.cg(S, b, M=L.H @ L, maxiter=1000)
    assert info == 0
    np.testing.assert_allclose(A @ x.get(), b.get(), atol=1e-2)
    X = cupy.asarray(random_array(rng, (225, 2), dtype))
    dense = sp.tril(A).toarray()
    close = dict(rtol=1e-3, atol=tolerance(dtype))
    for found, wanted in ((S.H @ X, A.conj().T @ X.get()), (S.T @ X, A.T @ X.get()),
                          (L.H @ X, np.linalg.solve(dense.conj().T, X.get())),
                          (L.T @ X, np.linalg.solve(dense.T, X.get()))):
        np.testing.assert_allclose(found.get(), wanted, **close)


def test_bands_are_operators(rng):
    ab = rng.random((4, 90))
    ab[1] += 5
    band = strata.BandSolver((2, 1), cupy.asarray(ab))
    host = strata.BandSolver((2, 1), ab)
    x = rng.random((90, 2))
    assert isinstance(band, cupyx_linalg.LinearOperator)
    for found, wanted in ((band @ cupy.asarray(x), host @ x), (band.H @ cupy.asarray(x),
                                                               host.H @ x)):
        np.testing.assert_allclose(found.get(), wanted, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_spsolve_triangular(rng, dtype, form, lower):
    A = random_triangle(rng, 70, 200, dtype, lower=lower)
    of = on_gpu(A, form)
    for shape in ((70,), (70, 3)):
        b = random_array(rng, shape, dtype)
        given = cupy.asarray(b)
        x = strata.spsolve_triangular(of, given, lower)
        assert isinstance(x, cupy.ndarray) and x.dtype == dtype and x is not given
        np.testing.assert_allclose(A @ x.get(), b, atol=tolerance(dtype))
        np.testing.assert_array_equal(given.get(), b)
        x = strata.spsolve_triangular(of, given, lower, overwrite_b=True)
        assert x is given
        np.testing.assert_allclose(A @ x.get(), b, atol=tolerance(dtype))
    wide = strata.spsolve_triangular(of, cupy.ones(70, "complex128"), lower)
    assert wide.dtype == "complex128"
    np.testing.assert_allclose(A @ wide.get(), np.ones(70), atol=tolerance(dtype))
    with pytest.raises(strata.SizeMismatchError):
        strata.spsolve_triangular(of, cupy.ones(69), lower)
    with pytest.raises(strata.WrongTriangleError):
        strata.spsolve_triangular(on_gpu(dominant(rng, 70, dtype)), cupy.ones(70))
    with pytest.raises(strata.TypeMismatchError):
        strata.spsolve_triangular(of, np.ones(70), lower)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_with_permutations_of_a_host(rng, dtype):
    A = dominant(rng, 50, dtype)
    lu = spla.splu(A.tocsc())
    b = random_array(rng, (50, 2), dtype)
    for form in ("csr", "csc"):
        M = strata.FactorSolver(on_gpu(lu.L, form), on_gpu(lu.U, form), lu.perm_r, lu.perm_c,
                                np.ones(50), np.ones(50))
        for of in (M, pickle.loads(pickle.dumps(M)), copy.deepcopy(M)):
            np.testing.assert_allclose(A @ (of @ cupy.asarray(b)).get(), b,
                                       atol=10 * tolerance(dtype))
        M.update(on_gpu(lu.L, form), on_gpu((2 * lu.U).tocsc(), form), lu.perm_r, lu.perm_c)
        np.testing.assert_allclose(2 * (A @ (M @ cupy.asarray(b)).get()), b,
                                   atol=10 * tolerance(dtype))
    with pytest.raises(strata.PermutationError):
        strata.FactorSolver(on_gpu(lu.L), on_gpu(lu.U), np.full(50, 50))
    of_cupy = strata.splu_solver(cupyx_linalg.splu(on_gpu(A, "csc")))
    np.testing.assert_allclose(A @ of_cupy.solve(cupy.asarray(b)).get(), b,
                               atol=10 * tolerance(dtype))
    for form in FORMS:
        x = strata.factorized(on_gpu(A, form))(cupy.asarray(b))
        assert isinstance(x, cupy.ndarray)
        np.testing.assert_allclose(A @ x.get(), b, atol=10 * tolerance(dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shorter", ["int32", "float32"])
def test_shorter_right_hand_sides(rng, dtype, shorter):
    A = random_triangle(rng, 40, 100, dtype)
    of = on_gpu(A)
    b = cupy.asarray((10 * rng.random((40, 2))).astype(shorter))
    solver = strata.TriangularSolver(of)
    out = cupy.empty((40, 2), dtype)
    for x in (solver.solve(b), solver.solve(b, out), strata.spsolve_triangular(of, b)):
        assert x.dtype == dtype
        np.testing.assert_allclose(A @ x.get(), b.get(), atol=1e-9)
    M = strata.ilu0(of)
    np.testing.assert_allclose(M.apply(b).get(), M.apply(b.astype(dtype)).get())
    np.testing.assert_allclose((strata.SellMatrix(of) @ b).get(), A @ b.get(), atol=1e-9)
    for method in METHODS:
        x, info = getattr(strata, method)(on_gpu(laplacian(6, dtype)), cupy.ones(36, shorter))
        assert info == 0 and x.dtype == dtype
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        solver.solve(out, out)
        stream.begin_capture()
        try:
            with pytest.raises(strata.HandleError, match="converted"):
                solver.solve(b, out)
        finally:
            stream.end_capture()


# --- PyTorch and JAX ---------------------------------------------------------


def test_tensors(rng):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    A = laplacian(10)
    b = torch.from_numpy(rng.random(100)).cuda()
    coo = torch.sparse_coo_tensor(
        torch.from_numpy(np.vstack([A.tocoo().row, A.tocoo().col])).long(),
        torch.from_numpy(A.data), A.shape).cuda()
    for of in (coo, coo.coalesce(), coo.coalesce().to_sparse_csc(), coo.to_dense()):
        M = strata.ilu0(of)
        assert " to csr" in M.report().conversion
        np.testing.assert_allclose((M @ b).cpu(), strata.ilu0(A) @ b.cpu().numpy())
    csr = coo.coalesce().to_sparse_csr()
    seen = []
    for method in METHODS:
        more = dict(callback_type="x") if method == "gmres" else {}
        x, info = getattr(strata, method)(csr, b.float(), M=lambda r: M.apply(r), rtol=1e-10,
                                          callback=lambda x: seen.append(x.clone()), **more)
        assert info == 0 and x.is_cuda
        np.testing.assert_allclose(A @ x.cpu().numpy(), b.float().cpu().numpy(), atol=1e-7)
        torch.testing.assert_close(seen[-1], x)
    S, L = strata.SellMatrix(csr), strata.TriangularSolver(csr, take_triangle=True)
    np.testing.assert_allclose((S @ b).cpu(), A @ b.cpu().numpy())
    np.testing.assert_allclose(sp.tril(A) @ L.solve(b.float()).cpu().numpy(),
                               b.float().cpu().numpy(), atol=1e-9)
    x = strata.spsolve_triangular(csr.to_dense().tril().to_sparse_csr(), b)
    np.testing.assert_allclose(sp.tril(A) @ x.cpu().numpy(), b.cpu().numpy(), atol=1e-9)


def test_arrays_of_jax(rng):
    jax = pytest.importorskip("jax")
    try:
        device = jax.devices("cuda")[0]
    except RuntimeError:
        pytest.skip("JAX finds no GPU")
    from jax.experimental.sparse import BCOO, BCSR

    jax.config.update("jax_enable_x64", True)
    A = laplacian(8)
    b = jax.device_put(rng.random(64), device)
    dense = jax.device_put(A.toarray(), device)
    for of in (BCSR.fromdense(dense), BCOO.fromdense(dense), dense):
        M, seen = strata.ilu0(of), []
        for method in METHODS:
            more = dict(callback_type="x") if method == "gmres" else {}
            x, info = getattr(strata, method)(of, b, M=lambda r: M.apply(r) * 1, rtol=1e-10,
                                              callback=seen.append, **more)
            assert info == 0 and isinstance(x, jax.Array)
            np.testing.assert_allclose(A @ np.asarray(x), b, atol=1e-7)
            np.testing.assert_array_equal(seen[-1], x)
    x = strata.spsolve_triangular(BCSR.fromdense(jax.numpy.tril(dense)), b)
    np.testing.assert_allclose(sp.tril(A) @ np.asarray(x), b, atol=1e-9)
