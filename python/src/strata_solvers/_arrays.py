# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What callers pass, made ready for the extension: checked, and not copied."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _convert, _core
from ._convert import is_torch as _is_torch
from ._errors import (
    DuplicateEntryError,
    Error,
    NotSquareError,
    OptionError,
    SizeMismatchError,
    TypeMismatchError,
    UnsortedRowError,
)
from ._gpu import (  # noqa: F401 - for the other modules
    CudaArray,
    dtype_name,
    dtype_text,
    framework_of,
    handed,
    on_gpu,
    places,
    scalars,
    space_of,
    taken,
)


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
    #: Elements of the caller's `data` past indptr[-1], which are no entries.
    spare: int = 0
    #: What was converted; empty where the arrays are the caller's.
    conversion: str = ""
    #: Entries are in another order, or other entries, than the caller's.
    reordered: bool = False

    @property
    def dtype(self) -> str:
        return dtype_name(self.data)

    def handed(self) -> tuple[Any, Any, Any]:
        """The three arrays as the extension takes them."""
        return handed(self.indptr), handed(self.indices), handed(self.data)


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


def waiting_stream(array: Any) -> int:
    """The same, for a call that waits.  @raises HandleError where that stream is captured"""
    stream = stream_of(array)
    if stream:
        _core.expect_no_capture(stream, "this call waits for the GPU",
                                "call it before the capture begins, or after its end")
    return stream


def on_host(array: Any) -> np.ndarray:
    """A copy of an array of a GPU, for which it waits, or an array of a host itself."""
    if space_of(array) == "host":
        return np.asarray(array)
    made = np.empty(tuple(array.shape), dtype_name(array))
    _core.copy_to_host(made, handed(array), waiting_stream(array))
    return made


def expect_space(space: str) -> None:
    """Raises an error if this build can't work there."""
    if space == "cuda" and not _core.has_cuda:
        raise TypeMismatchError(
            "arrays", "are in the memory of a GPU, and this build has no CUDA",
            "copy them to the host, or install the build with CUDA",
        )


def core(name: str, dtype: str, space: str = "host") -> Any:
    """The extension's class or function for a scalar and a space."""
    expect_space(space)
    if dtype in scalars and dtype not in _core.scalars:
        raise TypeMismatchError(
            "arrays", f"are {dtype}, and this build has {', '.join(_core.scalars)} alone",
            "convert them, or build the package with that type in Strata_SCALARS",
        )
    return getattr(_core, f"{name}_{dtype}_{space}")


# --- Matrices ----------------------------------------------------------------


def crs(A: Any, argument: str = "A", *, square: bool = True,
        forms: tuple[str, ...] = ("csr",), entries: int | None = None,
        copy: bool | None = None) -> Crs:
    """The arrays of a matrix in one of the `forms`, "csr" and "csc".

    SciPy's and CuPy's matrices and arrays, sparse tensors of PyTorch, BCSR and BCOO of JAX,
    and dense matrices of all of them: what has another form is converted to the first one,
    what is of another type to the next that holds it.  With `copy` False that is refused.
    Elements of `indices` and `data` past the `entries`, by default those that indptr[-1]
    counts, are left out.
    """
    done: list[str] = []
    form = _convert.form_of(A)
    if form not in forms:
        A = _converted_matrix(A, argument, form, forms[0], copy)
        done.append(f"{form} to {forms[0]}")
        form = forms[0]
    if _is_torch(A):
        arrays = ((A.crow_indices(), A.col_indices(), A.values()) if form == "csr" else
                  (A.ccol_indices(), A.row_indices(), A.values()))
    else:
        arrays = A.indptr, A.indices, A.data
    shape = tuple(int(n) for n in A.shape)
    if len(shape) != 2:
        raise SizeMismatchError(argument, f"has {len(shape)} dimensions", "pass a matrix")
    if square and shape[0] != shape[1]:
        raise NotSquareError(
            argument, f"has {shape[0]} rows and {shape[1]} columns",
            "pass a matrix with as many columns as rows",
        )
    reordered = bool(done)
    indptr, indices, data = (
        taken(plain(array), f"{argument}.{name}")
        for name, array in zip(("indptr", "indices", "data"), arrays))
    space = space_of(data)
    expect_space(space)
    data = _values(data, f"{argument}.data", done)
    indptr, indices = (_indices(array, f"{argument}.{name}", space, done)
                       for name, array in (("indptr", indptr), ("indices", indices)))
    if dtype_name(indptr) != dtype_name(indices):
        indptr, indices = (_convert.cast(array, "int64") for array in (indptr, indices))
        done.append("indices to int64")
    if done:
        expect_leave_to_convert(argument, done, copy, data)
    rows = shape[1] if form == "csc" else shape[0]
    if indptr.shape[0] != rows + 1:
        raise SizeMismatchError(
            f"{argument}.indptr", f"has {indptr.shape[0]} elements for {rows} rows",
            "pass one more than there are rows",
        )
    if entries is None:
        entries = _entries(indptr, data.shape[0])
    spare = max(0, data.shape[0] - entries)
    return Crs(indptr, _first(indices, entries), _first(data, entries), shape, form == "csc",
               space, spare, ", ".join(dict.fromkeys(done)), reordered)


