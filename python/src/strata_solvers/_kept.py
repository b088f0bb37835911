# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What objects keep of the matrices that they were made of, for pickles and copies.

They are copies: what a caller does to an array later, nobody sees.  Objects that share a plan
share them, as an update of one is for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays, _core
from ._arrays import Crs
from ._errors import HandleError, WrongTriangleError


class Shared:
    """What objects that share a plan have in common: all that an update changes."""

    matrix: Any
    updates: Any
    outside: Any
    factors: Any
    transformation: Any

    def __init__(self, **facts: Any):
        #: Whether there is more than one of them.
        self.by_several = False
        self.__dict__.update(facts)


def owned(matrix: Crs) -> Crs:
    """A copy of a matrix."""
    return matrix._replace(**{name: _arrays.copy_of(getattr(matrix, name))
                              for name in ("indptr", "indices", "data")})


def room(kept: Any) -> Any:
    """Where the extension writes new values to; None for JAX's arrays, which can't be
    written."""
    return None if _arrays.framework_of(kept) == "jax" else _arrays.handed(kept)


def renewed(kept: Any, given: Any) -> Any:
    """The kept values once the extension has taken `given`, and has written them there."""
    return _arrays.copy_of(given) if _arrays.framework_of(kept) == "jax" else kept


def wait_for_values(solver: Any, kept: Any, enqueued: bool) -> None:
    """Before the kept values are copied by work on any stream.

    @raises HandleError where the last update, if it was enqueued, has found bad values, so
        that there is nothing to make a copy of
    """
    if enqueued:
        status = solver.update_status()
        if status.fault is not None:
            raise HandleError("solver", f"has bad values: {status.fault} in row {status.row}",
                              "update it with good ones first")
    if _arrays.space_of(kept) == "cuda":
        _arrays.waiting_stream(kept)
        _core.wait_for_all()


# --- Stored zeros outside of a triangle --------------------------------------


def places_outside(matrix: Crs, lower: bool) -> np.ndarray:
    """Where `data` has the entries on the other side of the diagonal."""
    indices = _arrays.on_host(matrix.indices)
    row = _row_of(matrix, np.arange(indices.shape[0]))
    return np.flatnonzero(indices > row if lower else indices < row)


def require_zeros(matrix: Crs, places: np.ndarray, argument: str,
                  remedy: str = "pass the other triangle") -> None:
    """@raises WrongTriangleError where a value at one of the places is not zero."""
    values = _arrays.on_host(matrix.data)
    # (So many are of another pattern, which is refused later.)
    wrong = places[values[places] != 0] if values.shape == matrix.indices.shape else places[:0]
    if not wrong.size:
        return
    row, column = int(_row_of(matrix, wrong[0])), int(_arrays.on_host(matrix.indices)[wrong[0]])
    raise WrongTriangleError(
        argument, "an entry that is not zero lies on the other side of the diagonal in "
        f"{'column' if matrix.transposed else 'row'} {row}",
        f"{remedy}, scipy.sparse.tril or triu of the matrix, or take_triangle=True to have that "
        "entry ignored", row=row, value=str(column))


def _row_of(matrix: Crs, places: Any) -> Any:
    return np.searchsorted(_arrays.on_host(matrix.indptr), places, side="right") - 1
