# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the library's objects have in common as linear operators of SciPy and of CuPy."""

from __future__ import annotations

import functools
import operator
from typing import Any, Callable, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays
from ._errors import OptionError
from ._types import Array, ArrayLike, ArrayT, Numbers, Operator, Trans

_ops: dict[str | int, str] = {
    "N": "none", "T": "transpose", "H": "conjugate_transpose",
    "C": "conjugate_transpose", 0: "none", 1: "transpose", 2: "conjugate_transpose",
}


def op_of(trans: Any) -> str:
    key = trans.upper() if isinstance(trans, str) else trans
    if not isinstance(key, (str, int)) or key not in _ops:
        raise OptionError("trans", f"{trans!r} is unknown", "use 'N', 'T' or 'H'")
    return _ops[key]


class Linear:
    """The methods that a LinearOperator asks for, from `_forward` and `_adjoint`.

    A class of this package is one of SciPy; its object of CuPy's arrays is one of CuPy as
    well (see :func:`operator_class`).
    """

    _type: np.dtype
    _space: str
    _on_host: bool
    #: The LinearOperator whose methods are used.
    _base: type = LinearOperator

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        # LinearOperator would choose a class of its own for callables.
        return object.__new__(operator_class(cls, cls._array_of(*arguments, **options)))

    @staticmethod
    def _array_of(*arguments: Any, **options: Any) -> Any:
        """An array of what the constructor is passed."""
        given = arguments[0] if arguments else next(iter(options.values()), None)
        return given if isinstance(given, np.ndarray) else getattr(given, "data", given)

    def _set(self, shape: tuple[int, int], dtype: str, space: str) -> None:
        self._base.__init__(self, np.dtype(dtype), shape)  # type: ignore[misc]
        self._type, self._space = np.dtype(dtype), space
        self._on_host = space == "host"

    def _forward(self, x: Any) -> Any:
        """The product with x of the operator's type, n or n x k."""
        raise NotImplementedError

    def _adjoint_product(self, x: Any) -> Any:
        raise NotImplementedError

    def _matvec(self, x: Any) -> Any:
        return self._in_dtype(x, self._forward)

    _matmat = _matvec

    def _rmatvec(self, x: Any) -> Any:
        return self._in_dtype(x, self._adjoint_product)

    _rmatmat = _rmatvec

    @overload
    def __matmul__(self, x: Operator) -> Operator: ...
    @overload
    def __matmul__(self, x: ArrayT) -> ArrayT: ...
    def __matmul__(self, x: Any) -> Any:
        if self._takes(x):
            return self._forward(x)
        return self._base.__matmul__(self, x)  # type: ignore

    def _takes(self, x: Any) -> bool:
        """Whether x goes to the library as it is.

        The LinearOperator would make NumPy's arrays of others', and copies of its own.
        """
        kind = _arrays.framework_of(x)
        if kind in ("numpy", "cupy"):
            ours = type(x).__name__ == "ndarray" and x.dtype == self._type and x.ndim in (1, 2)
            return ours or kind == "cupy" and self._base is LinearOperator
        return not isinstance(x, self._base) and any(
            hasattr(x, name) for name in ("__dlpack__", "__cuda_array_interface__"))

    def _adjoint(self) -> Any:
        of = self._base._adjoint(self)  # type: ignore[attr-defined]
        of.__class__ = _adjoint_class(type(of))
        return of

    def _in_dtype(self, x: Any, apply: Callable[[Any], Any]) -> Any:
        """`apply(x)` in the type of x, which may be another than the operator's."""
        dtype = self._type.name
        framework = _arrays.framework_of(x)
        if framework not in ("numpy", "cupy") or x.dtype == self._type:
            return apply(x)
        if x.dtype.kind == "c" and _arrays.is_real(dtype):
            real, imaginary = (apply(half.astype(dtype)) for half in (x.real, x.imag))
            made = real.astype(np.result_type(dtype, x.dtype))
            made.imag = imaginary
            return made
        made = apply(x.astype(dtype))
        return made.astype(np.result_type(made.dtype, x.dtype))


@functools.lru_cache(maxsize=None)
def _adjoint_class(base: type) -> type:
    """The adjoint of a LinearOperator's kind, for the arrays that the operator takes."""

    class Adjoint(base):  # type: ignore[valid-type, misc]
        def __matmul__(self, x: Any) -> Any:
            of = self.A
            return of._adjoint_product(x) if of._takes(x) else super().__matmul__(x)

        def __reduce__(self) -> Any:
            # pickle does not find a class that is made here.
            return operator.attrgetter("H"), (self.A,)

    Adjoint.__name__ = Adjoint.__qualname__ = base.__name__
    return Adjoint


