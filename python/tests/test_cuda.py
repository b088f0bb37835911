# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of a GPU: CuPy's, PyTorch's, JAX's, and those that have the CUDA Array Interface
alone.  All of it is skipped where the build, or the machine, has no CUDA."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import (
    INDICES,
    laplacian,
    random_array,
    random_matrix,
    random_triangle,
    tolerance,
)

import strata_solvers as strata

if not strata._core.has_cuda:
    pytest.skip("this build has no CUDA", allow_module_level=True)
cupy = pytest.importorskip("cupy")
cupyx = pytest.importorskip("cupyx.scipy.sparse")
cupyx_linalg = pytest.importorskip("cupyx.scipy.sparse.linalg")

DTYPES = list(strata._core.scalars)


def on_gpu(A):
    """A matrix of SciPy as one of CuPy, with the same index type."""
    kind = cupyx.csc_matrix if A.format == "csc" else cupyx.csr_matrix
    made = kind(A.shape, dtype=A.dtype)
    made.data, made.indices, made.indptr = (
        cupy.asarray(array) for array in (A.data, A.indices, A.indptr))
    return made


class Only:
    """An array that has the CUDA Array Interface, and nothing else of CuPy's."""

    def __init__(self, array, stream=None, version=3):
        self._array = array
        self.__cuda_array_interface__ = {
            **array.__cuda_array_interface__, "version": version, "stream": stream}


class OnlyMatrix:
    """A CSR matrix of such arrays."""

    format = "csr"

    def __init__(self, A):
        self.shape = A.shape
        self.indptr, self.indices, self.data = Only(A.indptr), Only(A.indices), Only(A.data)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("columns", [None, 5])
def test_triangular(rng, dtype, index, form, trans, columns):
    A = random_triangle(rng, 300, 1500, dtype, form, index=index)
    solver = strata.TriangularSolver(on_gpu(A), trans=trans)
    op = {"N": A, "T": A.T, "H": A.conj().T}[trans]
    shape = (300,) if columns is None else (300, columns)
    b = random_array(rng, shape, dtype)
    orders = ["C"] if columns is None else ["C", "F", "strided"]
    for order in orders:
        given = cupy.asarray(b, order="C" if order == "strided" else order)
        if order == "strided":
            wide = cupy.zeros((600, 3 * columns), dtype)
            wide[::2, 1::3] = given
            given = wide[::2, 1::3]
        for out in (None, cupy.empty(shape, dtype), given.copy()):
            x = solver.solve(given, out)
            assert isinstance(x, cupy.ndarray) and (out is None or x is out)
            np.testing.assert_allclose(op @ x.get(), b, atol=tolerance(dtype))
        x = solver.solve(given, given)
        assert x is given
        np.testing.assert_allclose(op @ x.get(), b, atol=tolerance(dtype))
    new = A.copy()
    new.data = A.data * 2
    for values in (cupy.asarray(new.data), on_gpu(new)):
        solver.update(values)
        x = solver.solve(cupy.asarray(b))
        np.testing.assert_allclose(2 * (op @ x.get()), b, atol=tolerance(dtype))


@pytest.mark.parametrize("blocking", [True, False])
def test_work_is_on_the_current_stream(rng, blocking):
    """What is enqueued before and after on that stream is seen, and sees the solution."""
    n = 200000
    A = random_triangle(rng, n, 3 * n, "float64")
    solver = strata.TriangularSolver(on_gpu(A))
    M = strata.ilu0(on_gpu(laplacian(300)))
    host = rng.random(n)
    wanted = strata.TriangularSolver(A).solve(host)
    for stream in (cupy.cuda.Stream(non_blocking=not blocking), cupy.cuda.Stream.null,
                   cupy.cuda.Stream.ptds if hasattr(cupy.cuda.Stream, "ptds") else
                   cupy.cuda.Stream(non_blocking=True)):
        with stream:
            b = cupy.zeros(n)
            big = cupy.random.random((3000, 3000))
            for _ in range(5):
                big = big @ big
                big /= big.max()
            b += cupy.asarray(host)
            x = solver.solve(b)
            b[...] = 0
            x += 0 * big.sum()
            np.testing.assert_allclose(x.get(), wanted, rtol=1e-9, atol=1e-12)
            r = cupy.ones(90000)
            z = M.apply(r)
            assert float(abs(z).max()) > 0


