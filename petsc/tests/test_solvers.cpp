// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Solves on any number of ranks: the same iterations and residuals with strata
// as with PETSc's own factors, before and after new values.

#include <petscstrata.h>

#include <string>
#include <vector>

#include "Check.hpp"

namespace {

// A grid of n^3 points in slabs of planes. `drift` makes the matrix
// unsymmetric, `scale` makes other values.
PetscErrorCode fill(Mat A, PetscInt n, PetscReal drift, PetscReal scale) {
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt at[3] = {row % n, row / n % n, row / (n * n)};
    PetscInt columns[7], count = 0, stride = 1;
    PetscScalar values[7];
    columns[count] = row;
    values[count++] = 6 * scale + PetscReal(at[0]) / PetscReal(n);
    for (int d = 0; d < 3; ++d, stride *= n)
      for (const int side : {-1, 1}) {
        if (at[d] + side < 0 || at[d] + side >= n) continue;
        columns[count] = row + side * stride;
        values[count++] = -scale * (1 + side * drift);
      }
    PetscCall(MatSetValues(A, 1, &row, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Result {
  PetscInt iterations[2];
  PetscReal residual[2];
};

PetscErrorCode make_matrix(const char* type, PetscInt n, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode local_factor(KSP ksp, Mat* F) {
  PC pc;
  KSP* blocks;
  PetscBool asm_type;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &asm_type));
  if (asm_type)
    PetscCall(PCASMGetSubKSP(pc, NULL, NULL, &blocks));
  else
    PetscCall(PCBJacobiGetSubKSP(pc, NULL, NULL, &blocks));
  PetscCall(KSPGetPC(blocks[0], &pc));
  PetscCall(PCFactorGetMatrix(pc, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(const char* type, const char* outer, const char* inner,
                     const char* solver, Result* result,
                     const char* options = "") {
  const PetscInt n = 12;
  const bool symmetric = std::string(inner) == "icc";
  Mat A, F;
  Vec x, b, r;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_type", outer));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", inner));
  PetscCall(
      PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", solver));
  PetscCall(make_matrix(type, n, &A));
  PetscCall(fill(A, n, symmetric ? 0 : 0.3, 1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, symmetric ? KSPCG : KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, rounding() * 1e5, PETSC_DEFAULT,
                             PETSC_DEFAULT, 500));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    if (round == 1) PetscCall(fill(A, n, symmetric ? 0 : 0.2, 2));
    PetscCall(KSPSolve(ksp, b, x));
    KSPConvergedReason reason;
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason > 0, "%s %s %s %s: %s", type, outer, inner, solver,
          KSPConvergedReasons[reason]);
    PetscCall(KSPGetIterationNumber(ksp, &result->iterations[round]));
    PetscReal size;
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &size));
    PetscCall(VecNorm(b, NORM_2, &result->residual[round]));
    result->residual[round] = size / result->residual[round];
    if (std::string(solver) == "strata") {
      PetscInt analyses, factorizations;
      PetscCall(local_factor(ksp, &F));
      PetscCall(MatStrataGetStatistics(F, &analyses, &factorizations));
      CHECK(analyses == 1 && factorizations == round + 1,
            "%s %s %s: %d analyses, %d factorizations in round %d", type, outer,
            inner, (int)analyses, (int)factorizations, round);
    }
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A pivot that fails on one rank stops the solve on all, without an error. What
// comes of the next solve, with good values, is up to PETSc.
PetscErrorCode test_bad_pivot(const char* type, const char* solver,
                              KSPConvergedReason (&reasons)[2]) {
  const PetscInt n = 6, last = n * n * n - 1;
  Mat A;
  Vec x, b;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "bjacobi"));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", "ilu"));
  PetscCall(
      PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", solver));
  PetscCall(make_matrix(type, n, &A));
  PetscCall(fill(A, n, 0, 1));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(A, 1, &last, 0.0, NULL, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    if (round == 1) PetscCall(fill(A, n, 0, 1));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reasons[round]));
  }
  CHECK(reasons[0] == KSP_DIVERGED_PC_FAILED, "%s %s: reason %d", type, solver,
        (int)reasons[0]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One row, which is on one rank: the blocks of the others are empty.
PetscErrorCode test_empty_blocks(const char* type) {
  Mat A;
  Vec x, b;
  KSP ksp;
  KSPConvergedReason reason;
  PetscReal largest;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "bjacobi"));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", "ilu"));
  PetscCall(
      PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", "strata"));
  PetscCall(make_matrix(type, 1, &A));
  PetscCall(fill(A, 1, 0, 1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 3.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecNorm(x, NORM_INFINITY, &largest));
  CHECK(reason > 0 && std::abs(largest - PetscReal(0.5)) <= 10 * rounding(),
        "%s: reason %d, x = %g", type, (int)reason, (double)largest);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Convection and diffusion on a square of 100^2 points, with a zero on the
// diagonal of a row.
PetscErrorCode make_zero_diagonal(const char* type, PetscInt zero, Mat* A) {
  const PetscInt n = 100;
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscScalar diagonal = row == zero ? 0.0 : 4.0;
    PetscCall(MatSetValue(*A, row, row, diagonal, INSERT_VALUES));
    for (const PetscInt step : {PetscInt(1), n})
      for (const PetscInt side : {-1, 1}) {
        const PetscInt at = row / step % n + side;
        if (at >= 0 && at < n)
          PetscCall(MatSetValue(*A, row, row + side * step,
                                -1 - PetscReal(0.2) * side, INSERT_VALUES));
      }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The iterations with a zero on the diagonal, or the error.
PetscErrorCode solve_zero_diagonal(const char* type, const char* inner,
                                   const char* solver, PetscInt zero,
                                   const char* options, PetscErrorCode* code,
                                   PetscInt* iterations) {
  Mat A;
  Vec x, b;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  // Restarts would make the number of iterations depend on rounding.
  PetscCall(PetscOptionsSetValue(NULL, "-ksp_gmres_restart", "300"));
  // VecMDot of PETSc's CUDA vectors adds up wrongly if it gets many vectors:
  // see docs/petsc.md.
  PetscCall(PetscOptionsSetValue(NULL, "-ksp_gmres_modifiedgramschmidt", NULL));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "bjacobi"));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", inner));
  PetscCall(
      PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", solver));
  PetscCall(make_zero_diagonal(type, zero, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  *code = code_of([&] { return KSPSolve(ksp, b, x); });
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test_zero_diagonals(const char* type) {
  PetscErrorCode code, expected_code;

  PetscFunctionBeginUser;
  for (const char* inner : {"ilu", "icc"})
    for (const PetscInt zero : {0, 57})
      for (const char* options :
           {"-sub_pc_factor_shift_type nonzero",
            "-sub_pc_factor_shift_type nonzero -sub_pc_factor_shift_amount 0.1",
            "-sub_pc_factor_shift_type positive_definite"}) {
        PetscInt expected, iterations;
        PetscCall(solve_zero_diagonal(MATAIJ, inner, MATSOLVERPETSC, zero,
                                      options, &expected_code, &expected));
        PetscCall(solve_zero_diagonal(type, inner, MATSOLVERSTRATA, zero,
                                      options, &code, &iterations));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "%s %s, zero in row %d, %s: %d iterations, "
                              "PETSc's %d\n",
                              type, inner, (int)zero, options, (int)iterations,
                              (int)expected));
        CHECK(code == expected_code && iterations == expected,
              "codes %d and %d", (int)code, (int)expected_code);
      }
  // Columns are exchanged. The zero is in the first block.
  for (const PetscInt zero : {0, 57, -1}) {
    PetscInt expected, iterations;
    const char* const options = "-sub_pc_factor_nonzeros_along_diagonal";
    PetscCall(solve_zero_diagonal(MATAIJ, "ilu", MATSOLVERPETSC, zero, options,
                                  &expected_code, &expected));
    PetscCall(solve_zero_diagonal(type, "ilu", MATSOLVERSTRATA, zero, options,
                                  &code, &iterations));
    // Another order of operations may cost an iteration.
    CHECK(code == expected_code && std::abs(iterations - expected) <= 1,
          "%s, nonzeros along the diagonal, zero in row %d: codes %d and %d, "
          "%d and %d iterations",
          type, (int)zero, (int)code, (int)expected_code, (int)iterations,
          (int)expected);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Options of the blocks: the iterations that PETSc needs with the same.
PetscErrorCode test_options(const char* type) {
  struct Case {
    const char *inner, *options, *own;  // own: strata's
    PetscInt slack;                     // iterations
  };

  PetscFunctionBeginUser;
  for (const Case& c :
       {Case{"ilu", "-sub_pc_factor_levels 1", "", 0},
        Case{"ilu",
             "-sub_pc_factor_levels 2 -sub_pc_factor_mat_ordering_type rcm", "",
             0},
        Case{"ilu", "-sub_pc_factor_mat_ordering_type nd", "", 0},
        Case{"icc",
             "-sub_pc_factor_levels 1 -sub_pc_factor_mat_ordering_type rcm", "",
             0},
        Case{"ilu", "-sub_pc_factor_levels 1",
             "-sub_mat_strata_precision single "
             "-sub_mat_strata_algorithm level_sets",
             1},
        Case{"ilu", "", "-sub_mat_strata_pivot_threshold 1e-8", 0},
        Case{"lu", "", "", 0},
        Case{"lu", "-sub_pc_factor_mat_ordering_type rcm", "", 0},
        Case{"lu", "", "-sub_mat_strata_precision single", 2}}) {
    Result petsc, strata;
    PetscCall(
        solve(MATAIJ, "bjacobi", c.inner, MATSOLVERPETSC, &petsc, c.options));
    PetscCall(solve(type, "bjacobi", c.inner, MATSOLVERSTRATA, &strata,
                    (std::string(c.options) + " " + c.own).c_str()));
    for (int round = 0; round < 2; ++round)
      CHECK(std::abs(strata.iterations[round] - petsc.iterations[round]) <=
                c.slack,
            "%s, %s, %s %s: %d iterations, PETSc's %d", type, c.inner,
            c.options, c.own, (int)strata.iterations[round],
            (int)petsc.iterations[round]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Half of icc on each side of the matrix, on one rank.
PetscErrorCode test_both_sides(const char* type) {
  const PetscInt n = 12;
  PetscInt iterations[2];

  PetscFunctionBeginUser;
  for (const bool strata : {false, true}) {
    Mat A;
    Vec x, b;
    KSP ksp;
    KSPConvergedReason reason;
    PetscCall(PetscOptionsClear(NULL));
    PetscCall(PetscOptionsInsertString(
        NULL,
        "-ksp_type gmres -ksp_pc_side symmetric -pc_type icc "
        "-pc_factor_mat_ordering_type rcm"));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_mat_solver_type",
                                   strata ? "strata" : MATSOLVERPETSC));
    PetscCall(make_matrix(strata ? type : MATAIJ, n, &A));
    PetscCall(fill(A, n, 0, 1));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1.0));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[strata]));
    CHECK(reason > 0, "%s: %s", type, KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&A));
  }
  CHECK(iterations[0] == iterations[1], "%s: %d iterations, PETSc's %d", type,
        (int)iterations[1], (int)iterations[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatSolverTypeRegister_Strata());
  std::vector<const char*> types = {MATAIJ, MATAIJKOKKOS};
  if (PetscDefined(HAVE_CUDA)) types.push_back(MATAIJCUSPARSE);
  for (const char* outer : {"bjacobi", "asm"})
    for (const char* inner : {"ilu", "icc"}) {
      Result petsc;
      PetscCall(solve(MATAIJ, outer, inner, MATSOLVERPETSC, &petsc));
      for (const char* type : types) {
        Result strata;
        PetscCall(solve(type, outer, inner, MATSOLVERSTRATA, &strata));
        for (int round = 0; round < 2; ++round) {
          PetscCall(PetscPrintf(
              PETSC_COMM_WORLD,
              "%s %s %s, solve %d: %d iterations, residual %.3e; PETSc's %d, "
              "%.3e\n",
              type, outer, inner, round + 1, (int)strata.iterations[round],
              (double)strata.residual[round], (int)petsc.iterations[round],
              (double)petsc.residual[round]));
          CHECK(strata.iterations[round] == petsc.iterations[round],
                "other iterations");
          CHECK(std::abs(strata.residual[round] - petsc.residual[round]) <=
                    1e-3 * petsc.residual[round],
                "other residual");
        }
      }
    }
  KSPConvergedReason petsc[2];
  PetscCall(test_bad_pivot(MATAIJ, MATSOLVERPETSC, petsc));
  for (const char* type : types) {
    KSPConvergedReason strata[2];
    PetscCall(test_bad_pivot(type, MATSOLVERSTRATA, strata));
    CHECK(strata[1] == petsc[1], "%s: reason %d, PETSc's %d", type,
          (int)strata[1], (int)petsc[1]);
  }
  PetscMPIInt ranks;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  for (const char* type : types) {
    PetscCall(test_zero_diagonals(type));
    PetscCall(test_options(type));
    if (ranks == 1) PetscCall(test_both_sides(type));
  }
  for (const char* type : {MATAIJ, MATAIJKOKKOS})
    PetscCall(test_empty_blocks(type));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscFinalize());
  return 0;
}
