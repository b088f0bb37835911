// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Factors of sequential matrices, beside PETSc's own of the same matrix as
// MATSEQAIJ.

#include <petscstrata.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "Check.hpp"

namespace {

using Values = std::vector<PetscScalar>;

// A matrix by rows, so that both types are given the same.
struct Rows {
  PetscInt n = 0;
  std::vector<std::vector<PetscInt>> columns;
  std::vector<Values> values;

  PetscScalar& at(PetscInt i, PetscInt j) {
    const auto& row = columns[i];
    const auto found = std::lower_bound(row.begin(), row.end(), j);
    CHECK(found != row.end() && *found == j, "no entry");
    return values[i][found - row.begin()];
  }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  PetscReal real() {
    return std::uniform_real_distribution<PetscReal>(-1, 1)(engine_);
  }
  PetscScalar scalar() {
#if defined(PETSC_USE_COMPLEX)
    const PetscReal re = real();
    return PetscCMPLX(re, real());
#else
    return real();
#endif
  }
  PetscInt below(PetscInt n) {
    return std::uniform_int_distribution<PetscInt>(0, n - 1)(engine_);
  }

 private:
  std::mt19937 engine_;
};

// About six entries a row in a symmetric pattern, and the diagonal.
// `dominance` times the sum of the others' magnitudes is on the diagonal.
Rows random_rows(PetscInt n, Random& random, bool symmetric,
                 PetscReal dominance) {
  Rows A;
  A.n = n;
  A.columns.resize(n);
  A.values.resize(n);
  for (PetscInt i = 0; i < n; ++i) A.columns[i].push_back(i);
  for (PetscInt k = 0; k < 3 * n; ++k) {
    const PetscInt i = random.below(n), j = random.below(n);
    A.columns[i].push_back(j);
    A.columns[j].push_back(i);
  }
  for (PetscInt i = 0; i < n; ++i) {
    auto& row = A.columns[i];
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    A.values[i].resize(row.size());
  }
  for (PetscInt i = 0; i < n; ++i)
    for (const PetscInt j : A.columns[i])
      A.at(i, j) = symmetric && j < i ? A.at(j, i) : random.scalar();
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal sum = 0;
    for (const PetscInt j : A.columns[i])
      if (j != i) sum += PetscAbsScalar(A.at(i, j));
    A.at(i, i) = dominance * sum + PetscReal(0.1);
  }
  return A;
}

