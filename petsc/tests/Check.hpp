// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_TESTS_CHECK_HPP
#define PETSCSTRATA_TESTS_CHECK_HPP

// A failed check says what was seen and ends the program: ctest reads the exit
// status.

#include <petscksp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition, ...)                                              \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      std::fprintf(stderr, __VA_ARGS__);                                   \
      std::fprintf(stderr, "\n");                                          \
      MPI_Abort(PETSC_COMM_WORLD, 1);                                      \
    }                                                                      \
  } while (0)

// The error code of a call that is to fail, without PETSc's message.
template <class Call>
PetscErrorCode code_of(const Call& call) {
  PetscErrorCode code;
  PetscFunctionBeginUser;
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = call();
  PetscCallAbort(PETSC_COMM_SELF, PetscPopErrorHandler());
  PetscFunctionReturn(code);
}

// Rounding of PETSc's scalar.
inline PetscReal rounding() { return PETSC_MACHINE_EPSILON; }

// ||x - y|| / ||y||
inline PetscReal difference(Vec x, Vec y) {
  Vec d;
  PetscReal size, reference;
  PetscCallAbort(PETSC_COMM_SELF, VecDuplicate(y, &d));
  PetscCallAbort(PETSC_COMM_SELF, VecCopy(x, d));
  PetscCallAbort(PETSC_COMM_SELF, VecAXPY(d, -1.0, y));
  PetscCallAbort(PETSC_COMM_SELF, VecNorm(d, NORM_2, &size));
  PetscCallAbort(PETSC_COMM_SELF, VecNorm(y, NORM_2, &reference));
  PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&d));
  return size / reference;
}

#endif