class Applied(Linear):
    """z = op(M)^-1 r by the extension's object `_core`."""

    _core: Any
    _rows: int

    def _set(self, shape: tuple[int, int], dtype: str, space: str) -> None:
        super()._set(shape, dtype, space)
        self._rows = shape[0]

    def _run(self, r: Any, out: Any, op: str, stream: int) -> None:
        self._core.apply(r, out, op, stream)

    @overload
    def apply(self, r: ArrayT, out: None = None, *, trans: Trans = "N") -> ArrayT: ...
    @overload
    def apply(self, r: Numbers, out: None = None, *, trans: Trans = "N") -> np.ndarray: ...
    @overload
    def apply(self, r: ArrayLike, out: ArrayT, *, trans: Trans = "N") -> ArrayT: ...
    def apply(self, r: ArrayLike, out: Array | None = None, *, trans: Trans = "N") -> Array:
        """z = op(M)^-1 r, where M is the product of the factors.

        Other threads of Python run meanwhile.  On a GPU the work is enqueued on the
        current stream of the framework that r belongs to; where that is another one than
        before, the device is waited for first (see :meth:`share_plan`).

        Parameters
        ----------
        r : array, n or n x k
            Of the dtype of the factors, or of one that this holds: that is converted.
        out : array, optional
            As r; may be r itself.  It is written, and returned.
        trans : {'N', 'T', 'H'}
            Apply the inverse of M, of its transpose, or of its conjugate transpose.  The
            latter two need the option `transpose`; incomplete factorisations make up for
            it in the first such call.

        Raises
        ------
        SizeMismatchError, TypeMismatchError, AliasError, OptionError, HandleError
            Before anything is written.
        """
        if trans == "N":
            if self._on_host:
                if _arrays.is_plain(r, out, self._rows, self._type):
                    if out is None:
                        out = np.empty(r.shape, self._type)
                    self._run(r, out, "none", 0)
                    return out
            else:
                known = _arrays.places(r, out, self._rows, self._type)
                if known is not None:
                    from_, to, out, stream = known
                    self._core.apply_at(from_, to, stream)
                    return out
        op, dtype = op_of(trans), self._type.name
        r = _arrays.right_hand_side(r, self._rows, dtype, self._space, "r")
        target = _arrays.Target(out, r, dtype, self._space)
        stream = _arrays.stream_of(r)
        self._run(_arrays.handed(r), _arrays.handed(target.array), op, stream)
        return target.done(stream)

    @overload
    def solve(self, rhs: ArrayT) -> ArrayT: ...
    @overload
    def solve(self, rhs: Numbers) -> np.ndarray: ...
    def solve(self, rhs: ArrayLike) -> Array:
        """M^-1 rhs: the call that SciPy's and CuPy's `spilu` objects have."""
        return self.apply(rhs)

    def _forward(self, x: Any) -> Any:
        return self.apply(x)

    def _adjoint_product(self, x: Any) -> Any:
        return self.apply(x, trans="H")


_cupy_classes: dict[type, type] = {}


def operator_class(kind: type[Any], array: Any) -> type[Any]:
    """`kind`, a class of `Linear` and SciPy's LinearOperator; for an array of CuPy a class
    derived from it that is one of CuPy's, whose methods take its arrays."""
    if _arrays.framework_of(array) != "cupy" or kind._base is not LinearOperator:
        return kind
    if kind not in _cupy_classes:
        import cupyx.scipy.sparse.linalg

        base = cupyx.scipy.sparse.linalg.LinearOperator
        # Before CuPy's methods come ours, before SciPy's CuPy's.
        members: dict[str, Any] = {}
        for of in reversed(kind.__mro__):
            if issubclass(of, Linear):
                members.update(vars(of))
        for name in ("__dict__", "__weakref__"):
            members.pop(name, None)
        _cupy_classes[kind] = type(f"Cupy{kind.__name__}", (base, kind),
                                   {**members, "_base": base})
    return _cupy_classes[kind]


def is_operator(of: Any) -> bool:
    """Whether it is a LinearOperator: SciPy's, CuPy's or another's."""
    return hasattr(of, "matvec") and hasattr(of, "shape")