def test_two_streams_share_a_solver_and_a_plan(rng):
    n = 100000
    A = random_triangle(rng, n, 3 * n, "float64")
    one = strata.TriangularSolver(on_gpu(A))
    other = one.share_plan()
    b = cupy.asarray(rng.random(n))
    wanted = one.solve(b).get()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    for pair in ((one, other), (one, one)):
        found = []
        for _ in range(5):
            for stream, solver in zip(streams, pair):
                with stream:
                    found.append(solver.solve(b))
        cupy.cuda.Device().synchronize()
        for x in found:
            np.testing.assert_array_equal(x.get(), wanted)
    other.update(cupy.asarray(2 * A.data))
    np.testing.assert_allclose(one.solve(b).get(), wanted / 2, rtol=1e-12)
    M = strata.ilu0(on_gpu(laplacian(100)))
    r = cupy.asarray(rng.random(10000))
    np.testing.assert_array_equal(M.share_plan().apply(r).get(), M.apply(r).get())


def test_threads_with_streams_of_their_own(rng):
    A = random_triangle(rng, 5000, 20000, "float64")
    solver = strata.TriangularSolver(on_gpu(A))
    b = cupy.asarray(rng.random((5000, 2)))
    wanted = solver.solve(b).get()
    cupy.cuda.Device().synchronize()
    faults = []

    def work():
        try:
            with cupy.cuda.Stream(non_blocking=True):
                own = solver.share_plan()
                for _ in range(20):
                    np.testing.assert_array_equal(own.solve(b).get(), wanted)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.parametrize("dtype", DTYPES)
def test_cuda_array_interface(rng, dtype):
    A = random_triangle(rng, 200, 800, dtype)
    of = on_gpu(A)
    b = random_array(rng, (200, 3), dtype)
    for matrix in (of, OnlyMatrix(of)):
        solver = strata.TriangularSolver(matrix)
        out = cupy.zeros((200, 3), dtype)
        stream = cupy.cuda.Stream(non_blocking=True)
        for handle in (None, 1, stream.ptr):
            out[...] = 0
            given = cupy.asarray(b)
            cupy.cuda.Device().synchronize()
            target = Only(out, handle)
            assert solver.solve(Only(given, handle), target) is target
            cupy.cuda.Device().synchronize()
            np.testing.assert_allclose(A @ out.get(), b, atol=tolerance(dtype))
        with pytest.raises(strata.TypeMismatchError, match="out"):
            solver.solve(Only(cupy.asarray(b)))
        solver.update(Only(cupy.asarray(2 * A.data)))
        solver.solve(cupy.asarray(b), out)
        np.testing.assert_allclose(2 * (A @ out.get()), b, atol=tolerance(dtype))
    M = strata.ilu0(OnlyMatrix(on_gpu(laplacian(10, dtype))))
    out = cupy.zeros(100, dtype)
    M.apply(Only(cupy.ones(100, dtype)), Only(out))
    assert float(abs(out).max()) > 0


def test_managed_memory(rng):
    A = random_triangle(rng, 100, 300, "float64")
    solver = strata.TriangularSolver(on_gpu(A))
    memory = cupy.cuda.malloc_managed(800)
    b = cupy.ndarray((100,), "float64", memory)
    b[...] = 1
    np.testing.assert_allclose(A @ solver.solve(b).get(), np.ones(100), atol=1e-10)
    x = cupy.empty(100)
    np.testing.assert_allclose(A @ solver.solve(Only(b), Only(x))._array.get(), np.ones(100),
                               atol=1e-10)


def test_negative_strides(rng):
    A = random_triangle(rng, 50, 100, "float64")
    solver = strata.TriangularSolver(on_gpu(A))
    for shape in ((50,), (50, 3)):
        b = rng.random(shape)
        backward = cupy.asarray(b[::-1].copy())[::-1]
        np.testing.assert_allclose(A @ solver.solve(backward).get(), b, atol=1e-10)


