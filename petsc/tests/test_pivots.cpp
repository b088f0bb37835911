// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pivots that fail, shifts, and what is told of them, beside PETSc's own
// factors of the same matrix as MATSEQAIJ.

#include <cstdarg>
#include <limits>

#include "Factors.hpp"

namespace {

// Matrices whose pivots fail: the same shifts as PETSc's.
PetscErrorCode test_shifts(MatType matrix, MatFactorType type,
                           MatFactorShiftType shift, Random& random) {
  PetscFunctionBeginUser;
  for (int round = 0; round < 4; ++round) {
    Rows rows = random_rows(40, random, type == MAT_FACTOR_ICC, 0.3);
    // A row that only a shift makes regular, and for definite ones a negative
    // pivot.
    for (const PetscInt j : rows.columns[20])
      rows.at(20, j) = rows.at(j, 20) = 0.0;
    if (shift == MAT_SHIFT_POSITIVE_DEFINITE) rows.at(20, 20) = -1.0;
    Made strata, petsc;
    PetscCall(start(strata, rows, matrix, MATSOLVERSTRATA, type, shift));
    PetscCall(start(petsc, rows, MATSEQAIJ, MATSOLVERPETSC, type, shift));
    for (const Made* made : {&strata, &petsc}) {
      MatFactorError error;
      PetscCall(MatFactorGetError(made->F, &error));
      CHECK(error == MAT_FACTOR_NOERROR, "error %d", (int)error);
    }
    PetscInt analyses, factorizations;
    PetscCall(MatStrataGetStatistics(strata.F, &analyses, &factorizations));
    CHECK(factorizations > 1, "nothing was shifted");
    CHECK(analyses == 1, "%d analyses", (int)analyses);
    PetscCall(compare(strata, petsc, random, 1e5 * rounding(), "shifted"));
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Convection and diffusion on a square, with a zero on the diagonal.
Rows zero_diagonal(PetscInt side, PetscInt row, bool symmetric) {
  Rows A;
  A.n = side * side;
  for (PetscInt i = 0; i < A.n; ++i) {
    A.columns.emplace_back();
    A.values.emplace_back();
    for (const PetscInt step :
         {-side, PetscInt(-1), PetscInt(0), PetscInt(1), side}) {
      const bool outside = step * step == 1 ? (i % side + step) / side != 0 ||
                                                  i % side + step < 0
                                            : i + step < 0 || i + step >= A.n;
      if (outside) continue;
      const PetscReal drift = symmetric ? 0 : PetscReal(0.2);
      A.columns[i].push_back(i + step);
      A.values[i].push_back(step == 0 ? (i == row ? 0.0 : 4.0)
                                      : -1.0 - drift * (step > 0 ? 1 : -1));
    }
  }
  return A;
}

// The same amounts as PETSc's, where elimination fills the zero and where it
// doesn't, and pivots of both signs, from one analysis.
PetscErrorCode test_zero_diagonals(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    for (const PetscInt row : {0, 57, 143})
      for (const MatFactorShiftType shift :
           {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE})
        for (const PetscReal amount : {PetscReal(0), PetscReal(0.1)}) {
          const Rows rows = zero_diagonal(12, row, type == MAT_FACTOR_ICC);
          Made strata, petsc;
          MatFactorError error, expected;
          PetscInt analyses;
          PetscCall(start(strata, rows, matrix, MATSOLVERSTRATA, type, shift,
                          amount));
          PetscCall(start(petsc, rows, MATSEQAIJ, MATSOLVERPETSC, type, shift,
                          amount));
          PetscCall(MatFactorGetError(strata.F, &error));
          PetscCall(MatFactorGetError(petsc.F, &expected));
          CHECK(error == expected, "row %d, %s, %s: error %d, PETSc's %d",
                (int)row, MatFactorTypes[type], MatFactorShiftTypes[shift],
                (int)error, (int)expected);
          PetscCall(MatStrataGetStatistics(strata.F, &analyses, NULL));
          CHECK(analyses == 1, "%d analyses", (int)analyses);
          // The view tells the amount.
          std::string text;
          PetscCall(view(strata.F, text));
          const bool shifted = text.find("added") != std::string::npos;
          CHECK(shifted == (error == MAT_FACTOR_NOERROR &&
                            (row == 0 || shift == MAT_SHIFT_POSITIVE_DEFINITE)),
                "%s", text.c_str());
          // Of a tiny pivot, both round what others are left with.
          const bool tiny =
              row == 0 && shift == MAT_SHIFT_NONZERO && amount == 0;
          if (error == MAT_FACTOR_NOERROR)
            PetscCall(compare(strata, petsc, random,
                              tiny ? PetscReal(0.02) : 1e4 * rounding(),
                              "zero on the diagonal"));
          PetscCall(end(strata));
          PetscCall(end(petsc));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Incomplete Cholesky reads the upper triangle.
PetscErrorCode test_upper_triangle(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const PetscReal apart : {PetscReal(1e-13), PetscReal(1)}) {
    Rows rows = random_rows(80, random, true, 1.0);
    for (PetscInt i = 0; i < rows.n; ++i)
      for (const PetscInt j : rows.columns[i])
        if (j < i) rows.at(i, j) *= 1 + apart * random.real();
    Made strata, petsc;
    for (const MatFactorShiftType shift :
         {MAT_SHIFT_NONE, MAT_SHIFT_POSITIVE_DEFINITE}) {
      PetscCall(
          start(strata, rows, matrix, MATSOLVERSTRATA, MAT_FACTOR_ICC, shift));
      PetscCall(
          start(petsc, rows, MATSEQAIJ, MATSOLVERPETSC, MAT_FACTOR_ICC, shift));
      PetscCall(compare(strata, petsc, random, 1000 * rounding(), "halves"));
      PetscCall(end(strata));
      PetscCall(end(petsc));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string printed;  // by keep_help
PetscErrorCode keep_help(MPI_Comm, const char format[], ...) {
  char line[4096];
  va_list arguments;
  PetscFunctionBeginUser;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(line, sizeof(line), format, NULL, arguments));
  va_end(arguments);
  printed += line;
  PetscFunctionReturn(PETSC_SUCCESS);
}
// Keeps the first sentence of an error.
PetscErrorCode keep_error(MPI_Comm, int, const char*, const char*,
                          PetscErrorCode code, PetscErrorType type,
                          const char* sentence, void* kept) {
  if (type == PETSC_ERROR_INITIAL) *static_cast<std::string*>(kept) = sentence;
  return code;
}

// What users are told: of options, of factors, and of what went wrong.
PetscErrorCode test_views(MatType matrix, Random& random) {
  std::string text;
  Rows rows = random_rows(30, random, false, 1.0);
  Made made;
  IS natural;

  PetscFunctionBeginUser;
  PetscCall(start(made, rows, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  PetscCall(view(made.F, text));
  for (const char* part :
       {"1 analyses, 1 factorizations", "L: ", "U: ", "solved by", " bytes"})
    CHECK(text.find(part) != std::string::npos, "'%s' in %s", part,
          text.c_str());

  // For each new prefix, and also where the matrix has printed its own options.
  auto* const print = PetscHelpPrintf;
  PetscCall(PetscOptionsSetValue(NULL, "-help", NULL));
  PetscHelpPrintf = keep_help;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 30, 0, 1, &natural));
  for (const char* name : {"one_", "two_"}) {
    const std::string prefix = std::string(matrix) + name;
    PetscCall(MatDestroy(&made.F));
    PetscCall(MatSetOptionsPrefix(made.A, prefix.c_str()));
    PetscCall(MatSetOptionsPrefixFactor(made.A, prefix.c_str()));
    PetscCall(MatSetFromOptions(made.A));
    printed.clear();
    PetscCall(symbolic(made, MATSOLVERSTRATA, natural));
    CHECK(printed.find("-" + prefix + "mat_strata_algorithm") !=
              std::string::npos,
          "help of '%s': %s", prefix.c_str(), printed.c_str());
  }
  PetscHelpPrintf = print;
  PetscCall(PetscOptionsClearValue(NULL, "-help"));
  PetscCall(end(made));

  // The row of a bad pivot and the size of a plan.
  for (const char* limit : {"", "100"}) {
    const bool of_pivot = std::string(limit).empty();
    if (!of_pivot)
      PetscCall(
          PetscOptionsSetValue(NULL, "-mat_strata_max_plan_bytes", limit));
    else
      for (const PetscInt j : rows.columns[17]) rows.at(17, j) = 0.0;
    PetscCall(start(made, rows, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                    MAT_SHIFT_NONE));
    const char* const part = of_pivot ? "in row 17" : "bytes";
    PetscCall(view(made.F, text));
    CHECK(text.find(part) != std::string::npos, "'%s' in %s", part,
          text.c_str());
    text.clear();
    PetscCall(MatSetErrorIfFailure(made.A, PETSC_TRUE));
    PetscCall(PetscPushErrorHandler(keep_error, &text));
    const PetscErrorCode code = numeric(made);
    PetscCall(PetscPopErrorHandler());
    CHECK(code == (of_pivot ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_MEM),
          "code %d", (int)code);
    CHECK(text.find(part) != std::string::npos, "'%s' in '%s'", part,
          text.c_str());
    PetscCall(end(made));
    rows = random_rows(30, random, false, 1.0);
  }
  PetscCall(PetscOptionsClearValue(NULL, "-mat_strata_max_plan_bytes"));
  PetscCall(ISDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test_bad_pivots(MatType matrix, Random& random) {
  Rows rows = random_rows(60, random, false, 1.0);
  const Rows good = rows;
  Made strata, petsc;
  MatFactorError error;

  PetscFunctionBeginUser;
  // Of the factor, not of the matrix: row 31 is row 30, but for what is left of
  // both.
  for (const PetscInt i : {30, 31})
    for (const PetscInt j : rows.columns[i]) rows.at(i, j) = 0.0;
  for (PetscInt i = 0; i < 60; ++i)
    for (const PetscInt j : rows.columns[i])
      if (i != j && (j == 30 || j == 31)) rows.at(i, j) = 0.0;
  rows.at(30, 30) = rows.at(31, 31) = 1.0;
  // Below the tolerance, and not zero.
  rows.at(31, 31) = rounding();
  PetscCall(start(strata, rows, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  PetscCall(start(petsc, rows, MATSEQAIJ, MATSOLVERPETSC, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  for (const Made* made : {&strata, &petsc}) {
    PetscReal pivot;
    PetscInt row;
    PetscCall(MatFactorGetError(made->F, &error));
    PetscCall(MatFactorGetErrorZeroPivot(made->F, &pivot, &row));
    CHECK(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, "error %d", (int)error);
    CHECK(row == 31, "row %d", (int)row);
    CHECK(pivot == rounding(), "pivot %g", (double)pivot);
  }

  // Zero, and what is no number; each time the good values serve again.
  for (const PetscScalar bad :
       {PetscScalar(0),
        PetscScalar(std::numeric_limits<PetscReal>::quiet_NaN()),
        PetscScalar(std::numeric_limits<PetscReal>::infinity())}) {
    Rows faulty = good;
    faulty.at(17, 17) = bad;
    if (bad == PetscScalar(0))
      for (const PetscInt j : faulty.columns[17]) faulty.at(17, j) = 0.0;
    PetscCall(fill(strata.A, faulty));
    PetscCall(numeric(strata));
    PetscCall(MatFactorGetError(strata.F, &error));
    CHECK(error != MAT_FACTOR_NOERROR, "no error");
    if (bad == PetscScalar(0)) {
      PetscReal pivot;
      PetscInt row;
      PetscCall(MatFactorGetErrorZeroPivot(strata.F, &pivot, &row));
      CHECK(error == MAT_FACTOR_NUMERIC_ZEROPIVOT && row == 17 && pivot == 0,
            "error %d, row %d", (int)error, (int)row);
    }
    PetscCall(MatFactorClearError(petsc.F));  // PETSc's keeps it.
    for (Made* made : {&strata, &petsc}) {
      PetscCall(fill(made->A, good));
      PetscCall(numeric(*made));
    }
    PetscCall(compare(strata, petsc, random, 1000 * rounding(), "good again"));
  }
  PetscCall(end(petsc));

  // As an error where that is asked for.
  Rows faulty = good;
  for (const PetscInt j : faulty.columns[17]) faulty.at(17, j) = 0.0;
  PetscCall(fill(strata.A, faulty));
  PetscCall(MatSetErrorIfFailure(strata.A, PETSC_TRUE));
  CHECK(code_of([&] { return numeric(strata); }) == PETSC_ERR_MAT_LU_ZRPVT,
        "no error");
  PetscCall(end(strata));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// No shift mends a value that is not a number.
PetscErrorCode test_not_finite(MatType matrix, Random& random) {
  Rows rows = random_rows(60, random, false, 1.0);
  MatFactorError error;

  PetscFunctionBeginUser;
  rows.at(17, 17) = std::numeric_limits<PetscReal>::quiet_NaN();
  for (const MatFactorShiftType shift :
       {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE}) {
    Made strata;
    PetscCall(
        start(strata, rows, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU, shift));
    PetscCall(MatFactorGetError(strata.F, &error));
    CHECK(error == MAT_FACTOR_OTHER, "error %d", (int)error);
    PetscCall(expect_counts(strata.F, 1, 1));
    PetscCall(end(strata));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A first factorisation that fails, and diagonal entries that are missing.
PetscErrorCode test_missing(MatType matrix, Random& random) {
  const Rows good = random_rows(60, random, false, 1.0);
  Rows faulty = good;
  Made strata;
  MatFactorError error;

  PetscFunctionBeginUser;
  for (const PetscInt j : faulty.columns[17]) faulty.at(17, j) = 0.0;
  PetscCall(start(strata, faulty, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  PetscCall(MatFactorGetError(strata.F, &error));
  CHECK(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, "error %d", (int)error);
  PetscCall(end(strata));
  faulty = good;
  for (std::size_t k = 0; k < faulty.columns[9].size(); ++k)
    if (faulty.columns[9][k] == 9) {
      faulty.columns[9].erase(faulty.columns[9].begin() + k);
      faulty.values[9].erase(faulty.values[9].begin() + k);
      break;
    }
  PetscCall(start(strata, faulty, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  PetscCall(MatFactorGetError(strata.F, &error));
  CHECK(error == MAT_FACTOR_STRUCT_ZEROPIVOT, "error %d", (int)error);
  PetscCall(end(strata));

  // Rows without entries, most of them.
  faulty = good;
  for (PetscInt i = 10; i < 60; ++i) {
    faulty.columns[i].clear();
    faulty.values[i].clear();
  }
  PetscCall(start(strata, faulty, matrix, MATSOLVERSTRATA, MAT_FACTOR_ILU,
                  MAT_SHIFT_NONE));
  PetscReal pivot;
  PetscInt row;
  PetscCall(MatFactorGetError(strata.F, &error));
  PetscCall(MatFactorGetErrorZeroPivot(strata.F, &pivot, &row));
  CHECK(error == MAT_FACTOR_STRUCT_ZEROPIVOT && row == 10, "error %d, row %d",
        (int)error, (int)row);
  PetscCall(end(strata));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    for (const MatFactorShiftType shift :
         {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE})
      PetscCall(test_shifts(matrix, type, shift, random));
  PetscCall(test_zero_diagonals(matrix, random));
  PetscCall(test_upper_triangle(matrix, random));
  PetscCall(test_views(matrix, random));
  PetscCall(test_bad_pivots(matrix, random));
  PetscCall(test_not_finite(matrix, random));
  PetscCall(test_missing(matrix, random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(run_tests(argc, argv, test));
  return 0;
}
