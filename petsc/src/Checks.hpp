// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_CHECKS_HPP
#define PETSCSTRATA_CHECKS_HPP

// What is refused before anything is done.

#include <petscmat.h>

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

/// MatReorderForNonzeroDiagonal changes an order that ISIdentity goes on
/// calling the identity.
inline PetscErrorCode is_natural(IS order, PetscBool* natural) {
  const PetscInt* places;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(order, &n));
  PetscCall(ISGetIndices(order, &places));
  *natural = PETSC_TRUE;
  for (PetscInt i = 0; i < n; ++i)
    if (places[i] != i) *natural = PETSC_FALSE;
  PetscCall(ISRestoreIndices(order, &places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Refuses what PETSc's own factorisations would do and Strata's don't.
inline PetscErrorCode check_info(Mat F, Mat A, IS rows, IS columns,
                                 const MatFactorInfo* info) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)F);
  PetscBool natural = PETSC_TRUE;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCheck(
      m == n, comm, PETSC_ERR_ARG_SIZ,
      "strata factorises square matrices, and this one has %" PetscInt_FMT
      " rows and %" PetscInt_FMT " columns",
      m, n);
  PetscCheck(info->levels == 0, comm, PETSC_ERR_SUP,
             "strata factorises without fill: use -pc_factor_levels 0, not %g",
             (double)info->levels);
  PetscCheck(!(info->usedt > 0), comm, PETSC_ERR_SUP,
             "strata drops no entries by size: leave PCFactorSetDropTolerance");
  PetscCheck(!(info->diagonal_fill > 0), comm, PETSC_ERR_SUP,
             "strata adds no diagonal entries: leave -pc_factor_diagonal_fill, "
             "and use MatSetOption(A, MAT_FORCE_DIAGONAL_ENTRIES, PETSC_TRUE)");
  for (IS order : {rows, columns})
    if (order && natural) PetscCall(is_natural(order, &natural));
  PetscCheck(natural, comm, PETSC_ERR_SUP,
             "strata keeps the order of rows and columns: use "
             "-pc_factor_mat_ordering_type natural, and leave "
             "-pc_factor_nonzeros_along_diagonal, which exchanges columns of "
             "this matrix");
  PetscCheck(info->shifttype != (PetscReal)MAT_SHIFT_INBLOCKS, comm,
             PETSC_ERR_SUP,
             "strata has no shift inblocks, which PCILU makes of nonzero for "
             "every matrix type but MATSEQAIJ: use -pc_factor_shift_type none "
             "or positive_definite");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace PetscStrata

#endif
