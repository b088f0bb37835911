# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse triangular systems."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _arrays, _core
from ._errors import (
    NotSquareError,
    OptionError,
    SizeMismatchError,
    TypeMismatchError,
)

_ops: dict[str | int, str] = {
    "N": "none", "T": "transpose", "H": "conjugate_transpose",
    "C": "conjugate_transpose", 0: "none", 1: "transpose", 2: "conjugate_transpose",
}
_conjugates = {"float64": "complex128", "float32": "complex64"}


def op_of(trans: Any) -> str:
    key = trans.upper() if isinstance(trans, str) else trans
    if not isinstance(key, (str, int)) or key not in _ops:
        raise OptionError("trans", f"{trans!r} is unknown", "use 'N', 'T' or 'H'")
    return _ops[key]


class TriangularSolver:
    """Solves op(A) x = b for one sparse triangle A, n x n, and many b.

    The constructor checks A, analyses its pattern and packs its values; solves then
    reuse that plan.  The arrays of A are not copied.  The solver keeps references to
    them, for :meth:`update`, pickling and :func:`show`.

    Parameters
    ----------
    A : sparse matrix, n x n
        In CSR or CSC format: of SciPy on a host; on a GPU of CuPy, PyTorch or JAX.
        float32, float64, complex64 or complex128, with indices of 32 or 64 bits.
    lower : bool
        Whether A is a lower or an upper triangle.
    unit_diagonal : bool
        The diagonal is taken to be one, and stored diagonal entries are ignored.
    trans : {'N', 'T', 'H'}
        Solve with A, its transpose, or its conjugate transpose ('C' is 'H', too).
    take_triangle : bool
        Use the stated triangle of a full matrix instead of refusing other entries.
    sort_rows : bool
        Sort rows in a private copy instead of refusing those that are not sorted.
    algorithm : str
        'automatic', 'substitution', 'level_sets', 'subgraphs', 'sync_free',
        'sync_free_subgraphs' or 'blocks'.
    accuracy : {'rowwise', 'componentwise', 'relaxed'}
        What is promised of rounding errors; 'relaxed' with `accuracy_digits`.
    merged_levels : int
        Level sets that may be merged into one: 1 merges none, 0 leaves it to the
        analysis.
    max_right_hand_sides : int
        Right-hand sides that you will solve for at once.  Any number can be solved for;
        the plan is chosen, and its workspace is made, for that many.
    max_plan_bytes, max_plan_ratio : int, float
        Memory that the plan may take, in bytes and as a multiple of A's; 0: no limit.

    Raises
    ------
    MatrixError
        A class derived from it names the first row at fault.
    TypeMismatchError, OptionError, IndexOverflowError, PlanMemoryError, MemoryError

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, strata_solvers as strata
    >>> L = sp.csr_array([[2.0, 0.0], [1.0, 4.0]])
    >>> strata.TriangularSolver(L).solve(np.array([2.0, 5.0]))
    array([1., 1.])
    """

    def __init__(
        self,
        A: Any,
        lower: bool = True,
        unit_diagonal: bool = False,
        *,
        trans: str = "N",
        take_triangle: bool = False,
        sort_rows: bool = True,
        algorithm: str = "automatic",
        accuracy: str = "rowwise",
        accuracy_digits: float = 0,
        merged_levels: int = 0,
        max_right_hand_sides: int = 1,
        max_plan_bytes: int = 0,
        max_plan_ratio: float = 0,
        max_subgraph_rows: int = 0,
        team_size: int = 0,
        lanes_per_row: int = 0,
        partition: str = "automatic",
        criterion: str = "automatic",
    ):
        op = op_of(trans)
        options = {
            name: value for name, value in locals().items()
            if name not in ("self", "A", "lower", "unit_diagonal", "trans", "op")
        }
        self._make(_arrays.crs(A), bool(lower), bool(unit_diagonal), op, options)

    def _make(self, matrix: _arrays.Crs, lower: bool, unit_diagonal: bool, op: str,
              options: dict[str, Any]) -> None:
        self._matrix = matrix
        self._lower, self._unit_diagonal = lower, unit_diagonal
        self._op, self._options = op, options
        # CSC's arrays are the transposed matrix by rows.
        self._conjugate = False
        if matrix.transposed:
            lower = not lower
            self._conjugate = op == "conjugate_transpose" and not _arrays.is_real(matrix.dtype)
            op = "transpose" if op == "none" else "none"
        self._core = _arrays.core("TriangularSolver", matrix.dtype, matrix.space)(
            matrix.indptr, matrix.indices, matrix.data, lower, unit_diagonal,
            {**options, "op": op}, _arrays.stream_of(matrix.data),
        )
        self._core_lower, self._core_op = lower, op
        self._rows, self._dtype = matrix.shape[0], np.dtype(matrix.dtype)
        self._on_host = matrix.space == "host" and not self._conjugate

    @property
    def shape(self) -> tuple[int, int]:
        """n x n."""
        return self._matrix.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the matrix, and of right-hand sides and solutions."""
        return np.dtype(self._matrix.dtype)

    def solve(self, b: Any, out: Any = None) -> Any:
        """x = op(A)^-1 b.

        Other threads of Python run meanwhile.  On a GPU the work is enqueued on the
        current stream of the framework that b belongs to.

        Parameters
        ----------
        b : array, n or n x k
            k right-hand sides, of the solver's dtype, with any strides (a negative
            one costs a copy).  On a host, integers and shorter floating-point numbers
            are converted; a complex b with a real A is solved for in two halves.
        out : array, optional
            As b; may be b itself.  It is written, and returned.

        Raises
        ------
        SizeMismatchError, TypeMismatchError, AliasError, HandleError
            Before anything is written.
        """
        if self._on_host and _arrays.is_plain(b, out, self._rows, self._dtype):
            if out is None:
                out = np.empty(b.shape, self._dtype)
            self._core.solve(b, out, 0)
            return out
        matrix = self._matrix
        dtype = matrix.dtype
        if (dtype in _conjugates and isinstance(b, np.ndarray) and
                b.dtype == _conjugates[dtype]):
            return self._solve_halves(b, out)
        b = _arrays.right_hand_side(b, matrix.shape[0], dtype, matrix.space)
        if out is None:
            out = _arrays.empty_like(b)
        else:
            _arrays.output(out, b.shape, dtype, matrix.space)
        stream = _arrays.stream_of(b)
        if self._conjugate:
            # conj(M) x = b is M conj(x) = conj(b).
            from_ = b.conj()
            self._core.solve(from_, from_, stream)
            out[...] = from_.conj()
        else:
            self._core.solve(b, out, stream)
        return out

    def _solve_halves(self, b: np.ndarray, out: Any) -> np.ndarray:
        matrix = self._matrix
        if b.ndim not in (1, 2) or b.shape[0] != matrix.shape[0]:
            _arrays.right_hand_side(b.real, matrix.shape[0], matrix.dtype, "host")
        if out is None:
            out = _arrays.empty_like(b)
        else:
            _arrays.output(out, b.shape, str(b.dtype), "host")
        halves = [_arrays.right_hand_side(half, matrix.shape[0], matrix.dtype, "host")
                  for half in (b.real, b.imag)]
        for half, to in zip(halves, (out.real, out.imag)):
            self._core.solve(half, to, 0)
        return out

    def update(self, values: Any) -> None:
        """Takes new values on the analysed pattern, without an analysis.

        Parameters
        ----------
        values : sparse matrix, n x n, or array of as many elements as A stores
            A matrix in the format of A, whose pattern is compared; or its values
            alone, in the order of ``A.data``, where you vouch for the pattern.

        Raises
        ------
        PatternMismatchError, ZeroDiagonalError, ScalingError, SizeMismatchError,
        TypeMismatchError, MemoryError
            The solver then still has its old values.
        """
        matrix, compare = _arrays.updated(values, self._matrix)
        stream = _arrays.stream_of(matrix.data)
        if compare:
            self._core.update(matrix.indptr, matrix.indices, matrix.data, stream)
        else:
            self._core.update_values(matrix.data, stream)
        self._matrix = matrix

    def report(self) -> _core.TriangularReport:
        """What was chosen and why; ``str()`` of it is lines of text."""
        return self._core.report()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), tuple(self._matrix), self._lower,
                          self._unit_diagonal, self._op, self._options)

    def __repr__(self) -> str:
        side = "lower" if self._lower else "upper"
        return (f"<TriangularSolver of a {side} {self.shape[0]} x {self.shape[1]} matrix, "
                f"{self._matrix.dtype}, {self.report().algorithm}>")


def _restore(kind: type[TriangularSolver], matrix: tuple[Any, ...],
             *rest: Any) -> TriangularSolver:
    solver = kind.__new__(kind)
    solver._make(_arrays.Crs(*matrix), *rest)
    return solver


# --- In SciPy's form ---------------------------------------------------------


def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> np.ndarray:
    """Solves A x = b once: SciPy's function of that name, and its arguments.

    Parameters
    ----------
    A : sparse matrix, n x n
        In CSR or CSC format; others are converted, with SciPy's warning.  Entries
        named twice add up.
    b : array_like, n or n x k
    lower : bool
        Whether A is a lower or an upper triangle.
    overwrite_A : bool
        Taken for the sake of SciPy's signature: A is never changed.
    overwrite_b : bool
        b becomes the solution, where its type and layout allow that.
    unit_diagonal : bool
        The diagonal is taken to be one, and stored diagonal entries are ignored.

    Returns
    -------
    x : array, of b's shape
        Of the type of A and b together, at least float32, as of SciPy 1.17.  (SciPy 1.12
        returns 64 bits for shorter numbers, too.)

    Raises
    ------
    LinAlgError
        A is not triangular, or has a zero or no entry on its diagonal: as
        WrongTriangleError, ZeroDiagonalError or MissingDiagonalError with ``row``.
    ValueError
        The shapes of A and b do not fit.

    Notes
    -----
    To solve with one A again, or with new values on its pattern, make a
    :class:`TriangularSolver`.
    """
    from scipy.sparse import SparseEfficiencyWarning, csr_array, issparse

    if not issparse(A) and hasattr(A, "to_scipy_sparse"):
        A = A.to_scipy_sparse()
    if not issparse(A) or A.format not in ("csr", "csc"):
        warnings.warn("CSC or CSR matrix format is required. Converting to CSR matrix.",
                      SparseEfficiencyWarning, stacklevel=2)
        A = csr_array(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise NotSquareError("A", f"has the shape {A.shape}", "pass a square matrix")
    b = np.asanyarray(b)
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise SizeMismatchError(
            "b", f"has the shape {b.shape}, A {A.shape}",
            f"pass {A.shape[0]} elements, or {A.shape[0]} x k for k right-hand sides",
        )
    if A.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        raise TypeMismatchError("A, b", f"are of {A.dtype} and {b.dtype}", "pass numbers")
    dtype = np.promote_types(np.promote_types(A.dtype, np.float32), b.dtype)
    if dtype.name not in _arrays.scalars:
        raise TypeMismatchError("A, b", f"need {dtype}", "pass numbers of 64 bits at most")
    if A.dtype != dtype:
        A = A.astype(dtype)
    x = b if overwrite_b and b.dtype == dtype and b.flags.writeable and _arrays._usable(
        b) else np.array(b, dtype=dtype)
    matrix = _arrays.crs(A)
    # One solve is over before a plan would be made.
    _arrays.core("substitute", matrix.dtype)(
        matrix.indptr, matrix.indices, matrix.data, bool(lower), bool(unit_diagonal),
        matrix.transposed, x)
    return x
