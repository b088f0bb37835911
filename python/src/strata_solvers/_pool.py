# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that the library keeps."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from ._core import release_memory_pool


@contextmanager
def memory_pool() -> Iterator[None]:
    """At the end of a ``with`` block, frees the memory kept for later analyses and plans.

    What objects use stays.  :func:`release_memory_pool` does the same at once.  It may wait
    for the GPU.

    Examples
    --------
    >>> import scipy.sparse as sp, strata_solvers as strata
    >>> with strata.memory_pool():
    ...     M = strata.ilu0(sp.eye_array(3, format="csr"))
    >>> M @ [1.0, 2.0, 3.0]
    array([1., 2., 3.])
    """
    try:
        yield
    finally:
        release_memory_pool()