def expect_leave_to_convert(argument: str, done: list[str], copy: bool | None,
                            array: Any) -> None:
    """@raises TypeMismatchError where the caller wants no copy, HandleError in a capture"""
    what = ", ".join(dict.fromkeys(done))
    if copy is False:
        raise TypeMismatchError(argument, f"would have to be converted ({what})",
                                "convert it, or leave out copy=False")
    if array is not None and space_of(array) == "cuda":
        waiting_stream(array)


def _converted_matrix(A: Any, argument: str, form: str | None, to: str,
                      copy: bool | None) -> Any:
    made = None
    if form is not None:
        # Of sparse matrices the data, of dense ones themselves.
        array = A if form == "dense" else getattr(A, "data", None)
        if _is_torch(A):
            array = A.values() if form in ("csr", "csc") else A if form == "dense" else (
                A._values() if form == "coo" else None)
        expect_leave_to_convert(argument, [f"{form} to {to}"], copy,
                                array if hasattr(array, "dtype") else None)
        made = _convert.to_form(A, form, to)
    if made is None:
        what = f"in the format {form!r}" if form is not None else f"a {type(A).__name__}"
        raise TypeMismatchError(
            argument, f"is {what}",
            "pass a sparse matrix in CSR format: A.tocsr() converts one, "
            "scipy.sparse.csr_array(A) a dense one",
        )
    return made


def in_order(matrix: Crs, argument: str = "A") -> Crs | None:
    """A matrix whose columns increase along each row, entries named twice added up: a copy.
    None where there is no way."""
    expect_leave_to_convert(argument, ["sorted"], None, matrix.data)
    shape = matrix.shape[::-1] if matrix.transposed else matrix.shape
    made = _convert.sum_duplicates(matrix.indptr, matrix.indices, matrix.data, shape)
    if made is None:
        return None
    done = [matrix.conversion] if matrix.conversion else []
    return Crs(*made, matrix.shape, matrix.transposed, matrix.space, 0,
               ", ".join([*done, "sorted"]), True)


def make_in_order(make: Callable[[Crs], None], matrix: Crs, argument: str = "A",
                  copy: bool | None = None) -> None:
    """make(matrix), again with the matrix in order if that is what is wrong with it."""
    try:
        make(matrix)
    except (UnsortedRowError, DuplicateEntryError):
        sorted_ = None if copy is False else in_order(matrix, argument)
        if sorted_ is None:
            raise
        make(sorted_)


def told(report: Any, *matrices: Crs) -> Any:
    """A report that says what was converted of the matrices that a caller gave."""
    report.conversion = "; ".join(of.conversion for of in matrices if of.conversion)
    return report


def _first(array: Any, elements: int) -> Any:
    return array[:elements] if array.shape[0] > elements else array


def _entries(indptr: Any, stored: int) -> int:
    """How many of the elements that a matrix stores are entries.  A GPU is waited for."""
    if indptr.shape[0] < 2:
        return stored
    # A slice of JAX's would be compiled.
    whole = space_of(indptr) == "host" or framework_of(indptr) == "jax"
    last = int(on_host(indptr if whole else indptr[-1:])[-1])
    # Where offsets are at fault, the library says which.
    return last if 0 <= last < stored and on_host(indptr).max() == last else stored


def index_array(array: Any, argument: str) -> Any:
    if dtype_name(array) not in ("int32", "int64"):
        raise TypeMismatchError(
            argument, f"is {dtype_name(array)}",
            "pass integers of 32 or 64 bits: .astype(np.int64)",
        )
    _check_flat(array, argument)
    return array


