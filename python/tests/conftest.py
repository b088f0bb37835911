# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices and vectors of every kind that the entry points take."""

import os

# Threads of several programs on few cores would wait for each other.
os.environ.setdefault("OMP_PROC_BIND", "false")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# A busy machine is no fault of the library.
settings.register_profile("strata", deadline=None, max_examples=60,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("strata")

DTYPES = ["float32", "float64", "complex64", "complex128"]
INDICES = ["int32", "int64"]


def tolerance(dtype):
    return 2e-4 if np.dtype(dtype).char in "fF" else 1e-10


def random_array(rng, shape, dtype):
    values = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(-1, 1, shape)
    return values.astype(dtype)


def with_indices(A, index):
    """A with that index type, which SciPy's constructors would choose anew."""
    A.indptr, A.indices = A.indptr.astype(index), A.indices.astype(index)
    return A


def random_matrix(rng, n, m, entries, dtype, form="csr", index="int32"):
    rows, columns = rng.integers(0, n, entries), rng.integers(0, m, entries)
    A = sp.coo_array((random_array(rng, entries, dtype), (rows, columns)), shape=(n, m))
    A = A.tocsr()
    A.sum_duplicates()
    return with_indices(A.asformat(form), index)


def random_triangle(rng, n, entries, dtype, form="csr", lower=True, index="int32"):
    """A triangle, whose diagonal is dominant, with sorted rows."""
    A = random_matrix(rng, n, n, entries, dtype) if n else sp.csr_array((0, 0), dtype=dtype)
    A = sp.tril(A, -1) if lower else sp.triu(A, 1)
    scale = 1 / np.maximum(1, abs(A).sum(axis=1))
    A = sp.diags_array(scale.astype(dtype)) @ A if n else A
    A = (A + 2 * sp.eye_array(n, dtype=dtype)).asformat(form).astype(dtype)
    A.sort_indices()
    return with_indices(A, index)


def with_zeros_outside(rng, A, lower):
    """A with stored zeros in the other triangle, some of them -0.0, and where `data` has
    them."""
    n = A.shape[0]
    row, column = (rng.integers(0, n, n) for _ in range(2))
    outside = (row < column) if lower else (row > column)
    marks = sp.coo_array((np.full(outside.sum(), 100.0), (row[outside], column[outside])),
                         shape=A.shape)
    made = (A + marks.astype(A.dtype)).asformat(A.format).astype(A.dtype)
    made.sort_indices()
    places = np.flatnonzero(abs(made.data) > 50)
    made.data[places] = rng.choice([0.0, -0.0], places.size)
    return with_indices(made, A.indices.dtype), places


def laplacian(k, dtype="float64"):
    T = sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(k, k))
    A = (sp.kron(T, sp.eye_array(k)) + sp.kron(sp.eye_array(k), T)).tocsr()
    A.sort_indices()
    return A.astype(dtype)


def in_layout(b, layout):
    """b in an array of another memory layout, and b itself for "C"."""
    if layout == "F":
        return np.asfortranarray(b)
    if layout == "strided":
        wide = np.zeros((2 * b.shape[0], *(3 * n for n in b.shape[1:])), b.dtype)
        view = wide[::2] if b.ndim == 1 else wide[::2, 1::3]
        view[...] = b
        return view
    if layout == "reversed":
        return np.ascontiguousarray(b[::-1])[::-1]
    return np.ascontiguousarray(b)


LAYOUTS = ["C", "F", "strided", "reversed"]


@st.composite
def triangles(draw, forms=("csr", "csc")):
    """(A, lower, rng) of a random size, density, type, format and index width."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    lower = draw(st.booleans())
    A = random_triangle(rng, n, draw(st.integers(0, 4 * n)), draw(st.sampled_from(DTYPES)),
                        draw(st.sampled_from(forms)), lower, draw(st.sampled_from(INDICES)))
    return A, lower, rng


@st.composite
def blocks(draw, rng, n, dtype):
    """A right-hand side, or several, in any layout."""
    k = draw(st.sampled_from([None, 1, 2, 3, 9]))
    b = random_array(rng, n if k is None else (n, k), dtype)
    return in_layout(b, draw(st.sampled_from(LAYOUTS)))


@pytest.fixture
def rng():
    return np.random.default_rng(1)
