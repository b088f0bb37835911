# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is read of the CUDA Array Interface, which needs no GPU."""

import copy
import pickle

import numpy as np
import pytest
from conftest import laplacian

import strata_solvers as strata
from strata_solvers import _arrays


class Stated:
    """An array of a GPU, as far as a caller can tell: its memory is never looked at."""

    def __init__(self, shape=(16,), dtype="float64", **facts):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": np.dtype(dtype).str, "data": (0x7f0000000000, False),
            "version": 3, "strides": None, **facts}


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    """Addresses are not asked for where they are."""
    monkeypatch.setattr(_arrays.CudaArray, "_device", lambda self: 0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32",
                                   "int64"])
@pytest.mark.parametrize("shape, strides, elements", [
    ((5,), None, (1,)), ((5,), (3,), (3,)), ((4, 3), None, (3, 1)), ((4, 3), (1, 4), (1, 4)),
    ((0,), None, (1,)), ((2, 3, 4), None, (12, 4, 1))])
def test_is_dlpack(dtype, shape, strides, elements):
    size = np.dtype(dtype).itemsize
    given = Stated(shape, dtype, strides=strides and tuple(size * s for s in strides))
    array = _arrays.taken(given, "b")
    assert array.shape == shape and array.dtype == dtype and array.ndim == len(shape)
    assert array.strides == elements
    assert tuple(map(int, array.__dlpack_device__())) == (2, 0)
    assert "dltensor" in repr(array.__dlpack__())
    if 0 not in shape:
        assert strata._core.address_of(array) == 0x7f0000000000


@pytest.mark.parametrize("stated, stream", [(None, 0), (1, 0), (2, 2), (0x5500, 0x5500)])
def test_streams(stated, stream):
    assert _arrays.stream_of(_arrays.taken(Stated(stream=stated), "b")) == stream


@pytest.mark.parametrize("facts", [
    dict(mask=Stated()), dict(typestr="<u8"), dict(typestr=">f8"), dict(typestr="<f2"),
    dict(strides=(12,))])
def test_refuses(facts):
    with pytest.raises(strata.TypeMismatchError, match="b: "):
        _arrays.taken(Stated(**facts), "b")


@pytest.mark.parametrize("part, first, shape", [
    (slice(2), 0, (2,)), (slice(9), 0, (5,)), (slice(-1, None), 4, (1,)), (slice(1, 3), 1, (2,))])
@pytest.mark.parametrize("stride", [1, 3])
def test_parts(part, first, shape, stride):
    array = _arrays.taken(Stated((5,), "int32", strides=(4 * stride,), stream=0x55), "b")[part]
    assert array.shape == shape and array.dtype == "int32" and array.strides == (stride,)
    assert array.pointer == 0x7f0000000000 + 4 * stride * first and array.stream == 0x55


@pytest.mark.parametrize("call", [_arrays.copy_of, copy.deepcopy])
def test_are_copied_in_their_own_memory(call, monkeypatch):
    made = []

    def new_array(shape, dtype, pointer, stream, from_host):
        made.append(strata._core.array_at(0x1000, shape, [1], dtype, 0, None))
        return made[-1]

    monkeypatch.setattr(strata._core, "new_array", new_array, raising=False)
    array = _arrays.taken(Stated((5,)), "b")
    again = call(array)
    assert again.pointer == 0x1000 and again.shape == (5,) and len(made) == 1
    with pytest.raises(strata.TypeMismatchError, match="pickled"):
        pickle.dumps(array)


def test_others_are_left_alone():
    for array in (np.ones(3), [1, 2], None, "text"):
        assert _arrays.taken(array, "b") is array


def test_hosts_refuse_them():
    solver = strata.TriangularSolver(laplacian(1))
    M = strata.ilu0(laplacian(4))
    for call in (lambda: solver.solve(Stated((1,))), lambda: M.apply(Stated()),
                 lambda: M.apply(np.ones(16), Stated()), lambda: M.update(Stated((64,))),
                 lambda: strata.SellMatrix(laplacian(4)) @ Stated()):
        with pytest.raises(strata.TypeMismatchError, match="host"):
            call()


