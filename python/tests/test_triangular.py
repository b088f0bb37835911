# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import (
    DTYPES, LAYOUTS, blocks, in_layout, random_array, random_triangle, tolerance, triangles,
    with_zeros_outside,
)
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata

ALGORITHMS = ["automatic", "substitution", "level_sets", "subgraphs", "sync_free",
              "blocks", "tiles"]


def applied(A, trans):
    return {"N": A, "T": A.T, "H": A.conj().T}[trans]


def assert_solved(A, trans, x, b):
    assert x.shape == b.shape and x.dtype == A.dtype
    residual = applied(A, trans) @ x - b
    assert abs(residual).max(initial=0) <= tolerance(A.dtype) * max(1, abs(x).max(initial=0))


@given(st.data(), triangles(), st.sampled_from("NTH"), st.sampled_from(ALGORITHMS))
def test_solves(data, triangle, trans, algorithm):
    A, lower, rng = triangle
    b = data.draw(blocks(rng, A.shape[0], A.dtype))
    before = b.copy()
    solver = strata.TriangularSolver(A, lower, trans=trans, algorithm=algorithm)
    x = solver.solve(b)
    assert_solved(A, trans, x, b)
    assert (b == before).all()
    if algorithm != "automatic":
        assert solver.report().algorithm == algorithm


@given(st.data(), triangles(), st.sampled_from(["C", "F", "strided"]), st.sampled_from("NTH"))
def test_writes_out(data, triangle, layout, trans):
    A, lower, rng = triangle
    b = data.draw(blocks(rng, A.shape[0], A.dtype))
    out = in_layout(np.full(b.shape, np.nan, A.dtype), layout)
    solver = strata.TriangularSolver(A, lower, trans=trans)
    assert solver.solve(b, out=out) is out
    assert_solved(A, trans, out, b)
    if strata._arrays._usable(b):
        x = out.copy()
        assert solver.solve(b, b) is b
        np.testing.assert_allclose(b, x, rtol=1e-4 if A.dtype.char in "fF" else 1e-12)


@given(triangles(), st.sampled_from("NTH"))
def test_unit_diagonal(triangle, trans):
    A, lower, rng = triangle
    b = random_array(rng, A.shape[0], A.dtype)
    unit = (A - sp.diags_array(A.diagonal()) + sp.eye_array(A.shape[0])).astype(A.dtype)
    x = strata.TriangularSolver(A, lower, unit_diagonal=True, trans=trans).solve(b)
    residual = applied(unit, trans) @ x - b
    assert abs(residual).max() <= tolerance(A.dtype) * max(1, abs(x).max())


@given(triangles(), st.booleans())
def test_update(triangle, values_alone):
    A, lower, rng = triangle
    solver = strata.TriangularSolver(A, lower)
    new = A.copy()
    new.data = (A.data * rng.uniform(0.5, 1.5, A.nnz)).astype(A.dtype)
    solver.update(new.data if values_alone else new)
    b = random_array(rng, A.shape[0], A.dtype)
    assert_solved(new, "N", solver.solve(b), b)


@given(triangles(), st.sampled_from("NTH"))
def test_pickles(triangle, trans):
    A, lower, rng = triangle
    solver = strata.TriangularSolver(A, lower, trans=trans, accuracy="componentwise",
                                     algorithm="substitution")
    again = pickle.loads(pickle.dumps(solver))
    b = random_array(rng, A.shape[0], A.dtype)
    assert (again.solve(b) == solver.solve(b)).all()
    assert again.report().accuracy == "componentwise"
    assert again.dtype == A.dtype and again.shape == A.shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_takes_the_triangle_of_a_full_matrix(rng, dtype):
    L, U = (random_triangle(rng, 40, 200, dtype, lower=lower) for lower in (True, False))
    A = (L + U).tocsr()
    b = random_array(rng, 40, dtype)
    for form in ("csr", "csc"):
        solver = strata.TriangularSolver(A.asformat(form), lower=False, take_triangle=True)
        x = solver.solve(b)
        np.testing.assert_allclose(sp.triu(A) @ x, b, atol=tolerance(dtype))
        with pytest.raises(strata.WrongTriangleError) as caught:
            strata.TriangularSolver(A.asformat(form), lower=False)
        assert caught.value.row is not None


@given(triangles(), st.sampled_from("NTH"), st.booleans())
def test_zeros_in_the_other_triangle(triangle, trans, unit):
    """They are taken, and have to stay zero."""
    A, lower, rng = triangle
    B, places = with_zeros_outside(rng, A, lower)
    options = dict(lower=lower, unit_diagonal=unit, trans=trans, algorithm="level_sets")
    solver, plain = strata.TriangularSolver(B, **options), strata.TriangularSolver(A, **options)
    b = random_array(rng, A.shape[0], A.dtype)
    x = plain.solve(b)
    np.testing.assert_array_equal(solver.solve(b), x)
    np.testing.assert_array_equal(strata.level_sets(solver), strata.level_sets(plain))
    if not places.size:
        return
    place = rng.choice(places)
    wrong = B.copy()
    wrong.data[place] = rng.choice([3, np.nan])
    row = np.searchsorted(B.indptr, place, side="right") - 1
    with pytest.raises(strata.WrongTriangleError) as caught:
        strata.TriangularSolver(wrong, **options)
    assert caught.value.row == row and "take_triangle" in caught.value.remedy
    for made in (solver, solver.share_plan(), pickle.loads(pickle.dumps(solver))):
        for values in (wrong, wrong.data):
            with pytest.raises(strata.WrongTriangleError) as caught:
                made.update(values)
            assert caught.value.row == row and caught.value.argument == "values"
            np.testing.assert_array_equal(made.solve(b), x)
    taken = strata.TriangularSolver(wrong, **options, take_triangle=True)
    np.testing.assert_array_equal(taken.solve(b), x)
    # No one would look at values that are enqueued.
    with pytest.raises(strata.WrongTriangleError):
        strata.TriangularSolver(B, **options, enqueue_updates=True)
    solver.update(2 * B.data)
    plain.update(2 * A.data)
    np.testing.assert_array_equal(solver.solve(b), plain.solve(b))


