// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operations of a factored Mat of the solver type "strata".

#include <petsc/private/matimpl.h>
#include <petscstrata.h>

#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>

#include "Checks.hpp"
#include "Factor.hpp"

static_assert(PETSC_VERSION_MAJOR == 3 && PETSC_VERSION_MINOR >= 24 &&
                  PETSC_VERSION_MINOR <= 25,
              "libpetscstrata was written for PETSc 3.24: PETSc's table of "
              "matrix operations changes between releases");

namespace {

using PetscStrata::CsrArrays;
using PetscStrata::DenseArrays;
using PetscStrata::FactorBase;
using PetscStrata::Outcome;

FactorBase& factor_of(Mat F) { return *static_cast<FactorBase*>(F->data); }

// An exception must not pass through PETSc, which is C.
template <class Body>
PetscErrorCode without_exceptions(Mat F, const Body& body) {
  PetscFunctionBegin;
  std::string problem;
  PetscErrorCode code = PETSC_ERR_LIB;
  try {
    body();
    PetscFunctionReturn(PETSC_SUCCESS);
  } catch (const Strata::MemoryError& error) {
    problem = error.what();
    code = PETSC_ERR_MEM;
  } catch (const Strata::OptionError& error) {
    problem = error.what();
    code = PETSC_ERR_ARG_OUTOFRANGE;
  } catch (const PetscStrata::Unsupported& error) {
    problem = error.what();
    code = PETSC_ERR_SUP;
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "an exception of an unknown type";
  }
  SETERRQ(PetscObjectComm((PetscObject)F), code, "%s", problem.c_str());
}

PetscErrorCode count_solves(Mat F, PetscInt columns) {
  PetscFunctionBegin;
  const PetscLogDouble flops =
      (2.0 * factor_of(F).entries() - F->rmap->n) * columns;
  if (factor_of(F).on_host())
    PetscCall(PetscLogFlops(flops));
  else
    PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_vector(Mat F, Vec b, Vec x, Strata::Op op) {
  FactorBase& factor = factor_of(F);
  const PetscScalar* from;
  PetscScalar* to;
  PetscMemType from_memory = PETSC_MEMTYPE_HOST, to_memory = PETSC_MEMTYPE_HOST;
  const PetscInt n = F->rmap->n;

  PetscFunctionBegin;
  if (factor.on_host()) {
    PetscCall(VecGetArrayRead(b, &from));
    PetscCall(VecGetArrayWrite(x, &to));
  } else {
    PetscCall(VecGetArrayReadAndMemType(b, &from, &from_memory));
    PetscCall(VecGetArrayWriteAndMemType(x, &to, &to_memory));
    PetscCall(PetscLogGpuTimeBegin());
  }
  PetscCall(without_exceptions(F, [&] {
    factor.solve({const_cast<PetscScalar*>(from), 1, n, from_memory},
                 {to, 1, n, to_memory}, n, op);
  }));
  if (factor.on_host()) {
    PetscCall(VecRestoreArrayRead(b, &from));
    PetscCall(VecRestoreArrayWrite(x, &to));
  } else {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecRestoreArrayReadAndMemType(b, &from));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &to));
  }
  PetscCall(count_solves(F, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatSolve_Strata(Mat F, Vec b, Vec x) {
  return solve_vector(F, b, x, Strata::Op::none);
}
PetscErrorCode MatSolveTranspose_Strata(Mat F, Vec b, Vec x) {
  return solve_vector(F, b, x, Strata::Op::transpose);
}

PetscErrorCode solve_matrix(Mat F, Mat B, Mat X, Strata::Op op) {
  FactorBase& factor = factor_of(F);
  const PetscScalar* from;
  PetscScalar* to;
  PetscMemType from_memory = PETSC_MEMTYPE_HOST, to_memory = PETSC_MEMTYPE_HOST;
  PetscInt from_leading, to_leading;
  PetscBool dense;
  const PetscInt n = F->rmap->n, columns = B->cmap->n;

  PetscFunctionBegin;
  for (Mat block : {B, X}) {
    PetscCall(PetscObjectTypeCompareAny((PetscObject)block, &dense, MATSEQDENSE,
                                        MATSEQDENSECUDA, ""));
    PetscCheck(dense, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "strata solves for right-hand sides in a dense sequential "
               "matrix, not in one of the type %s",
               ((PetscObject)block)->type_name);
  }
  PetscCheck(X->cmap->n == columns, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_SIZ,
             "strata: B has %" PetscInt_FMT " columns and X %" PetscInt_FMT,
             columns, X->cmap->n);
  PetscCall(MatDenseGetLDA(B, &from_leading));
  PetscCall(MatDenseGetLDA(X, &to_leading));
  if (factor.on_host()) {
    PetscCall(MatDenseGetArrayRead(B, &from));
    PetscCall(MatDenseGetArrayWrite(X, &to));
  } else {
    PetscCall(MatDenseGetArrayReadAndMemType(B, &from, &from_memory));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &to, &to_memory));
    PetscCall(PetscLogGpuTimeBegin());
  }
  PetscCall(without_exceptions(F, [&] {
    factor.solve(
        {const_cast<PetscScalar*>(from), columns, from_leading, from_memory},
        {to, columns, to_leading, to_memory}, n, op);
  }));
  if (factor.on_host()) {
    PetscCall(MatDenseRestoreArrayRead(B, &from));
    PetscCall(MatDenseRestoreArrayWrite(X, &to));
  } else {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &from));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &to));
  }
  PetscCall(count_solves(F, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_Strata(Mat F, Mat B, Mat X) {
  return solve_matrix(F, B, X, Strata::Op::none);
}
PetscErrorCode MatMatSolveTranspose_Strata(Mat F, Mat B, Mat X) {
  return solve_matrix(F, B, X, Strata::Op::transpose);
}

// The prefix of the factor's options is known here, and not before.
PetscErrorCode read_options(Mat F) {
  Strata::TriangularPlanOptions& options = factor_of(F).options;
  char algorithm[64] = "automatic", accuracy[64] = "rowwise";
  PetscBool algorithm_set, accuracy_set;
  PetscInt merged = 0, right_hand_sides = 1;
  PetscReal bytes = 0;

  PetscFunctionBegin;
  // -help prints a title's options once for each prefix, and those of matrices
  // have their own.
  ((PetscObject)F)->description = (char*)"Factor of strata";
  PetscObjectOptionsBegin((PetscObject)F);
  PetscCall(PetscOptionsString("-mat_strata_algorithm",
                               "Of the triangular solves", "", algorithm,
                               algorithm, sizeof(algorithm), &algorithm_set));
  PetscCall(PetscOptionsString(
      "-mat_strata_accuracy", "What is promised of rounding errors", "",
      accuracy, accuracy, sizeof(accuracy), &accuracy_set));
  PetscCall(PetscOptionsInt("-mat_strata_merged_levels",
                            "Level sets merged into one; 0: automatic", "",
                            merged, &merged, NULL));
  PetscCall(PetscOptionsInt("-mat_strata_max_right_hand_sides",
                            "Columns of MatMatSolve solved for at once", "",
                            right_hand_sides, &right_hand_sides, NULL));
  // A PetscInt may have 32 bits.
  PetscCall(PetscOptionsReal("-mat_strata_max_plan_bytes",
                             "Memory of a plan; 0: no limit", "", bytes, &bytes,
                             NULL));
  PetscOptionsEnd();
  PetscCheck(bytes >= 0 && bytes < 9e18, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_OUTOFRANGE,
             "strata: -mat_strata_max_plan_bytes is %g: pass a number that is "
             "not negative",
             (double)bytes);
  PetscCall(without_exceptions(F, [&] {
    if (algorithm_set)
      options.algorithm = Strata::algorithm_from_string(algorithm);
    if (accuracy_set) options.accuracy = Strata::accuracy_from_string(accuracy);
    options.merged_levels = static_cast<int>(merged);
    options.max_right_hand_sides = static_cast<int>(right_hand_sides);
    options.max_plan_bytes = static_cast<std::size_t>(bytes);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
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

PetscErrorCode Numeric_Strata(Mat F, Mat A, const MatFactorInfo* info) {
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
    PetscCall(find_empty_row(A, &factor.empty_row));
    factor.pattern = pattern;
    factor.matrix = matrix;
  }
  arrays.rows = A->rmap->n;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  F->factorerror_zeropivot_value = 0;
  F->factorerror_zeropivot_row = 0;
  outcome = Outcome();
  if (factor.empty_row >= 0) {
    outcome.error = MAT_FACTOR_STRUCT_ZEROPIVOT;
    outcome.row = factor.empty_row;
    outcome.reason = "row " + std::to_string(outcome.row) +
                     " has no entries, so no diagonal entry";
  } else {
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &arrays.row_map, &arrays.entries,
                                        &arrays.values, &arrays.memory));
    if (!factor.on_host()) PetscCall(PetscLogGpuTimeBegin());
    PetscCall(without_exceptions(
        F, [&] { outcome = factor.factorise(arrays, *info, is_known); }));
    if (!factor.on_host()) PetscCall(PetscLogGpuTimeEnd());
  }
  if (outcome.error != MAT_FACTOR_NOERROR) {
    PetscErrorCode code =
        factor.is_cholesky ? PETSC_ERR_MAT_CH_ZRPVT : PETSC_ERR_MAT_LU_ZRPVT;
    if (outcome.error == MAT_FACTOR_OUTMEMORY) code = PETSC_ERR_MEM;
    if (outcome.error == MAT_FACTOR_OTHER) code = PETSC_ERR_FP;
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, code, "strata: %s",
               outcome.reason.c_str());
    PetscCall(PetscInfo(F, "strata: %s\n", outcome.reason.c_str()));
    F->factorerrortype = outcome.error;
    F->factorerror_zeropivot_row = PetscMax(outcome.row, 0);
    F->factorerror_zeropivot_value = outcome.pivot;
  } else if (outcome.shift > 0) {
    PetscCall(PetscInfo(F, "strata: %g was added to the diagonal\n",
                        (double)outcome.shift));
  }
  F->ops->solve = MatSolve_Strata;
  F->ops->solvetranspose = MatSolveTranspose_Strata;
  F->ops->matsolve = MatMatSolve_Strata;
  F->ops->matsolvetranspose = MatMatSolveTranspose_Strata;
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatILUFactorSymbolic_Strata(Mat F, Mat A, IS rows, IS columns,
                                           const MatFactorInfo* info) {
  PetscFunctionBegin;
  PetscCall(PetscStrata::check_info(F, A, rows, columns, info));
  PetscCall(read_options(F));
  F->ops->lufactornumeric = Numeric_Strata;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatICCFactorSymbolic_Strata(Mat F, Mat A, IS rows,
                                           const MatFactorInfo* info) {
  PetscFunctionBegin;
  PetscCall(PetscStrata::check_info(F, A, rows, NULL, info));
  PetscCheck(!PetscDefined(USE_COMPLEX) || A->hermitian != PETSC_BOOL3_TRUE ||
                 A->symmetric == PETSC_BOOL3_TRUE,
             PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "icc is of symmetric matrices, as PETSc's, and this one is "
             "Hermitian: use -pc_type ilu");
  PetscCall(read_options(F));
  factor_of(F).is_cholesky = true;
  F->ops->choleskyfactornumeric = Numeric_Strata;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_Strata(Mat F) {
  PetscFunctionBegin;
  delete static_cast<FactorBase*>(F->data);
  F->data = NULL;
  PetscCall(PetscObjectComposeFunction((PetscObject)F,
                                       "MatFactorGetSolverType_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInfo_Strata(Mat F, MatInfoType, MatInfo* info) {
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = 1;
  info->fill_ratio_given = info->fill_ratio_needed = 1;
  info->nz_used = info->nz_allocated = factor_of(F).entries();
  info->memory = factor_of(F).bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Strata(Mat F, PetscViewer viewer) {
  PetscBool ascii;
  const FactorBase& factor = factor_of(F);
  const Outcome& outcome = factor.outcome;

  PetscFunctionBegin;
  PetscCall(
      PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "strata: %s, %" PetscInt_FMT
                                   " analyses, %" PetscInt_FMT
                                   " factorizations\n",
                                   MatFactorTypes[F->factortype],
                                   factor.analyses(), factor.factorizations()));
  if (outcome.error != MAT_FACTOR_NOERROR) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "strata: failed: %s\n",
                                     outcome.reason.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (outcome.shift > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "strata: %g was added to the diagonal\n",
                                     (double)outcome.shift));
  for (const auto uplo : {Strata::Uplo::lower, Strata::Uplo::upper})
    if (const auto* triangle = factor.report(uplo))
      PetscCall(PetscViewerASCIIPrintf(
          viewer,
          "strata: %s: %" PetscInt64_FMT
          " level sets, solved by %s, plan of %" PetscInt64_FMT " bytes\n",
          uplo == Strata::Uplo::lower ? "L" : "U",
          static_cast<PetscInt64>(triangle->levels),
          to_string(triangle->algorithm),
          static_cast<PetscInt64>(triangle->plan_bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorGetSolverType_Strata(Mat, MatSolverType* type) {
  PetscFunctionBegin;
  *type = MATSOLVERSTRATA;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode MatGetFactor_Strata(Mat A, MatFactorType type, Mat* F) {
  Mat B;
  VecType vectors;

  PetscFunctionBegin;
  PetscCall(PetscKokkosInitializeCheck());
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSTRATA, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(MatSetVecType(B, vectors));
  PetscCall(
      PetscStrallocpy(MATORDERINGNATURAL, (char**)&B->preferredordering[type]));
  // An order that is asked for gets here, and is refused, not forgotten.
  B->canuseordering = PETSC_TRUE;
  B->ops->ilufactorsymbolic = MatILUFactorSymbolic_Strata;
  B->ops->iccfactorsymbolic = MatICCFactorSymbolic_Strata;
  B->ops->destroy = MatDestroy_Strata;
  B->ops->getinfo = MatGetInfo_Strata;
  B->ops->view = MatView_Strata;
  B->factortype = type;
  B->assembled = B->preallocated = PETSC_TRUE;
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSTRATA, &B->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)B,
                                       "MatFactorGetSolverType_C",
                                       MatFactorGetSolverType_Strata));
  PetscCallCXX(B->data =
                   static_cast<FactorBase*>(new PetscStrata::Factor<Exec>));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PETSC_EXTERN PetscErrorCode MatSolverTypeRegister_Strata(void) {
  using Device = Kokkos::DefaultExecutionSpace;
  using Host = Kokkos::DefaultHostExecutionSpace;

  PetscFunctionBegin;
  PetscCall(PetscStrata::check_program());
  // Where this is the first call of PETSc's matrices, as it is in a library
  // that -dll_append loads, MatSolverTypeRegister would lose PETSc's own types.
  PetscCall(MatInitializePackage());
  for (MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_ICC}) {
    // MatGetFactor takes the first type that a matrix's type begins with, so
    // seqaij comes last.
    PetscCall(MatSolverTypeRegister(MATSOLVERSTRATA, MATSEQAIJKOKKOS, type,
                                    MatGetFactor_Strata<Device>));
    if (PetscDefined(HAVE_CUDA) && !std::is_same<Device, Host>::value)
      PetscCall(MatSolverTypeRegister(MATSOLVERSTRATA, MATSEQAIJCUSPARSE, type,
                                      MatGetFactor_Strata<Device>));
    PetscCall(MatSolverTypeRegister(MATSOLVERSTRATA, MATSEQAIJ, type,
                                    MatGetFactor_Strata<Host>));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What -dll_append calls in libpetscstrata.so.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscstrata(void) {
  PetscFunctionBegin;
  PetscCall(MatSolverTypeRegister_Strata());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_EXTERN PetscErrorCode MatStrataGetStatistics(Mat F, PetscInt* analyses,
                                                   PetscInt* factorizations) {
  PetscBool is_strata;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscCall(
      PetscObjectTypeCompare((PetscObject)F, MATSOLVERSTRATA, &is_strata));
  PetscCheck(is_strata, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG,
             "MatStrataGetStatistics wants a factor of the solver type strata, "
             "not a matrix of the type %s",
             ((PetscObject)F)->type_name);
  if (analyses) *analyses = factor_of(F).analyses();
  if (factorizations) *factorizations = factor_of(F).factorizations();
  PetscFunctionReturn(PETSC_SUCCESS);
}
