# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is captured into CUDA graphs, and what is refused."""

import copy
import gc
import pickle

import numpy as np
import pytest
from conftest import laplacian, random_array, random_triangle
from test_cuda import cupy, on_gpu, tensor_of, torch  # noqa: F401 - a fixture

import strata_solvers as strata


def captured(stream, work):
    """What `work` enqueues on a stream, as a graph."""
    stream.synchronize()
    stream.begin_capture()
    try:
        work()
    finally:
        graph = stream.end_capture()
    return graph


def diagonal_places(A):
    return np.flatnonzero(A.indices == np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)))


@pytest.mark.parametrize("columns", [None, 8])
@pytest.mark.parametrize("most", [1, 8])
@pytest.mark.parametrize("algorithm", ["automatic", "sync_free", "level_sets"])
@pytest.mark.parametrize("gone_first", ["graph", "solver"])
def test_a_graph_of_updates_and_solves(rng, columns, most, algorithm, gone_first):
    """The first solve is a captured one; replays of good and of bad values."""
    n = 2000
    A = random_triangle(rng, n, 3 * n, "float64")
    row = 7
    place = diagonal_places(A)[row]
    shape = (n,) if columns is None else (n, columns)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        solver = strata.TriangularSolver(on_gpu(A), algorithm=algorithm, enqueue_updates=True,
                                         max_right_hand_sides=most)
        values, b, x = cupy.asarray(A.data), cupy.asarray(rng.random(shape)), cupy.zeros(shape)

        def work():
            solver.update(values, wait=False)
            assert solver.solve(b, out=x) is x

        graph = captured(stream, work)
        assert not x.any()
        for factor in (1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.5):
            values[...] = cupy.asarray((factor or 1) * A.data)
            if factor == 0:
                values[place] = 0
            b[...] = cupy.asarray(rng.random(shape))
            graph.launch(stream)
            status = solver.update_status()
            if factor == 0:
                assert status[:2] == ("zero_diagonal", row) and cupy.isnan(x).all()
                with pytest.raises(strata.HandleError, match=f"row {row}"):
                    pickle.dumps(solver)
                continue
            assert status[:2] == (None, None)
            np.testing.assert_allclose(factor * (A @ x.get()), b.get(), atol=1e-10)
            # Solves outside of the graph, and of copies, have the values of the replay.
            values[...] = 7
            for made in (solver, solver.share_plan(), pickle.loads(pickle.dumps(solver)),
                         copy.deepcopy(solver)):
                np.testing.assert_allclose(factor * (A @ made.solve(b).get()), b.get(),
                                           atol=1e-10)
        if gone_first == "graph":
            del graph, work
            gc.collect()
            np.testing.assert_allclose(0.5 * (A @ solver.solve(b).get()), b.get(), atol=1e-10)
            del solver
        else:
            del solver, work
            gc.collect()
            stream.synchronize()
            del graph
        gc.collect()
        again = strata.TriangularSolver(on_gpu(A))
        np.testing.assert_allclose(A @ again.solve(b).get(), b.get(), atol=1e-10)
        stream.synchronize()


@pytest.mark.parametrize("columns", [None, 8])
@pytest.mark.parametrize("kind", ["ilu", "ic"])
def test_a_graph_of_factorisations(rng, kind, columns):
    A = laplacian(30)
    n = A.shape[0]
    shape = (n,) if columns is None else (n, columns)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        M = getattr(strata, kind)(on_gpu(A), 1, enqueue_updates=True, transpose=True)
        values, r = cupy.asarray(A.data), cupy.asarray(rng.random(shape))
        z, adjoint = cupy.zeros(shape), cupy.zeros(shape)

        def work():
            M.update(values, wait=False)
            M.apply(r, out=z)
            M.apply(r, out=adjoint, trans="H")

        graph = captured(stream, work)
        for factor in (2.0, 0.0, 3.0):
            values[...] = cupy.asarray(factor * A.data)
            graph.launch(stream)
            status = M.update_status()
            if factor == 0:
                assert status[:2] == ("zero_diagonal", 0)
                assert cupy.isnan(z).all() and cupy.isnan(adjoint).all()
                continue
            assert status.fault is None
            host = getattr(strata, kind)((factor * A).tocsr(), 1)
            np.testing.assert_allclose(z.get(), host @ r.get(), rtol=1e-8)
            np.testing.assert_allclose(adjoint.get(), host.H @ r.get(), rtol=1e-8)
            values[...] = 7
            again = pickle.loads(pickle.dumps(M))
            np.testing.assert_allclose(again.apply(r).get(), z.get(), rtol=1e-8)
        del graph, work
        gc.collect()
        np.testing.assert_allclose(M.apply(r).get(), z.get(), rtol=1e-12)


