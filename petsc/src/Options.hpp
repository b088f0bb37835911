// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_OPTIONS_HPP
#define PETSCSTRATA_OPTIONS_HPP

// The options -mat_strata_..., read from PETSc's database.

#include <petsc/private/petscimpl.h>
#include <petscmat.h>

#include <vector>

#include "FactorBase.hpp"

namespace PetscStrata {

namespace Detail {

// PETSc prints the names with -help.
template <class Enumerator>
PetscErrorCode read_name(PetscOptionItems PetscOptionsObject,
                         const char* option, const char* text,
                         const Enumerator* all, std::size_t count,
                         Enumerator* value) {
  std::vector<const char*> names;
  PetscInt chosen = 0;

  PetscFunctionBegin;
  PetscCallCXX(names.resize(count));
  for (std::size_t k = 0; k < count; ++k) {
    names[k] = to_string(all[k]);
    if (all[k] == *value) chosen = static_cast<PetscInt>(k);
  }
  PetscCall(PetscOptionsEList(option, text, "MATSOLVERSTRATA", names.data(),
                              static_cast<PetscInt>(count), names[chosen],
                              &chosen, NULL));
  *value = all[chosen];
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode read_all(PetscOptionItems PetscOptionsObject,
                               FactorOptions* options) {
  Strata::TriangularPlanOptions& plan = options->plan;
  PetscInt merged = plan.merged_levels, columns = plan.max_right_hand_sides;
  // A PetscInt may have 32 bits.
  PetscReal bytes = static_cast<PetscReal>(plan.max_plan_bytes);
  PetscReal threshold = static_cast<PetscReal>(options->small_pivot_threshold);
  std::vector<Strata::Algorithm> algorithms;
  const Strata::Accuracy accuracies[] = {Strata::Accuracy::rowwise,
                                         Strata::Accuracy::componentwise};
  const Strata::FactorPrecision precisions[] = {
      Strata::FactorPrecision::working, Strata::FactorPrecision::single};

  PetscFunctionBegin;
  PetscCallCXX(algorithms = Strata::all_algorithms());
  PetscCall(read_name(PetscOptionsObject, "-mat_strata_algorithm",
                      "Of the triangular solves", algorithms.data(),
                      algorithms.size(), &plan.algorithm));
  PetscCall(read_name(PetscOptionsObject, "-mat_strata_accuracy",
                      "What is promised of rounding errors", accuracies, 2,
                      &plan.accuracy));
  PetscCall(read_name(PetscOptionsObject, "-mat_strata_precision",
                      "Of the factors that solves read", precisions, 2,
                      &options->precision));
  PetscCall(PetscOptionsReal(
      "-mat_strata_pivot_threshold",
      "Pivots below this times the largest entry of their row are replaced; "
      "0: none",
      "MATSOLVERSTRATA", threshold, &threshold, NULL));
  PetscCall(PetscOptionsInt("-mat_strata_merged_levels",
                            "Level sets merged into one; 0: automatic",
                            "MATSOLVERSTRATA", merged, &merged, NULL));
  PetscCall(PetscOptionsInt("-mat_strata_max_right_hand_sides",
                            "Columns of MatMatSolve solved for at once",
                            "MATSOLVERSTRATA", columns, &columns, NULL));
  PetscCall(PetscOptionsReal("-mat_strata_max_plan_bytes",
                             "Memory of a plan; 0: no limit", "MATSOLVERSTRATA",
                             bytes, &bytes, NULL));
  PetscCheck(bytes >= 0 && bytes < 9e18, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "strata: -mat_strata_max_plan_bytes is %g: pass a number that is "
             "not negative",
             (double)bytes);
  PetscCheck(threshold >= 0 && threshold <= 1, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "strata: -mat_strata_pivot_threshold is %g: pass a number from 0 "
             "to 1, such as %g",
             (double)threshold, (double)PETSC_SQRT_MACHINE_EPSILON);
  PetscCheck(columns >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "strata: -mat_strata_max_right_hand_sides is %" PetscInt_FMT
             ": pass 1 or more",
             columns);
  PetscCheck(merged >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "strata: -mat_strata_merged_levels is %" PetscInt_FMT
             ": pass 0, or the number of level sets",
             merged);
  plan.merged_levels = static_cast<int>(merged);
  plan.max_right_hand_sides = static_cast<int>(columns);
  plan.max_plan_bytes = static_cast<std::size_t>(bytes);
  options->small_pivot_threshold = static_cast<double>(threshold);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace Detail

/// -help prints a title's options once for each prefix, and those of matrices
/// have their own.
constexpr const char* options_title = "Factors of strata";

/// With the prefix of the factor F. The default values are those of a new
/// FactorOptions.
inline PetscErrorCode read_options(Mat F, FactorOptions* options) {
  PetscFunctionBegin;
  *options = FactorOptions();
  ((PetscObject)F)->description = (char*)options_title;
  PetscObjectOptionsBegin((PetscObject)F);
  PetscCall(Detail::read_all(PetscOptionsObject, options));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For -help before there is a factor: prints them, without a prefix.
inline PetscErrorCode show_options() {
  PetscBool help;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasHelp(NULL, &help));
  if (!help) PetscFunctionReturn(PETSC_SUCCESS);
  FactorOptions options;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, options_title, "MATSOLVERSTRATA");
  PetscCall(Detail::read_all(PetscOptionsObject, &options));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCILU makes `inblocks` of `nonzero` for every matrix type but MATSEQAIJ,
/// since block matrices have no other. Strata has, so options mean what they
/// say: those with the prefix of F.
inline PetscErrorCode restore_shift(Mat F, MatFactorInfo* info) {
  PetscEnum asked;
  PetscBool is_set;

  PetscFunctionBegin;
  if (info->shifttype != (PetscReal)MAT_SHIFT_INBLOCKS)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetEnum(
      ((PetscObject)F)->options, ((PetscObject)F)->prefix,
      "-pc_factor_shift_type", MatFactorShiftTypes, &asked, &is_set));
  if (is_set && asked == (PetscEnum)MAT_SHIFT_NONZERO)
    info->shifttype = (PetscReal)MAT_SHIFT_NONZERO;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace PetscStrata

#endif