def _indices(array: Any, argument: str, space: str, done: list[str]) -> Any:
    """Indices as the extension takes them; what was converted is added to `done`."""
    same_space(array, space, argument)
    if dtype_name(array) not in ("int32", "int64"):
        to = _convert.as_index(dtype_name(array))
        if to is not None:
            done.append(f"indices from {dtype_name(array)} to {to}")
            _expect_no_copy_in_capture(array, "is converted")
            array = _convert.cast(array, to)
    return index_array(_flat(array, argument, done), argument)


def _values(array: Any, argument: str, done: list[str]) -> Any:
    """The same of values."""
    name = dtype_name(array)
    if name not in scalars:
        to = _convert.scalar_for(name)
        if to is not None:
            _expect_no_copy_in_capture(array, "is converted")
            array = _convert.cast(array, to)
            done.append(f"{name} to {to}")
    array = _flat(array, argument, done)
    _check_values(array, argument)
    return array


def _flat(array: Any, argument: str, done: list[str]) -> Any:
    if array.ndim == 1 and not _is_flat(array):
        _expect_no_copy_in_capture(array, "is made contiguous")
        made = _convert.contiguous(array)
        if made is not None:
            done.append("made contiguous")
            return made
    return array


def plain(array: Any) -> Any:
    """A tensor of PyTorch without what its export refuses: a gradient, a conjugation that is
    still to be done.  Other arrays as they are."""
    return array.detach().resolve_conj().resolve_neg() if _is_torch(array) else array


def _is_contiguous(array: Any) -> bool:
    if isinstance(array, CudaArray):
        return array.shape[0] < 2 or array.strides == (1,)
    if _is_torch(array):
        return array.is_contiguous()
    flags = getattr(array, "flags", None)
    return flags is None or bool(flags.c_contiguous)


def _is_flat(array: Any) -> bool:
    return _is_contiguous(array) and not (isinstance(array, np.ndarray) and not (
        array.flags.aligned and array.dtype.isnative))


