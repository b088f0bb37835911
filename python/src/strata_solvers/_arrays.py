# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What callers pass, made ready for the extension: checked, and not copied."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._errors import (
    NotSquareError,
    OptionError,
    SizeMismatchError,
    TypeMismatchError,
)

scalars = ("float32", "float64", "complex64", "complex128")


class Crs(NamedTuple):
    """A matrix by rows, as three arrays: no copies of the caller's."""

    indptr: Any
    indices: Any
    data: Any
    shape: tuple[int, int]
    #: The arrays are those of the transposed matrix (of CSC).
    transposed: bool
    #: "host" or "cuda": where the arrays are.
    space: str

    @property
    def dtype(self) -> str:
        return dtype_name(self.data)


def dtype_name(array: Any) -> str:
    """"float64", of an array of any framework."""
    return str(array.dtype).rpartition(".")[2]


def space_of(array: Any) -> str:
    """"host" or "cuda": where the elements of an array are."""
    if isinstance(array, np.ndarray):
        return "host"
    device = getattr(array, "__dlpack_device__", None)
    if device is None:
        return "cuda" if hasattr(array, "__cuda_array_interface__") else "host"
    # DLPack's numbers: 2 is CUDA, 13 CUDA's managed memory.
    return "cuda" if int(device()[0]) in (2, 13) else "host"


def stream_of(array: Any) -> int:
    """The CUDA stream on which the caller's framework works; 0 for a host."""
    if isinstance(array, np.ndarray) or space_of(array) == "host":
        return 0
    framework = framework_of(array)
    if framework == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    if framework == "torch":
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream)
    return 0


def core(name: str, dtype: str, space: str = "host") -> Any:
    """The extension's class or function for a scalar and a space."""
    if space == "cuda" and not _core.has_cuda:
        raise TypeMismatchError(
            "arrays", "are in the memory of a GPU, and this build has no CUDA",
            "copy them to the host, or install the build with CUDA",
        )
    return getattr(_core, f"{name}_{dtype}_{space}")


# --- Matrices ----------------------------------------------------------------


