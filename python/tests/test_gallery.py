# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gallery, and matrices from files."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import strata_solvers as strata


def test_poisson_is_the_laplacian_of_a_cube():
    k = 5
    T = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(k, k))
    eye = sp.eye_array(k)
    laplacian = (sp.kron(sp.kron(T, eye), eye) + sp.kron(sp.kron(eye, T), eye)
                 + sp.kron(sp.kron(eye, eye), T)).toarray()
    A = strata.gallery("poisson:5")
    assert A.dtype == np.float64 and A.has_canonical_format
    np.testing.assert_array_equal(A.toarray(), laplacian)


def test_seed_and_dtype():
    first, same, other = (strata.gallery("circuit:300", seed=s) for s in (3, 3, 4))
    assert (first != same).nnz == 0
    assert first.nnz != other.nnz or (first != other).nnz > 0
    single = strata.gallery("grid2d:9", dtype="complex64")
    assert single.dtype == np.complex64
    strata.TriangularSolver(single, take_triangle=True).solve(np.ones(81, np.complex64))


def test_name_that_there_is_not():
    with pytest.raises(strata.Error, match="poisson"):
        strata.gallery("piosson:5")


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "hermitian"])
@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
def test_files_of_scipy(tmp_path, symmetry, ending):
    random = np.random.default_rng(2)
    A = random.random((20, 20)) * (random.random((20, 20)) < 0.3)
    if symmetry == "hermitian":
        A = A + 1j * random.random((20, 20)) * (A != 0)
    if symmetry != "general":
        A = A + A.conj().T
    path = tmp_path / f"matrix{ending}"
    with (gzip.open if ending.endswith("gz") else open)(path, "wb") as file:
        scipy.io.mmwrite(file, sp.coo_array(A), symmetry=symmetry, precision=17)
    read = strata.read_matrix_market(
        path, dtype="complex128" if symmetry == "hermitian" else "float64")
    np.testing.assert_array_equal(read.toarray(), A)


def test_faulty_file_names_its_line(tmp_path):
    path = tmp_path / "faulty.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n3 1 1.0\n")
    with pytest.raises(strata.FileError, match="line 4"):
        strata.read_matrix_market(path)