PetscErrorCode fill(Mat A, const Rows& rows) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < rows.n; ++i)
    PetscCall(MatSetValues(A, 1, &i, (PetscInt)rows.columns[i].size(),
                           rows.columns[i].data(), rows.values[i].data(),
                           INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode make(const Rows& rows, MatType type, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, rows.n, rows.n, rows.n, rows.n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 40, NULL));
  PetscCall(fill(*A, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A factored matrix with what it was made from.
struct Made {
  Mat A = NULL, F = NULL;
  MatFactorType type;
  MatFactorInfo info;
};
PetscErrorCode symbolic(Made& made, MatSolverType solver, IS order) {
  PetscFunctionBeginUser;
  PetscCall(MatGetFactor(made.A, solver, made.type, &made.F));
  if (made.type == MAT_FACTOR_ILU)
    PetscCall(MatILUFactorSymbolic(made.F, made.A, order, order, &made.info));
  else
    PetscCall(MatICCFactorSymbolic(made.F, made.A, order, &made.info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode numeric(const Made& made) {
  PetscFunctionBeginUser;
  if (made.type == MAT_FACTOR_ILU)
    PetscCall(MatLUFactorNumeric(made.F, made.A, &made.info));
  else
    PetscCall(MatCholeskyFactorNumeric(made.F, made.A, &made.info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode start(Made& made, const Rows& rows, MatType matrix,
                     MatSolverType solver, MatFactorType type,
                     MatFactorShiftType shift) {
  IS order;

  PetscFunctionBeginUser;
  made.type = type;
  PetscCall(make(rows, matrix, &made.A));
  PetscCall(MatFactorInfoInitialize(&made.info));
  made.info.fill = 1;
  made.info.levels = 0;
  made.info.zeropivot = made.info.shiftamount = 100 * rounding();
  made.info.shifttype = (PetscReal)shift;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, rows.n, 0, 1, &order));
  PetscCall(symbolic(made, solver, order));
  PetscCall(numeric(made));
  PetscCall(ISDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode end(Made& made) {
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&made.F));
  PetscCall(MatDestroy(&made.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode put(Vec v, const Values& values) {
  PetscScalar* a;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &a));
  std::copy(values.begin(), values.end(), a);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode get(Vec v, Values& values) {
  const PetscScalar* a;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &a));
  std::copy(a, a + values.size(), values.begin());
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode solve(const Made& made, const Values& b, bool transpose,
                     Values& x) {
  Vec vx, vb;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(made.A, &vx, &vb));
  PetscCall(put(vb, b));
  if (transpose)
    PetscCall(MatSolveTranspose(made.F, vb, vx));
  else
    PetscCall(MatSolve(made.F, vb, vx));
  x.resize(b.size());
  PetscCall(get(vx, x));
  PetscCall(VecDestroy(&vx));
  PetscCall(VecDestroy(&vb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal apart(const Values& x, const Values& y) {
  PetscReal largest = 0, size = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    // What is no number differs from everything.
    if (!(PetscAbsScalar(x[k] - y[k]) <= largest))
      largest = PetscAbsScalar(x[k] - y[k]);
    size = std::max(size, PetscAbsScalar(y[k]));
  }
  return largest > 0 ? largest / size : 0;
}

// PETSc's own MATSEQAIJCUSPARSE refuses matrices without rows in places.
bool takes_empty(MatType matrix) {
  return std::string(matrix) != MATSEQAIJCUSPARSE;
}

PetscErrorCode compare(const Made& made, const Made& reference, Random& random,
                       PetscReal tolerance, const char* what) {
  Values b, x, y;
  PetscInt n;
  PetscFunctionBeginUser;
  PetscCall(MatGetSize(made.A, &n, NULL));
  b.resize(n);
  for (auto& value : b) value = random.scalar();
  for (const bool transpose : {false, true}) {
    PetscCall(solve(made, b, transpose, x));
    PetscCall(solve(reference, b, transpose, y));
    CHECK(apart(x, y) <= tolerance, "%s, transpose %d: %g apart", what,
          transpose, (double)apart(x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

PetscErrorCode expect_counts(Mat F, PetscInt analyses,
                             PetscInt factorizations) {
  PetscInt a, f;
  PetscFunctionBeginUser;
  PetscCall(MatStrataGetStatistics(F, &a, &f));
  CHECK(a == analyses && f == factorizations,
        "%d analyses and %d factorizations, not %d and %d", (int)a, (int)f,
        (int)analyses, (int)factorizations);
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
    PetscInt factorizations;
    PetscCall(MatStrataGetStatistics(strata.F, NULL, &factorizations));
    CHECK(factorizations > 1, "nothing was shifted");
    PetscCall(compare(strata, petsc, random, 1e5 * rounding(), "shifted"));
    PetscCall(end(strata));
    PetscCall(end(petsc));
  }
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

  // A first factorisation that fails, and a diagonal entry that is missing.
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

PetscErrorCode test_refusals(MatType matrix, Random& random) {
  const Rows rows = random_rows(30, random, false, 1.0);
  IS natural, reversed;
  MatFactorInfo plain;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 30, 0, 1, &natural));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 30, 29, -1, &reversed));
  PetscCall(ISSetPermutation(reversed));
  PetscCall(MatFactorInfoInitialize(&plain));
  plain.fill = 1;
  plain.levels = 0;
  Made made;
  made.type = MAT_FACTOR_ILU;
  PetscCall(make(rows, matrix, &made.A));
  const auto refuses = [&](const char* what, const MatFactorInfo& info,
                           IS order) {
    made.info = info;
    const PetscErrorCode code =
        code_of([&] { return symbolic(made, MATSOLVERSTRATA, order); });
    CHECK(code == PETSC_ERR_SUP, "%s: code %d", what, (int)code);
    CHECK(MatDestroy(&made.F) == PETSC_SUCCESS, "%s", what);
  };
  MatFactorInfo info = plain;
  info.levels = 1;
  refuses("levels", info, natural);
  info = plain;
  info.usedt = 1;
  refuses("drop tolerance", info, natural);
  info = plain;
  info.diagonal_fill = 1;
  refuses("diagonal fill", info, natural);
  info = plain;
  info.shifttype = (PetscReal)MAT_SHIFT_INBLOCKS;
  refuses("shift in blocks", info, natural);
  refuses("order", plain, reversed);
  made.info = plain;
  for (const char* option : {"-mat_strata_algorithm", "-mat_strata_accuracy"}) {
    PetscCall(PetscOptionsSetValue(NULL, option, "nonsense"));
    CHECK(code_of([&] { return symbolic(made, MATSOLVERSTRATA, natural); }) ==
              PETSC_ERR_ARG_OUTOFRANGE,
          "%s nonsense", option);
    PetscCall(PetscOptionsClearValue(NULL, option));
    PetscCall(MatDestroy(&made.F));
  }
  made.type = MAT_FACTOR_ICC;
  if (PetscDefined(USE_COMPLEX)) {
    refuses("complex Cholesky", plain, natural);
  } else {
    PetscCall(symbolic(made, MATSOLVERSTRATA, natural));
    CHECK(code_of([&] { return numeric(made); }) == PETSC_ERR_ARG_WRONG,
          "Cholesky of a matrix that is not symmetric");
    PetscCall(MatDestroy(&made.F));
  }
  Mat F;
  CHECK(code_of([&] {
          return MatGetFactor(made.A, MATSOLVERSTRATA, MAT_FACTOR_LU, &F);
        }) == PETSC_ERR_MISSING_FACTOR,
        "LU");
  CHECK(code_of([&] { return MatStrataGetStatistics(made.A, NULL, NULL); }) ==
            PETSC_ERR_ARG_WRONG,
        "statistics of a matrix that is no factor");
  PetscCall(MatDestroy(&made.A));
  PetscCall(ISDestroy(&natural));
  PetscCall(ISDestroy(&reversed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscInt seed = (PetscInt)std::random_device()() & 0xffff;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatSolverTypeRegister_Strata());
  PetscCall(MatSolverTypeRegister_Strata());  // Does no harm.
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "-seed %d\n", (int)seed));
  Random random((unsigned)seed);
  const PetscReal tolerance = 1000 * rounding();
  std::vector<MatType> matrices = {MATSEQAIJ, MATSEQAIJKOKKOS};
  if (PetscDefined(HAVE_CUDA)) matrices.push_back(MATSEQAIJCUSPARSE);
  for (MatType matrix : matrices) {
    PetscCall(test_solves(matrix, MAT_FACTOR_ILU, tolerance, random));
    PetscCall(test_another_pattern(matrix, random));
    for (MatFactorShiftType shift :
         {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE})
      PetscCall(test_shifts(matrix, MAT_FACTOR_ILU, shift, random));
    if (!PetscDefined(USE_COMPLEX)) {
      PetscCall(test_solves(matrix, MAT_FACTOR_ICC, tolerance, random));
      PetscCall(test_shifts(matrix, MAT_FACTOR_ICC, MAT_SHIFT_POSITIVE_DEFINITE,
                            random));
    }
    PetscCall(test_bad_pivots(matrix, random));
    PetscCall(test_refusals(matrix, random));
  }
  PetscCall(PetscFinalize());
  return 0;
}