def _check_flat(array: Any, argument: str) -> None:
    if array.ndim != 1:
        raise SizeMismatchError(
            argument, f"has {array.ndim} dimensions", "pass an array of one dimension"
        )
    if not _is_flat(array):
        raise OptionError(
            argument, "is not contiguous, aligned and in the byte order of the machine",
            "pass a contiguous copy of it, such as np.array(...)",
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
    values = taken(plain(values), argument)
    if not hasattr(values, "dtype") or not hasattr(values, "ndim"):
        raise TypeMismatchError(argument, f"is a {type(values).__name__}",
                                "pass an array, or a sparse matrix")
    if like.reordered:
        raise TypeMismatchError(
            argument, "is an array, and the matrix was converted "
            f"({like.conversion}): its entries have another order",
            "pass the whole matrix, or make the solver of one in CSR format with sorted rows")
    done: list[str] = []
    values = in_dtype(_flat(values, argument, done), like.dtype)
    _check_values(values, argument)
    same_dtype(values, like.dtype, argument)
    entries = like.data.shape[0]
    if values.shape[0] not in (entries, entries + like.spare):
        raise SizeMismatchError(
            argument, f"has {values.shape[0]} elements, the matrix {entries} entries",
            "pass a value for every entry, in the order of the matrix's data",
        )
    same_space(values, like.space, argument)
    return _first(values, entries)


def _expect_no_copy_in_capture(array: Any, why: str) -> None:
    """The graph would read the copy's memory when that is no longer its own."""
    stream = stream_of(array)
    if stream:
        _core.expect_no_capture(stream, f"an array {why}", "pass one that is used as it is")


def in_dtype(array: Any, dtype: str) -> Any:
    """The array in a type that holds all of its values, or itself if `dtype` is none."""
    name = dtype_name(array)
    if name == dtype:
        return array
    try:
        holds = np.can_cast(np.dtype(name), dtype)
    except TypeError:
        return array
    if not holds or isinstance(array, CudaArray):
        return array
    _expect_no_copy_in_capture(array, "is converted")
    return _convert.cast(array, dtype)


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


def updated(given: Any, of: Crs, wait: bool = True,
            argument: str = "values") -> tuple[Crs, bool]:
    """What `update` was given, and whether that has a pattern to be compared."""
    form = _convert.form_of(given)
    if form is None:
        return of._replace(data=new_values(given, of, argument)), False
    # Offsets on a GPU take a wait; where there is one, the pattern is compared.
    entries = of.data.shape[0]
    of_form = "csc" if of.transposed else "csr"
    as_is = form == of_form and not of.reordered
    matrix = crs(given, argument, square=False, forms=(of_form,),
                 entries=entries if as_is and of.space == "cuda" else None)
    if "sorted" in of.conversion:
        matrix = in_order(matrix, argument) or matrix
    if not wait and matrix.space == "cuda" and matrix.spare not in (0, of.spare):
        raise SizeMismatchError(
            f"{argument}.data", f"has {entries + matrix.spare} elements, the solver's matrix "
            f"{entries} entries", "pass a matrix with the pattern of the solver's")
    if matrix.dtype != of.dtype:
        matrix = matrix._replace(data=in_dtype(matrix.data, of.dtype))
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
        try:
            b = np.asarray(plain(b))
        except Exception as error:
            raise TypeMismatchError(argument, f"is no array ({error})",
                                    "pass an array of NumPy") from error
    elif space != "host":
        same_space(b, space, argument)
        if _is_backward(b) or _is_torch(b) and (b.is_conj() or b.is_neg()):
            _expect_no_copy_in_capture(b, "with a negative stride or a conjugation to be done "
                                       "is copied")
        b = in_dtype(plain(b), dtype)
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


def can_be_written(array: Any, dtype: str) -> bool:
    """Whether an answer of that type may take an array's place."""
    try:
        output(array, array.shape, dtype, space_of(array))
    except Error:
        return False
    return True


class Target:
    """An array for an answer: what the extension writes, and what the caller gets."""

    __slots__ = ("array", "_returned", "_jax", "_waits", "_shape", "_dtype")

    def __init__(self, out: Any, like: Any, dtype: str, space: str,
                 shape: tuple[int, ...] | None = None, start: Any = None):
        """`out` where that is given, else a new array of the framework of `like`, and of
        its shape and order unless there is another `shape`; with the elements of `start`
        unless that is None."""
        self._jax, self._dtype = False, dtype
        self._shape = tuple(like.shape if shape is None else shape)
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

    def seen(self, stream: int) -> Any:
        """What a callback sees of an answer on its way."""
        if not self._jax:
            return self._returned
        pointer = _core.address_of(self.array)
        made = _core.new_array(list(self._shape), self._dtype, pointer, stream)
        _core.wait_for(stream)
        return sys.modules["jax"].dlpack.from_dlpack(made)

    def done(self, stream: int) -> Any:
        """What the caller gets, once the work is enqueued on a stream."""
        if self._waits:
            _core.wait_for(stream)
        if not self._jax:
            return self._returned
        return sys.modules["jax"].dlpack.from_dlpack(self.array)


def copy_at(address: int, elements: int, like: Any, stream: int) -> Any:
    """A vector at an address, with the type of `like` and in its framework and memory: a
    copy, enqueued on the stream, which is the framework's current one."""
    dtype, framework = dtype_name(like), framework_of(like)
    if space_of(like) == "host":
        made = np.empty(elements, dtype)
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
        return made
    if framework == "cupy":
        cupy = sys.modules["cupy"]
        memory = cupy.cuda.UnownedMemory(address, elements * like.dtype.itemsize, like,
                                         like.device.id)
        with like.device:
            return cupy.ndarray((elements,), dtype, cupy.cuda.MemoryPointer(memory, 0)).copy()
    if framework == "torch":
        there = _core.array_at(address, [elements], [1], dtype, like.get_device(), like)
        return sys.modules["torch"].from_dlpack(there).clone()
    copy = _core.new_array([elements], dtype, address, stream)
    # JAX's streams are its own.
    _core.wait_for(stream)
    return sys.modules["jax"].dlpack.from_dlpack(copy)


def _namespace(array: Any) -> Any:
    framework = framework_of(array)
    return sys.modules["jax"].numpy if framework == "jax" else sys.modules[framework]


def largest(array: Any) -> float:
    """The largest modulus."""
    return float(abs(array).max())


def norm(array: Any) -> float:
    """The 2-norm of a vector, of any size."""
    size = largest(array)
    if not (0 < size < np.inf):
        return size
    return size * float(_namespace(array).linalg.norm(array / size))


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


def is_real(dtype: str) -> bool:
    return dtype in ("float32", "float64")
