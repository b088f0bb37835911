// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// -dll_append libpetscstrata.so registers strata, and PETSc's own types stay.

#include "Check.hpp"

int main(int argc, char** argv) {
  Mat A;
  PetscBool there;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, NULL, &A));
  for (PetscInt i = 0; i < 2; ++i)
    PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU}) {
    PetscCall(MatGetFactorAvailable(A, "strata", type, &there));
    CHECK(there, "strata has no %s", MatFactorTypes[type]);
    PetscCall(MatGetFactorAvailable(A, MATSOLVERPETSC, type, &there));
    CHECK(there, "PETSc has lost its %s", MatFactorTypes[type]);
  }
  PetscCall(MatGetFactorAvailable(A, "strata", MAT_FACTOR_CHOLESKY, &there));
  CHECK(!there, "strata claims complete Cholesky factors");
  PetscCall(
      MatGetFactorAvailable(A, MATSOLVERPETSC, MAT_FACTOR_CHOLESKY, &there));
  CHECK(there, "PETSc has lost its Cholesky factors");
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