def test_refuses_arrays_of_hosts_and_wrong_ones(rng):
    A = random_triangle(rng, 50, 100, "float64")
    solver = strata.TriangularSolver(on_gpu(A))
    out = cupy.full(50, 7.0)
    for b in (np.ones(50), cupy.ones(50, "complex128"), cupy.ones(49), cupy.ones((50, 1, 1))):
        with pytest.raises(strata.Error):
            solver.solve(b, out)
    for to in (cupy.empty(49), np.empty(50), cupy.empty((50, 2)), cupy.empty(50, "float32"),
               cupy.empty(50)[::-1]):
        with pytest.raises(strata.Error):
            solver.solve(cupy.ones(50), to)
    assert (out.get() == 7).all()
    host = strata.TriangularSolver(A)
    with pytest.raises(strata.TypeMismatchError, match="host"):
        host.solve(cupy.ones(50))
    wrong = A.copy()
    wrong.data = A.data.copy()
    wrong.data[wrong.indptr[8] - 1] = 0
    with pytest.raises(strata.ZeroDiagonalError) as caught:
        strata.TriangularSolver(on_gpu(wrong))
    assert caught.value.row == 7
    with pytest.raises(strata.ZeroDiagonalError):
        solver.update(cupy.asarray(wrong.data))
    np.testing.assert_allclose(A @ solver.solve(cupy.ones(50)).get(), np.ones(50), atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["ilu0", "ic0", "ilu1", "ic1"])
def test_preconditioners(rng, dtype, kind):
    A = laplacian(20, dtype)
    level = int(kind[-1])
    make = {"ilu": strata.ilu, "ic": strata.ic}[kind[:-1]]
    host = make(A, level)
    M = make(on_gpu(A), level, order="natural")
    r = random_array(rng, (400, 3), dtype)
    for trans in ("N", "T", "H"):
        np.testing.assert_allclose(M.apply(cupy.asarray(r), trans=trans).get(),
                                   host.apply(r, trans=trans), rtol=1e-4 if tolerance(
                                       dtype) > 1e-6 else 1e-9, atol=tolerance(dtype))
    np.testing.assert_allclose((M.lower @ M.upper).get().toarray(),
                               (host.lower @ host.upper).toarray(), atol=tolerance(dtype))
    assert M.report().fill_entries == host.report().fill_entries
    M.update(cupy.asarray(2 * A.data))
    np.testing.assert_allclose(2 * M.apply(cupy.asarray(r)).get(), host.apply(r),
                               atol=tolerance(dtype))
    again = pickle.loads(pickle.dumps(M))
    np.testing.assert_array_equal(again.apply(cupy.asarray(r)).get(),
                                  M.apply(cupy.asarray(r)).get())


@pytest.mark.parametrize("method", ["cg", "gmres"])
@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
def test_serves_cupys_methods(rng, method, kind):
    A = laplacian(60)
    of = on_gpu(A)
    b = rng.random(A.shape[0])
    M = getattr(strata, kind)(of)
    assert isinstance(M, cupyx_linalg.LinearOperator)
    x, info = getattr(cupyx_linalg, method)(of, cupy.asarray(b), M=M, rtol=1e-8, maxiter=500)
    assert info == 0
    np.testing.assert_allclose(A @ x.get(), b, atol=1e-4)


def test_options_of_factorisations(rng):
    A = laplacian(20)
    r = cupy.asarray(rng.random(400))
    M = strata.ilu0(on_gpu(A), enqueue_updates=True)
    M.update(cupy.asarray(2 * A.data), wait=False)
    assert M.update_status() == (None, None, M.update_status().unmerged)
    np.testing.assert_allclose(2 * M.apply(r).get(), strata.ilu0(A).apply(r.get()), rtol=1e-10)
    M.update(cupy.asarray(A.data * np.nan), wait=False)
    status = M.update_status()
    assert status.fault is not None and status.row is not None
    assert cupy.isnan(M.apply(r)).all()
    single = strata.ilu0(on_gpu(A), precision="single")
    np.testing.assert_allclose(single.apply(r).get(), strata.ilu0(A).apply(r.get()), rtol=1e-4)
    zero = A.copy()
    zero.data = A.data.copy()
    zero.data[zero.indices == np.repeat(np.arange(400), np.diff(zero.indptr))] = 0
    replaced = strata.ilu0(on_gpu(zero), small_pivot_threshold=1e-8)
    assert replaced.report().replaced_pivots > 0


