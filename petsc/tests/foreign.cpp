// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled as for a PETSc with other types, and loaded like libpetscstrata.

#include "../src/Checks.hpp"

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscstrata(void) {
  PetscFunctionBegin;
  PetscCall(PetscStrata::check_program());
  PetscFunctionReturn(PETSC_SUCCESS);
}
