# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import (
    DTYPES, LAYOUTS, blocks, in_layout, random_array, random_triangle, tolerance, triangles,
    with_zeros_outside,
)
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata


def test_signature_is_scipys():
    ours = inspect.signature(strata.spsolve_triangular).parameters
    theirs = inspect.signature(spla.spsolve_triangular).parameters
    assert list(ours) == list(theirs)
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default and ours[name].kind == parameter.kind


@given(st.data(), triangles(), st.booleans(), st.booleans())
def test_solves(data, triangle, unit, overwrite):
    A, lower, rng = triangle
    b = data.draw(blocks(rng, A.shape[0], A.dtype))
    B = A.toarray()
    if unit:
        np.fill_diagonal(B, 1)
    before, entries = b.copy(), A.copy()
    x = strata.spsolve_triangular(A, b, lower, overwrite_b=overwrite, unit_diagonal=unit)
    assert x.dtype == A.dtype and x.shape == b.shape
    assert abs(B @ x - before).max() <= tolerance(A.dtype) * max(1, abs(x).max())
    if overwrite and strata._arrays._usable(b):
        assert x is b
    elif not overwrite:
        assert (b == before).all()
    assert (A.data == entries.data).all() and (A.indices == entries.indices).all()


@pytest.mark.parametrize("of_b", [*DTYPES, "int32", "bool"])
@pytest.mark.parametrize("of_A", [*DTYPES, "int64"])
def test_types_are_scipys(rng, of_A, of_b):
    A = sp.csc_array(random_triangle(rng, 10, 30, "float64").astype(of_A))
    if of_A == "int64":
        A = sp.csc_array(np.tril(rng.integers(1, 4, (10, 10))))
    b = (rng.random(10) * 4).astype(of_b)
    x = strata.spsolve_triangular(A, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = spla.spsolve_triangular(A, b)
    # SciPy returned 64 bits for all until it had SuperLU solve.
    wide = np.promote_types(np.promote_types(of_A, "float32"), of_b)
    assert x.dtype == wide and wanted.dtype in (wide, np.promote_types(wide, "float64"))
    np.testing.assert_allclose(x, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_many_right_hand_sides(rng, form, layout):
    A = random_triangle(rng, 40, 150, "float64", form)
    b = in_layout(random_array(rng, (40, 17), "float64"), layout)
    np.testing.assert_allclose(A @ strata.spsolve_triangular(A, b), b, atol=1e-12)


def test_adds_up_duplicates_and_takes_rows_that_are_not_sorted(rng):
    A = random_triangle(rng, 30, 100, "float64").tocoo()
    rows, columns = (np.concatenate([part, part])[::-1] for part in (A.row, A.col))
    values = np.concatenate([0.25 * A.data, 0.75 * A.data])[::-1]
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=30))])
    B = sp.csr_array((values[order], columns[order], indptr), shape=(30, 30))
    assert not B.has_canonical_format
    b = rng.random(30)
    np.testing.assert_allclose(A @ strata.spsolve_triangular(B, b), b, atol=1e-12)
    C = sp.csc_array((values[order], columns[order], indptr), shape=(30, 30))
    np.testing.assert_allclose(A.T @ strata.spsolve_triangular(C, b, lower=False), b,
                               atol=1e-12)


@given(triangles(), st.booleans())
def test_zeros_in_the_other_triangle(triangle, unit):
    A, lower, rng = triangle
    B, places = with_zeros_outside(rng, A, lower)
    b = random_array(rng, (A.shape[0], 2), A.dtype)
    # Nothing is multiplied by them.
    b[rng.integers(A.shape[0]), 0] = np.inf
    np.testing.assert_array_equal(
        strata.spsolve_triangular(B, b, lower, unit_diagonal=unit),
        strata.spsolve_triangular(A, b, lower, unit_diagonal=unit))
    if places.size:
        place = rng.choice(places)
        for value in (1e-30, np.nan):
            B.data[place] = value
            with pytest.raises(strata.WrongTriangleError) as caught:
                strata.spsolve_triangular(B, b, lower, unit_diagonal=unit)
            assert caught.value.row == np.searchsorted(B.indptr, place, side="right") - 1


def test_a_zero_in_the_other_triangle():
    A = sp.csr_array(([2.0, 0.0, 1.0, 4.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    b = np.array([2.0, 5.0])
    for of in (A, A.tocsc()):
        np.testing.assert_array_equal(strata.spsolve_triangular(of, b), [1, 1])
        np.testing.assert_array_equal(spla.spsolve_triangular(of, b), [1, 1])
    # Two that add up to zero are not zero each.
    twice = sp.csr_array(([2.0, 3.0, -3.0, 1.0, 4.0], [0, 1, 1, 0, 1], [0, 3, 5]), shape=(2, 2))
    with pytest.raises(strata.WrongTriangleError):
        strata.spsolve_triangular(twice, b)


def test_converts_other_formats_with_scipys_warning(rng):
    A = random_triangle(rng, 10, 30, "float64")
    b = rng.random(10)
    for other in (A.tocoo(), A.tolil(), A.toarray()):
        with pytest.warns(sp.SparseEfficiencyWarning):
            x = strata.spsolve_triangular(other, b)
        np.testing.assert_allclose(A @ x, b)


def test_refuses_what_scipy_refuses():
    A = sp.csr_array(np.array([[1.0, 0], [2, 0]]))
    b = np.ones(2)
    for wrong, form in ((A, "csr"), (A, "csc")):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            strata.spsolve_triangular(wrong.asformat(form), b)
        assert isinstance(caught.value, strata.MissingDiagonalError)
        assert caught.value.row == 1
    stored = sp.csr_array(([1.0, 2.0, 0.0], [0, 0, 1], [0, 1, 3]), shape=(2, 2))
    with pytest.raises(strata.ZeroDiagonalError):
        strata.spsolve_triangular(stored, b)
    full = sp.csr_array(np.ones((2, 2)))
    for form in ("csr", "csc"):
        for lower in (True, False):
            with pytest.raises(strata.WrongTriangleError):
                strata.spsolve_triangular(full.asformat(form), b, lower, overwrite_b=True)
    assert (b == 1).all()
    with pytest.raises(ValueError, match="square"):
        strata.spsolve_triangular(sp.csr_array((2, 3)), b)
    for wrong_b in (np.ones(3), np.ones((2, 2, 2)), np.float64(1)):
        with pytest.raises(ValueError):
            strata.spsolve_triangular(sp.eye_array(2, format="csr"), wrong_b)
    broken = sp.eye_array(2, format="csr")
    broken.indices = np.array([0, 9], "int32")
    with pytest.raises(strata.ColumnRangeError):
        strata.spsolve_triangular(broken, b)
    broken = sp.eye_array(2, format="csr")
    broken.indptr = np.array([0, 5, 2], "int32")
    with pytest.raises(strata.RowMapError):
        strata.spsolve_triangular(broken, b)
    broken.indptr = np.array([0, -3, 2], "int32")
    with pytest.raises(strata.RowMapError):
        strata.spsolve_triangular(broken, b)


def test_not_a_number_is_no_error():
    x = strata.spsolve_triangular(sp.eye_array(3, format="csr"), np.array([1, np.nan, 3]))
    assert np.isnan(x[1]) and x[0] == 1
