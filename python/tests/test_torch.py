# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, random_array, random_triangle

import strata_solvers as strata

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.filterwarnings("ignore:Sparse CSR tensor support"),
              pytest.mark.filterwarnings("ignore:Sparse invariant checks")]


def tensor(A):
    return torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices),
                                   torch.from_numpy(A.data), A.shape)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_gradients(rng, dtype, trans, unit, columns):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 7, 15, dtype, lower=trans == "N", index="int64")
    solve = TriangularSolve(tensor(A), lower=trans == "N", trans=trans, unit_diagonal=unit)
    values = torch.from_numpy(A.data).clone().requires_grad_()
    b = torch.from_numpy(rng.random((7,) if columns is None else (7, columns)))
    b = b.to(values.dtype).requires_grad_()
    if unit:
        diagonal = (solve.row == solve.col).numpy()
        A.data[diagonal] = 1
    op = {"N": A, "T": A.T, "H": A.conj().T}[trans]
    x = solve(values, b)
    np.testing.assert_allclose(op @ x.detach().numpy(), b.detach().numpy(), atol=1e-12)
    assert torch.autograd.gradcheck(solve, (values, b))
    assert torch.autograd.gradgradcheck(solve, (values, b))


def test_entries_that_are_ignored_have_no_derivative(rng):
    from strata_solvers.torch import TriangularSolve

    A = (random_triangle(rng, 5, 8, "float64", index="int64")
         + 0.1 * sp.triu(np.ones((5, 5)), 1)).tocsr()
    row = np.repeat(np.arange(5), np.diff(A.indptr))
    for lower in (True, False):
        solve = TriangularSolve(tensor(A), lower=lower, take_triangle=True)
        values = torch.from_numpy(A.data).clone().requires_grad_()
        (solve(values, torch.ones(5, dtype=torch.float64)) ** 2).sum().backward()
        ignored = A.indices > row if lower else A.indices < row
        assert ignored.any() and (values.grad.numpy()[ignored] == 0).all()
        assert (values.grad.numpy()[~ignored] != 0).any()


def test_threads_that_share_a_solve_keep_their_values_apart():
    from strata_solvers.torch import TriangularSolve

    n = 20000
    A = sp.eye(n, format="csr")
    solve = TriangularSolve(tensor(A))
    b = torch.ones(n, dtype=torch.float64)
    wrong = []

    def work(value):
        values = torch.full((n,), value, dtype=torch.float64)
        for _ in range(100):
            if not bool((solve(values, b) == 1 / value).all()):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0, 4.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_values_and_a_backward_later(rng):
    """The backward pass of old values comes after solves with new ones."""
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 9, 20, "float64", index="int64")
    solve = TriangularSolve(tensor(A))
    b = torch.ones(9, dtype=torch.float64)
    first = torch.from_numpy(A.data).clone().requires_grad_()
    second = (2 * first.detach()).requires_grad_()
    x, y = solve(first, b), solve(second, b)
    torch.testing.assert_close(x, 2 * y)
    (x.sum() + y.sum()).backward()
    torch.testing.assert_close(first.grad, 4 * second.grad)
    with torch.no_grad():
        first *= 4
    torch.testing.assert_close(solve(first, b), x / 4)


def test_trains(rng):
    """Descends to the triangle that a right-hand side and a solution belong to."""
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 12, 30, "float64", index="int64")
    solve = TriangularSolve(tensor(A))
    b = torch.from_numpy(rng.random((12, 5)))
    wanted = solve(torch.from_numpy(A.data), b)
    values = torch.from_numpy(A.data * 1.2).requires_grad_()
    optimizer = torch.optim.LBFGS([values], max_iter=50)

    def loss():
        optimizer.zero_grad()
        miss = (solve(values, b) - wanted).square().sum()
        miss.backward()
        return miss

    before = loss().item()
    optimizer.step(loss)
    assert loss().item() < 1e-6 * before


def test_solver_takes_tensors(rng):
    A = random_triangle(rng, 9, 20, "float64", index="int64")
    solver = strata.TriangularSolver(tensor(A))
    x = solver.solve(torch.ones(9, dtype=torch.float64))
    np.testing.assert_allclose(A @ np.asarray(x), np.ones(9), atol=1e-12)


