// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Complete factors, and halves of solves with all kinds, beside PETSc's own.

#include <limits>

#include "Both.hpp"

namespace {

enum class Half { forward, backward };
PetscErrorCode half_solve(const Made& made, Half half, const Values& b,
                          Values& x) {
  Vec vx, vb;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(made.A, &vx, &vb));
  PetscCall(put(vb, b));
  if (half == Half::forward)
    PetscCall(MatForwardSolve(made.F, vb, vx));
  else
    PetscCall(MatBackwardSolve(made.F, vb, vx));
  x.resize(b.size());
  PetscCall(get(vx, x));
  PetscCall(VecDestroy(&vx));
  PetscCall(VecDestroy(&vb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Both halves make a solve, and those of icc are PETSc's.
PetscErrorCode test_half_solves(MatType matrix, Random& random) {
  const PetscInt n = 80;
  Values b(n), y, x, expected;

  PetscFunctionBeginUser;
  for (const MatFactorType type :
       {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU})
    for (const char* order : {"natural", "rcm"}) {
      Rows rows = random_rows(n, random, type == MAT_FACTOR_ICC, 1.5);
      // PETSc refuses complex pivots.
      if (PetscDefined(USE_COMPLEX) && type == MAT_FACTOR_ICC)
        for (PetscInt i = 0; i < n; ++i)
          for (const PetscInt j : rows.columns[i])
            rows.at(i, j) = PetscRealPart(rows.at(i, j));
      Made strata, petsc;
      PetscCall(start_both(strata, petsc, rows, matrix, {type, order}, random));
      for (int round = 0; round < 2; ++round) {
        for (auto& value : b) value = random.scalar();
        PetscCall(half_solve(strata, Half::forward, b, y));
        PetscCall(half_solve(strata, Half::backward, y, x));
        PetscCall(solve(petsc, b, false, expected));
        CHECK(apart(x, expected) <= 1e4 * rounding(), "%s, %s: %g apart",
              MatFactorTypes[type], order, (double)apart(x, expected));
        if (type == MAT_FACTOR_ICC)
          for (const Half half : {Half::forward, Half::backward}) {
            PetscCall(half_solve(strata, half, b, x));
            PetscCall(half_solve(petsc, half, b, expected));
            CHECK(apart(x, expected) <= 1e4 * rounding(), "%s, half %d: %g",
                  order, (int)half, (double)apart(x, expected));
          }
        PetscCall(change(rows, random, type == MAT_FACTOR_ICC));
        for (Made* made : {&strata, &petsc}) {
          PetscCall(fill(made->A, rows));
          PetscCall(numeric(*made));
        }
      }
      // A negative pivot has no square root.
      if (type == MAT_FACTOR_ICC) {
        rows.at(5, 5) *= -1;
        PetscCall(fill(strata.A, rows));
        PetscCall(numeric(strata));
        for (const Half half : {Half::forward, Half::backward})
          CHECK(code_of([&] { return half_solve(strata, half, b, x); }) ==
                    PETSC_ERR_SUP,
                "half of a solve with a negative pivot");
        PetscCall(solve(strata, b, false, x));
      }
      PetscCall(end(strata));
      PetscCall(end(petsc));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fill_both(Made& strata, Made& petsc, const Rows& rows) {
  PetscFunctionBeginUser;
  PetscCall(MatFactorClearError(petsc.F));  // PETSc's keeps it.
  for (Made* made : {&strata, &petsc}) {
    PetscCall(fill(made->A, rows));
    PetscCall(numeric(*made));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Three neighbouring rows have one pattern each, so that PETSc factorises them
// together.
PetscErrorCode test_complete_of_nodes(MatType matrix, Random& random) {
  const Rows nodes = random_rows(40, random, false, 1.0);
  Rows rows;

  PetscFunctionBeginUser;
  rows.n = 3 * nodes.n;
  rows.columns.resize(rows.n);
  rows.values.resize(rows.n);
  for (PetscInt i = 0; i < rows.n; ++i)
    for (const PetscInt node : nodes.columns[i / 3])
      for (PetscInt j = 3 * node; j < 3 * node + 3; ++j) {
        rows.columns[i].push_back(j);
        rows.values[i].push_back(i == j ? PetscScalar(60) : random.scalar());
      }
  for (const char* order : {"natural", "nd", "rcm"}) {
    Made strata, petsc;
    PetscCall(start_both(strata, petsc, rows, matrix, {MAT_FACTOR_LU, order},
                         random));
    PetscCall(compare(strata, petsc, random, 1e4 * rounding(), order));
    PetscCall(change(rows, random, false));
    PetscCall(fill_both(strata, petsc, rows));
    PetscCall(compare(strata, petsc, random, 1e4 * rounding(), order));
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error, and a row and a pivot that are told with it.
struct Fault {
  MatFactorError error;
  PetscReal pivot;
  PetscInt row;
};
PetscErrorCode fault_of(const Made& made, Fault* fault) {
  PetscFunctionBeginUser;
  PetscCall(MatFactorGetError(made.F, &fault->error));
  PetscCall(MatFactorGetErrorZeroPivot(made.F, &fault->pivot, &fault->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Complete factors: a pivot that fails, values that are not finite, and a
// pattern that changes.
PetscErrorCode test_complete(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  Rows rows = random_rows(100, random, false, 1.0);
  const Rows good = rows;
  Made strata, petsc;
  Fault fault, expected;
  std::string text;
  PetscCall(
      start_both(strata, petsc, rows, matrix, {MAT_FACTOR_LU, "nd"}, random));
  Values b(100), x(100), r;
  for (auto& value : b) value = random.scalar();
  PetscCall(solve(strata, b, false, x));
  r = b;
  for (PetscInt i = 0; i < 100; ++i)
    for (const PetscInt j : rows.columns[i]) r[i] -= rows.at(i, j) * x[j];
  for (PetscInt i = 0; i < 100; ++i) r[i] += b[i];
  CHECK(apart(r, b) <= 1e4 * rounding(), "a residual of %g",
        (double)apart(r, b));
  // Zero in every entry of a row.
  for (const PetscInt j : rows.columns[40]) rows.at(40, j) = 0.0;
  PetscCall(fill_both(strata, petsc, rows));
  PetscCall(fault_of(strata, &fault));
  PetscCall(fault_of(petsc, &expected));
  CHECK(fault.error == MAT_FACTOR_NUMERIC_ZEROPIVOT &&
            fault.error == expected.error && fault.row == expected.row &&
            fault.pivot == expected.pivot,
        "error %d, row %d, pivot %g; PETSc's %d, %d, %g", (int)fault.error,
        (int)fault.row, (double)fault.pivot, (int)expected.error,
        (int)expected.row, (double)expected.pivot);
  PetscCall(view(strata.F, text));
  CHECK(text.find("failed: zero pivot in row") != std::string::npos &&
            text.find("(of the matrix: 40)") != std::string::npos,
        "%s", text.c_str());
  PetscCall(fill_both(strata, petsc, good));
  PetscCall(compare(strata, petsc, random, 1e4 * rounding(), "good again"));
  rows = good;
  rows.at(40, 40) = std::numeric_limits<PetscReal>::quiet_NaN();
  PetscCall(fill(strata.A, rows));
  PetscCall(numeric(strata));
  PetscCall(fault_of(strata, &fault));
  CHECK(fault.error == MAT_FACTOR_OTHER, "error %d", (int)fault.error);
  PetscCall(fill_both(strata, petsc, good));
  PetscCall(compare(strata, petsc, random, 1e4 * rounding(), "finite again"));
  PetscCall(expect_counts(strata.F, 1, 5));
  // The numeric phase finds another pattern.
  for (Made* made : {&strata, &petsc}) PetscCall(MatDestroy(&made->A));
  PetscCall(MatDestroy(&petsc.F));
  rows = random_rows(100, random, false, 1.0);
  PetscCall(make(rows, matrix, &strata.A));
  PetscCall(numeric(strata));
  PetscCall(expect_counts(strata.F, 2, 6));
  PetscCall(start(petsc, rows, MATSEQAIJ, MATSOLVERPETSC, MAT_FACTOR_LU,
                  MAT_SHIFT_NONE));
  PetscCall(compare(strata, petsc, random, 1e4 * rounding(), "new pattern"));
  PetscCall(end(strata));
  PetscCall(end(petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc's shifts in each order, and values that need none from the same
// analysis.
PetscErrorCode test_shifts_of_complete(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const MatFactorShiftType shift :
       {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS})
    for (const char* order : {"natural", "nd", "rcm"}) {
      Rows rows = random_rows(60, random, false, 1.5);
      const Rows good = rows;
      const PetscInt bad = random.below(60);
      for (const PetscInt j : rows.columns[bad])
        rows.at(bad, j) = rows.at(j, bad) = 0.0;
      if (shift == MAT_SHIFT_POSITIVE_DEFINITE) rows.at(bad, bad) = -1.0;
      Made strata, petsc;
      Fault fault, expected;
      std::string text;
      PetscCall(start_both(strata, petsc, rows, matrix,
                           {MAT_FACTOR_LU, order, 0, shift, 0.25}, random));
      PetscCall(fault_of(strata, &fault));
      PetscCall(fault_of(petsc, &expected));
      CHECK(fault.error == MAT_FACTOR_NOERROR && expected.error == fault.error,
            "%s, %s: error %d, PETSc's %d", MatFactorShiftTypes[shift], order,
            (int)fault.error, (int)expected.error);
      PetscCall(view(strata.F, text));
      CHECK(text.find(shift == MAT_SHIFT_INBLOCKS
                          ? "1 pivots were shifted"
                          : "was added") != std::string::npos,
            "%s, %s: %s", MatFactorShiftTypes[shift], order, text.c_str());
      PetscCall(compare(strata, petsc, random, 1e5 * rounding(), "shifted"));
      PetscCall(fill_both(strata, petsc, good));
      PetscCall(compare(strata, petsc, random, 1e5 * rounding(), "good"));
      PetscCall(view(strata.F, text));
      CHECK(text.find("1 analyses") != std::string::npos &&
                text.find("shifted") == std::string::npos &&
                text.find("added") == std::string::npos,
            "%s", text.c_str());
      PetscCall(end(strata));
      PetscCall(end(petsc));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Without rows, or without an entry on the diagonal.
PetscErrorCode test_missing_entries(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  for (const char* order : {"natural", "rcm"}) {
    Rows rows = random_rows(50, random, false, 1.0);
    auto& columns = rows.columns[9];
    const auto at = std::find(columns.begin(), columns.end(), 9);
    rows.values[9].erase(rows.values[9].begin() + (at - columns.begin()));
    columns.erase(at);
    IS is_rows, is_columns;
    const PetscInt* places;
    Made made;
    Fault fault;
    made.type = MAT_FACTOR_LU;
    PetscCall(MatFactorInfoInitialize(&made.info));
    made.info.fill = 5;
    PetscCall(make(rows, matrix, &made.A));
    PetscCall(MatGetOrdering(made.A, order, &is_rows, &is_columns));
    PetscCall(symbolic(made, MATSOLVERSTRATA, is_rows, is_columns));
    PetscCall(numeric(made));
    PetscCall(fault_of(made, &fault));
    PetscCall(ISGetIndices(is_rows, &places));
    CHECK(fault.error == MAT_FACTOR_STRUCT_ZEROPIVOT && places[fault.row] == 9,
          "%s: error %d, row %d", order, (int)fault.error, (int)fault.row);
    PetscCall(ISRestoreIndices(is_rows, &places));
    PetscCall(ISDestroy(&is_rows));
    PetscCall(ISDestroy(&is_columns));
    PetscCall(end(made));
  }
  if (takes_empty(matrix)) {
    Made made;
    Values none;
    PetscCall(start(made, Rows(), matrix, MATSOLVERSTRATA, MAT_FACTOR_LU,
                    MAT_SHIFT_NONE));
    PetscCall(expect_counts(made.F, 1, 1));
    PetscCall(solve(made, none, false, none));
    PetscCall(end(made));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  PetscCall(test_half_solves(matrix, random));
  PetscCall(test_complete(matrix, random));
  PetscCall(test_shifts_of_complete(matrix, random));
  PetscCall(test_missing_entries(matrix, random));
  PetscCall(test_complete_of_nodes(matrix, random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(run_tests(argc, argv, test));
  return 0;
}
