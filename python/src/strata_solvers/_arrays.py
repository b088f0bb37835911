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


_dtype_names: dict[Any, str] = {}


def dtype_name(array: Any) -> str:
    """"float64", of an array of any framework."""
    name = _dtype_names.get(array.dtype)
    if name is None:
        name = _dtype_names[array.dtype] = str(array.dtype).rpartition(".")[2]
    return name


def framework_of(array: Any) -> str:
    """"numpy", "cupy", "torch", "jax": the package whose an array is."""
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def space_of(array: Any) -> str:
    """"host" or "cuda": where the elements of an array are."""
    if isinstance(array, np.ndarray):
        return "host"
    device = getattr(array, "__dlpack_device__", None)
    if device is None:
        return "cuda" if hasattr(array, "__cuda_array_interface__") else "host"
    # DLPack's numbers: 2 is CUDA, 13 CUDA's managed memory.
    kind, number = device()
    if int(kind) not in (2, 13):
        return "host"
    if _core.has_cuda and int(number) != _core.cuda_device:
        raise TypeMismatchError(
            "arrays", f"are on GPU {int(number)}, and the library works on GPU "
            f"{_core.cuda_device}", "copy them there, or set CUDA_VISIBLE_DEVICES before the "
            "import",
        )
    return "cuda"


class CudaArray:
    """An array of a GPU that has the CUDA Array Interface and no DLPack (Numba's), or that
    is in managed memory, with DLPack."""

    def __init__(self, of: Any, argument: str = "array"):
        facts = of.__cuda_array_interface__
        if facts.get("mask") is not None:
            raise TypeMismatchError(argument, "has a mask", "pass an array without one")
        self.of = of
        self.dtype = np.dtype(facts["typestr"])
        self.shape = tuple(int(n) for n in facts["shape"])
        self.ndim = len(self.shape)
        self.pointer, self.read_only = int(facts["data"][0]), bool(facts["data"][1])
        # Of version 3: 1 is the legacy default stream, which is 0 everywhere else.
        stream = facts.get("stream")
        self.stream = 0 if stream in (None, 1) else int(stream)
        strides = facts.get("strides")
        size = self.dtype.itemsize
        if strides is None:
            strides = [size * int(np.prod(self.shape[d + 1:])) for d in range(self.ndim)]
        if self.dtype.name not in (*scalars, "int32", "int64") or not self.dtype.isnative or any(
                step % size for step in strides):
            raise TypeMismatchError(
                argument, f"is {self.dtype} with strides of {tuple(strides)} bytes",
                "convert it to float32, float64, complex64, complex128, int32 or int64")
        self.strides = tuple(int(step) // size for step in strides)
        self._array = _core.array_at(self.pointer, list(self.shape), list(self.strides),
                                     self.dtype.name, self._device(), of)

    def _device(self) -> int:
        if not _core.has_cuda or 0 in self.shape:
            return max(0, _core.cuda_device)
        return _core.device_of(self.pointer)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def copy(self) -> Any:
        return CudaArray(_Owned(self.shape, self.dtype, self.pointer, self.stream))

    def __reduce__(self) -> Any:
        raise TypeMismatchError("array", f"is a {type(self.of).__name__}, which is not pickled",
                                "make the object of CuPy's arrays, or of a host's")


class _Owned:
    """A copy of an array in memory of the library on a GPU."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, pointer: int, stream: int,
                 from_host: bool = False):
        self._array = _core.new_array(list(shape), dtype.name, pointer, stream, from_host)
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": dtype.str, "strides": None, "version": 3,
            "data": (_core.address_of(self._array), False), "stream": stream or None}


def on_gpu(array: np.ndarray) -> CudaArray:
    """A copy of an array of a host on the library's GPU."""
    array = np.ascontiguousarray(array)
    return CudaArray(_Owned(array.shape, array.dtype, array.ctypes.data, 0, True))


def taken(array: Any, argument: str) -> Any:
    """The array itself, or one that the extension can take in its place."""
    if isinstance(array, (np.ndarray, CudaArray)):
        return array
    device = getattr(array, "__dlpack_device__", None)
    if device is not None and int(device()[0]) != 13:
        return array
    return CudaArray(array, argument) if hasattr(array, "__cuda_array_interface__") else array


def stream_of(array: Any) -> int:
    """The CUDA stream on which the caller's framework works; 0 for the default stream, and
    for a host.  Arrays of JAX are ready afterwards."""
    if isinstance(array, np.ndarray):
        return 0
    if isinstance(array, CudaArray):
        return array.stream
    if space_of(array) == "host":
        return 0
    framework = framework_of(array)
    if framework == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream(_core.cuda_device).ptr)
    if framework == "torch":
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream)
    if framework == "jax":
        # Its streams are its own.
        array.block_until_ready()
    return 0