@pytest.mark.parametrize("columns", [None, 8])
def test_a_graph_of_everything_else(rng, columns):
    """All that may be captured, in strided arrays and in place, too."""
    A, C = laplacian(20), random_triangle(rng, 400, 1200, "complex128", "csc")
    n = A.shape[0]
    shape = (n,) if columns is None else (n, columns)
    L, U = (random_triangle(rng, n, 3 * n, "float64", lower=lower) for lower in (True, False))
    ab = rng.random((4, n))
    ab[1] += 9
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        F = strata.FactorSolver(on_gpu(L), on_gpu(U), transpose=True, unit_lower=False)
        S, band = strata.SellMatrix(on_gpu(A)), strata.BandSolver((2, 1), cupy.asarray(ab),
                                                                  max_right_hand_sides=8)
        coloured = strata.ic0(on_gpu(A), order="coloured")
        conjugate = strata.TriangularSolver(on_gpu(C), trans="H")
        plain = strata.TriangularSolver(on_gpu(L))
        calls = {
            "triangle": (lambda b, x: plain.solve(b, x), L.toarray()),
            "factors": (lambda b, x: F.apply(b, x), (L @ U).toarray()),
            "transposed": (lambda b, x: F.apply(b, x, trans="T"), (L @ U).toarray().T),
            "product": (lambda b, x: S.apply(b, x), np.linalg.inv(A.toarray())),
            "conjugate": (lambda b, x: conjugate.solve(b, x), C.conj().T.toarray()),
        }
        for call, op in calls.values():
            dtype = op.dtype
            given = cupy.zeros(shape, dtype)
            wide = cupy.zeros((2 * n, *shape[1:]), dtype)[::2]
            out = cupy.zeros(shape, dtype, order="F")
            in_place = cupy.zeros(shape, dtype)

            def work():
                call(given, out)
                call(given, wide)
                if call is not calls["product"][0]:
                    call(in_place, in_place)

            graph = captured(stream, work)
            for _ in range(2):
                b = random_array(rng, shape, dtype)
                given[...] = in_place[...] = cupy.asarray(b)
                graph.launch(stream)
                for x in (out, wide, in_place):
                    if x is in_place and call is calls["product"][0]:
                        continue
                    np.testing.assert_allclose(op @ x.get(), b, rtol=1e-8, atol=1e-8)
        b, x, y = cupy.asarray(rng.random(shape)), cupy.zeros(shape), cupy.zeros(shape)

        def work():
            band.solve(b, x)
            coloured.apply(b, y)

        graph = captured(stream, work)
        graph.launch(stream)
        for found, wanted in ((x, band.solve(b)), (y, coloured.apply(b))):
            np.testing.assert_array_equal(found.get(), wanted.get())


def test_the_first_work_on_a_stream_is_not_captured(rng):
    """It is refused in a sentence, and the capture goes on."""
    n = 300
    A = random_triangle(rng, n, 900, "float64")
    solver = strata.TriangularSolver(on_gpu(A), enqueue_updates=True)
    values, b = cupy.asarray(2 * A.data), cupy.asarray(rng.random(n))
    x, counter = cupy.zeros(n), cupy.zeros(1)
    counter += 1
    cupy.cuda.Device().synchronize()
    fresh = cupy.cuda.Stream(non_blocking=True)
    with fresh:
        def work():
            counter.__iadd__(1)
            for call in (lambda: solver.solve(b, out=x), lambda: solver.update(values, wait=False),
                         lambda: solver.solve(b[:, None], out=x[:, None])):
                with pytest.raises(strata.HandleError, match="captured") as caught:
                    call()
                assert "before the capture begins" in caught.value.remedy

        graph = captured(fresh, work)
        graph.launch(fresh)
        assert counter.get() == 2
        np.testing.assert_allclose(A @ solver.solve(b).get(), b.get(), atol=1e-10)

        def again():
            solver.update(values, wait=False)
            solver.solve(b, out=x)

        captured(fresh, again).launch(fresh)
        np.testing.assert_allclose(2 * (A @ x.get()), b.get(), atol=1e-10)


