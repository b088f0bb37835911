# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of an object, and objects that share its plan, are equal to it: whatever was updated,
and whatever became of the arrays that it was made of."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, laplacian, random_array, random_matrix, random_triangle, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

import strata_solvers as strata

N = 36
COPIES = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


class Case:
    """An object, the caller's arrays that it was made of, and updates of it."""

    def __init__(self, rng, dtype):
        self.rng, self.dtype, self.arrays = rng, np.dtype(dtype), []
        self.b = random_array(rng, (N, 2), dtype)
        self.object = self.make()

    def lend(self, A):
        """A matrix whose arrays are the caller's to change."""
        self.arrays += [A.data, A.indices, A.indptr]
        return A

    def scaled(self, A):
        """New values on A's pattern, as a matrix or as an array, which are changed later."""
        new = A.copy()
        new.data = (A.data * self.rng.choice([0.5, 2, 3])).astype(self.dtype)
        self.arrays.append(new.data)
        return new if self.rng.integers(2) else new.data

    def answer(self, made):
        return made.solve(self.b)


class Triangle(Case):
    def make(self):
        form, lower = self.rng.choice(["csr", "csc"]), bool(self.rng.integers(2))
        A = random_triangle(self.rng, N, 4 * N, self.dtype, form, lower)
        self.pattern = A.copy()
        trans = self.rng.choice(list("NTH"))
        return strata.TriangularSolver(self.lend(A), lower, trans=str(trans),
                                       enqueue_updates=bool(self.rng.integers(2)))

    def update(self, made):
        wait = not made._options["enqueue_updates"] or bool(self.rng.integers(2))
        made.update(self.scaled(self.pattern), wait=wait)

    def refused(self, made):
        with pytest.raises(strata.ZeroDiagonalError):
            made.update(0 * self.pattern.data)


class Factors(Case):
    def make(self):
        self.factors = [random_triangle(self.rng, N, 3 * N, self.dtype, lower=lower)
                        for lower in (True, False)]
        L, U = (self.lend(factor.copy()) for factor in self.factors)
        if self.rng.integers(2):
            U = U.tocsc()
        return strata.FactorSolver(L, U, *self.transformation(), transpose=True,
                                   unit_lower=False)

    def transformation(self):
        """Permutations and scalings, any of them missing."""
        made = []
        for k in range(4):
            array = self.rng.permutation(N) if k < 2 else self.rng.uniform(
                0.5, 2, N).astype(self.dtype)
            self.arrays.append(array)
            made.append(array if self.rng.integers(3) else None)
        return made

    def update(self, made):
        L, U = (factor.copy() for factor in self.factors)
        U.data = (U.data * self.rng.choice([0.5, 2, 3])).astype(self.dtype)
        self.arrays += [L.data, U.data]
        made.update(L, U, *(self.transformation() if self.rng.integers(2) else ()))

    def refused(self, made):
        with pytest.raises(strata.PermutationError):
            made.update(*self.factors, np.zeros(N, int))

    def answer(self, made):
        return np.hstack([made.apply(self.b), made.H @ self.b])


class Incomplete(Case):
    def make(self):
        self.pattern = laplacian(6, self.dtype)
        A = self.lend(self.pattern.copy())
        self.natural = bool(self.rng.integers(4))
        if not self.natural:
            return strata.ic0(A, order="coloured")
        factorise = strata.ilu if self.rng.integers(2) else strata.ic
        return factorise(A, int(self.rng.integers(2)), transpose=True,
                         enqueue_updates=bool(self.rng.integers(2)))

    def update(self, made):
        wait = "enqueue_updates" not in made._options or bool(self.rng.integers(2))
        made.update(self.scaled(self.pattern), wait=wait)

    def refused(self, made):
        with pytest.raises(strata.MatrixError):
            made.update(0 * self.pattern.data)

    def answer(self, made):
        return np.hstack([made.apply(self.b), made.H @ self.b if self.natural else self.b])


class Product(Case):
    def make(self):
        self.pattern = random_matrix(self.rng, N, N, 5 * N, self.dtype)
        return strata.SellMatrix(self.lend(self.pattern.copy()))

    def update(self, made):
        made.update(self.scaled(self.pattern))

    def refused(self, made):
        with pytest.raises(strata.SizeMismatchError):
            made.update(self.pattern.data[:-1])

    def answer(self, made):
        return made @ self.b


class Band(Case):
    def make(self):
        ab = random_array(self.rng, (4, N), self.dtype)
        ab[1] += 9
        self.band = ab.copy()
        self.arrays.append(ab)
        return strata.BandSolver((2, 1), ab)

    def update(self, made):
        ab = (self.band * self.rng.choice([0.5, 2, 3])).astype(self.dtype)
        self.arrays.append(ab)
        made.update(ab)

    def refused(self, made):
        with pytest.raises(strata.SizeMismatchError):
            made.update(self.band[:, :-1])


SHARING = [Triangle, Factors, Incomplete]


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from([*SHARING, Product, Band]),
       st.sampled_from(DTYPES), st.lists(st.sampled_from(
           ["share", "update", "refused", "change"]), min_size=1, max_size=6),
       st.sampled_from(sorted(COPIES)))
