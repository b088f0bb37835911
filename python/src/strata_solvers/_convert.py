# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices and arrays that the extension does not take as they are, converted as SciPy and
CuPy do it, in the framework and the memory that they are of."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._errors import TypeMismatchError
from ._gpu import CudaArray, dtype_name, framework_of, scalars


def is_torch(A: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(A, torch.Tensor)


def form_of(A: Any) -> str | None:
    """"csr", "coo", "dense" and the like; None for what is no matrix."""
    form = getattr(A, "format", None)
    if is_torch(A):
        layout = str(A.layout).rpartition(".")[2]
        if layout == "strided":
            return "dense" if A.ndim == 2 else None
        return layout.replace("sparse_", "")
    if type(A).__name__ in ("BCSR", "BCOO"):
        return {"BCSR": "csr", "BCOO": "coo"}[type(A).__name__]
    if isinstance(form, str):
        return form
    if hasattr(A, "to_scipy_sparse"):
        return "pydata"
    if framework_of(A) in ("numpy", "cupy", "jax") and getattr(A, "ndim", 0) == 2:
        return "dense" if np.dtype(A.dtype).kind in "biufc" else None
    return None


def to_form(A: Any, form: str, to: str) -> Any:
    """A matrix in the form `to`, "csr" or "csc"; None where there is no way."""
    if is_torch(A):
        if form == "coo" and not A.is_coalesced():
            A = A.coalesce()
        return A.to_sparse_csr() if to == "csr" else A.to_sparse_csc()
    if type(A).__name__ == "BCOO" or framework_of(A) == "jax" and form == "dense":
        if to != "csr":
            return None
        from jax.experimental.sparse import BCSR

        return BCSR.fromdense(A) if form == "dense" else BCSR.from_bcoo(
            A.sum_duplicates(remove_zeros=False))
    if form == "pydata":
        A = A.to_scipy_sparse()
    elif form == "dense" and framework_of(A) == "cupy":
        from cupyx.scipy.sparse import csr_matrix

        A = csr_matrix(A)
    elif form == "dense":
        from scipy.sparse import csr_array

        A = csr_array(A)
    convert = getattr(A, "to" + to, None)
    return None if convert is None else convert()


def sum_duplicates(indptr: Any, indices: Any, data: Any,
                   shape: tuple[int, int]) -> tuple[Any, Any, Any] | None:
    """Arrays of a matrix by rows in order, with entries named twice added up, in arrays of
    their own; None where the framework has no such thing."""
    framework = framework_of(data)
    arrays = data, indices, indptr
    if framework == "torch":
        torch = sys.modules["torch"]
        # Not by to_sparse_coo(), which believes that a CSR tensor is sorted.
        row = torch.repeat_interleave(
            torch.arange(shape[0], device=data.device), indptr.diff().long())
        made = torch.sparse_coo_tensor(torch.stack([row, indices.long()]), data, shape,
                                       check_invariants=False).coalesce().to_sparse_csr()
        return made.crow_indices(), made.col_indices(), made.values()
    if framework == "jax":
        from jax.experimental.sparse import BCSR

        made = BCSR(arrays, shape=shape).to_bcoo().sum_duplicates(remove_zeros=False)
        made = BCSR.from_bcoo(made)
    elif framework == "cupy":
        from cupyx.scipy.sparse import csr_matrix

        made = csr_matrix(arrays, shape=shape, copy=True)
        made.sum_duplicates()
    elif isinstance(data, np.ndarray):
        from scipy.sparse import csr_array

        made = csr_array(arrays, shape=shape, copy=True)
        made.sum_duplicates()
        return made.indptr, made.indices, made.data[: made.indptr[-1]]
    else:
        return None
    return made.indptr, made.indices, made.data


def transposed(indptr: Any, indices: Any, data: Any,
               shape: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Arrays by rows of the conjugate transpose of an m x n matrix by rows."""
    framework = framework_of(data)
    if framework == "torch":
        torch = sys.modules["torch"]
        made = torch.sparse_csc_tensor(indptr, indices, data.conj().resolve_conj(),
                                       shape[::-1], check_invariants=False).to_sparse_csr()
        return made.crow_indices(), made.col_indices(), made.values()
    arrays = data.conj(), indices, indptr
    if framework == "jax":
        from jax.experimental.sparse import BCSR

        made = BCSR(arrays, shape=shape).to_bcoo().T.sort_indices()
        made = BCSR.from_bcoo(made)
    elif framework == "cupy":
        from cupyx.scipy.sparse import csc_matrix

        made = csc_matrix(arrays, shape=shape[::-1]).tocsr()
    elif isinstance(data, np.ndarray):
        from scipy.sparse import csc_array

        made = csc_array(arrays, shape=shape[::-1]).tocsr()
    else:
        raise TypeMismatchError("A", "has the CUDA Array Interface alone",
                                "pass a matrix of CuPy or PyTorch for products with its adjoint")
    return made.indptr, made.indices, made.data


def scalar_for(name: str) -> str | None:
    """The first of the library's types that holds all values of a type, as in SciPy; None if
    there is none."""
    try:
        kind = np.dtype(name)
    except TypeError:
        return None
    return next((to for to in scalars if np.can_cast(kind, to)), None)


def common_type(argument: str, *names: str) -> str:
    """The first of the library's types that holds several, as in SciPy. @raises
    TypeMismatchError"""
    try:
        kind = np.result_type(*map(np.dtype, names))
    except TypeError:
        kind = None
    found = None if kind is None or kind.kind not in "biufc" else scalar_for(kind.name)
    if found is None:
        raise TypeMismatchError(argument, "are " + " and ".join(names),
                                "pass numbers of 64 bits at most")
    return found


def cast(array: Any, dtype: str) -> Any:
    """The array in another type, a copy on the current stream; itself if it has the type."""
    if dtype_name(array) == dtype:
        return array
    if framework_of(array) == "torch":
        return array.to(getattr(sys.modules["torch"], dtype))
    if isinstance(array, CudaArray):
        raise TypeMismatchError(
            "array", f"has the CUDA Array Interface alone, and is {array.dtype}",
            f"pass {dtype}")
    return array.astype(dtype)


def contiguous(array: Any) -> Any:
    """A copy in one piece, in the byte order of the machine; None where there is no way."""
    framework = framework_of(array)
    if isinstance(array, np.ndarray):
        return np.array(array, array.dtype.newbyteorder("="), order="C")
    if framework == "cupy":
        return sys.modules["cupy"].ascontiguousarray(array)
    return array.contiguous() if framework == "torch" else None


def as_index(name: str) -> str | None:
    """The type that other integers of indices are converted to."""
    try:
        kind = np.dtype(name)
    except TypeError:
        return None
    return "int64" if kind.kind in "iu" else None


def to_device_of(array: np.ndarray, like: Any) -> Any:
    """An array of a host in the memory and framework of `like`, on a GPU."""
    framework = framework_of(like)
    if framework == "cupy":
        with like.device:
            return sys.modules["cupy"].asarray(array)
    if framework == "torch":
        return sys.modules["torch"].from_numpy(np.array(array)).to(like.device)
    if framework == "jax":
        return sys.modules["jax"].device_put(array, next(iter(like.devices())))
    from ._gpu import on_gpu

    return on_gpu(array)
