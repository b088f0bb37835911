# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What objects that apply M^-1 have in common, be they SciPy's or CuPy's operators."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays
from ._triangular import op_of


class Applied:
    """z = op(M)^-1 r by the extension's object `_core`; the rest of a LinearOperator."""

    _core: Any
    _rows: int
    _type: np.dtype
    _space: str

    def _set(self, rows: int, dtype: str, space: str) -> None:
        self._rows, self._type, self._space = rows, np.dtype(dtype), space
        self._on_host = space == "host"

    def _run(self, r: Any, out: Any, op: str, stream: int) -> None:
        self._core.apply(r, out, op, stream)

    def apply(self, r: Any, out: Any = None, *, trans: str = "N") -> Any:
        """z = op(M)^-1 r, where M is the product of the factors.

        Other threads of Python run meanwhile.  On a GPU the work is enqueued on the
        current stream of the framework that r belongs to; where that is another one than
        before, the device is waited for first (see :meth:`share_plan`).

        Parameters
        ----------
        r : array, n or n x k
            Of the dtype of the factors.
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

    def solve(self, rhs: Any) -> Any:
        """M^-1 rhs: the call that SciPy's and CuPy's `spilu` objects have."""
        return self.apply(rhs)

    # --- What LinearOperator asks for ---

    def _matvec(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return self.apply(x)
        return self._in_dtype(x, self.apply)

    _matmat = _matvec

    def _rmatvec(self, x: Any) -> Any:
        def apply(y: Any) -> Any:
            return self.apply(y, trans="H")

        return self._in_dtype(x, apply) if isinstance(x, np.ndarray) else apply(x)

    _rmatmat = _rmatvec

    def _in_dtype(self, x: np.ndarray, apply: Any) -> np.ndarray:
        """`apply(x)` in the type of x, which may be another than the factors'."""
        dtype = self._type.name
        if x.dtype == self._type:
            return apply(x)
        if x.dtype.kind == "c" and _arrays.is_real(dtype):
            made = np.empty(x.shape, x.dtype)
            made.real = apply(x.real.astype(dtype))
            made.imag = apply(x.imag.astype(dtype))
            return made
        made = apply(x.astype(dtype))
        return made.astype(np.result_type(made.dtype, x.dtype))


def base_of(array: Any) -> type:
    """The LinearOperator of the framework of an array: CuPy's methods take their own."""
    if _arrays.framework_of(array) != "cupy":
        return LinearOperator
    import cupyx.scipy.sparse.linalg

    return cupyx.scipy.sparse.linalg.LinearOperator


_cupy_classes: dict[type, type] = {}


def operator_class(kind: type, array: Any) -> type:
    """`kind`, a class of `Applied` and SciPy's LinearOperator, or the same of CuPy's."""
    base = base_of(array)
    if base is LinearOperator:
        return kind
    if kind not in _cupy_classes:
        mixin = kind.__mro__[1]
        _cupy_classes[kind] = type(
            f"Cupy{kind.__name__}", (mixin, base),
            # LinearOperator would choose a class of its own for callables.
            {"__doc__": kind.__doc__, "__new__": lambda cls, *_, **__: object.__new__(cls),
             "__module__": kind.__module__})
    return _cupy_classes[kind]


def initialise(operator: Any, dtype: str, shape: tuple[int, int]) -> None:
    """LinearOperator's part of an operator."""
    base = LinearOperator
    if not isinstance(operator, base):
        base = sys.modules["cupyx.scipy.sparse.linalg"].LinearOperator
    base.__init__(operator, np.dtype(dtype), shape)
