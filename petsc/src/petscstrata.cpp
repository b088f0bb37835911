// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The solver type "strata": its registration, and what a factor is.

#include <Kokkos_Core.hpp>
#include <initializer_list>
#include <memory>
#include <petsc_kokkos.hpp>
#include <type_traits>

#include "Checks.hpp"
#include "Operations.hpp"
#include "Options.hpp"

static_assert(PETSC_VERSION_MAJOR == 3 && PETSC_VERSION_MINOR >= 24 &&
                  PETSC_VERSION_MINOR <= 25,
              "libpetscstrata was written for PETSc 3.24: PETSc's table of "
              "matrix operations changes between releases");

namespace {

using PetscStrata::factor_of;
using PetscStrata::FactorBase;
using PetscStrata::Outcome;

PetscErrorCode MatDestroy_Strata(Mat F) {
  PetscFunctionBegin;
  PetscCall(ISDestroy(&factor_of(F).rows));
  PetscCall(ISDestroy(&factor_of(F).columns));
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
  info->nz_used = info->nz_allocated = factor_of(F).entries();
  info->fill_ratio_given = factor_of(F).info.fill;
  info->fill_ratio_needed =
      factor_of(F).stored > 0 ? info->nz_used / factor_of(F).stored : 1;
  info->memory = factor_of(F).bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A line of the view of a factor, about its pivots.
PetscErrorCode view_pivots(const Outcome& outcome, PetscViewer viewer) {
  PetscFunctionBegin;
  if (outcome.shift > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "strata: %g was added to the diagonal\n",
                                     (double)outcome.shift));
  if (outcome.shifted_pivots > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "strata: %" PetscInt_FMT " pivots were shifted\n",
        outcome.shifted_pivots));
  if (outcome.replaced_pivots > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "strata: %" PetscInt64_FMT
        " pivots were replaced, and changed by at most %g\n",
        static_cast<PetscInt64>(outcome.replaced_pivots),
        outcome.largest_change));
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
  PetscCall(view_pivots(outcome, viewer));
  for (const auto uplo : {Strata::Uplo::lower, Strata::Uplo::upper})
    if (const auto* triangle = factor.report(uplo))
      PetscCall(PetscViewerASCIIPrintf(
          viewer,
          "strata: %s: %" PetscInt64_FMT
          " level sets, solved by %s%s, plan of %" PetscInt64_FMT " bytes\n",
          uplo == Strata::Uplo::lower ? "L" : "U",
          static_cast<PetscInt64>(triangle->levels),
          to_string(triangle->algorithm),
          factor.options.precision == Strata::FactorPrecision::single
              ? " in single precision"
              : "",
          static_cast<PetscInt64>(triangle->plan_bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorGetSolverType_Strata(Mat, MatSolverType* type) {
  PetscFunctionBegin;
  *type = MATSOLVERSTRATA;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// clang-format off
/*MC
  MATSOLVERSTRATA = "strata" - A solver type for factors of sequential
  matrices, whose triangular solves run on the GPU, or on the host for
  `MATSEQAIJ`

  Works with `MATSEQAIJ`, `MATSEQAIJKOKKOS` and `MATSEQAIJCUSPARSE`, and so with
  the blocks of `PCBJACOBI` and `PCASM`

  Options Database Keys:
+ -pc_factor_mat_solver_type strata   - use this type in `PCILU`, `PCICC` and `PCLU`
. -pc_factor_levels <k>               - levels of fill of `PCILU` and `PCICC`
. -pc_factor_mat_ordering_type <t>    - order of rows and columns, such as `rcm` or `nd`
. -pc_factor_shift_type <t>           - `none`, `nonzero`, `positive_definite` or `inblocks`
. -mat_strata_algorithm <a>           - algorithm of the triangular solves, default `automatic`
. -mat_strata_accuracy <a>            - `rowwise` or `componentwise`
. -mat_strata_precision <p>           - precision of the factors in solves, `working` or `single`
. -mat_strata_pivot_threshold <t>     - replace pivots below t times the largest entry of their row
. -mat_strata_merged_levels <k>       - level sets merged into one, 0 for an automatic choice
. -mat_strata_max_right_hand_sides <k> - columns of `MatMatSolve()` solved for at once
- -mat_strata_max_plan_bytes <n>      - limit of the memory of each triangular solver

  Level: intermediate

  Notes:
  The symbolic phase analyses the pattern and, since plans depend on values,
  factorises those that the matrix has. The numeric phase has nothing left to do
  if they are the same. -log_view shows both parts as StrataAnalysis and
  StrataFactor.

  The pattern of complete factors of `PCLU` is PETSc's, found on the host. Their
  numeric phase and all others are Strata's, where the solves run.

.seealso: `MatSolverTypeRegister_Strata()`, `MatStrataGetStatistics()`,
`PCFactorSetMatSolverType()`, `MatGetFactor()`
M*/
// clang-format on
template <bool on_device>
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
  PetscCall(PetscStrallocpy(
      type == MAT_FACTOR_LU ? MATORDERINGND : MATORDERINGNATURAL,
      (char**)&B->preferredordering[type]));
  B->canuseordering = PETSC_TRUE;
  B->ops->lufactorsymbolic = PetscStrata::MatLUFactorSymbolic_Strata;
  B->ops->ilufactorsymbolic = PetscStrata::MatLUFactorSymbolic_Strata;
  B->ops->iccfactorsymbolic = PetscStrata::MatICCFactorSymbolic_Strata;
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
  PetscCallCXX(B->data = (on_device ? PetscStrata::make_device_factor()
                                    : PetscStrata::make_host_factor())
                             .release());
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/*@C
  MatSolverTypeRegister_Strata - Registers the solver type `MATSOLVERSTRATA`

  Not Collective

  Level: intermediate

  Notes:
  Call it after `PetscInitialize()`; more calls do no harm. The option
  -dll_append libpetscstrata.so does the same without a call.

  With -help, prints the options of the type.

.seealso: `MATSOLVERSTRATA`, `MatSolverTypeRegister()`
@*/
PETSC_EXTERN PetscErrorCode MatSolverTypeRegister_Strata(void) {
  using Device = Kokkos::DefaultExecutionSpace;
  using Host = Kokkos::DefaultHostExecutionSpace;

  PetscFunctionBegin;
  PetscCall(PetscStrata::check_program());
  // Where this is the first call of PETSc's matrices, as it is in a library
  // that -dll_append loads, MatSolverTypeRegister would lose PETSc's own types.
  PetscCall(MatInitializePackage());
  PetscCall(PetscStrata::register_events());
  PetscCall(PetscStrata::show_options());
  for (MatFactorType type : {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU}) {
    // MatGetFactor takes the first type that a matrix's type begins with, so
    // seqaij comes last.
    PetscCall(MatSolverTypeRegister(MATSOLVERSTRATA, MATSEQAIJKOKKOS, type,
                                    MatGetFactor_Strata<true>));
    if (PetscDefined(HAVE_CUDA) && !std::is_same<Device, Host>::value)
      PetscCall(MatSolverTypeRegister(MATSOLVERSTRATA, MATSEQAIJCUSPARSE, type,
                                      MatGetFactor_Strata<true>));
    PetscCall(MatSolverTypeRegister(MATSOLVERSTRATA, MATSEQAIJ, type,
                                    MatGetFactor_Strata<false>));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What -dll_append calls in libpetscstrata.so.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscstrata(void) {
  PetscFunctionBegin;
  PetscCall(MatSolverTypeRegister_Strata());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatStrataGetStatistics - Tells what a factor of the type `MATSOLVERSTRATA` has
  done since `MatGetFactor()`

  Not Collective

  Input Parameter:
. F - the factor

  Output Parameters:
+ analyses       - how often a pattern was analysed
- factorizations - how often values were factorised, tries with a shifted
                   diagonal included

  Level: intermediate

  Note:
  Either pointer may be `NULL`.

.seealso: `MATSOLVERSTRATA`, `PCFactorGetMatrix()`
@*/
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