def core(name: str, dtype: str, space: str = "host") -> Any:
    """The extension's class or function for a scalar and a space."""
    if space == "cuda" and not _core.has_cuda:
        raise TypeMismatchError(
            "arrays", "are in the memory of a GPU, and this build has no CUDA",
            "copy them to the host, or install the build with CUDA",
        )
    if dtype in scalars and dtype not in _core.scalars:
        raise TypeMismatchError(
            "arrays", f"are {dtype}, and this build has {', '.join(_core.scalars)} alone",
            "convert them, or build the package with that type in Strata_SCALARS",
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
    indptr, indices, data = (
        taken(array, f"{argument}.{name}")
        for name, array in zip(("indptr", "indices", "data"), arrays))
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
    values = taken(values, argument)
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


def _is_backward(array: Any) -> bool:
    """Whether it is one of CuPy's with a negative stride.  Other frameworks have none."""
    return framework_of(array) == "cupy" and any(
        n > 1 and s < 0 for n, s in zip(array.shape, array.strides))


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
    b = taken(b, argument)
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
        if _is_torch(b):
            b = b.detach().resolve_conj().resolve_neg()
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
        if _is_backward(b):
            return sys.modules["cupy"].ascontiguousarray(b)
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
    """Checks an array that is to be written; @raises before it is.  Returns what the
    extension takes for it."""
    given = taken(out, argument)
    if not hasattr(given, "dtype") or not hasattr(given, "shape"):
        raise TypeMismatchError(argument, f"is a {type(out).__name__}", "pass an array")
    same_space(given, space, argument)
    same_dtype(given, dtype, argument)
    if tuple(given.shape) != tuple(shape):
        raise SizeMismatchError(
            argument, f"has the shape {tuple(given.shape)}, b {tuple(shape)}",
            "pass an array of the shape of b",
        )
    if isinstance(given, np.ndarray):
        if not given.flags.writeable:
            raise OptionError(argument, "is read-only", "pass an array that can be written")
        if not _usable(given):
            raise OptionError(
                argument, "has negative strides, or is not aligned or in the byte order of "
                "the machine", "pass an array without them",
            )
    elif isinstance(given, CudaArray) and given.read_only or framework_of(given) == "jax":
        raise OptionError(argument, "is read-only", "pass an array that can be written")
    elif _is_backward(given):
        raise OptionError(argument, "has negative strides", "pass an array without them")
    return given


class Target:
    """An array for an answer: what the extension writes, and what the caller gets."""

    __slots__ = ("array", "_returned", "_jax", "_waits")

    def __init__(self, out: Any, like: Any, dtype: str, space: str,
                 shape: tuple[int, ...] | None = None, start: Any = None):
        """`out` where that is given, else a new array of the framework of `like`, and of
        its shape and order unless there is another `shape`; with the elements of `start`
        unless that is None."""
        self._jax = False
        # JAX's streams are its own: it may free `like` once we return.
        self._waits = framework_of(like) == "jax" and space == "cuda"
        if out is not None:
            self.array = output(out, like.shape if shape is None else shape, dtype, space)
            self._returned = out
            return
        if self._waits:
            self._jax = True
            if start is not None:
                start = start.block_until_ready().unsafe_buffer_pointer()
            self.array = _core.new_array(list(like.shape if shape is None else shape), dtype,
                                         start or 0)
        else:
            self.array = empty_like(like) if shape is None else new_array(like, shape)
            if start is not None:
                self.array[...] = start
        self._returned = self.array

    def done(self, stream: int) -> Any:
        """What the caller gets, once the work is enqueued on a stream."""
        if self._waits:
            _core.wait_for(stream)
        if not self._jax:
            return self._returned
        return sys.modules["jax"].dlpack.from_dlpack(self.array)


def settle(array: Any, stream: int) -> None:
    """After work with an array was enqueued: JAX may free its arrays at once."""
    if framework_of(array) == "jax" and space_of(array) == "cuda":
        _core.wait_for(stream)


def empty_like(b: Any) -> Any:
    """An array for the answer: shape and order of b, in its framework."""
    if isinstance(b, np.ndarray):
        return np.empty_like(b, subok=False)
    framework = framework_of(b)
    if framework == "cupy":
        with b.device:
            return sys.modules["cupy"].empty_like(b)
    if framework == "torch":
        return sys.modules["torch"].empty_like(b)
    kind = type(b.of if isinstance(b, CudaArray) else b).__name__
    raise TypeMismatchError("out", f"can't be made like a {kind}",
                            "pass an array to be written as out")


def new_array(like: Any, shape: Any, dtype_of: Any = None) -> Any:
    """A new array in the framework and memory of `like`, with its dtype or that of another
    array."""
    dtype = dtype_name(like if dtype_of is None else dtype_of)
    framework = framework_of(like)
    if framework == "torch":
        return like.new_empty(shape, dtype=getattr(sys.modules["torch"], dtype))
    if framework == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)
    if isinstance(like, CudaArray):
        empty_like(like)
    return np.empty(shape, dtype)