def test_factor_solver(rng):
    import scipy.sparse.linalg as spla

    A = (laplacian(12) + sp.diags_array(rng.random(143), offsets=1)).tocsc()
    lu = spla.splu(A)
    M = strata.FactorSolver(on_gpu(lu.L.tocsr()), on_gpu(lu.U.tocsr()),
                            cupy.asarray(lu.perm_r), cupy.asarray(lu.perm_c), transpose=True)
    assert isinstance(M, cupyx_linalg.LinearOperator)
    b = rng.random((144, 2))
    np.testing.assert_allclose(A @ M.apply(cupy.asarray(b)).get(), b, atol=1e-9)
    np.testing.assert_allclose(A.T @ M.apply(cupy.asarray(b), trans="T").get(), b, atol=1e-9)
    np.testing.assert_array_equal(M.share_plan().apply(cupy.asarray(b)).get(),
                                  M.apply(cupy.asarray(b)).get())
    x, info = strata.gmres(on_gpu(A.tocsr()), cupy.asarray(b[:, 0].copy()), M=M, rtol=1e-10)
    assert info == 0 and info.iterations <= 2
    np.testing.assert_allclose(A @ x.get(), b[:, 0], atol=1e-8)


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("M", [None, "jacobi", "ilu0", "ic0"])
def test_krylov(rng, method, M):
    A = laplacian(40)
    of = on_gpu(A)
    b = cupy.asarray(rng.random(1600))
    made = getattr(strata, M)(of) if M in ("ilu0", "ic0") else M
    for x0 in (None, cupy.asarray(rng.random(1600))):
        x, info = getattr(strata, method)(of, b, x0, M=made, rtol=1e-9, maxiter=2000)
        assert info == 0
        np.testing.assert_allclose(A @ x.get(), b.get(), atol=1e-6)


def test_products_bands_and_echelon_forms(rng):
    A = random_matrix(rng, 300, 200, 3000, "float64")
    S = strata.SellMatrix(on_gpu(A))
    x = rng.random((200, 2))
    np.testing.assert_allclose((S @ cupy.asarray(x)).get(), A @ x, atol=1e-12)
    ab = rng.random((4, 500))
    ab[1] += 5
    band = strata.BandSolver((2, 1), cupy.asarray(ab))
    b = rng.random(500)
    np.testing.assert_allclose(band.solve(cupy.asarray(b)).get(),
                               strata.BandSolver((2, 1), ab).solve(b), atol=1e-12)
    form = strata.rref(cupy.asarray([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]))
    assert form.rank == 2 and list(form.pivot_columns) == [0, 1]


# --- PyTorch -----------------------------------------------------------------


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    return torch


def tensor_of(torch, A):
    return torch.sparse_csr_tensor(torch.from_numpy(A.indptr).long(),
                                   torch.from_numpy(A.indices).long(),
                                   torch.from_numpy(A.data), A.shape).cuda()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors(rng, torch, dtype):
    A = random_triangle(rng, 200, 800, dtype)
    solver = strata.TriangularSolver(tensor_of(torch, A))
    for shape in ((200,), (200, 4)):
        b = random_array(rng, shape, dtype)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            given = torch.from_numpy(b).cuda()
            for out in (None, torch.empty_like(given)):
                x = solver.solve(given, out)
                assert x.is_cuda and (out is None or x is out)
                np.testing.assert_allclose(A @ x.cpu().numpy(), b, atol=tolerance(dtype))
            x = solver.solve(given.clone().requires_grad_())
            np.testing.assert_allclose(A @ x.cpu().numpy(), b, atol=tolerance(dtype))
    M = strata.ilu0(tensor_of(torch, laplacian(10, dtype)))
    z = M.apply(torch.ones(100, dtype=getattr(torch, dtype), device="cuda"))
    np.testing.assert_allclose(z.cpu().numpy(), strata.ilu0(laplacian(10, dtype)).apply(
        np.ones(100, dtype)), rtol=1e-4)


@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("columns", [None, 3])
def test_gradients_of_tensors(rng, torch, trans, columns):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 8, 20, "float64")
    solve = TriangularSolve(tensor_of(torch, A), trans=trans)
    values = torch.from_numpy(A.data).cuda().requires_grad_()
    b = torch.from_numpy(rng.random((8,) if columns is None else (8, columns))).cuda()
    b.requires_grad_()
    assert torch.autograd.gradcheck(solve, (values, b))
    assert torch.autograd.gradgradcheck(solve, (values, b))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        loss = solve(values, b).square().sum()
        loss.backward()
    stream.synchronize()
    assert values.grad.is_cuda and bool(torch.isfinite(values.grad).all())


