// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Poisson's equation on a square, solved by GMRES with block Jacobi and the
// factors of strata:
//
//   mpiexec -n 2 ./poisson -n 200 -ksp_view

#include <petscksp.h>
#include <petscstrata.h>

int main(int argc, char** argv) {
  PetscInt n = 100, first, last, iterations;
  PetscReal residual, size;
  Mat A;
  Vec x, b, r;
  KSP ksp;
  KSPConvergedReason reason;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatSolverTypeRegister_Strata());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(A, MATAIJKOKKOS));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    PetscCall(MatSetValue(A, row, row, 4.0, INSERT_VALUES));
    if (row >= n) PetscCall(MatSetValue(A, row, row - n, -1.0, INSERT_VALUES));
    if (row + n < n * n)
      PetscCall(MatSetValue(A, row, row + n, -1.0, INSERT_VALUES));
    if (row % n > 0)
      PetscCall(MatSetValue(A, row, row - 1, -1.0, INSERT_VALUES));
    if (row % n < n - 1)
      PetscCall(MatSetValue(A, row, row + 1, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));

  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  // Defaults, for options of the command line to change.
  for (int k = 0; k < 3; ++k) {
    const char* const defaults[3][2] = {
        {"-pc_type", "bjacobi"},
        {"-sub_pc_type", "ilu"},
        {"-sub_pc_factor_mat_solver_type", MATSOLVERSTRATA}};
    PetscBool given;
    PetscCall(PetscOptionsHasName(NULL, NULL, defaults[k][0], &given));
    if (!given)
      PetscCall(PetscOptionsSetValue(NULL, defaults[k][0], defaults[k][1]));
  }
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s, %" PetscInt_FMT " iterations, ||b - A x|| / ||b|| "
                        "= %.1e\n",
                        KSPConvergedReasons[reason], iterations,
                        (double)(residual / size)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return reason > 0 ? 0 : 1;
}