def test_are_equal_after_anything(seed, kind, dtype, steps, way):
    case = kind(np.random.default_rng(seed), dtype)
    equal = [case.object]
    for step in steps:
        one = equal[case.rng.integers(len(equal))]
        before = case.answer(one)
        if step == "share":
            if kind not in SHARING or kind is Incomplete and not case.natural:
                continue
            equal.append(one.share_plan())
        elif step == "update":
            case.update(one)
        elif step == "refused":
            case.refused(one)
        else:
            for array in case.arrays:
                array[...] = array[::-1].copy() if array.dtype.kind in "iu" else 7 * array
        if step != "update":
            np.testing.assert_array_equal(case.answer(one), before)
    made = [COPIES[way](one) for one in equal]
    wanted = case.answer(case.object)
    for one in equal + made:
        np.testing.assert_allclose(case.answer(one), wanted, rtol=10 * tolerance(dtype),
                                   atol=tolerance(dtype) * abs(wanted).max())
    # A copy is on its own.
    case.update(made[0])
    for one in equal + made[1:] + [COPIES[way](one) for one in equal]:
        np.testing.assert_allclose(case.answer(one), wanted, rtol=10 * tolerance(dtype),
                                   atol=tolerance(dtype) * abs(wanted).max())


def superlu(A):
    lu = sp.linalg.splu(sp.csc_array(A), permc_spec="NATURAL",
                        options=dict(SymmetricMode=True), diag_pivot_thresh=0)
    return lu.L.tocsr(), lu.U.tocsr()


@pytest.mark.parametrize("way", sorted(COPIES))
def test_factors_that_another_has_updated(way):
    L, U = superlu([[2.0, 1], [1, 3]])
    F = strata.FactorSolver(L, U)
    G = F.share_plan()
    F.update(L, 2 * U)
    for made in (F, G, COPIES[way](F), COPIES[way](G)):
        np.testing.assert_allclose(made.apply(np.ones(2)), [0.2, 0.1])
    G.update(L, 4 * U)
    for made in (F, G, COPIES[way](F), COPIES[way](G)):
        np.testing.assert_allclose(made.apply(np.ones(2)), [0.1, 0.05])


@pytest.mark.parametrize("way", sorted(COPIES))
def test_permutations_that_another_has_updated(way):
    L, U = superlu([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])
    b, same = np.array([1.0, 2, 3]), np.arange(3)
    F = strata.FactorSolver(L, U, same, same)
    G = F.share_plan()
    other = np.array([2, 0, 1])
    F.update(L, U, other, other)
    G.update(L, U)
    other[:] = same
    for made in (F, G, COPIES[way](F), COPIES[way](G)):
        np.testing.assert_allclose(made.apply(b), np.array([1, 11, 14]) / 18)


def test_an_update_of_values_is_of_the_pattern_at_the_beginning(rng):
    """Functions of SciPy sort the rows of a matrix that they are given."""
    A = laplacian(6)
    M, wanted = strata.ilu0(A), strata.ilu0((2 * A).tocsr())
    A.indices[:] = 0
    M.update(2 * laplacian(6).data)
    r = rng.random(36)
    np.testing.assert_array_equal(M @ r, wanted @ r)
    np.testing.assert_allclose(M.H @ r, wanted.H @ r)


def test_the_diagonal_of_a_matrix_that_was_changed(rng):
    A = laplacian(6)
    A.setdiag(rng.uniform(5, 9, 36))
    S, b = strata.SellMatrix(A), rng.random(36)
    wanted, info = strata.cg(S, b, M="jacobi", rtol=1e-10)
    A.data[:] = -1
    x, again = strata.cg(S, b, M="jacobi", rtol=1e-10)
    assert info == again == 0 and info.iterations == again.iterations
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("way", sorted(COPIES))
def test_bad_values_are_not_copied(way):
    """What was enqueued and found bad later has no copy that is as bad."""
    A = laplacian(6)
    for made in (strata.TriangularSolver(sp.tril(A).tocsr(), enqueue_updates=True),
                 strata.ilu0(A, enqueue_updates=True)):
        good = made._matrix.data.copy()
        made.update(0 * good, wait=False)
        with pytest.raises(strata.HandleError, match="zero_diagonal in row 0") as caught:
            COPIES[way](made)
        assert "update" in caught.value.remedy
        made.update(good, wait=False)
        b = np.ones(36)
        np.testing.assert_allclose(COPIES[way](made).solve(b), made.solve(b))
    ab = np.ones((1, 3))
    band = strata.BandSolver((0, 0), ab)
    with pytest.raises(strata.FactorizationError):
        band.update(0 * ab)
    with pytest.raises(strata.HandleError, match="no factors"):
        COPIES[way](band)
    band.update(2 * ab)
    np.testing.assert_array_equal(COPIES[way](band).solve(np.ones(3)), np.full(3, 0.5))


def test_a_copy_has_the_order_that_was_chosen():
    for order in ("natural", "automatic", "coloured"):
        M = strata.ic0(laplacian(6), order=order)
        for make in COPIES.values():
            assert make(M).report().order == M.report().order
            np.testing.assert_array_equal(make(M) @ np.ones(36), M @ np.ones(36))