def test_values_of_every_kind_of_tensor(rng):
    """With a gradient, with a conjugation still to be done, with gaps."""
    A = random_triangle(rng, 9, 20, "complex128", index="int64")
    b = rng.random(9) + 0j
    values = torch.from_numpy(A.data.copy())
    needs_gradient = values.clone().requires_grad_()
    conjugated = values.conj()
    assert conjugated.is_conj()
    lazy = torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices),
                                   conjugated, A.shape)
    for solver in (strata.TriangularSolver(tensor(A)), strata.TriangularSolver(A)):
        for given, op in ((needs_gradient, A), (conjugated, A.conj()), (lazy, A.conj())):
            solver.update(given)
            for made in (solver, copy.deepcopy(solver)):
                np.testing.assert_allclose(op @ made.solve(b), b, atol=1e-12)
        solver.update(torch.stack([2 * values, values], dim=1)[:, 0])
        np.testing.assert_allclose(2 * (A @ solver.solve(b)), b, atol=1e-12)
    S = strata.SellMatrix(tensor(A))
    S.update(needs_gradient)
    with torch.no_grad():
        needs_gradient *= 0
        values *= 0
    np.testing.assert_allclose(copy.deepcopy(S) @ b, A @ b, atol=1e-12)


def test_tensors_of_other_layouts(rng):
    A, b = laplacian(8), rng.random(64)
    row, column = (torch.from_numpy(part).long() for part in (A.tocoo().row, A.tocoo().col))
    coo = torch.sparse_coo_tensor(torch.stack([row, column]), torch.from_numpy(A.data), A.shape)
    twice = torch.sparse_coo_tensor(
        torch.stack([row.repeat(2), column.repeat(2)]), torch.from_numpy(A.data / 2).repeat(2),
        A.shape)
    mixed = tensor(A)
    order = torch.from_numpy(np.lexsort((rng.random(row.shape[0]), row.numpy())))
    mixed = torch.sparse_csr_tensor(mixed.crow_indices(), mixed.col_indices()[order],
                                    mixed.values()[order], A.shape, check_invariants=False)
    for of, said in ((coo, "coo to csr"), (twice, "coo to csr"), (coo.to_dense(), "dense to csr"),
                     (tensor(A).to_sparse_csc(), "csc to csr"), (mixed, "sorted"),
                     (tensor(A).float(), "")):
        M = strata.ilu0(of)
        assert M.report().conversion == said
        np.testing.assert_allclose(M @ b, strata.ilu0(A) @ b, rtol=1e-5)
        np.testing.assert_allclose(M.H @ b, strata.ilu0(A).H @ b, rtol=1e-5)
        S = strata.SellMatrix(of)
        np.testing.assert_allclose(S.H @ b, A.T @ b, rtol=1e-5)
        x, info = strata.gmres(of, torch.from_numpy(b), M=M, rtol=1e-9)
        assert info == 0
        np.testing.assert_allclose(A @ x, b, atol=1e-6)
        x = strata.spsolve_triangular(of.to_dense().tril().to_sparse_csr(), b)
        np.testing.assert_allclose(sp.tril(A) @ x, b, atol=1e-5)
        solve = strata.factorized(of)
        np.testing.assert_allclose(A @ solve(b.astype(str(of.dtype)[6:])), b, atol=1e-5)


def test_factors_of_tensors_are_tensors():
    A = laplacian(5)
    M = strata.ilu0(tensor(A))
    assert M.lower.layout == M.upper.layout == torch.sparse_csr
    product = (M.lower.to_dense() @ M.upper.to_dense()).numpy()
    np.testing.assert_allclose(product[A.toarray() != 0], A.toarray()[A.toarray() != 0])


def test_a_module_is_copied(rng):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 9, 20, "float64", index="int64")
    solve, b = TriangularSolve(tensor(A)), torch.ones(9, dtype=torch.float64)
    values = torch.from_numpy(A.data)
    again = copy.deepcopy(solve)
    x = solve(2 * values, b)
    torch.testing.assert_close(again(values, b), 2 * x)
    torch.testing.assert_close(solve(2 * values, b), x)