class StatedMatrix:
    format, shape = "csr", (16, 16)

    def __init__(self):
        self.indptr, self.indices = Stated((17,), "int32"), Stated((64,), "int32")
        self.data = Stated((64,))


@pytest.mark.skipif(strata.has_cuda, reason="for builds without CUDA")
@pytest.mark.parametrize("door", [
    lambda A: strata.TriangularSolver(A), lambda A: strata.SellMatrix(A),
    lambda A: strata.ilu0(A), lambda A: strata.ic(A), lambda A: strata.cg(A, np.ones(16)),
    lambda A: strata.FactorSolver(A, A),
    lambda A: strata.BandSolver((1, 1), Stated((3, 16))), lambda A: strata.rref(Stated((4, 4)))])
def test_builds_without_cuda_say_so(door):
    with pytest.raises(strata.TypeMismatchError, match="GPU"):
        door(StatedMatrix())


def test_a_read_only_array_is_no_output():
    with pytest.raises(strata.OptionError, match="read-only"):
        _arrays.output(Stated(data=(0x7f0000000000, True)), (16,), "float64", "cuda")


def test_another_gpu_is_refused(monkeypatch):
    class There:
        dtype, ndim, shape = np.dtype("float64"), 1, (3,)

        def __dlpack_device__(self):
            return 2, 5

    monkeypatch.setattr(strata._core, "has_cuda", True)
    monkeypatch.setattr(strata._core, "cuda_device", 0)
    with pytest.raises(strata.TypeMismatchError, match="GPU 5"):
        strata.TriangularSolver(laplacian(1)).solve(There())


def test_types_that_a_build_has_not(monkeypatch):
    monkeypatch.setattr(strata._core, "scalars", ("float64",))
    with pytest.raises(strata.TypeMismatchError, match="Strata_SCALARS"):
        strata.TriangularSolver(laplacian(1, "complex64"))


class Cupy:
    """As much of CuPy's array as its place is made of."""

    class ndarray:
        __module__ = "cupy"

        def __init__(self, array, device=0):
            self.dtype, self.shape, self.strides = array.dtype, array.shape, array.strides
            self.data = type("data", (), {"ptr": array.ctypes.data, "device_id": device})

    class cuda:
        @staticmethod
        def get_current_stream(device):
            return type("stream", (), {"ptr": 0x99})

    @staticmethod
    def empty_like(array):
        made = Cupy.ndarray(np.empty(array.shape, array.dtype))
        return made


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_are_handed_over_by_address(dtype):
    """Not by CuPy's export, which the capture of a graph does not survive: there is none."""
    b = np.zeros((12, 9), dtype)
    for of in (b, b[::2, 1::3], b[3], b[:0], np.asfortranarray(b)):
        array = _arrays.handed(Cupy.ndarray(of, 0))
        assert strata._core.address_of(array) == of.ctypes.data or not of.size
        assert tuple(map(int, array.__dlpack_device__())) == (2, 0)
    for own in (b, [1, 2], None, _arrays.taken(Stated(), "b")):
        assert _arrays.handed(own) is own


def test_places(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cupy", Cupy)
    monkeypatch.setattr(strata._core, "cuda_device", 0)
    f8 = np.dtype("float64")

    def places(b, out=None, device=0, rows=6):
        return _arrays.places(Cupy.ndarray(b, device),
                              out if out is None else Cupy.ndarray(out), rows, f8)

    b = np.zeros((12, 9))
    from_, to, out, stream = places(b[::2, 1::3])
    assert from_ == (b[:, 1:].ctypes.data, 6, 3, 18, 3) and stream == 0x99
    assert to[1:] == (6, 3, 3, 1) and out.shape == (6, 3)
    assert places(np.zeros(6))[0][1:] == (6, 1, 1, 1)
    assert places(np.zeros((6, 2), order="F"))[0][1:] == (6, 2, 1, 6)
    for none in (places(np.zeros(7)), places(np.zeros(6)[::-1]), places(np.zeros(6, "f4")),
                 places(np.zeros((6, 2))[:, ::-1]), places(np.zeros(6), device=1),
                 places(np.zeros(6), np.zeros((6, 2))), places(np.zeros((6, 1, 1))),
                 places(np.zeros(6), np.zeros(6, "f4")), _arrays.places(b, None, 12, f8)):
        assert none is None
