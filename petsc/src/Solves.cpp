// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Solves with a factored Mat.

#include "Operations.hpp"

namespace PetscStrata {
namespace {

PetscErrorCode count_solves(Mat F, Step step, PetscInt columns) {
  PetscFunctionBegin;
  const bool one = step == Step::forward || step == Step::backward;
  const PetscLogDouble flops =
      (2.0 * factor_of(F).entries() - F->rmap->n) * columns / (one ? 2 : 1);
  if (factor_of(F).on_host())
    PetscCall(PetscLogFlops(flops));
  else
    PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_vector(Mat F, Vec b, Vec x, Step step) {
  FactorBase& factor = factor_of(F);
  const PetscScalar* from;
  PetscScalar* to;
  PetscMemType from_memory = PETSC_MEMTYPE_HOST, to_memory = PETSC_MEMTYPE_HOST;
  const PetscInt n = F->rmap->n;

  PetscFunctionBegin;
  if (factor.on_host()) {
    PetscCall(VecGetArrayRead(b, &from));
    PetscCall(VecGetArrayWrite(x, &to));
  } else {
    PetscCall(VecGetArrayReadAndMemType(b, &from, &from_memory));
    PetscCall(VecGetArrayWriteAndMemType(x, &to, &to_memory));
    PetscCall(PetscLogGpuTimeBegin());
  }
  PetscCall(without_exceptions(F, [&] {
    factor.solve({const_cast<PetscScalar*>(from), 1, n, from_memory},
                 {to, 1, n, to_memory}, n, step);
  }));
  if (factor.on_host()) {
    PetscCall(VecRestoreArrayRead(b, &from));
    PetscCall(VecRestoreArrayWrite(x, &to));
  } else {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecRestoreArrayReadAndMemType(b, &from));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &to));
  }
  PetscCall(count_solves(F, step, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatSolve_Strata(Mat F, Vec b, Vec x) {
  return solve_vector(F, b, x, Step::both);
}
PetscErrorCode MatSolveTranspose_Strata(Mat F, Vec b, Vec x) {
  return solve_vector(F, b, x, Step::transpose);
}
PetscErrorCode MatForwardSolve_Strata(Mat F, Vec b, Vec x) {
  return solve_vector(F, b, x, Step::forward);
}
PetscErrorCode MatBackwardSolve_Strata(Mat F, Vec b, Vec x) {
  return solve_vector(F, b, x, Step::backward);
}

PetscErrorCode solve_matrix(Mat F, Mat B, Mat X, Step step) {
  FactorBase& factor = factor_of(F);
  const PetscScalar* from;
  PetscScalar* to;
  PetscMemType from_memory = PETSC_MEMTYPE_HOST, to_memory = PETSC_MEMTYPE_HOST;
  PetscInt from_leading, to_leading;
  PetscBool dense;
  const PetscInt n = F->rmap->n, columns = B->cmap->n;

  PetscFunctionBegin;
  for (Mat block : {B, X}) {
    PetscCall(PetscObjectTypeCompareAny((PetscObject)block, &dense, MATSEQDENSE,
                                        MATSEQDENSECUDA, ""));
    PetscCheck(dense, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "strata solves for right-hand sides in a dense sequential "
               "matrix, not in one of the type %s",
               ((PetscObject)block)->type_name);
  }
  PetscCheck(X->cmap->n == columns, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_SIZ,
             "strata: B has %" PetscInt_FMT " columns and X %" PetscInt_FMT,
             columns, X->cmap->n);
  PetscCall(MatDenseGetLDA(B, &from_leading));
  PetscCall(MatDenseGetLDA(X, &to_leading));
  if (factor.on_host()) {
    PetscCall(MatDenseGetArrayRead(B, &from));
    PetscCall(MatDenseGetArrayWrite(X, &to));
  } else {
    PetscCall(MatDenseGetArrayReadAndMemType(B, &from, &from_memory));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &to, &to_memory));
    PetscCall(PetscLogGpuTimeBegin());
  }
  PetscCall(without_exceptions(F, [&] {
    factor.solve(
        {const_cast<PetscScalar*>(from), columns, from_leading, from_memory},
        {to, columns, to_leading, to_memory}, n, step);
  }));
  if (factor.on_host()) {
    PetscCall(MatDenseRestoreArrayRead(B, &from));
    PetscCall(MatDenseRestoreArrayWrite(X, &to));
  } else {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &from));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &to));
  }
  PetscCall(count_solves(F, step, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_Strata(Mat F, Mat B, Mat X) {
  return solve_matrix(F, B, X, Step::both);
}
PetscErrorCode MatMatSolveTranspose_Strata(Mat F, Mat B, Mat X) {
  return solve_matrix(F, B, X, Step::transpose);
}

}  // namespace

void set_solves(Mat F) {
  F->ops->solve = MatSolve_Strata;
  F->ops->solvetranspose = MatSolveTranspose_Strata;
  F->ops->forwardsolve = MatForwardSolve_Strata;
  F->ops->backwardsolve = MatBackwardSolve_Strata;
  F->ops->matsolve = MatMatSolve_Strata;
  F->ops->matsolvetranspose = MatMatSolveTranspose_Strata;
}

}  // namespace PetscStrata
