# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong is refused, in a sentence, before anything is written."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_triangle, with_indices

import strata_solvers as strata


def csr(dense):
    return sp.csr_array(np.asarray(dense, dtype=float))


def raw(indptr, indices, data, n):
    """A CSR array that SciPy has not looked at."""
    A = sp.csr_array((n, n))
    A.indptr, A.indices, A.data = (np.asarray(indptr, "int32"), np.asarray(indices, "int32"),
                                   np.asarray(data, float))
    return A


FAULTS = {
    "ZeroDiagonalError": (raw([0, 1, 2], [0, 1], [1, 0], 2), 1),
    "MissingDiagonalError": (csr([[1, 0, 0], [1, 0, 0], [0, 0, 1]]), 1),
    "WrongTriangleError": (csr([[1, 5], [0, 1]]), 0),
    "DuplicateEntryError": (raw([0, 1, 4], [0, 0, 0, 1], [1, 2, 3, 4], 2), 1),
    "ColumnRangeError": (raw([0, 1, 3], [0, -7, 1], [1, 2, 3], 2), 1),
    "RowMapError": (raw([0, 1, 0], [0, 1], [1, 2], 2), 1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_a_matrix(name):
    A, row = FAULTS[name]
    with pytest.raises(getattr(strata, name)) as caught:
        strata.TriangularSolver(A, copy=False)
    error = caught.value
    assert isinstance(error, strata.Error) and isinstance(error, ValueError)
    assert error.row == row and error.remedy and error.argument and error.problem
    assert error.remedy in str(error) and error.problem in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.row == row


@pytest.mark.parametrize("lower", [True, False])
def test_the_remedy_for_the_other_triangle_helps(lower):
    A = csr([[1, 5], [0, 2]] if lower else [[1, 0], [5, 2]])
    with pytest.raises(strata.WrongTriangleError, match=f"pass lower={not lower} ") as caught:
        strata.TriangularSolver(A, lower=lower)
    assert caught.value.row == (0 if lower else 1)
    x = strata.TriangularSolver(A, lower=not lower).solve(np.ones(2))
    np.testing.assert_allclose(A @ x, np.ones(2))


def test_remedies_name_what_python_has():
    with pytest.raises(strata.IndefiniteError) as caught:
        strata.ic0(csr([[-1, 0], [0, 1]]))
    assert "M='jacobi'" in caught.value.remedy
    assert "JacobiPreconditioner" not in str(caught.value)


def test_a_matrix_that_is_not_square():
    with pytest.raises(strata.NotSquareError):
        strata.TriangularSolver(sp.csr_array((3, 4)))
    with pytest.raises(strata.NotSquareError):
        strata.ilu0(sp.csr_array((3, 4)))


def test_values_of_another_type():
    A = sp.eye_array(3, format="csr", dtype="longdouble")
    for make in (strata.TriangularSolver, strata.ilu0, strata.ic0, strata.SellMatrix):
        with pytest.raises(strata.TypeMismatchError, match="astype") as caught:
            make(A)
        assert isinstance(caught.value, TypeError)


def test_what_is_no_matrix():
    for A in (np.ones(3), [[1.0]], None, "L", np.array([["a"]]), 3.0):
        for make in (strata.TriangularSolver, strata.ilu0, strata.ic0, strata.SellMatrix):
            with pytest.raises(strata.TypeMismatchError, match="csr_array"):
                make(A)


def test_arrays_of_a_matrix():
    A = sp.eye_array(4, format="csr")
    A.indices = A.indices.astype("float64")
    with pytest.raises(strata.TypeMismatchError, match="float64"):
        strata.TriangularSolver(A)
    A = sp.eye_array(4, format="csr")
    A.indptr = A.indptr[:-1]
    with pytest.raises(strata.SizeMismatchError, match="indptr"):
        strata.TriangularSolver(A)
    A = sp.eye_array(4, format="csr")
    A.indices = A.indices[:-1]
    with pytest.raises(strata.Error):
        strata.TriangularSolver(A)


def test_right_hand_sides(rng):
    solver = strata.TriangularSolver(random_triangle(rng, 5, 10, "float32"))
    for b, error in ((np.ones(4, "float32"), strata.SizeMismatchError),
                     (np.ones((4, 2), "float32"), strata.SizeMismatchError),
                     (np.ones((5, 2, 2), "float32"), strata.SizeMismatchError),
                     (np.float32(1), strata.SizeMismatchError),
                     (np.ones(5), strata.TypeMismatchError),
                     (np.ones(5, "complex128"), strata.TypeMismatchError),
                     (np.array(["a"] * 5), strata.TypeMismatchError),
                     (np.array([None] * 5), strata.TypeMismatchError)):
        out = np.full(np.shape(b) or 1, 7, "float32")
        with pytest.raises(error):
            solver.solve(b, out)
        with pytest.raises(error):
            solver.solve(b)
        assert (out == 7).all()


def test_arrays_to_write(rng):
    solver = strata.TriangularSolver(random_triangle(rng, 5, 10, "float64"))
    b = np.ones(5)
    fixed = np.full(5, 7.0)
    fixed.flags.writeable = False
    for out, error in ((np.full(4, 7.0), strata.SizeMismatchError),
                       (np.full((5, 1), 7.0), strata.SizeMismatchError),
                       (np.full(5, 7, "float32"), strata.TypeMismatchError),
                       (np.full(5, 7, "int64"), strata.TypeMismatchError),
                       (np.full(5, 7, ">f8"), strata.TypeMismatchError),
                       (np.full(5, 7.0)[::-1], strata.OptionError),
                       (fixed, strata.OptionError),
                       ([7.0] * 5, strata.TypeMismatchError)):
        with pytest.raises(error):
            solver.solve(b, out)
        assert (np.asarray(out) == 7).all()
    long = np.ones(6)
    with pytest.raises(strata.AliasError):
        solver.solve(long[:5], long[1:])
    assert (long == 1).all()


def test_options(rng):
    A = random_triangle(rng, 5, 10, "float64")
    for options in (dict(algorithm="fast"), dict(algorithm=3), dict(trans="X"), dict(trans=[]),
                    dict(accuracy="exact"), dict(merged_levels=-1), dict(experimental=3),
                    dict(experimental={"team": 3}), dict(experimental={"team_size": -3}),
                    dict(max_right_hand_sides=0), dict(max_right_hand_sides=2**40),
                    dict(max_right_hand_sides="many"), dict(max_plan_bytes=-1)):
        with pytest.raises(strata.OptionError) as caught:
            strata.TriangularSolver(A, **options)
        assert caught.value.remedy
    with pytest.raises(TypeError):
        strata.TriangularSolver(A, no_such_option=1)


def test_updates(rng):
    A = random_triangle(rng, 20, 60, "float64")
    solver = strata.TriangularSolver(A)
    b = rng.random(20)
    x = solver.solve(b)
    other = random_triangle(rng, 20, 60, "float64")
    zero = A.copy()
    zero.data[A.indptr[5] - 1] = 0
    for values, error in ((other, strata.MatrixError),
                          (zero, strata.ZeroDiagonalError),
                          (zero.data, strata.ZeroDiagonalError),
                          (A.astype("complex128"), strata.TypeMismatchError),
                          (A.data.astype("complex128"), strata.TypeMismatchError),
                          (A.data[:-1], strata.SizeMismatchError),
                          (sp.eye_array(21, format="csr"), strata.SizeMismatchError),
                          (3.0, strata.TypeMismatchError)):
        with pytest.raises(error):
            solver.update(values)
        assert (solver.solve(b) == x).all()


def test_index_types_may_differ_between_updates(rng):
    A = random_triangle(rng, 20, 60, "float64")
    solver = strata.TriangularSolver(A)
    solver.update(with_indices((A * 2).tocsr(), "int64"))
    b = rng.random(20)
    np.testing.assert_allclose(2 * (A @ solver.solve(b)), b)


def test_every_class_of_the_library_is_here():
    names = set(strata._errors.__all__)
    assert {"Error", "MatrixError", "MemoryError", "PlanMemoryError", "HandleError",
            "FileError", "SingularError", "IndexOverflowError"} <= names
    for name in names:
        error = strata._errors.make(name, "A", "is wrong", "mend it", row=3)
        assert isinstance(error, strata.Error) and error.row == 3
        assert str(error) == "A: is wrong; mend it"
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
