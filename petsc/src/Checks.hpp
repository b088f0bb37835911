// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_CHECKS_HPP
#define PETSCSTRATA_CHECKS_HPP

// What is refused before anything is done.

#include <petscmat.h>

#include <vector>

namespace PetscStrata {

/// Refuses a program whose PETSc has other types than this library was compiled
/// for: functions have the same names in both.
inline PetscErrorCode check_program() {
  PetscDataType scalar, real;
  PetscBool known;
  size_t index;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &known));
  PetscCall(PetscDataTypeFromString("real", &real, &known));
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index));
  PetscCheck(
      scalar == PETSC_SCALAR && real == PETSC_REAL && index == sizeof(PetscInt),
      PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
      "libpetscstrata was built for a PETSc with %s scalars of %s and "
      "indices of %d bits, and this program's has %s scalars of %s and "
      "%d bits: build it for that PETSc",
      PetscDefined(USE_COMPLEX) ? "complex" : "real",
      PetscDataTypes[PETSC_REAL], (int)(8 * sizeof(PetscInt)),
      scalar == PETSC_COMPLEX ? "complex" : "real", PetscDataTypes[real],
      (int)(8 * index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ISIdentity goes on calling an order the identity that
/// MatReorderForNonzeroDiagonal has changed.
inline PetscErrorCode is_natural(IS order, PetscBool* natural) {
  const PetscInt* places;
  PetscInt n;

  PetscFunctionBegin;
  *natural = PETSC_TRUE;
  if (!order) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(order, &n));
  PetscCall(ISGetIndices(order, &places));
  for (PetscInt i = 0; i < n; ++i)
    if (places[i] != i) *natural = PETSC_FALSE;
  PetscCall(ISRestoreIndices(order, &places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Refuses an order that names a row twice, or not at all.
inline PetscErrorCode check_order(MPI_Comm comm, IS order, PetscInt n,
                                  const char* of) {
  const PetscInt* places;
  PetscInt size;

  PetscFunctionBegin;
  if (!order) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(order, &size));
  PetscCheck(size == n, comm, PETSC_ERR_ARG_SIZ,
             "strata: the order of %s has %" PetscInt_FMT
             " places, and the matrix %" PetscInt_FMT " rows",
             of, size, n);
  std::vector<bool> named;
  PetscCallCXX(named.resize(static_cast<std::size_t>(n), false));
  PetscCall(ISGetIndices(order, &places));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt at = places[i];
    PetscCheck(at >= 0 && at < n && !named[static_cast<std::size_t>(at)], comm,
               PETSC_ERR_ARG_OUTOFRANGE,
               "strata: the order of %s has %" PetscInt_FMT
               " at place %" PetscInt_FMT ": name each of the %" PetscInt_FMT
               " once, from 0 on",
               of, at, i, n);
    named[static_cast<std::size_t>(at)] = true;
  }
  PetscCall(ISRestoreIndices(order, &places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Refuses what PETSc's own factorisations would do and Strata's don't.
inline PetscErrorCode check_info(Mat F, Mat A, IS rows, IS columns,
                                 const MatFactorInfo* info) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)F);
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCheck(
      m == n, comm, PETSC_ERR_ARG_SIZ,
      "strata factorises square matrices, and this one has %" PetscInt_FMT
      " rows and %" PetscInt_FMT " columns",
      m, n);
  PetscCall(check_order(comm, rows, n, "rows"));
  PetscCall(check_order(comm, columns, n, "columns"));
  PetscCheck(info->levels < PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "strata: %g levels of fill: use -pc_type lu for complete factors",
             (double)info->levels);
  PetscCheck(!(info->usedt > 0), comm, PETSC_ERR_SUP,
             "strata drops no entries by size: leave PCFactorSetDropTolerance");
  PetscCheck(!(info->diagonal_fill > 0), comm, PETSC_ERR_SUP,
             "strata adds no diagonal entries: leave -pc_factor_diagonal_fill, "
             "and use MatSetOption(A, MAT_FORCE_DIAGONAL_ENTRIES, PETSC_TRUE)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace PetscStrata

#endif