def _is_torch(A: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(A, torch.Tensor)


def crs(A: Any, argument: str = "A", *, square: bool = True, csc: bool = True) -> Crs:
    """The arrays of a matrix in CSR or, where that will do, CSC format.

    SciPy's and CuPy's matrices and arrays, sparse CSR and CSC tensors of PyTorch, and
    BCSR of JAX.
    """
    form = getattr(A, "format", None)
    if _is_torch(A):
        layout = str(A.layout)
        form = {"torch.sparse_csr": "csr", "torch.sparse_csc": "csc"}.get(layout, layout)
        if form == "csr":
            arrays = A.crow_indices(), A.col_indices(), A.values()
        elif form == "csc":
            arrays = A.ccol_indices(), A.row_indices(), A.values()
        if form in ("csr", "csc"):
            arrays = tuple(array.detach() for array in arrays)
    elif form in ("csr", "csc") or type(A).__name__ == "BCSR":
        form = form if form in ("csr", "csc") else "csr"
        arrays = A.indptr, A.indices, A.data
    if form not in ("csr", "csc"):
        what = f"in the format {form!r}" if isinstance(form, str) else f"a {type(A).__name__}"
        raise TypeMismatchError(
            argument, f"is {what}",
            "pass a sparse matrix in CSR" + (" or CSC" if csc else "") +
            " format: A.tocsr() converts one, scipy.sparse.csr_array(A) a dense one",
        )
    if form == "csc" and not csc:
        raise TypeMismatchError(argument, "is in the format 'csc'", "pass A.tocsr()")
    shape = tuple(int(n) for n in A.shape)
    if len(shape) != 2:
        raise SizeMismatchError(argument, f"has {len(shape)} dimensions", "pass a matrix")
    if square and shape[0] != shape[1]:
        raise NotSquareError(
            argument, f"has {shape[0]} rows and {shape[1]} columns",
            "pass a matrix with as many columns as rows",
        )
    indptr, indices, data = arrays
    rows = shape[1] if form == "csc" else shape[0]
    if indptr.shape[0] != rows + 1:
        raise SizeMismatchError(
            f"{argument}.indptr", f"has {indptr.shape[0]} elements for {rows} rows",
            "pass one more than there are rows",
        )
    _check_values(data, f"{argument}.data")
    made = Crs(index_array(indptr, f"{argument}.indptr"),
               index_array(indices, f"{argument}.indices"),
               data, shape, form == "csc", space_of(data))
    if dtype_name(made.indptr) != dtype_name(made.indices):
        raise TypeMismatchError(
            f"{argument}.indices",
            f"is {dtype_name(made.indices)} and {argument}.indptr {dtype_name(made.indptr)}",
            "convert one to the type of the other",
        )
    return made


def index_array(array: Any, argument: str) -> Any:
    if dtype_name(array) not in ("int32", "int64"):
        raise TypeMismatchError(
            argument, f"is {dtype_name(array)}",
            "pass integers of 32 or 64 bits: .astype(np.int64)",
        )
    _check_flat(array, argument)
    return array


def _check_flat(array: Any, argument: str) -> None:
    if array.ndim != 1:
        raise SizeMismatchError(
            argument, f"has {array.ndim} dimensions", "pass an array of one dimension"
        )
    if isinstance(array, np.ndarray):
        if not (array.flags.c_contiguous and array.flags.aligned and
                array.dtype.isnative):
            raise OptionError(
                argument, "is not contiguous, aligned and in the byte order of the machine",
                "pass np.array(...) of it",
            )


def _check_values(array: Any, argument: str) -> None:
    if dtype_name(array) not in scalars:
        raise TypeMismatchError(
            argument, f"is {dtype_name(array)}",
            "convert it to float32, float64, complex64 or complex128: "
            ".astype(np.float64)",
        )
    _check_flat(array, argument)


def new_values(values: Any, like: Crs, argument: str = "values") -> Any:
    """Values on the pattern of `like`, in the order of its `data`."""
    if not hasattr(values, "dtype") or not hasattr(values, "ndim"):
        raise TypeMismatchError(argument, f"is a {type(values).__name__}",
                                "pass an array, or a sparse matrix")
    _check_values(values, argument)
    same_dtype(values, like.dtype, argument)
    if values.shape[0] != like.data.shape[0]:
        raise SizeMismatchError(
            argument, f"has {values.shape[0]} elements, the matrix {like.data.shape[0]}",
            "pass a value for every entry, in the order of the matrix's data",
        )
    same_space(values, like.space, argument)
    return values


def same_dtype(array: Any, dtype: str, argument: str) -> None:
    if dtype_name(array) != dtype:
        raise TypeMismatchError(
            argument, f"is {dtype_name(array)}, the solver's matrix {dtype}",
            f"pass {dtype}: .astype(np.{dtype})",
        )


def same_space(array: Any, space: str, argument: str) -> None:
    if space_of(array) != space:
        there = "host" if space == "host" else "GPU"
        raise TypeMismatchError(
            argument, f"is not in the memory of the {there}, where the solver works",
            "copy it there",
        )


def updated(given: Any, of: Crs, argument: str = "values") -> tuple[Crs, bool]:
    """What `update` was given, and whether that has a pattern to be compared."""
    if getattr(given, "format", None) is None and not (
            _is_torch(given) and "sparse" in str(given.layout)) and (
            type(given).__name__ != "BCSR"):
        return of._replace(data=new_values(given, of, argument)), False
    matrix = crs(given, argument, square=False)
    if matrix.transposed != of.transposed:
        was, is_ = ("csc", "csr") if of.transposed else ("csr", "csc")
        raise TypeMismatchError(
            argument, f"is in the format {is_!r}, and the solver was made from {was!r}",
            f"pass A.to{was}()",
        )
    if matrix.shape != of.shape:
        raise SizeMismatchError(
            argument, f"has the shape {matrix.shape}, the solver's matrix {of.shape}",
            "make a new solver of it",
        )
    same_dtype(matrix.data, of.dtype, argument)
    same_space(matrix.data, of.space, argument)
    return matrix, True


# --- Vectors -----------------------------------------------------------------


def _usable(array: Any) -> bool:
    """Whether the extension can take an array as it is."""
    if not isinstance(array, np.ndarray):
        return True
    if not (array.dtype.isnative and array.flags.aligned):
        return False
    size = array.itemsize
    return all(n <= 1 or (s >= 0 and s % size == 0)
               for n, s in zip(array.shape, array.strides))


def is_plain(b: Any, out: Any, rows: int, dtype: np.dtype) -> bool:
    """Whether both are NumPy's, of that type, contiguous and of one shape with `rows`
    rows: nothing is left to check or convert.  `out` may be None.

    The most common case, in one or two microseconds; the checks below take tens.
    """
    if type(b) is not np.ndarray or b.dtype != dtype or not b.flags.c_contiguous:
        return False
    shape = b.shape
    if not (len(shape) in (1, 2) and shape[0] == rows and b.flags.aligned):
        return False
    return out is None or out is b and b.flags.writeable or (
        type(out) is np.ndarray and out.dtype == dtype and out.shape == shape and
        out.flags.carray)


def right_hand_side(b: Any, rows: int, dtype: str, space: str, argument: str = "b") -> Any:
    """b as an array that the extension takes: itself wherever it can.

    Integers and shorter floating-point numbers are converted, as are lists; what would
    lose digits is refused.
    """
    if space == "host" and not isinstance(b, np.ndarray):
        if space_of(b) != "host":
            same_space(b, space, argument)
        if hasattr(b, "detach"):
            b = b.detach()
        try:
            b = np.asarray(b)
        except Exception as error:
            raise TypeMismatchError(argument, f"is no array ({error})",
                                    "pass an array of NumPy") from error
    elif space != "host":
        same_space(b, space, argument)
        same_dtype(b, dtype, argument)
    if b.ndim not in (1, 2):
        raise SizeMismatchError(
            argument, f"has {b.ndim} dimensions",
            f"pass {rows} elements, or {rows} x k for k right-hand sides",
        )
    if b.shape[0] != rows:
        raise SizeMismatchError(
            argument, f"has {b.shape[0]} rows, the matrix {rows}",
            f"pass {rows} elements, or {rows} x k for k right-hand sides",
        )
    if space != "host":
        return b
    if b.dtype != dtype:
        if not np.can_cast(b.dtype, dtype, "safe"):
            raise TypeMismatchError(
                argument, f"is {b.dtype}, the solver's matrix {dtype}",
                f"convert it, .astype(np.{dtype}), or make the solver of a matrix in "
                f"{np.result_type(b.dtype, dtype) if b.dtype.kind in 'biufc' else dtype}",
            )
        return b.astype(dtype)
    return b if _usable(b) else np.array(b)


def output(out: Any, shape: tuple[int, ...], dtype: str, space: str,
           argument: str = "out") -> Any:
    """Checks an array that is to be written; @raises before it is."""
    if not hasattr(out, "dtype") or not hasattr(out, "shape"):
        raise TypeMismatchError(argument, f"is a {type(out).__name__}", "pass an array")
    same_space(out, space, argument)
    same_dtype(out, dtype, argument)
    if tuple(out.shape) != tuple(shape):
        raise SizeMismatchError(
            argument, f"has the shape {tuple(out.shape)}, b {tuple(shape)}",
            "pass an array of the shape of b",
        )
    if isinstance(out, np.ndarray):
        if not out.flags.writeable:
            raise OptionError(argument, "is read-only", "pass an array that can be written")
        if not _usable(out):
            raise OptionError(
                argument, "has negative strides, or is not aligned or in the byte order of "
                "the machine", "pass an array without them",
            )
    return out


def framework_of(array: Any) -> str:
    """"numpy", "cupy", "torch", "jaxlib": the package whose an array is."""
    return type(array).__module__.partition(".")[0]


def empty_like(b: Any) -> Any:
    """An array for the answer: shape and order of b, in its framework."""
    if isinstance(b, np.ndarray):
        return np.empty_like(b, subok=False)
    framework = framework_of(b)
    if framework not in ("cupy", "torch"):
        raise TypeMismatchError("out", f"can't be made like a {type(b).__name__}",
                                "pass an array of CuPy or PyTorch as out")
    return sys.modules[framework].empty_like(b)


def new_array(like: Any, shape: Any, dtype_of: Any = None) -> Any:
    """A new array in the framework and memory of `like`, with its dtype or that of another
    array."""
    dtype = dtype_name(like if dtype_of is None else dtype_of)
    if framework_of(like) == "torch":
        return like.new_empty(shape, dtype=getattr(sys.modules["torch"], dtype))
    if framework_of(like) == "cupy":
        return sys.modules["cupy"].empty(shape, dtype)
    return np.empty(shape, dtype)


def csr_like(like: Any, arrays: tuple[Any, Any, Any], shape: tuple[int, int]) -> Any:
    """indptr, indices, data as a CSR matrix of the framework of `like`."""
    indptr, indices, data = arrays
    framework = framework_of(like)
    if framework == "torch":
        return sys.modules["torch"].sparse_csr_tensor(indptr, indices, data, shape)
    if framework == "cupy":
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((data, indices, indptr), shape=shape)
    from scipy.sparse import csr_array

    return csr_array((data, indices, indptr), shape=shape)


def row_numbers(indptr: Any, entries: int) -> Any:
    """The row of each entry of a matrix without empty rows, in indptr's framework."""
    begins = new_array(indptr, entries)
    begins[...] = 0
    begins[indptr[1:-1]] = 1
    return begins.cumsum(0)


def is_real(dtype: str) -> bool:
    return dtype in ("float32", "float64")
