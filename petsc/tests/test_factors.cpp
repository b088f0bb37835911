// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Factors of sequential matrices, beside PETSc's own of the same matrix as
// MATSEQAIJ: solves, new values and patterns, and what is refused.

#include "Factors.hpp"

namespace {

PetscErrorCode compare_columns(const Made& made, const Made& reference,
                               PetscInt columns, Random& random) {
  PetscInt n, leading;
  Mat B, X;
  PetscScalar* a;
  PetscFunctionBeginUser;
  PetscCall(MatGetSize(made.A, &n, NULL));
  leading = n + 3;
  std::vector<PetscScalar> from(leading * columns), to(leading * columns, 7.0);
  for (auto& value : from) value = random.scalar();
  PetscCall(
      MatCreateDense(PETSC_COMM_SELF, n, columns, n, columns, from.data(), &B));
  PetscCall(
      MatCreateDense(PETSC_COMM_SELF, n, columns, n, columns, to.data(), &X));
  PetscCall(MatDenseSetLDA(B, leading));
  PetscCall(MatDenseSetLDA(X, leading));
  for (Mat M : {B, X}) {
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  for (const bool transpose : {false, true}) {
    if (transpose)
      PetscCall(MatMatSolveTranspose(made.F, B, X));
    else
      PetscCall(MatMatSolve(made.F, B, X));
    PetscCall(MatDenseGetArray(X, &a));
    for (PetscInt c = 0; c < columns; ++c) {
      const Values b(from.begin() + c * leading,
                     from.begin() + c * leading + n);
      const Values x(a + c * leading, a + c * leading + n);
      Values y;
      PetscCall(solve(reference, b, transpose, y));
      CHECK(apart(x, y) <= 1000 * rounding(),
            "column %d of %d, transpose %d: %g", (int)c, (int)columns,
            transpose, (double)apart(x, y));
      if (c + 1 < columns)
        for (PetscInt k = n; k < leading; ++k)
          CHECK(a[c * leading + k] == PetscScalar(7), "between columns");
    }
    PetscCall(MatDenseRestoreArray(X, &a));
  }
  // The same columns in the memory of the device.
  if (PetscDefined(HAVE_CUDA) && n > 0) {
    Mat device_B, device_X;
    const PetscScalar *host, *device;
    PetscInt device_leading;
    PetscCall(MatConvert(B, MATSEQDENSECUDA, MAT_INITIAL_MATRIX, &device_B));
    PetscCall(MatConvert(X, MATSEQDENSECUDA, MAT_INITIAL_MATRIX, &device_X));
    PetscCall(MatMatSolve(made.F, B, X));
    PetscCall(MatMatSolve(made.F, device_B, device_X));
    PetscCall(MatDenseGetLDA(device_X, &device_leading));
    PetscCall(MatDenseGetArrayRead(X, &host));
    PetscCall(MatDenseGetArrayRead(device_X, &device));
    for (PetscInt c = 0; c < columns; ++c) {
      const Values x(device + c * device_leading,
                     device + c * device_leading + n);
      const Values y(host + c * leading, host + c * leading + n);
      CHECK(apart(x, y) <= 1000 * rounding(), "column %d of %d: %g", (int)c,
            (int)columns, (double)apart(x, y));
    }
    PetscCall(MatDenseRestoreArrayRead(device_X, &device));
    PetscCall(MatDenseRestoreArrayRead(X, &host));
    PetscCall(MatDestroy(&device_B));
    PetscCall(MatDestroy(&device_X));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Solves, new values, and another pattern.
PetscErrorCode test_solves(MatType matrix, MatFactorType type,
                           PetscReal tolerance, Random& random) {
  const bool symmetric = type == MAT_FACTOR_ICC;
  const MatFactorShiftType shift =
      symmetric ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE;

  PetscFunctionBeginUser;
  for (const PetscInt n : {0, 1, 2, 150}) {
    if (n == 0 && !takes_empty(matrix)) continue;
    Rows rows = random_rows(n, random, symmetric, 1.0);
    Made strata, petsc;
    PetscCall(start(strata, rows, matrix, MATSOLVERSTRATA, type, shift));
    PetscCall(start(petsc, rows, MATSEQAIJ, MATSOLVERPETSC, type, shift));
    PetscCall(expect_counts(strata.F, 1, 1));
    PetscCall(compare(strata, petsc, random, tolerance, "first values"));
    for (const PetscInt columns : {1, 5})
      PetscCall(compare_columns(strata, petsc, columns, random));
    MatInfo info;
    PetscCall(MatGetInfo(strata.F, MAT_LOCAL, &info));
    PetscInt stored = 0;
    for (const auto& row : rows.columns) stored += (PetscInt)row.size();
    CHECK((PetscInt)info.nz_used == stored, "%g entries", info.nz_used);

    for (PetscInt i = 0; i < n; ++i)
      for (const PetscInt j : rows.columns[i])
        if (j >= i) {
          const PetscReal factor = 1 + PetscReal(0.3) * random.real();
          rows.at(i, j) *= factor;
          if (j > i) rows.at(j, i) *= factor;
          if (j == i) rows.at(i, i) *= 2;
        }
    for (Made* made : {&strata, &petsc}) {
      PetscCall(fill(made->A, rows));
      PetscCall(numeric(*made));
    }
    PetscCall(expect_counts(strata.F, 1, 2));
    PetscCall(compare(strata, petsc, random, tolerance, "new values"));
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test_another_pattern(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  const Rows first = random_rows(90, random, false, 1.0);
  const Rows second = random_rows(90, random, false, 1.0);
  Made strata, petsc;
  PetscCall(start(strata, first, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  PetscCall(start(petsc, second, MATSEQAIJ, MATSOLVERPETSC, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  Values b(90), x;
  for (auto& value : b) value = random.scalar();
  PetscCall(solve(strata, b, true, x));  // Solvers with the old transposes.
  PetscCall(MatDestroy(&strata.A));
  PetscCall(make(second, matrix, &strata.A));
  PetscCall(numeric(strata));
  PetscCall(expect_counts(strata.F, 2, 2));
  PetscCall(compare(strata, petsc, random, 1000 * rounding(), "new pattern"));
  PetscCall(end(strata));
  PetscCall(end(petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test_refusals(MatType matrix, Random& random) {
  const Rows rows = random_rows(30, random, false, 1.0);
  IS natural, twice;
  MatFactorInfo plain;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 30, 0, 1, &natural));
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, 2, 15,
                          std::vector<PetscInt>(15, 0).data(),
                          PETSC_COPY_VALUES, &twice));
  PetscCall(MatFactorInfoInitialize(&plain));
  plain.fill = 1;
  plain.levels = 0;
  Made made;
  made.type = MAT_FACTOR_ILU;
  PetscCall(make(rows, matrix, &made.A));
  const auto refuses = [&](const char* what, const MatFactorInfo& info,
                           IS order, PetscErrorCode expected = PETSC_ERR_SUP) {
    made.info = info;
    const PetscErrorCode code =
        code_of([&] { return symbolic(made, MATSOLVERSTRATA, order); });
    CHECK(code == expected, "%s: code %d", what, (int)code);
    CHECK(MatDestroy(&made.F) == PETSC_SUCCESS, "%s", what);
  };
  MatFactorInfo info = plain;
  info.usedt = 1;
  refuses("drop tolerance", info, natural);
  info = plain;
  info.diagonal_fill = 1;
  refuses("diagonal fill", info, natural);
  refuses("order", plain, twice, PETSC_ERR_ARG_OUTOFRANGE);
  made.info = plain;
  for (const char* option : {"-mat_strata_algorithm", "-mat_strata_accuracy",
                             "-mat_strata_precision"}) {
    PetscCall(PetscOptionsSetValue(NULL, option, "nonsense"));
    refuses(option, plain, natural, PETSC_ERR_USER);
    PetscCall(PetscOptionsClearValue(NULL, option));
  }
  for (const char* option :
       {"-mat_strata_merged_levels", "-mat_strata_max_right_hand_sides",
        "-mat_strata_max_plan_bytes", "-mat_strata_pivot_threshold"}) {
    PetscCall(PetscOptionsSetValue(NULL, option, "-1"));
    refuses(option, plain, natural, PETSC_ERR_ARG_OUTOFRANGE);
    PetscCall(PetscOptionsClearValue(NULL, option));
  }
  // A pattern that is not symmetric: too much below the diagonal, and above.
  for (const bool below : {true, false}) {
    Rows half = rows;
    const PetscInt j = half.columns[29][0] < 29 ? half.columns[29][0] : 0;
    const PetscInt from = below ? j : 29, gone = below ? 29 : j;
    auto& columns = half.columns[from];
    const auto at = std::find(columns.begin(), columns.end(), gone);
    half.values[from].erase(half.values[from].begin() + (at - columns.begin()));
    columns.erase(at);
    PetscCall(MatDestroy(&made.A));
    PetscCall(make(half, matrix, &made.A));
    made.type = MAT_FACTOR_ICC;
    for (int round = 0; round < 2; ++round)
      refuses("Cholesky of a pattern that is not symmetric", plain, natural);
  }
  if (PetscDefined(USE_COMPLEX)) {
    PetscCall(MatSetOption(made.A, MAT_HERMITIAN, PETSC_TRUE));
    refuses("Cholesky of a Hermitian matrix", plain, natural);
  }
  Mat F;
  CHECK(code_of([&] {
          return MatGetFactor(made.A, MATSOLVERSTRATA, MAT_FACTOR_CHOLESKY, &F);
        }) == PETSC_ERR_MISSING_FACTOR,
        "complete Cholesky");
  CHECK(code_of([&] { return MatStrataGetStatistics(made.A, NULL, NULL); }) ==
            PETSC_ERR_ARG_WRONG,
        "statistics of a matrix that is no factor");
  PetscCall(MatDestroy(&made.A));
  PetscCall(ISDestroy(&natural));
  PetscCall(ISDestroy(&twice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(test_solves(matrix, type, 1000 * rounding(), random));
  PetscCall(test_another_pattern(matrix, random));
  PetscCall(test_refusals(matrix, random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(run_tests(argc, argv, test));
  return 0;
}
