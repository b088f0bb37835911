// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_TESTS_BOTH_HPP
#define PETSCSTRATA_TESTS_BOTH_HPP

// Factors of strata's, and PETSc's with the same options and in the same order.

#include <numeric>

#include "Factors.hpp"

// An entry of row 0 right of its diagonal, 0 where there is none. Its mirror
// image is stored, too.
inline PetscInt partner_of_first(const Rows& rows) {
  for (const PetscInt j : rows.columns[0])
    if (j > 0) return j;
  return 0;
}

// `order` is PETSc's name of one, or "random": rows and, unless the factor is
// symmetric, columns that differ from these in two places, see
// partner_of_first.
inline PetscErrorCode make_order(Mat A, const Rows& matrix,
                                 const std::string& order, bool symmetric,
                                 Random& random, IS* rows, IS* columns) {
  const PetscInt n = matrix.n;

  PetscFunctionBeginUser;
  if (order != "random") {
    PetscCall(MatGetOrdering(A, order.c_str(), rows, columns));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<PetscInt> places(n);
  std::iota(places.begin(), places.end(), 0);
  for (PetscInt i = n - 1; i > 0; --i)
    std::swap(places[i], places[random.below(i + 1)]);
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, places.data(),
                            PETSC_COPY_VALUES, rows));
  if (!symmetric)
    std::swap(
        *std::find(places.begin(), places.end(), 0),
        *std::find(places.begin(), places.end(), partner_of_first(matrix)));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, places.data(),
                            PETSC_COPY_VALUES, columns));
  PetscCall(ISSetPermutation(*rows));
  PetscCall(ISSetPermutation(*columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct How {
  MatFactorType type = MAT_FACTOR_ILU;
  const char* order = "natural";
  PetscInt levels = 0;
  MatFactorShiftType shift = MAT_SHIFT_NONE;
  PetscReal amount = 0;
};

// strata's factors and PETSc's in the same order.
inline PetscErrorCode start_both(Made& strata, Made& petsc, const Rows& rows,
                                 MatType matrix, const How& how,
                                 Random& random) {
  IS order, columns;

  PetscFunctionBeginUser;
  PetscCall(make(rows, matrix, &strata.A));
  PetscCall(make(rows, MATSEQAIJ, &petsc.A));
  PetscCall(make_order(petsc.A, rows, how.order, how.type == MAT_FACTOR_ICC,
                       random, &order, &columns));
  for (Made* made : {&strata, &petsc}) {
    made->type = how.type;
    PetscCall(MatFactorInfoInitialize(&made->info));
    made->info.fill = 5;
    made->info.levels = (PetscReal)how.levels;
    made->info.zeropivot = made->info.shiftamount = 100 * rounding();
    if (how.amount > 0) made->info.shiftamount = how.amount;
    made->info.shifttype = (PetscReal)how.shift;
    PetscCall(symbolic(*made,
                       made == &strata ? MATSOLVERSTRATA : MATSOLVERPETSC,
                       order, columns));
    PetscCall(numeric(*made));
  }
  PetscCall(ISDestroy(&order));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode change(Rows& rows, Random& random, bool symmetric) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < rows.n; ++i)
    for (const PetscInt j : rows.columns[i])
      if (j >= i) {
        const PetscReal factor = 1 + PetscReal(0.3) * random.real();
        rows.at(i, j) *= factor;
        if (j > i) rows.at(j, i) *= symmetric ? factor : 1 / factor;
        if (j == i) rows.at(i, i) *= 2;
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
