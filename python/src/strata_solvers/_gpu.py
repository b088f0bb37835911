# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays by their addresses on a GPU: those that have the CUDA Array Interface alone, and
those of CuPy and PyTorch where their export takes too long, or does what must not be."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _core
from ._errors import TypeMismatchError

scalars = ("float32", "float64", "complex64", "complex128")

_dtype_names: dict[Any, str] = {}


def dtype_name(array: Any) -> str:
    """"float64", of an array of any framework."""
    name = _dtype_names.get(array.dtype)
    if name is None:
        name = _dtype_names[array.dtype] = dtype_text(array.dtype)
    return name


def dtype_text(dtype: Any) -> str:
    """The name of a type of any framework."""
    return str(dtype).rpartition(".")[2]


def framework_of(array: Any) -> str:
    """"numpy", "cupy", "torch", "jax": the package whose an array is."""
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


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

    def __getitem__(self, part: slice) -> CudaArray:
        """Some elements of an array of one dimension, which do not skip any."""
        return CudaArray(_Part(self, *part.indices(self.shape[0])[:2]))

    def copy(self) -> Any:
        return CudaArray(_Owned(self.shape, self.dtype, self.pointer, self.stream))

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeMismatchError("array", "has the CUDA Array Interface alone, and is not pickled",
                                "make the object of CuPy's arrays, or of a host's")


class _Part:
    """Elements of an array of one dimension."""

    def __init__(self, of: CudaArray, begin: int, end: int):
        self.of, step = of, of.strides[0] * of.dtype.itemsize
        self.__cuda_array_interface__ = {
            "shape": (end - begin,), "typestr": of.dtype.str, "version": 3, "strides": (step,),
            "data": (of.pointer + begin * step, of.read_only), "stream": of.stream or None}


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


def taken(array: Any, argument: str) -> Any:
    """The array itself, or one that the extension can take in its place."""
    if isinstance(array, (np.ndarray, CudaArray)):
        return array
    device = getattr(array, "__dlpack_device__", None)
    if device is not None and int(device()[0]) != 13:
        return array
    return CudaArray(array, argument) if hasattr(array, "__cuda_array_interface__") else array


def handed(array: Any) -> Any:
    """What the extension takes in place of an array: one of CuPy or PyTorch on a GPU by its
    address.  Their own export has the default stream wait for the current one, which ends
    the capture of a graph."""
    framework = framework_of(array)
    if framework == "cupy":
        size = array.dtype.itemsize
        return _core.array_at(array.data.ptr, array.shape, [s // size for s in array.strides],
                              dtype_name(array), array.data.device_id, array)
    if framework == "torch" and array.is_cuda:
        return _core.array_at(array.data_ptr(), tuple(array.shape), array.stride(),
                              dtype_name(array), array.get_device(), array)
    return array


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
