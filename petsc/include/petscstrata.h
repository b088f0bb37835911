// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_H
#define PETSCSTRATA_H

// Strata as a MatSolverType of PETSc: incomplete factors of MATSEQAIJKOKKOS,
// MATSEQAIJ and MATSEQAIJCUSPARSE, and solves with PETSc's complete ones.

#include <petscmat.h>

#define MATSOLVERSTRATA "strata"

// Registers the solver type "strata", after PetscInitialize. More calls do no
// harm. -dll_append libpetscstrata.so does the same without a call.
PETSC_EXTERN PetscErrorCode MatSolverTypeRegister_Strata(void);

// What a factor of the type "strata" has done since MatGetFactor: how often a
// pattern was analysed, and how often values were factorised, tries with a
// shifted diagonal included. Any of the pointers may be NULL.
// PETSC_ERR_ARG_WRONG for another matrix.
PETSC_EXTERN PetscErrorCode MatStrataGetStatistics(Mat F, PetscInt* analyses,
                                                   PetscInt* factorizations);

#endif
