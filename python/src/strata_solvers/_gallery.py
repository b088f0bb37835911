# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices to try solvers on, and from files."""

from __future__ import annotations

import os
from typing import Literal

import scipy.sparse as sp

from . import _arrays, _core

Scalar = Literal["float32", "float64", "complex64", "complex128"]


def _csr(arrays: tuple) -> sp.csr_array:
    indptr, indices, data = arrays
    rows = len(indptr) - 1
    made = sp.csr_array((data, indices, indptr), shape=(rows, rows))
    made.has_sorted_indices = True
    return made


def gallery(name: str, *, seed: int = 1, dtype: Scalar = "float64") -> sp.csr_array:
    """A matrix of the gallery of examples, tests and benchmarks.

    Parameters
    ----------
    name : str
        Such as ``"poisson:40"`` (7-point Laplacian on a cube) or ``"circuit:20000"``.  A
        faulty name raises an error that lists what there is.
    seed : int
        Of random patterns and values.
    dtype : str
        Of the values.

    Returns
    -------
    csr_array
        SciPy's, with sorted rows, on the host.

    Raises
    ------
    Error
        For a name that there is not.
    """
    return _csr(_arrays.core("gallery", dtype, "host")(name, seed))


def read_matrix_market(path: str | os.PathLike[str], *, dtype: Scalar = "float64") -> sp.csr_array:
    """A square matrix from a Matrix Market coordinate file, gzip'd or not.

    ``scipy.io.mmread`` reads more kinds of files; this one names the line at fault.

    Parameters
    ----------
    path : str or path
    dtype : str
        Of the values; a complex one for a file of complex numbers.

    Returns
    -------
    csr_array
        SciPy's, with sorted rows.  Symmetric, skew-symmetric and Hermitian files become whole
        matrices; explicit zeros stay.

    Raises
    ------
    FileError
        For anything that is wrong with the file.
    """
    return _csr(_arrays.core("read_matrix_market", dtype, "host")(os.fspath(path)))