def test_other_faults_beside_zeros_of_the_other_triangle():
    A = sp.csr_array(([2.0, 0.0, 1.0, 0.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    with pytest.raises(strata.ZeroDiagonalError) as caught:
        strata.TriangularSolver(A)
    assert caught.value.row == 1
    A.data[3] = 4
    solver = strata.TriangularSolver(A)
    np.testing.assert_array_equal(solver.solve(np.array([2.0, 5.0])), [1, 1])
    with pytest.raises(strata.ZeroDiagonalError):
        solver.update(0 * A.data)
    with pytest.raises(strata.PatternMismatchError):
        solver.update(sp.eye_array(2, format="csr"))


def test_sorts_rows_in_a_copy(rng):
    A = random_triangle(rng, 30, 100, "float64")
    indices, data = A.indices.copy(), A.data.copy()
    for row in range(30):
        part = slice(A.indptr[row], A.indptr[row + 1])
        indices[part], data[part] = indices[part][::-1], data[part][::-1]
    B = sp.csr_array((data, indices, A.indptr), shape=A.shape)
    b = random_array(rng, 30, "float64")
    assert_solved(A, "N", strata.TriangularSolver(B).solve(b), b)
    assert (B.indices == indices).all()


def test_does_not_change_the_matrix(rng):
    A = random_triangle(rng, 30, 100, "float64")
    for array in (A.indptr, A.indices, A.data):
        array.flags.writeable = False
    solver = strata.TriangularSolver(A)
    b = np.ones(30)
    b.flags.writeable = False
    assert_solved(A, "N", solver.solve(b), b)


def test_converts_what_loses_nothing(rng):
    A = random_triangle(rng, 20, 60, "float64")
    solver = strata.TriangularSolver(A)
    for b in (list(range(20)), np.arange(20), np.arange(20, dtype="float32"),
              np.arange(20).astype(">f8"), np.arange(20) > 4):
        x = solver.solve(b)
        np.testing.assert_allclose(A @ x, np.asarray(b, dtype="float64"), atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_complex_right_hand_sides_of_a_real_matrix(rng, dtype, layout):
    A = random_triangle(rng, 25, 80, dtype)
    kind = {"float32": "complex64", "float64": "complex128"}[dtype]
    solver = strata.TriangularSolver(A, trans="T")
    for shape in (25, (25, 3)):
        b = in_layout(random_array(rng, shape, kind), layout)
        x = solver.solve(b)
        assert x.dtype == kind
        np.testing.assert_allclose(A.T @ x, b, atol=tolerance(dtype))
        out = np.zeros_like(x)
        assert solver.solve(b, out) is out and (out == x).all()


def test_many_right_hand_sides(rng):
    A = random_triangle(rng, 50, 200, "float64")
    for most in (1, 4, 64):
        solver = strata.TriangularSolver(A, max_right_hand_sides=most)
        assert solver.report().right_hand_sides == most
        for k in (0, 1, 5, 64, 200):
            b = random_array(rng, (50, k), "float64")
            assert_solved(A, "N", solver.solve(b), b)


def test_systems_without_rows():
    solver = strata.TriangularSolver(sp.csr_array((0, 0)))
    assert solver.solve(np.empty(0)).shape == (0,)
    assert solver.solve(np.empty((0, 3))).shape == (0, 3)


def test_report(rng):
    A = random_triangle(rng, 300, 2000, "float64")
    report = strata.TriangularSolver(A).report()
    assert report.rows == 300 and report.entries == A.nnz and report.levels > 0
    assert report.algorithm in {c.algorithm for c in report.candidates}
    assert "level sets" in str(report) and report.crs_bytes > 0
    assert repr(strata.TriangularSolver(A)).startswith("<TriangularSolver of a lower 300")


def test_options_reach_the_library(rng):
    A = random_triangle(rng, 300, 2000, "float64")
    solver = strata.TriangularSolver(A, algorithm="subgraphs", merged_levels=1,
                                     accuracy="componentwise",
                                     experimental={"max_subgraph_rows": 9})
    report = solver.report()
    assert report.merged_levels == 1 and report.accuracy == "componentwise"
    assert report.max_subgraph_rows == 9
    with pytest.raises(strata.PlanMemoryError) as caught:
        strata.TriangularSolver(A, algorithm="sync_free", max_plan_bytes=10)
    assert caught.value.needed > caught.value.allowed == 10
    assert isinstance(caught.value, MemoryError)
