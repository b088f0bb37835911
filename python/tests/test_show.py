# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, triangles
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata
from strata_solvers import _show


@given(triangles(), st.sampled_from("NT"))
def test_level_sets_are_those_of_the_longest_paths(triangle, trans):
    A, lower, _ = triangle
    B = (A if trans == "N" else A.T).toarray() != 0
    n = len(B)
    forward = lower == (trans == "N")
    level = np.zeros(n, int)
    for i in range(n) if forward else reversed(range(n)):
        needs = [j for j in np.flatnonzero(B[i]) if j != i]
        level[i] = 1 + max((level[j] for j in needs), default=-1)
    sizes = strata.level_sets(strata.TriangularSolver(A, lower, trans=trans))
    np.testing.assert_array_equal(sizes, np.bincount(level))


def test_draws(rng):
    solver = strata.TriangularSolver(sp.tril(laplacian(20)).tocsr())
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = strata.show(solver)
    (bars,) = figure.axes
    assert [bar.get_height() for bar in bars.patches] == strata.level_sets(solver).tolist()
    assert strata.show(solver, bars) is figure


def test_text(rng, monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    text = strata.show(strata.TriangularSolver(sp.tril(laplacian(40)).tocsr()))
    assert "1600 rows, 79 level sets" in text and "40" in text and "#" in text


def test_many_level_sets_share_bars():
    heights, width = _show._binned(np.arange(1, 1001), 400)
    assert width == 3 and len(heights) == 334 and heights[0] == 3 and heights[-1] == 1000


def test_refuses():
    with pytest.raises(strata.TypeMismatchError):
        strata.show("solver")