def copy_of(array: Any) -> Any:
    return array.copy() if hasattr(array, "copy") else array.clone()


# --- The shortest way to a GPU -----------------------------------------------


def places(b: Any, out: Any, rows: int, dtype: np.dtype) -> Any:
    """(place of b, place of out, out, stream) where both are of CuPy or of PyTorch, on the
    library's GPU, of that type and one shape with `rows` rows; else None.

    A place is what DLPack would say, in a tenth of the time: pointer, shape, strides.
    """
    kind = type(b)
    cupy = sys.modules.get("cupy")
    if cupy is not None and kind is cupy.ndarray:
        if b.dtype != dtype:
            return None
        if out is None:
            out = cupy.empty_like(b)
        elif type(out) is not kind or out.dtype != dtype:
            return None
        device = _core.cuda_device
        if b.data.device_id != device or out.data.device_id != device:
            return None
        size = dtype.itemsize
        from_ = _place(b.data.ptr, b.shape, b.strides, size, rows)
        to = _place(out.data.ptr, out.shape, out.strides, size, rows)
        if from_ is None or to is None or b.shape != out.shape:
            return None
        return from_, to, out, cupy.cuda.get_current_stream(device).ptr
    torch = sys.modules.get("torch")
    if torch is not None and kind is torch.Tensor:
        if not b.is_cuda or dtype_name(b) != dtype.name:
            return None
        if out is None:
            out = torch.empty_like(b)
        elif type(out) is not kind or not out.is_cuda or out.dtype != b.dtype:
            return None
        device = _core.cuda_device
        for array in (b, out):
            if (array.get_device() != device or array.requires_grad or array.is_conj() or
                    array.is_neg() or array.layout != torch.strided):
                return None
        from_ = _place(b.data_ptr(), b.shape, b.stride(), 1, rows)
        to = _place(out.data_ptr(), out.shape, out.stride(), 1, rows)
        if from_ is None or to is None or b.shape != out.shape:
            return None
        return from_, to, out, torch.cuda.current_stream(device).cuda_stream
    return None


def _place(pointer: int, shape: Any, strides: Any, size: int, rows: int) -> Any:
    """Strides are in `size` parts of an element."""
    if len(shape) == 1:
        n, k, row, column = shape[0], 1, strides[0], 0
    elif len(shape) == 2:
        n, k, row, column = *shape, *strides
    else:
        return None
    if n != rows or row < 0 or column < 0 or row % size or column % size:
        return None
    # A stride along one element is of no use, and may be any number.
    return pointer, n, k, row // size if n > 1 else 1, column // size if k > 1 else 1


# --- Results as matrices -----------------------------------------------------


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