def test_a_module_moves_to_the_gpu(rng, torch):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 30, 60, "float64")
    pattern = tensor_of(torch, A)
    solve = TriangularSolve(pattern.cpu())
    values, b = torch.from_numpy(A.data), torch.ones(30, dtype=torch.float64)
    before = solve(values, b)
    after = solve.cuda()(values.cuda(), b.cuda())
    torch.testing.assert_close(after.cpu(), before)


# --- JAX ---------------------------------------------------------------------


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    try:
        jax.devices("cuda")
    except RuntimeError:
        pytest.skip("JAX finds no GPU")
    jax.config.update("jax_enable_x64", True)
    return jax


def bcsr_of(jax, A):
    from jax.experimental.sparse import BCSR

    device = jax.devices("cuda")[0]
    return BCSR(tuple(jax.device_put(array, device) for array in (A.data, A.indices, A.indptr)),
                shape=A.shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_jax(rng, jax, dtype):
    A = random_triangle(rng, 200, 800, dtype)
    of = bcsr_of(jax, A)
    solver = strata.TriangularSolver(of)
    for shape in ((200,), (200, 4)):
        b = random_array(rng, shape, dtype)
        given = jax.device_put(b, jax.devices("cuda")[0])
        x = solver.solve(given)
        assert isinstance(x, jax.Array) and next(iter(x.devices())).platform == "gpu"
        np.testing.assert_allclose(A @ np.asarray(x), b, atol=tolerance(dtype))
        np.testing.assert_allclose(A @ np.asarray(solver.solve(x + 0 * given) * 1),
                                   np.asarray(x), atol=tolerance(dtype))
    b = jax.numpy.ones(200, dtype)
    solver.update(2 * of.data)
    for make in (copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(np.asarray(make(solver).solve(b)),
                                      np.asarray(solver.solve(b)))
    x = np.asarray(strata.TriangularSolver(of, trans="H").solve(b))
    np.testing.assert_allclose(A.conj().T @ x, np.ones(200), atol=tolerance(dtype))
    x, info = strata.cg(bcsr_of(jax, laplacian(20, dtype)),
                        jax.numpy.ones(400, dtype), rtol=1e-3)
    assert info == 0 and isinstance(x, jax.Array)


@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("columns", [None, 3])
def test_derivatives_on_the_gpu(rng, jax, trans, columns):
    from strata_solvers.jax import TriangularSolve, native

    if not native:
        pytest.skip("this build has no part for JAX")
    jnp = jax.numpy
    A = random_triangle(rng, 6, 12, "float64")
    ours = TriangularSolve(bcsr_of(jax, A), trans=trans)
    assert ours.platform == "cuda"
    row = np.repeat(np.arange(6), np.diff(A.indptr))

    def dense(values, b):
        L = jnp.zeros((6, 6)).at[row, A.indices].set(values)
        return jnp.linalg.solve(L.T if trans == "T" else L, b)

    device = jax.devices("cuda")[0]
    b = jax.device_put(rng.random((6,) if columns is None else (6, columns)), device)
    values = jax.device_put(A.data, device)
    for solve in (ours, jax.jit(ours)):
        x = solve(values, b)
        assert next(iter(x.devices())).platform == "gpu"
        np.testing.assert_allclose(x, dense(values, b), atol=1e-12)

    def size(solve):
        return lambda v, r: (solve(v, r) ** 2).sum()

    found = jax.jit(jax.grad(size(ours), argnums=(0, 1)))(values, b)
    wanted = jax.grad(size(dense), argnums=(0, 1))(values, b)
    for f, w in zip(found, wanted):
        np.testing.assert_allclose(f, w, atol=1e-10)
    many = jax.vmap(ours, in_axes=(0, None))(jnp.stack([values, 2 * values]), b)
    np.testing.assert_allclose(many[0], 2 * many[1])
    with pytest.raises(Exception, match="diagonal"):
        jax.jit(ours)(values * 0, b).block_until_ready()