def test_what_waits_is_not_captured(rng):
    """Nor what copies: each is refused before it spoils the capture."""
    A = random_triangle(rng, 300, 900, "float64")
    of, full = on_gpu(A), on_gpu(laplacian(10))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        solver = strata.TriangularSolver(of, enqueue_updates=True)
        M = strata.ilu0(full)
        S, F = strata.SellMatrix(full), strata.FactorSolver(of, on_gpu(A.T.tocsr()))
        b, r = cupy.ones(300), cupy.ones(100)
        x, z, many, ab = cupy.zeros(300), cupy.zeros(100), cupy.ones((300, 8)), cupy.ones((1, 300))
        band = strata.BandSolver((0, 0), ab)
        calls = [
            lambda: strata.TriangularSolver(of), lambda: strata.SellMatrix(full),
            lambda: strata.ilu0(full), lambda: strata.FactorSolver(of, of),
            lambda: strata.BandSolver((0, 0), ab), lambda: strata.cg(S, r),
            lambda: strata.rref(many), lambda: solver.update(of), lambda: solver.update(of.data),
            lambda: solver.update_status(), lambda: solver.share_plan(),
            lambda: pickle.dumps(solver), lambda: M.update(full.data), lambda: M.lower,
            lambda: M.apply(r, z, trans="T"), lambda: M.share_plan(), lambda: S.update(full.data),
            lambda: F.update(of, of), lambda: F.share_plan(),
            lambda: band.update(ab), lambda: band.solve(many, many),
            lambda: solver.solve(b[::-1], x)]

        def work():
            for number, call in enumerate(calls):
                with pytest.raises(strata.HandleError, match="captured") as caught:
                    call()
                assert caught.value.remedy, number
            solver.solve(b, x)
            M.apply(r, z)

        b[...] = 2
        graph = captured(stream, work)
        graph.launch(stream)
        np.testing.assert_allclose(A @ x.get(), 2 * np.ones(300), atol=1e-10)
        np.testing.assert_array_equal(z.get(), M.apply(r).get())


def test_tensors_of_graphs_and_copies(rng, torch):  # noqa: F811
    A = random_triangle(rng, 300, 900, "float64")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        solver = strata.TriangularSolver(tensor_of(torch, A), enqueue_updates=True)
        values = torch.from_numpy(2 * A.data).cuda().requires_grad_()
        b = torch.ones(300, dtype=torch.float64, device="cuda")
        x = torch.zeros_like(b)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            solver.update(values, wait=False)
            solver.solve(b, x)
        for factor in (2, 0, 5):
            values.data.copy_(torch.from_numpy(factor * A.data))
            graph.replay()
            status = solver.update_status()
            if factor == 0:
                assert status.fault == "zero_diagonal" and bool(torch.isnan(x).all())
                continue
            np.testing.assert_allclose(factor * (A @ x.cpu().numpy()), np.ones(300), atol=1e-10)
            values.data.fill_(7)
            for make in (copy.copy, copy.deepcopy, lambda of: pickle.loads(pickle.dumps(of))):
                torch.testing.assert_close(make(solver).solve(b), x)
    apart = torch.zeros(2 * A.nnz, dtype=torch.float64, device="cuda")[::2]
    apart.copy_(torch.from_numpy(4 * A.data))
    solver.update(apart)
    np.testing.assert_allclose(4 * (A @ solver.solve(b).cpu().numpy()), np.ones(300), atol=1e-10)
    C = random_triangle(rng, 50, 150, "complex128")
    of = strata.TriangularSolver(tensor_of(torch, C))
    of.update(torch.from_numpy(C.data).cuda().conj())
    x = of.solve(torch.ones(50, dtype=torch.complex128, device="cuda")).cpu().numpy()
    np.testing.assert_allclose(C.conj() @ x, np.ones(50), atol=1e-10)