def test_refuses(rng):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 9, 20, "float64", index="int64")
    with pytest.raises(strata.TypeMismatchError, match="to_sparse_csr"):
        TriangularSolve(torch.eye(9))
    solve = TriangularSolve(tensor(A))
    values, b = torch.from_numpy(A.data), torch.ones(9, dtype=torch.float64)
    with pytest.raises(strata.TypeMismatchError):
        solve(values, b.float())
    with pytest.raises(strata.SizeMismatchError):
        solve(values[:-1], b)
    with pytest.raises(strata.SizeMismatchError):
        solve(values, b[:-1])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("columns", [None, 2])
def test_the_operator(rng, dtype, trans, columns):
    from strata_solvers.torch import TriangularSolve, _solve

    A = random_triangle(rng, 7, 15, dtype, index="int64")
    solve = TriangularSolve(tensor(A), trans=trans)
    b = torch.from_numpy(random_array(rng, (7,) if columns is None else (7, columns), dtype))
    arguments = torch.from_numpy(A.data), b, solve._number, trans
    torch.library.opcheck(_solve, arguments)
    with torch._subclasses.FakeTensorMode() as mode:
        fake = _solve(*(mode.from_tensor(of) if isinstance(of, torch.Tensor) else of
                        for of in arguments))
        assert fake.shape == b.shape and fake.dtype == b.dtype


def test_compiles(rng):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 7, 15, "float64", index="int64")
    solve = TriangularSolve(tensor(A))
    b = torch.from_numpy(rng.random((7, 2)))

    def loss(values):
        return (2 * solve(values, b + 1)).square().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    gradients = []
    for function in (loss, compiled):
        values = torch.from_numpy(A.data).clone().requires_grad_()
        function(values).backward()
        gradients.append(values.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("columns", [None, 2])
def test_a_batch_of_right_hand_sides_is_one_solve(rng, monkeypatch, columns):
    from strata_solvers.torch import TriangularSolve

    A = random_triangle(rng, 8, 20, "float64", index="int64")
    solve, shapes = TriangularSolve(tensor(A)), []
    of = strata.TriangularSolver.solve
    monkeypatch.setattr(strata.TriangularSolver, "solve", lambda self, b, out=None:
                        shapes.append(tuple(b.shape)) or of(self, b, out))
    values = torch.from_numpy(A.data)
    b = torch.from_numpy(rng.random((4, 8) if columns is None else (4, 8, columns)))
    many = torch.vmap(solve, (None, 0))(values, b)
    assert shapes == [(8, 4 * (columns or 1))]
    for x, r in zip(many, b):
        torch.testing.assert_close(torch.from_numpy(A @ x.numpy()), r)
    shapes.clear()
    both = torch.vmap(solve)(torch.stack([values, 2 * values]), b[:2])
    torch.testing.assert_close(both, torch.stack([many[0], many[1] / 2]))
    assert len(shapes) == 2
    both = torch.vmap(solve, (0, None))(torch.stack([values, 2 * values]), b[0])
    torch.testing.assert_close(both, torch.stack([many[0], many[0] / 2]))
    twice = torch.vmap(torch.vmap(solve, (None, 0)), (None, 0))(values, torch.stack([b, 2 * b]))
    torch.testing.assert_close(twice, torch.stack([many, 2 * many]))
    gradients = torch.vmap(torch.func.grad(lambda r: solve(values, r).square().sum()))(b)
    for gradient, r in zip(gradients, b):
        r = r.clone().requires_grad_()
        solve(values, r).square().sum().backward()
        torch.testing.assert_close(gradient, r.grad)


def test_a_compiled_function_outlives_no_solve(rng):
    from strata_solvers.torch import TriangularSolve, _solve

    A = random_triangle(rng, 5, 8, "float64", index="int64")
    solve = TriangularSolve(tensor(A))
    number = solve._number
    del solve
    with pytest.raises(strata.HandleError, match="keep"):
        _solve(torch.from_numpy(A.data), torch.ones(5, dtype=torch.float64), number, "N")
