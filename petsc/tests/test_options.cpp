// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Levels of fill, orders, and the options of strata's own prefix: beside
// PETSc's own factors of the same matrix as MATSEQAIJ, and by what they
// promise.

#include <limits>

#include "Both.hpp"

namespace {

// Sets an option until the end of a scope.
class WithOption {
 public:
  WithOption(const char* name, const char* value) : name_(name) {
    PetscCallAbort(PETSC_COMM_SELF, PetscOptionsSetValue(NULL, name, value));
  }
  ~WithOption() {
    PetscCallAbort(PETSC_COMM_SELF, PetscOptionsClearValue(NULL, name_));
  }

 private:
  const char* name_;
};

PetscErrorCode test_levels_and_orders(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const MatFactorType type :
       {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU})
    for (const char* order : {"natural", "rcm", "nd", "qmd", "random"})
      for (const PetscInt levels : {0, 1, 3}) {
        if (type == MAT_FACTOR_LU && levels > 0) continue;
        const bool symmetric = type == MAT_FACTOR_ICC;
        for (const PetscInt n : {1, 2, 120}) {
          const std::string text = std::string(MatFactorTypes[type]) + ", " +
                                   order + ", level " + std::to_string(levels) +
                                   ", n " + std::to_string(n);
          Rows rows = random_rows(n, random, symmetric, 1.0);
          // The new diagonal entries of a random order are large.
          const PetscInt j = partner_of_first(rows);
          if (j > 0 && !symmetric && order == std::string("random"))
            rows.at(0, j) = rows.at(j, 0) =
                10 *
                (PetscAbsScalar(rows.at(0, 0)) + PetscAbsScalar(rows.at(j, j)));
          Made strata, petsc;
          PetscCall(start_both(strata, petsc, rows, matrix,
                               {type, order, levels}, random));
          PetscCall(expect_counts(strata.F, 1, 1));
          PetscCall(
              compare(strata, petsc, random, 1e4 * rounding(), text.c_str()));
          MatInfo ours, theirs;
          PetscCall(MatGetInfo(strata.F, MAT_LOCAL, &ours));
          PetscCall(MatGetInfo(petsc.F, MAT_LOCAL, &theirs));
          // PETSc counts half of a symmetric factor.
          const PetscLogDouble stored =
              symmetric ? 2 * theirs.nz_used - n : theirs.nz_used;
          CHECK(ours.nz_used == stored, "%s: %g entries, PETSc's %g",
                text.c_str(), ours.nz_used, stored);
          PetscCall(change(rows, random, symmetric));
          for (Made* made : {&strata, &petsc}) {
            PetscCall(fill(made->A, rows));
            PetscCall(numeric(*made));
          }
          PetscCall(expect_counts(strata.F, 1, 2));
          PetscCall(compare(strata, petsc, random, 1e4 * rounding(),
                            (text + ", new values").c_str()));
          PetscCall(end(strata));
          PetscCall(end(petsc));
        }
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A block diagonal matrix with two pivots that fail by PETSc's rule.
PetscErrorCode test_shifted_pivots(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const MatFactorType type :
       {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU})
    for (const char* order : {"natural", "rcm"}) {
      Rows rows = random_rows(60, random, type == MAT_FACTOR_ICC, 1.0);
      for (const PetscInt row : {20, 41}) {
        for (const PetscInt j : rows.columns[row])
          rows.at(row, j) = rows.at(j, row) = 0.0;
        rows.at(row, row) = row == 20 ? 0.0 : 0.3 * rounding();
      }
      Made strata, petsc;
      PetscInt factorizations;
      std::string text;
      PetscCall(start_both(strata, petsc, rows, matrix,
                           {type, order, 0, MAT_SHIFT_INBLOCKS, 0.25}, random));
      PetscCall(compare(strata, petsc, random, 1e4 * rounding(), "in blocks"));
      PetscCall(MatStrataGetStatistics(strata.F, NULL, &factorizations));
      CHECK(factorizations == 3, "%d factorizations", (int)factorizations);
      PetscCall(view(strata.F, text));
      CHECK(text.find("2 pivots were shifted") != std::string::npos, "%s",
            text.c_str());
      PetscCall(end(strata));
      PetscCall(end(petsc));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Factors of a tridiagonal matrix are complete: a replaced pivot changes A in
// its own row alone.
PetscErrorCode test_replaced_pivots(MatType matrix, MatFactorType type,
                                    Random& random) {
  const PetscInt n = 50, zero = 23;
  const WithOption option("-mat_strata_pivot_threshold", "1e-3");
  Rows rows;
  Made strata, petsc;
  Values b(n), x;
  std::string text;
  MatFactorError error;

  PetscFunctionBeginUser;
  rows.n = n;
  for (PetscInt i = 0; i < n; ++i) {
    rows.columns.emplace_back();
    rows.values.emplace_back();
    for (PetscInt j = i - 1; j <= i + 1; ++j) {
      // Row `zero` has no entry to its left, and a zero on its diagonal.
      if (j < 0 || j >= n || (i == zero && j < i)) continue;
      rows.columns[i].push_back(j);
      rows.values[i].push_back(i != j ? -1.0 : i == zero ? 0.0 : 4.0);
    }
  }
  PetscCall(start_both(strata, petsc, rows, matrix, {type}, random));
  PetscCall(MatFactorGetError(strata.F, &error));
  CHECK(error == MAT_FACTOR_NOERROR, "error %d", (int)error);
  for (auto& value : b) value = random.scalar();
  PetscCall(solve(strata, b, false, x));
  // What is left of the equations: nothing but in that row.
  PetscReal largest = 0, size = 0;
  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar sum = b[i];
    PetscReal scale = PetscAbsScalar(b[i]);
    for (const PetscInt j : rows.columns[i]) {
      sum -= rows.at(i, j) * x[j];
      scale += PetscAbsScalar(rows.at(i, j) * x[j]);
    }
    if (i == zero)
      size = PetscAbsScalar(sum);
    else
      largest = std::max(largest, PetscAbsScalar(sum) / scale);
  }
  CHECK(largest <= 1e4 * rounding(), "a residual of %g", (double)largest);
  // The pivot is the threshold times the largest entry of the row, which is 1.
  CHECK(std::abs(size - PetscReal(1e-3) * PetscAbsScalar(x[zero])) <=
            1e4 * rounding() * PetscAbsScalar(x[zero]),
        "%g is left in the row, and x is %g", (double)size,
        (double)PetscAbsScalar(x[zero]));
  PetscCall(view(strata.F, text));
  CHECK(text.find("1 pivots were replaced, and changed by at most 0.001") !=
            std::string::npos,
        "%s", text.c_str());
  PetscCall(end(strata));
  PetscCall(end(petsc));

  PetscFunctionReturn(PETSC_SUCCESS);
}

// The results of factors that were rounded to single precision.
PetscErrorCode test_single_precision(MatType matrix, Random& random) {
  const WithOption option("-mat_strata_precision", "single");
  const PetscInt n = 90;
  Values b(n), x, y;
  std::string text;

  PetscFunctionBeginUser;
  for (const MatFactorType type :
       {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU})
    for (const char* order : {"natural", "rcm"}) {
      Rows rows = random_rows(n, random, type == MAT_FACTOR_ICC, 1.5);
      Made strata, petsc;
      PetscCall(
          start_both(strata, petsc, rows, matrix, {type, order, 0}, random));
      for (int round = 0; round < 2; ++round) {
        PetscCall(compare(strata, petsc, random, 1e-4, "single"));
        if (round == 1) break;
        PetscCall(change(rows, random, type == MAT_FACTOR_ICC));
        for (Made* made : {&strata, &petsc}) {
          PetscCall(fill(made->A, rows));
          PetscCall(numeric(*made));
        }
      }
      if (PetscDefined(USE_REAL_DOUBLE)) {
        for (auto& value : b) value = random.scalar();
        PetscCall(solve(strata, b, false, x));
        PetscCall(solve(petsc, b, false, y));
        CHECK(apart(x, y) > 1e-9, "not rounded: %g", (double)apart(x, y));
        // The size of b doesn't matter.
        for (auto& value : b) value *= PetscPowRealInt(2, 600);
        PetscCall(solve(strata, b, false, y));
        for (auto& value : y) value *= PetscPowRealInt(2, -600);
        CHECK(apart(x, y) == 0, "scaled: %g apart", (double)apart(x, y));
        PetscCall(view(strata.F, text));
        CHECK(text.find("in single precision") != std::string::npos, "%s",
              text.c_str());
      }
      PetscCall(end(strata));
      PetscCall(end(petsc));
    }
  // Beyond the range of float.
  if (PetscDefined(USE_REAL_DOUBLE)) {
    Rows rows = random_rows(n, random, false, 1.0);
    Made strata, petsc;
    MatFactorError error;
    rows.at(7, 7) = PetscPowRealInt(2, 300);
    PetscCall(start_both(strata, petsc, rows, matrix, {}, random));
    PetscCall(MatFactorGetError(strata.F, &error));
    PetscCall(view(strata.F, text));
    CHECK(error == MAT_FACTOR_OTHER &&
              text.find("row 7 ") != std::string::npos &&
              text.find("range of float") != std::string::npos,
          "error %d, %s", (int)error, text.c_str());
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode calls_of(const char* name, PetscInt* count) {
  PetscLogEvent event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  CHECK(event >= 0, "no event %s", name);
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DEFAULT, event, &info));
  *count = (PetscInt)info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The analysis is an event of the symbolic phase.
PetscErrorCode test_events(MatType matrix, Random& random) {
  const Rows rows = random_rows(40, random, false, 1.0);
  PetscInt analyses[3], eliminations[3];

  PetscFunctionBeginUser;
  for (const MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_LU}) {
    Made made;
    IS natural;
    Values b(40, 1.0), x;
    made.type = type;
    PetscCall(make(rows, matrix, &made.A));
    PetscCall(MatFactorInfoInitialize(&made.info));
    made.info.fill = 5;
    PetscCall(ISCreateStride(PETSC_COMM_SELF, 40, 0, 1, &natural));
    for (int k = 0; k < 3; ++k) {
      if (k == 1) PetscCall(symbolic(made, MATSOLVERSTRATA, natural));
      if (k == 2) {
        PetscCall(numeric(made));
        PetscCall(solve(made, b, false, x));
        PetscCall(fill(made.A, rows));
        PetscCall(numeric(made));
      }
      PetscCall(calls_of("StrataAnalysis", &analyses[k]));
      PetscCall(calls_of("StrataFactor", &eliminations[k]));
    }
    CHECK(analyses[1] > analyses[0], "no analysis in the symbolic phase");
    CHECK(analyses[2] == analyses[1], "an analysis after the symbolic phase");
    CHECK(eliminations[2] > eliminations[1], "no factorisation of new values");
    PetscCall(ISDestroy(&natural));
    PetscCall(end(made));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Values that come after the symbolic phase, which may have seen bad ones, and
// a shift that is asked for then.
PetscErrorCode test_phases(MatType matrix, Random& random) {
  const Rows good = random_rows(50, random, false, 1.0);
  IS natural;
  MatFactorError error;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 50, 0, 1, &natural));
  for (const char* first : {"other", "zero", "NaN"}) {
    Rows rows = good;
    const std::string what = first;
    for (PetscInt i = 0; i < 50; ++i)
      for (const PetscInt j : rows.columns[i])
        if (what == "other")
          rows.at(i, j) *= 2 + random.real();
        else if (i == 30)
          rows.at(i, j) =
              what == "zero" ? 0 : std::numeric_limits<PetscReal>::quiet_NaN();
    Made strata, petsc;
    for (Made* made : {&strata, &petsc}) {
      made->type = MAT_FACTOR_ILU;
      PetscCall(make(rows, made == &strata ? matrix : MATSEQAIJ, &made->A));
      PetscCall(MatFactorInfoInitialize(&made->info));
      made->info.fill = 1;
      made->info.zeropivot = made->info.shiftamount = 100 * rounding();
      PetscCall(symbolic(
          *made, made == &strata ? MATSOLVERSTRATA : MATSOLVERPETSC, natural));
      PetscCall(MatFactorGetError(made->F, &error));
      CHECK(error == MAT_FACTOR_NOERROR, "%s: error %d", first, (int)error);
      PetscCall(fill(made->A, good));
      PetscCall(numeric(*made));
      PetscCall(MatFactorGetError(made->F, &error));
      CHECK(error == MAT_FACTOR_NOERROR, "%s: error %d", first, (int)error);
    }
    PetscCall(compare(strata, petsc, random, 1e4 * rounding(), first));
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
  Rows rows = good;
  for (const PetscInt j : rows.columns[30]) rows.at(30, j) = 0.0;
  Made made;
  made.type = MAT_FACTOR_ILU;
  PetscCall(make(rows, matrix, &made.A));
  PetscCall(MatFactorInfoInitialize(&made.info));
  made.info.fill = 1;
  made.info.zeropivot = 100 * rounding();
  PetscCall(symbolic(made, MATSOLVERSTRATA, natural));
  PetscCall(numeric(made));
  PetscCall(MatFactorGetError(made.F, &error));
  CHECK(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, "error %d", (int)error);
  made.info.shifttype = (PetscReal)MAT_SHIFT_NONZERO;
  made.info.shiftamount = 0.5;
  PetscCall(numeric(made));
  PetscCall(MatFactorGetError(made.F, &error));
  CHECK(error == MAT_FACTOR_NOERROR, "error %d with a shift", (int)error);
  PetscCall(end(made));
  PetscCall(ISDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(test_levels_and_orders(matrix, random));
  PetscCall(test_shifted_pivots(matrix, random));
  for (const MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_LU})
    PetscCall(test_replaced_pivots(matrix, type, random));
  PetscCall(test_single_precision(matrix, random));
  PetscCall(test_events(matrix, random));
  PetscCall(test_phases(matrix, random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(run_tests(argc, argv, test));
  return 0;
}
