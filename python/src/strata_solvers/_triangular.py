# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse triangular systems."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _convert, _core, _kept
from ._errors import (
    NotSquareError,
    OptionError,
    SizeMismatchError,
    TypeMismatchError,
    WrongTriangleError,
)
from ._log import chosen
from ._operator import Linear, op_of, operator_class
from ._types import (
    Accuracy,
    Algorithm,
    Array,
    ArrayLike,
    ArrayT,
    Experimental,
    Numbers,
    SparseMatrix,
    Trans,
    Values,
)

_conjugates = {"float64": "complex128", "float32": "complex64"}


class UpdateStatus(NamedTuple):
    """What an update that the host did not wait for has found."""

    #: What is wrong with the values: 'zero_diagonal', 'zero_pivot', 'not_finite',
    #: 'not_hermitian' or 'not_positive'; None where they are in use.
    fault: str | None
    #: The first row with that fault.
    row: int | None
    #: Whether solves use the second plan, without merged level sets.
    unmerged: bool

    @classmethod
    def _of(cls, found: tuple[str, int, bool]) -> UpdateStatus:
        fault, row, unmerged = found
        return cls(None if fault == "none" else fault, None if row < 0 else row, unmerged)


#: Options of a plan, with their defaults.
plan_options: dict[str, Any] = dict(
    take_triangle=False, algorithm="automatic", accuracy="rowwise", merged_levels=0,
    max_right_hand_sides=1, max_plan_bytes=0, enqueue_updates=False, experimental=None)
_adjoints = {"none": "conjugate_transpose", "conjugate_transpose": "none"}


