// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_TESTS_FACTORS_HPP
#define PETSCSTRATA_TESTS_FACTORS_HPP

// Random sequential matrices, their factors, and solves with these.

#include <petscstrata.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "Check.hpp"

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
inline Rows random_rows(PetscInt n, Random& random, bool symmetric,
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

inline PetscErrorCode fill(Mat A, const Rows& rows) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < rows.n; ++i)
    PetscCall(MatSetValues(A, 1, &i, (PetscInt)rows.columns[i].size(),
                           rows.columns[i].data(), rows.values[i].data(),
                           INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode make(const Rows& rows, MatType type, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, rows.n, rows.n, rows.n, rows.n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 80, NULL));
  PetscCall(fill(*A, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A factored matrix with what it was made from.
struct Made {
  Mat A = NULL, F = NULL;
  MatFactorType type;
  MatFactorInfo info;
};
inline PetscErrorCode symbolic(Made& made, MatSolverType solver, IS order,
                               IS columns = NULL) {
  PetscFunctionBeginUser;
  if (!columns) columns = order;
  PetscCall(MatGetFactor(made.A, solver, made.type, &made.F));
  if (made.type == MAT_FACTOR_ILU)
    PetscCall(MatILUFactorSymbolic(made.F, made.A, order, columns, &made.info));
  else if (made.type == MAT_FACTOR_LU)
    PetscCall(MatLUFactorSymbolic(made.F, made.A, order, columns, &made.info));
  else
    PetscCall(MatICCFactorSymbolic(made.F, made.A, order, &made.info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode numeric(const Made& made) {
  PetscFunctionBeginUser;
  if (made.type != MAT_FACTOR_ICC)
    PetscCall(MatLUFactorNumeric(made.F, made.A, &made.info));
  else
    PetscCall(MatCholeskyFactorNumeric(made.F, made.A, &made.info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// `amount` is that of the shift nonzero; 0: PETSc's default.
inline PetscErrorCode start(Made& made, const Rows& rows, MatType matrix,
                            MatSolverType solver, MatFactorType type,
                            MatFactorShiftType shift, PetscReal amount = 0) {
  IS order;

  PetscFunctionBeginUser;
  made.type = type;
  PetscCall(make(rows, matrix, &made.A));
  PetscCall(MatFactorInfoInitialize(&made.info));
  made.info.fill = 1;
  made.info.levels = 0;
  made.info.zeropivot = made.info.shiftamount = 100 * rounding();
  if (amount > 0) made.info.shiftamount = amount;
  made.info.shifttype = (PetscReal)shift;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, rows.n, 0, 1, &order));
  PetscCall(symbolic(made, solver, order));
  PetscCall(numeric(made));
  PetscCall(ISDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode end(Made& made) {
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&made.F));
  PetscCall(MatDestroy(&made.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode put(Vec v, const Values& values) {
  PetscScalar* a;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &a));
  std::copy(values.begin(), values.end(), a);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode get(Vec v, Values& values) {
  const PetscScalar* a;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &a));
  std::copy(a, a + values.size(), values.begin());
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode solve(const Made& made, const Values& b, bool transpose,
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

inline PetscReal apart(const Values& x, const Values& y) {
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
inline bool takes_empty(MatType matrix) {
  return std::string(matrix) != MATSEQAIJCUSPARSE;
}

inline PetscErrorCode compare(const Made& made, const Made& reference,
                              Random& random, PetscReal tolerance,
                              const char* what) {
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

inline PetscErrorCode expect_counts(Mat F, PetscInt analyses,
                                    PetscInt factorizations) {
  PetscInt a, f;
  PetscFunctionBeginUser;
  PetscCall(MatStrataGetStatistics(F, &a, &f));
  CHECK(a == analyses && f == factorizations,
        "%d analyses and %d factorizations, not %d and %d", (int)a, (int)f,
        (int)analyses, (int)factorizations);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the view of a factor prints.
inline PetscErrorCode view(Mat F, std::string& text) {
  PetscViewer viewer;
  char* data = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&data, &size);

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(F, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  std::fclose(file);
  text.assign(data, size);
  std::free(data);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls `test` with a generator and each type of matrix that this PETSc has.
// -seed repeats a case.
template <class Test>
PetscErrorCode run_tests(int argc, char** argv, const Test& test) {
  PetscInt seed = (PetscInt)std::random_device()() & 0xffff;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatSolverTypeRegister_Strata());
  PetscCall(MatSolverTypeRegister_Strata());  // Does no harm.
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "-seed %d\n", (int)seed));
  Random random((unsigned)seed);
  std::vector<MatType> matrices = {MATSEQAIJ, MATSEQAIJKOKKOS};
  if (PetscDefined(HAVE_CUDA)) matrices.push_back(MATSEQAIJCUSPARSE);
  for (MatType matrix : matrices) PetscCall(test(matrix, random));
  PetscCall(PetscFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
