// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_OPERATIONS_HPP
#define PETSCSTRATA_OPERATIONS_HPP

// The operations of a factored Mat of the solver type "strata".

#include <petsc/private/matimpl.h>
#include <petscstrata.h>

#include <Strata_Error.hpp>
#include <exception>

#include "FactorBase.hpp"

namespace PetscStrata {

// In Factorisations.cpp. The numeric phases set those of Solves.cpp.
/// Of complete and incomplete factors.
PetscErrorCode MatLUFactorSymbolic_Strata(Mat F, Mat A, IS rows, IS columns,
                                          const MatFactorInfo* info);
PetscErrorCode MatICCFactorSymbolic_Strata(Mat F, Mat A, IS rows,
                                           const MatFactorInfo* info);
/// Of -log_view; more calls do no harm.
PetscErrorCode register_events();

// In Solves.cpp.
void set_solves(Mat F);

inline FactorBase& factor_of(Mat F) {
  return *static_cast<FactorBase*>(F->data);
}

/// An exception must not pass through PETSc, which is C. `body` calls nothing
/// of PETSc: an exception would leave its stack of functions as it was.
template <class Body>
PetscErrorCode without_exceptions(Mat F, const Body& body) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm((PetscObject)F);
  try {
    body();
  } catch (const Strata::MemoryError& error) {
    SETERRQ(comm, PETSC_ERR_MEM, "%s", error.what());
  } catch (const Strata::OptionError& error) {
    SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", error.what());
  } catch (const PetscStrata::Unsupported& error) {
    SETERRQ(comm, PETSC_ERR_SUP, "%s", error.what());
  } catch (const std::exception& error) {
    SETERRQ(comm, PETSC_ERR_LIB, "%s", error.what());
  } catch (...) {
    SETERRQ(comm, PETSC_ERR_LIB, "an exception of an unknown type");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace PetscStrata

#endif