class TriangularSolver(Linear, LinearOperator):
    """Solves op(A) x = b for one sparse triangle A, n x n, and many b.

    A LinearOperator of SciPy (of a matrix of CuPy, one of CuPy's) for op(A)^-1: ``solver @ b``
    solves, and the solver is an `M=` of Krylov methods.  ``solver.H`` is analysed when it is
    first applied.

    The constructor checks A, analyses its pattern and packs its values; solves then
    reuse that plan.  The solver keeps a copy of A, for pickling, copies of the solver and
    :func:`show`: if you change A later, neither the solver nor a copy of it sees that.

    Parameters
    ----------
    A : sparse matrix, n x n
        Of SciPy on a host; on a GPU of CuPy, PyTorch or JAX.  CSR and CSC formats of
        float32, float64, complex64 or complex128 are taken as they are; others are
        converted, and entries named twice add up: ``report().conversion`` says so.
    lower : bool
        Whether A is a lower or an upper triangle.  Entries of the other triangle have to
        be zero, in updates, too.  (Where there are any, an update on a GPU copies the
        values to the host; with `enqueue_updates` they are refused.)
    unit_diagonal : bool
        The diagonal is taken to be one, and stored diagonal entries are ignored.
    trans : {'N', 'T', 'H'}
        Solve with A, its transpose, or its conjugate transpose ('C' is 'H', too).
    take_triangle : bool
        Use the stated triangle of a full matrix, and ignore its other entries.
    algorithm : str
        'automatic', 'substitution', 'level_sets', 'subgraphs', 'sync_free', 'blocks' or
        'tiles'.
    accuracy : {'rowwise', 'componentwise'}
        What is promised of rounding errors.
    merged_levels : int
        Level sets that may be merged into one: 1 merges none, 0 leaves it to the
        analysis.
    max_right_hand_sides : int
        Right-hand sides that you will solve for at once.  Any number can be solved for;
        the plan is chosen, and its workspace is made, for that many.
    max_plan_bytes : int
        Bytes that the plan may take; 0: no limit.
    copy : bool, optional
        False: refuse a matrix that has to be converted.
    enqueue_updates : bool
        Let :meth:`update` take values without a wait.
    experimental : dict, optional
        For experiments with one algorithm, `max_subgraph_rows` and `team_size`, as in
        ``TriangularPlanOptions::Experimental`` of the C++ library.

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
        A: SparseMatrix,
        lower: bool = True,
        unit_diagonal: bool = False,
        *,
        trans: Trans = "N",
        take_triangle: bool = False,
        algorithm: Algorithm = "automatic",
        accuracy: Accuracy = "rowwise",
        merged_levels: int = 0,
        max_right_hand_sides: int = 1,
        max_plan_bytes: int = 0,
        enqueue_updates: bool = False,
        experimental: Experimental | None = None,
        copy: bool | None = None,
    ):
        op = op_of(trans)
        options = {
            name: value for name, value in locals().items()
            if name in plan_options
        }

        def make(matrix: _arrays.Crs) -> None:
            self._make(_kept.owned(matrix), bool(lower), bool(unit_diagonal), op, options)

        _arrays.make_in_order(make, _arrays.crs(A, forms=("csr", "csc"), copy=copy), copy=copy)
        chosen(self)

    def _make(self, matrix: _arrays.Crs, lower: bool, unit_diagonal: bool, op: str,
              options: dict[str, Any], *, zeros: bool = True) -> None:
        """`matrix` is the solver's own; whether it may have `zeros` in the other triangle,
        which updates then have to check."""
        self._lower, self._unit_diagonal = lower, unit_diagonal
        self._op, self._options = op, options
        # CSC's arrays are the transposed matrix by rows.
        self._conjugate = False
        if matrix.transposed:
            lower = not lower
            self._conjugate = op == "conjugate_transpose" and not _arrays.is_real(matrix.dtype)
            op = "transpose" if op == "none" else "none"
        made = _arrays.core("TriangularSolver", matrix.dtype, matrix.space)
        arguments = *matrix.handed(), lower, unit_diagonal
        stream, outside = _arrays.waiting_stream(matrix.data), None
        try:
            self._core = made(*arguments, {**options, "op": op}, stream)
        except WrongTriangleError:
            if not zeros or options["enqueue_updates"]:
                raise
            outside = _kept.places_outside(matrix, lower)
            _kept.require_zeros(matrix, outside, "A",
                                f"pass lower={not lower} if A is the other triangle")
            self._core = made(*arguments, {**options, "op": op, "take_triangle": True}, stream)
        #: The matrix of the last update, and where it has entries in the other triangle.
        self._shared = _kept.Shared(matrix=matrix, outside=outside, updates=0)
        self._core_lower, self._core_op = lower, op
        self._set(matrix.shape, matrix.dtype, matrix.space)
        self._rows = matrix.shape[0]
        self._on_host = matrix.space == "host" and not self._conjugate
        self._on_gpu = matrix.space == "cuda" and not self._conjugate
        self._adjoint_solver: tuple[int, TriangularSolver] | None = None

    @property
    def _matrix(self) -> _arrays.Crs:
        return self._shared.matrix

    @overload
    def solve(self, b: ArrayT, out: None = None) -> ArrayT: ...
    @overload
    def solve(self, b: Numbers, out: None = None) -> np.ndarray: ...
    @overload
    def solve(self, b: ArrayLike, out: ArrayT) -> ArrayT: ...
    def solve(self, b: ArrayLike, out: Array | None = None) -> Array:
        """x = op(A)^-1 b.

        Other threads of Python run meanwhile.  On a GPU the work is enqueued on the
        current stream of the framework that b belongs to; where that is another one than
        before, the solver waits for the device first (see :meth:`share_plan`).

        Parameters
        ----------
        b : array, n or n x k
            k right-hand sides, of the solver's dtype, with any strides (a negative
            one costs a copy).  Integers and shorter floating-point numbers are
            converted; on a host, a complex b with a real A is solved for in two halves.
        out : array, optional
            As b; may be b itself.  It is written, and returned.

        Raises
        ------
        SizeMismatchError, TypeMismatchError, AliasError, HandleError
            Before anything is written.
        """
        if self._on_host and _arrays.is_plain(b, out, self._rows, self._type):
            if out is None:
                out = np.empty(b.shape, self._type)
            self._core.solve(b, out, 0)
            return out
        if self._on_gpu:
            known = _arrays.places(b, out, self._rows, self._type)
            if known is not None:
                from_, to, out, stream = known
                self._core.solve_at(from_, to, stream)
                return out
        matrix = self._matrix
        dtype = matrix.dtype
        if (dtype in _conjugates and isinstance(b, np.ndarray) and
                b.dtype == _conjugates[dtype]):
            return self._solve_halves(b, out)
        b = _arrays.right_hand_side(b, matrix.shape[0], dtype, matrix.space)
        target = _arrays.Target(out, b, dtype, matrix.space)
        stream = _arrays.stream_of(b)
        solve = self._core.solve_conjugated if self._conjugate else self._core.solve
        solve(_arrays.handed(b), _arrays.handed(target.array), stream)
        return target.done(stream)

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

    def _forward(self, x: Any) -> Any:
        return self.solve(x)

    def _adjoint_product(self, x: Any) -> Any:
        """op(A)^-H x, by a solver of its own, of the kept matrix."""
        shared = self._shared
        if self._adjoint_solver is None or self._adjoint_solver[0] != shared.updates:
            _kept.wait_for_values(self, shared.matrix.data, self._options["enqueue_updates"])
            made = object.__new__(type(self))
            made._make(_kept.owned(shared.matrix), self._lower, self._unit_diagonal,
                       _adjoints.get(self._op, "none"),
                       {**self._options, "enqueue_updates": False})
            self._adjoint_solver = shared.updates, made
        solver = self._adjoint_solver[1]
        # The adjoint of A^T is conj(A).
        return solver.solve(x.conj()).conj() if self._op == "transpose" else solver.solve(x)

    def update(self, values: Values, *, wait: bool = True) -> None:
        """Takes new values of a matrix with the same pattern: no analysis.

        Parameters
        ----------
        values : sparse matrix, or array of as many elements as the matrix stores
            An array is in the order of ``A.data``, and refused if A was converted to
            another order.  Values are copied: changes of the array that come later
            are not seen.  (A matrix's pattern is compared, for the price of a pass over
            it, if `wait` is set.)
        wait : bool
            Without it, for a solver made with ``enqueue_updates=True``, the host does not
            wait for the values to be checked: :meth:`update_status` says what was found,
            and solves give NaN until there are good values.  Do not change the values
            before that.  A CUDA graph may record such an update, and solves with it.

        Raises
        ------
        PatternMismatchError, ZeroDiagonalError, WrongTriangleError, ScalingError,
        SizeMismatchError, TypeMismatchError, MemoryError
            The solver then still has its old values.
        OptionError
            `wait` is not set, and `enqueue_updates` was not.
        """
        self._update(values, wait, True)

    def _update(self, values: Any, wait: bool, keep: bool) -> None:
        shared = self._shared
        given, compare = _arrays.updated(values, shared.matrix, wait)
        room = _kept.room(shared.matrix.data) if keep else None
        shared.updates += 1
        if not wait:
            stream = _arrays.stream_of(given.data)
            self._core.enqueue_values(_arrays.handed(given.data), room, stream)
            _arrays.settle(given.data, stream)
        else:
            stream = _arrays.waiting_stream(given.data)
            if shared.outside is not None:
                _kept.require_zeros(shared.matrix._replace(data=given.data), shared.outside,
                                    "values")
            if compare:
                self._core.update(*given.handed(), room, stream)
            else:
                self._core.update_values(_arrays.handed(given.data), room, stream)
        if keep:
            shared.matrix = shared.matrix._replace(
                data=_kept.renewed(shared.matrix.data, given.data))

    def update_status(self) -> UpdateStatus:
        """What the last update has found, for a solver made with ``enqueue_updates=True``.
        Waits for it."""
        return UpdateStatus._of(self._core.status(_arrays.waiting_stream(self._matrix.data)))

    def share_plan(self) -> TriangularSolver:
        """A solver with this one's plan and values, and a workspace of its own.

        For each stream of a GPU that solves at the same time.  Both give the same bits.
        An :meth:`update` of either is for both, and must not overlap in time with solves.
        It takes ``report().workspace_bytes`` of memory, and no analysis.
        """
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._core = self._core.share_plan(_arrays.waiting_stream(self._matrix.data))
        made._adjoint_solver = None
        return made

    def report(self) -> _core.TriangularReport:
        """What was chosen and why; ``str()`` of it is lines of text."""
        return _arrays.told(self._core.report(), self._matrix)

    def __reduce__(self) -> tuple[Any, ...]:
        _kept.wait_for_values(self, self._matrix.data, self._options["enqueue_updates"])
        return _restore, (tuple(self._matrix), self._lower, self._unit_diagonal, self._op,
                          self._options)

    def __repr__(self) -> str:
        side = "lower" if self._lower else "upper"
        return (f"<TriangularSolver of a {side} {self.shape[0]} x {self.shape[1]} matrix, "
                f"{self._matrix.dtype}, {self.report().algorithm}>")


def _restore(matrix: tuple[Any, ...], *rest: Any) -> TriangularSolver:
    # Copied: copy.copy() passes another solver's.
    return new_solver(_kept.owned(_arrays.Crs(*matrix)), *rest)


def new_solver(matrix: _arrays.Crs, *rest: Any, **more: Any) -> TriangularSolver:
    """A solver of a matrix that is its own: see TriangularSolver._make."""
    solver = object.__new__(operator_class(TriangularSolver, matrix.data))
    solver._make(matrix, *rest, **more)
    return solver


# --- In SciPy's form ---------------------------------------------------------


@overload
def spsolve_triangular(A: SparseMatrix, b: ArrayT, lower: bool = True,
                       overwrite_A: bool = False, overwrite_b: bool = False,
                       unit_diagonal: bool = False) -> ArrayT: ...
@overload
def spsolve_triangular(A: SparseMatrix, b: Numbers, lower: bool = True,
                       overwrite_A: bool = False, overwrite_b: bool = False,
                       unit_diagonal: bool = False) -> np.ndarray: ...
def spsolve_triangular(
    A: SparseMatrix,
    b: ArrayLike,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """Solves A x = b once: SciPy's and CuPy's function of that name, and its arguments.

    Parameters
    ----------
    A : sparse matrix, n x n
        In CSR or CSC format; others are converted, with SciPy's warning.  Entries
        named twice add up, and those of the other triangle have to be zero.
    b : array_like, n or n x k
        Of a GPU where A is.
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
        The other triangle of A has a value that is not zero, or the diagonal of A a zero
        or no entry: as WrongTriangleError, ZeroDiagonalError or MissingDiagonalError with ``row``.
    ValueError
        The shapes of A and b do not fit.

    Notes
    -----
    To solve with one A again, or with new values on its pattern, make a
    :class:`TriangularSolver`.  On a GPU this function makes one for the call.
    """
    form = _convert.form_of(A)
    if form not in ("csr", "csc", "pydata"):
        from scipy.sparse import SparseEfficiencyWarning, csr_array

        warnings.warn("CSC or CSR matrix format is required. Converting to CSR matrix.",
                      SparseEfficiencyWarning, stacklevel=2)
        if form is None:
            A = csr_array(A)
    matrix = _arrays.crs(A, square=False, forms=("csr", "csc"))
    if matrix.shape[0] != matrix.shape[1]:
        raise NotSquareError("A", f"has the shape {matrix.shape}", "pass a square matrix")
    b = _arrays.taken(b, "b")
    if matrix.space == "host":
        _arrays.same_space(b, "host", "b")
        b = np.asanyarray(_arrays.plain(b))
    _arrays.same_space(b, matrix.space, "b")
    if b.ndim not in (1, 2) or b.shape[0] != matrix.shape[0]:
        raise SizeMismatchError(
            "b", f"has the shape {tuple(b.shape)}, A {matrix.shape}",
            f"pass {matrix.shape[0]} elements, or {matrix.shape[0]} x k for k right-hand sides",
        )
    dtype = _convert.common_type("A, b", matrix.dtype, _arrays.dtype_name(b))
    matrix = matrix._replace(data=_convert.cast(matrix.data, dtype))
    if matrix.space == "host":
        x = b if overwrite_b and b.dtype == dtype and b.flags.writeable and _arrays._usable(
            b) else np.array(b, dtype=dtype)
        # One solve is over before a plan would be made.
        _arrays.core("substitute", dtype)(
            matrix.indptr, matrix.indices, matrix.data, bool(lower), bool(unit_diagonal),
            matrix.transposed, x)
        return x
    made: list[TriangularSolver] = []
    _arrays.make_in_order(
        lambda of: made.append(new_solver(of, bool(lower), bool(unit_diagonal), "none",
                                          plan_options)), matrix)
    in_place = overwrite_b and _arrays.can_be_written(b, dtype)
    return made[0].solve(b, b if in_place else None)
