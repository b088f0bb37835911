// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Complete factors, and halves of solves with all kinds, beside PETSc's own.

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
    for (Made* made : {&strata, &petsc}) {
      PetscCall(fill(made->A, rows));
      PetscCall(numeric(*made));
    }
    PetscCall(compare(strata, petsc, random, 1e4 * rounding(), order));
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Complete factors: a pattern that changes and a pivot that fails.
PetscErrorCode test_complete(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  Rows rows = random_rows(100, random, false, 1.0);
  const Rows good = rows;
  Made strata, petsc;
  MatFactorError error;
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
  for (Made* made : {&strata, &petsc}) {
    PetscCall(fill(made->A, rows));
    PetscCall(numeric(*made));
    PetscCall(MatFactorGetError(made->F, &error));
    CHECK(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, "error %d", (int)error);
  }
  PetscCall(view(strata.F, text));
  CHECK(text.find("failed: zero pivot in row") != std::string::npos, "%s",
        text.c_str());
  PetscCall(MatFactorClearError(petsc.F));
  for (Made* made : {&strata, &petsc}) {
    PetscCall(fill(made->A, good));
    PetscCall(numeric(*made));
  }
  PetscCall(compare(strata, petsc, random, 1e4 * rounding(), "good again"));
  PetscCall(MatDestroy(&strata.A));
  rows = random_rows(100, random, false, 1.0);
  PetscCall(make(rows, matrix, &strata.A));
  for (PetscInt i = 0; i < 3; ++i) PetscCall(fill(strata.A, rows));
  PetscCall(MatSetOption(strata.A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(
      MatSetOption(strata.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt j = 0; j < 100; ++j)
    PetscCall(MatSetValue(strata.A, 50, j, 0.01, ADD_VALUES));
  PetscCall(MatAssemblyBegin(strata.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(strata.A, MAT_FINAL_ASSEMBLY));
  CHECK(code_of([&] { return numeric(strata); }) == PETSC_ERR_ARG_WRONGSTATE,
        "another pattern");
  PetscCall(end(strata));
  PetscCall(end(petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test(MatType matrix, Random& random) {
  PetscFunctionBeginUser;
  PetscCall(test_half_solves(matrix, random));
  PetscCall(test_complete(matrix, random));
  PetscCall(test_complete_of_nodes(matrix, random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(run_tests(argc, argv, test));
  return 0;
}
