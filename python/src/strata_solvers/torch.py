# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The triangular solve for PyTorch, with derivatives.

>>> from strata_solvers.torch import TriangularSolve
>>> solve = TriangularSolve(L)          # L: a sparse CSR tensor; analysed here
>>> x = solve(L.values(), b)            # differentiable in both arguments

Tensors of a GPU stay there, and work is enqueued on PyTorch's current stream.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

from ._errors import SizeMismatchError, TypeMismatchError
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
    """

    def __init__(self, A: torch.Tensor, *, trans: Literal["N", "T", "H"] = "N",
                 **options: Unpack[TriangularKeywords]):
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
        self._plan(self._op, A.values())

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
        return _Solve.apply(self, self._op, values, b)


_adjoint = {"N": "H", "H": "N"}


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, of: TriangularSolve, op: str, values: torch.Tensor,
                b: torch.Tensor) -> torch.Tensor:
        solver = of._plan(op, values)
        b = b.detach().resolve_conj().resolve_neg()
        if b.device.type == "cpu":
            x = torch.empty_like(b)
            solver.solve(b.numpy(), x.numpy())
        else:
            x = solver.solve(b)
        ctx.of, ctx.op = of, op
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx: Any, y: torch.Tensor) -> tuple[Any, ...]:
        values, x = ctx.saved_tensors
        of, op = ctx.of, ctx.op
        if op == "T":
            # (A^T)^-H y = conj(A^-1 conj(y))
            z = _Solve.apply(of, "N", values, y.conj().resolve_conj()).conj()
        else:
            z = _Solve.apply(of, _adjoint[op], values, y)
        gradient = None
        if ctx.needs_input_grad[2]:
            # The equation of unknown i has the entry as the factor of x_j.
            i, j = (of.row, of.col) if op == "N" else (of.col, of.row)
            gradient = -(z[i] * x[j].conj())
            if op == "H":
                gradient = gradient.conj()
            if gradient.ndim == 2:
                gradient = gradient.sum(dim=1)
            if of._options.get("unit_diagonal"):
                gradient = torch.where(i == j, 0, gradient)
        return None, None, gradient, z
