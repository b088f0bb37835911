# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions: classes of the same names as the C++ library's.

Each is an :class:`Error`, and a ``ValueError``, ``MemoryError`` or what else of
Python's own fits.  Nothing that the caller owns has been written when one is raised.
"""

from __future__ import annotations

import builtins
from typing import Any

from numpy.linalg import LinAlgError


class Error(Exception):
    """Root of every exception that the library raises.

    Attributes
    ----------
    argument : str
        Name of the argument or option at fault.
    problem : str
        What is wrong with it.
    remedy : str
        What the caller can do about it.
    row : int or None
        Zero-based row of the matrix at fault, where there is one.
    value : str or None
        The offending number as text, where there is one.
    """

    row: int | None = None
    value: str | None = None

    def __init__(self, argument: str, problem: str, remedy: str, **facts: Any):
        super().__init__(f"{argument}: {problem}; {remedy}")
        self.argument = argument
        self.problem = problem
        self.remedy = remedy
        for name, fact in facts.items():
            setattr(self, name, fact)
        self._facts = facts

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (type(self).__name__, self.argument, self.problem, self.remedy,
                      self._facts)


class MatrixError(Error, ValueError):
    """A fault in one row of a matrix."""


class NotSquareError(MatrixError):
    """The matrix has a different number of rows and columns."""


class RowMapError(MatrixError):
    """The row map does not start at 0, decreases, or ends past the entries."""


class ColumnRangeError(MatrixError):
    """A column index is negative or not below the number of columns."""


class UnsortedRowError(MatrixError):
    """A row's columns do not increase, and factorisations do not sort them."""


class DuplicateEntryError(MatrixError):
    """A row names one column twice."""


class WrongTriangleError(MatrixError, LinAlgError):
    """An entry lies outside the stated triangle."""


class MissingDiagonalError(MatrixError, LinAlgError):
    """A row of a non-unit triangle stores no diagonal entry."""


class ZeroDiagonalError(MatrixError, LinAlgError):
    """A diagonal entry of a non-unit triangle is zero."""


class ScalingError(MatrixError):
    """New values leave the range that the algorithm chosen for the old ones needs."""


class FactorizationError(MatrixError, LinAlgError):
    """A factorisation met a zero pivot or made a value that is not finite."""


class PrecisionError(MatrixError):
    """A value is beyond the range of the precision that is to hold it."""


class DominanceError(MatrixError, LinAlgError):
    """A matrix is diagonally dominant neither by rows nor by columns, as is needed."""


class PermutationError(MatrixError):
    """An order of rows names one that does not exist, or one twice."""


class NotFiniteError(MatrixError):
    """A value is infinite or not a number."""


class SingularError(MatrixError, LinAlgError):
    """A column of a square matrix has no pivot; ``row`` is that column."""


class NotHermitianError(MatrixError):
    """A matrix that has to equal its conjugate transpose does not."""


class IndefiniteError(MatrixError, LinAlgError):
    """A diagonal entry or pivot that has to be positive is not."""


class PatternMismatchError(MatrixError):
    """The pattern given to an update differs from the analysed one."""


class SizeMismatchError(Error, ValueError):
    """The shape of an array does not match the system."""


class BandwidthError(Error, ValueError):
    """A number of diagonals below zero."""


class AliasError(Error, ValueError):
    """Two arguments share memory in a way that has no meaning."""


class IndexOverflowError(Error, OverflowError):
    """A number does not fit the type that has to hold it."""


class OptionError(Error, ValueError):
    """An option has a value that can't be honoured on this device or matrix."""


class TypeMismatchError(Error, TypeError):
    """An argument has a type, or elements of a type, that can't be taken."""


class PlanMemoryError(Error, builtins.MemoryError):
    """A plan takes more memory than the options allow.

    ``needed`` and ``allowed`` are bytes.
    """

    needed: int = 0
    allowed: int = 0


class MemoryError(Error, builtins.MemoryError):  # noqa: A001 - the library's name
    """There is not as much memory as a call needs.

    ``needed``, ``free`` and ``total`` are bytes, 0 where they are not known.
    """

    needed: int = 0
    free: int = 0
    total: int = 0


class HandleError(Error, RuntimeError):
    """A solver is used before the call that makes it ready."""


class PartitionError(Error, ValueError):
    """No feasible partition into sub-graphs exists under the given limits."""


class FileError(Error, OSError):
    """A file that can't be read or is not what it says; ``line`` counts from one."""

    line: int | None = None


# How the library's remedies name what has another name here.
_words = {
    "Diag::unit": "unit_diagonal=True",
    "the other Uplo": "the other value of lower",
    "FactorOrder::": "order=",
    "FactorPrecision::": "precision=",
    "BandMethod::": "method=",
    "use JacobiPreconditioner": "use M='jacobi'",
    "call update_values": "call update",
}

_classes = {
    name: kind
    for name, kind in list(globals().items())
    if isinstance(kind, type) and issubclass(kind, Error)
}


def make(
    name: str, argument: str, problem: str, remedy: str,
    facts: dict[str, Any] | None = None, **more: Any,
) -> Error:
    """The exception of that class; the extension and unpickling call it."""
    for word, here in _words.items():
        problem, remedy = problem.replace(word, here), remedy.replace(word, here)
    return _classes[name](argument, problem, remedy, **(facts or {}), **more)


__all__ = sorted(_classes)
