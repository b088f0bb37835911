// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The symbolic and the numeric phase.

#include "Checks.hpp"
#include "Complete.hpp"
#include "Operations.hpp"
#include "Options.hpp"

namespace PetscStrata {
namespace {

/// Of -log_view. `analysis`: patterns, order, fill and plans. `elimination`:
/// values of factors, and the solvers that get them.
struct Events {
  PetscClassId class_id = 0;
  PetscLogEvent analysis, elimination;
} events;

PetscErrorCode forget_events() {
  events.class_id = 0;
  return PETSC_SUCCESS;
}

// The first row without entries, -1 where there is none. On the device,
// MATSEQAIJCUSPARSE leaves such rows out where most rows are so: its row map is
// then shorter than the matrix has rows.
PetscErrorCode find_empty_row(Mat A, PetscInt* row) {
  PetscBool is_cusparse, done;
  const PetscInt *row_map, *entries;
  PetscInt n;

  PetscFunctionBegin;
  *row = -1;
  PetscCall(
      PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &is_cusparse));
  if (!is_cusparse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_map, &entries,
                        &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB,
             "strata: the matrix has no row map");
  for (PetscInt i = n - 1; i >= 0; --i)
    if (row_map[i] == row_map[i + 1]) *row = i;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_map,
                            &entries, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls a step of a factorisation, as an event.
template <class Work>
PetscErrorCode run_step(Mat F, PetscLogEvent event, const Work& work) {
  FactorBase& factor = factor_of(F);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event, F, 0, 0, 0));
  if (!factor.on_host()) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(without_exceptions(F, work));
  if (!factor.on_host()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(event, F, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The solvers get the factors: an analysis the first time.
PetscErrorCode plan_factors(Mat F) {
  FactorBase& factor = factor_of(F);

  PetscFunctionBegin;
  PetscCall(run_step(
      F, factor.is_planned() ? events.elimination : events.analysis, [&] {
        const Outcome planned = factor.plan();
        if (planned.error != MAT_FACTOR_NOERROR) factor.outcome = planned;
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_entries(Mat A, PetscLogDouble* stored) {
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *stored = info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// work(order), with the order of these rows and columns of A.
template <class Work>
PetscErrorCode with_order(Mat A, IS rows, IS columns, const Work& work) {
  HostOrder order;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(ISGetIndices(rows, &order.rows));
  PetscCall(ISGetIndices(columns, &order.columns));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &order.count,
                        &order.row_map, &order.entries, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB,
             "strata: the matrix has no row map");
  PetscCall(work(order));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &order.count,
                            &order.row_map, &order.entries, &done));
  PetscCall(ISRestoreIndices(columns, &order.columns));
  PetscCall(ISRestoreIndices(rows, &order.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The pattern of complete factors, by PETSc's symbolic phase. That takes no
// matrix with a missing diagonal entry, which is the factor's outcome then.
PetscErrorCode find_complete_pattern(Mat F, Mat A, HostPattern* pattern) {
  FactorBase& factor = factor_of(F);
  IS rows = factor.rows, columns = factor.columns, natural = NULL;
  PetscInt missing = -1;

  PetscFunctionBegin;
  if (!rows) {
    PetscCall(ISCreateStride(PETSC_COMM_SELF, A->rmap->n, 0, 1, &natural));
    rows = columns = natural;
  }
  PetscCall(with_order(A, rows, columns, [&](const HostOrder& order) {
    missing = find_missing_diagonal(order);
    return PETSC_SUCCESS;
  }));
  if (missing >= 0) {
    PetscCallCXX(factor.outcome = failed(
                     MAT_FACTOR_STRUCT_ZEROPIVOT, missing,
                     "no diagonal entry in row " + std::to_string(missing)));
  } else {
    Mat G;
    PetscCall(MatGetFactor(A, MATSOLVERPETSC, MAT_FACTOR_LU, &G));
    PetscCall((*G->ops->lufactorsymbolic)(G, A, rows, columns, &factor.info));
    PetscCall(read_pattern(G, pattern));
    PetscCall(MatDestroy(&G));
  }
  PetscCall(ISDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode analyse_pattern(Mat F, Mat A, const CsrArrays& arrays) {
  FactorBase& factor = factor_of(F);
  const bool is_complete = F->factortype == MAT_FACTOR_LU;
  HostPattern pattern;
  const auto analyse = [&](const HostOrder* order) {
    return run_step(F, events.analysis, [&] {
      factor.outcome =
          factor.analyse(arrays, order, is_complete ? &pattern : NULL);
    });
  };

  PetscFunctionBegin;
  if (is_complete) PetscCall(find_complete_pattern(F, A, &pattern));
  if (factor.outcome.error != MAT_FACTOR_NOERROR)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (factor.rows)
    PetscCall(
        with_order(A, factor.rows, factor.columns,
                   [&](const HostOrder& order) { return analyse(&order); }));
  else
    PetscCall(analyse(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All steps; what comes of them is the factor's outcome.
PetscErrorCode factorise(Mat F, Mat A, const MatFactorInfo* info) {
  FactorBase& factor = factor_of(F);
  CsrArrays arrays;
  Outcome& outcome = factor.outcome;
  PetscObjectId matrix;
  PetscObjectState pattern;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &matrix));
  PetscCall(MatGetNonzeroState(A, &pattern));
  const bool is_known = pattern == factor.pattern && matrix == factor.matrix;
  if (!is_known) {
    factor.pattern = -1;
    PetscCall(find_empty_row(A, &factor.empty_row));
    PetscCall(count_entries(A, &factor.stored));
  }
  outcome = Outcome();
  if (factor.empty_row >= 0) {
    PetscCallCXX(outcome = failed(MAT_FACTOR_STRUCT_ZEROPIVOT, factor.empty_row,
                                  "row " + std::to_string(factor.empty_row) +
                                      " has no entries, so no diagonal entry"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  arrays.rows = A->rmap->n;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &arrays.row_map, &arrays.entries,
                                      &arrays.values, &arrays.memory));
  if (!is_known) {
    PetscCall(analyse_pattern(F, A, arrays));
    if (outcome.error != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  }
  // What it refuses is not known.
  factor.pattern = -1;
  PetscCall(run_step(F, events.elimination,
                     [&] { outcome = factor.eliminate(arrays, *info); }));
  factor.pattern = pattern;
  factor.matrix = matrix;
  if (outcome.error == MAT_FACTOR_NOERROR) PetscCall(plan_factors(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What PETSc is told of an outcome.
PetscErrorCode tell(Mat F, Mat A) {
  const FactorBase& factor = factor_of(F);
  const Outcome& outcome = factor.outcome;

  PetscFunctionBegin;
  F->factorerrortype = outcome.error;
  F->factorerror_zeropivot_value = 0;
  F->factorerror_zeropivot_row = 0;
  if (outcome.error != MAT_FACTOR_NOERROR) {
    PetscErrorCode code =
        factor.is_cholesky ? PETSC_ERR_MAT_CH_ZRPVT : PETSC_ERR_MAT_LU_ZRPVT;
    if (outcome.error == MAT_FACTOR_OUTMEMORY) code = PETSC_ERR_MEM;
    if (outcome.error == MAT_FACTOR_OTHER) code = PETSC_ERR_FP;
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, code, "strata: %s",
               outcome.reason.c_str());
    PetscCall(PetscInfo(F, "strata: %s\n", outcome.reason.c_str()));
    F->factorerror_zeropivot_row = PetscMax(outcome.row, 0);
    F->factorerror_zeropivot_value = outcome.pivot;
  } else if (outcome.shift > 0) {
    PetscCall(PetscInfo(F, "strata: %g was added to the diagonal\n",
                        (double)outcome.shift));
  }
  set_solves(F);
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_same(const MatFactorInfo& a, const MatFactorInfo& b) {
  return a.shifttype == b.shifttype && a.shiftamount == b.shiftamount &&
         a.zeropivot == b.zeropivot;
}

PetscErrorCode Numeric_Strata(Mat F, Mat A, const MatFactorInfo* given) {
  FactorBase& factor = factor_of(F);
  MatFactorInfo info = *given;
  PetscObjectId matrix;
  PetscObjectState values;

  PetscFunctionBegin;
  PetscCall(restore_shift(F, &info));
  PetscCall(PetscObjectGetId((PetscObject)A, &matrix));
  PetscCall(PetscObjectStateGet((PetscObject)A, &values));
  const bool is_done = values == factor.values && matrix == factor.matrix &&
                       is_same(info, factor.info);
  factor.values = -1;
  if (!is_done) PetscCall(factorise(F, A, &info));
  PetscCall(tell(F, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The pattern is analysed here, and since plans depend on values, those that A
// has now are factorised: a numeric phase with the same has nothing left to do.
PetscErrorCode symbolic(Mat F, Mat A, IS rows, IS columns,
                        const MatFactorInfo* given) {
  FactorBase& factor = factor_of(F);
  PetscBool natural[2];

  PetscFunctionBegin;
  factor.info = *given;
  PetscCall(check_info(F, A, rows, columns, given));
  PetscCall(restore_shift(F, &factor.info));
  PetscCall(read_options(F, &factor.options));
  factor.levels = static_cast<PetscInt>(given->levels);
  PetscCall(ISDestroy(&factor.rows));
  PetscCall(ISDestroy(&factor.columns));
  PetscCall(is_natural(rows, &natural[0]));
  PetscCall(is_natural(columns, &natural[1]));
  if (!natural[0] || !natural[1]) {
    PetscCheck(rows && columns, PetscObjectComm((PetscObject)F),
               PETSC_ERR_ARG_NULL,
               "strata: an order is of rows and columns: pass both");
    for (IS order : {rows, columns})
      PetscCall(PetscObjectReference((PetscObject)order));
    factor.rows = rows;
    factor.columns = columns;
  }
  factor.pattern = -1;
  PetscCall(factorise(F, A, &factor.info));
  PetscCall(PetscObjectGetId((PetscObject)A, &factor.matrix));
  PetscCall(PetscObjectStateGet((PetscObject)A, &factor.values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_events() {
  PetscFunctionBegin;
  if (events.class_id) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscClassIdRegister("Strata", &events.class_id));
  PetscCall(PetscLogEventRegister("StrataAnalysis", events.class_id,
                                  &events.analysis));
  PetscCall(PetscLogEventRegister("StrataFactor", events.class_id,
                                  &events.elimination));
  PetscCall(PetscRegisterFinalize(forget_events));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLUFactorSymbolic_Strata(Mat F, Mat A, IS rows, IS columns,
                                          const MatFactorInfo* info) {
  PetscFunctionBegin;
  PetscCall(symbolic(F, A, rows, columns, info));
  F->ops->lufactornumeric = Numeric_Strata;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatICCFactorSymbolic_Strata(Mat F, Mat A, IS rows,
                                           const MatFactorInfo* info) {
  PetscFunctionBegin;
  PetscCheck(!PetscDefined(USE_COMPLEX) || A->hermitian != PETSC_BOOL3_TRUE ||
                 A->symmetric == PETSC_BOOL3_TRUE,
             PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "icc is of symmetric matrices, as PETSc's, and this one is "
             "Hermitian: use -pc_type ilu");
  factor_of(F).is_cholesky = true;
  PetscCall(symbolic(F, A, rows, rows, info));
  F->ops->choleskyfactornumeric = Numeric_Strata;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace PetscStrata
