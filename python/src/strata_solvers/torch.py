# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The triangular solve for PyTorch, with derivatives.

>>> from strata_solvers.torch import TriangularSolve
>>> solve = TriangularSolve(L)          # L: a sparse CSR tensor; analysed here
>>> x = solve(L.values(), b)            # differentiable in both arguments

Tensors of a GPU stay there, and work is enqueued on PyTorch's current stream.
"""

# (Annotations are evaluated: PyTorch reads those of its operator.)

import itertools
import threading
import weakref
from typing import Any, Literal

import torch

from ._errors import HandleError, SizeMismatchError, TypeMismatchError
from ._triangular import TriangularSolver
from ._types import TriangularKeywords, Unpack

_names = {torch.float32: "float32", torch.float64: "float64",
          torch.complex64: "complex64", torch.complex128: "complex128"}


class TriangularSolve(torch.nn.Module):
    """x = op(A)^-1 b for one pattern of a triangle A, n x n; differentiable.

    The pattern is analysed once, and once more for op's adjoint where a gradient is
    asked for; values are passed with each solve.

    Parameters
    ----------
    A : sparse CSR tensor, n x n
        Its pattern, and the values of the first analysis.
    **options
        Those of :class:`strata_solvers.TriangularSolver`: `lower`, `unit_diagonal`,
        `trans`, `algorithm` and the others.

    Notes
    -----
    With y the gradient of x, that of b is z = op(A)^-H y, and that of an entry a_ij is
    -z_i conj(x_j) (for op = 'T' -z_j conj(x_i), for 'H' -conj(z_j) x_i), added up over
    the right-hand sides.  Second derivatives work.  Solves of one object take turns.

    ``torch.compile`` keeps the solve as one operator, ``strata::triangular_solve``, which
    knows the object by number: keep it for as long as what was compiled from it.
    ``torch.func.vmap`` over right-hand sides solves for all of them at once; over values it
    solves for one after another.
    """

    def __init__(self, A: torch.Tensor, *, trans: Literal["N", "T", "H"] = "N",
                 **options: "Unpack[TriangularKeywords]"):
        super().__init__()
        if A.layout != torch.sparse_csr:
            raise TypeMismatchError("A", f"is {A.layout}", "pass a tensor in "
                                    "torch.sparse_csr layout: A.to_sparse_csr()")
        self._op = trans
        if self._op not in ("N", "T", "H"):
            raise TypeMismatchError("trans", f"is {self._op!r}", "use 'N', 'T' or 'H'")
        self._options = options
        self.n = int(A.shape[0])
        self.register_buffer("crow", A.crow_indices().detach(), persistent=False)
        self.register_buffer("col", A.col_indices().detach(), persistent=False)
        rows = torch.arange(self.n, device=A.device)
        self.register_buffer(
            "row", torch.repeat_interleave(rows, self.crow.diff().to(rows.dtype)),
            persistent=False)
        self._plans: dict[tuple[Any, ...], TriangularSolver] = {}
        self._register()
        self._plan(self._op, A.values())

    def _register(self) -> None:
        self._number = next(_numbers)
        _modules[self._number] = self

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Of a copy.
        super().__setstate__(state)
        self._register()

    def _plan(self, op: str, values: torch.Tensor) -> TriangularSolver:
        values = values.detach().resolve_conj().resolve_neg().contiguous()
        # A module may be moved to another device, and computed with in another type.
        key = op, values.device, values.dtype
        solver = self._plans.get(key)
        if solver is not None:
            # Always: a write by way of `.data` leaves no trace on a tensor.
            solver._update(values, wait=True, keep=False)
            return solver
        A = torch.sparse_csr_tensor(self.crow, self.col, values, (self.n, self.n),
                                    check_invariants=False)
        self._plans[key] = TriangularSolver(A, trans=op, copy=False, **self._options)
        return self._plans[key]

    def forward(self, values: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """x = op(A)^-1 b.

        Parameters
        ----------
        values : tensor of as many elements as the pattern has
            In the order of ``A.values()``.
        b : tensor, n or n x k
            Of the dtype of `values`.
        """
        if values.dtype not in _names or values.dtype != b.dtype:
            raise TypeMismatchError(
                "values, b", f"are {values.dtype} and {b.dtype}",
                "pass both as float32, float64, complex64 or complex128")
        if values.shape != self.col.shape:
            raise SizeMismatchError(
                "values", f"has the shape {tuple(values.shape)} for {len(self.col)} entries",
                "pass a value for every entry")
        if b.ndim not in (1, 2) or b.shape[0] != self.n:
            raise SizeMismatchError("b", f"has the shape {tuple(b.shape)}, the matrix "
                                    f"{self.n} rows", f"pass {self.n} elements, or "
                                    f"{self.n} x k")
        return _Solve.apply(values, b, self.row, self.col, self._number, self._op,
                            bool(self._options.get("unit_diagonal")),
                            bool(self._options.get("lower", True)))


_numbers = itertools.count(1)
_modules: "weakref.WeakValueDictionary[int, TriangularSolve]" = weakref.WeakValueDictionary()
_adjoint = {"N": "H", "H": "N"}
_turn = threading.Lock()


@torch.library.custom_op("strata::triangular_solve", mutates_args=())
def _solve(values: torch.Tensor, b: torch.Tensor, number: int, op: str) -> torch.Tensor:
    of = _modules.get(number)
    if of is None:
        raise HandleError("solve", "is gone, and a compiled function calls it",
                          "keep the TriangularSolve for as long as that function")
    b = b.detach().resolve_conj().resolve_neg()
    x = torch.empty_like(b)
    # New values and the solve with them: another thread's must not come in between.
    with _turn:
        solver = of._plan(op, values)
        if b.device.type == "cpu":
            solver.solve(b.numpy(), x.numpy())
        else:
            solver.solve(b, x)
    return x


@_solve.register_fake
def _shape(values: torch.Tensor, b: torch.Tensor, number: int, op: str) -> torch.Tensor:
    return torch.empty_like(b)


class _Solve(torch.autograd.Function):
    """The operator's derivatives, and what vmap makes of it: torch.func has no use for those
    that an operator registers."""

    @staticmethod
    def forward(values: torch.Tensor, b: torch.Tensor, row: torch.Tensor, col: torch.Tensor,
                number: int, op: str, unit: bool, lower: bool) -> torch.Tensor:
        return _solve(values, b, number, op)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        values, _, row, col, ctx.number, ctx.op, ctx.unit, ctx.lower = inputs
        ctx.save_for_backward(values, row, col, output)

    @staticmethod
    def backward(ctx: Any, y: torch.Tensor) -> tuple[Any, ...]:
        values, row, col, x = ctx.saved_tensors
        rest = row, col, ctx.number
        if ctx.op == "T":
            # (A^T)^-H y = conj(A^-1 conj(y))
            z = _Solve.apply(values, y.conj().resolve_conj(), *rest, "N", ctx.unit,
                             ctx.lower).conj()
        else:
            z = _Solve.apply(values, y, *rest, _adjoint[ctx.op], ctx.unit, ctx.lower)
        gradient = None
        if ctx.needs_input_grad[0]:
            # The equation of unknown i has the entry as the factor of x_j.
            i, j = (row, col) if ctx.op == "N" else (col, row)
            gradient = -(z[i] * x[j].conj())
            if ctx.op == "H":
                gradient = gradient.conj()
            if gradient.ndim == 2:
                gradient = gradient.sum(dim=1)
            # The solve ignores the other triangle, and the diagonal if that is one.
            used = col < row if ctx.lower else col > row
            if not ctx.unit:
                used = used | (row == col)
            gradient = torch.where(used, gradient, 0)
        return gradient, z, None, None, None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], values: torch.Tensor, b: torch.Tensor,
             *rest: Any) -> tuple[torch.Tensor, int]:
        of_values, of_b = in_dims[:2]
        if of_values is None:
            wide = b.movedim(of_b, -1)
            x = _Solve.apply(values, wide.reshape(wide.shape[0], -1), *rest)
            return x.reshape(wide.shape), wide.ndim - 1
        values = values.movedim(of_values, 0)
        b = b.expand(info.batch_size, *b.shape) if of_b is None else b.movedim(of_b, 0)
        return torch.stack([_Solve.apply(v, r, *rest) for v, r in zip(values, b)]), 0
