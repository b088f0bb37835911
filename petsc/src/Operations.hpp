// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_OPERATIONS_HPP
#define PETSCSTRATA_OPERATIONS_HPP

// The operations of a factored Mat of the solver type "strata".

#include <petsc/private/matimpl.h>
#include <petscstrata.h>

#include <Strata_Error.hpp>
#include <exception>
#include <string>

#include "FactorBase.hpp"

namespace PetscStrata {

// In Factorisations.cpp. The numeric phases set those of Solves.cpp.
PetscErrorCode MatILUFactorSymbolic_Strata(Mat F, Mat A, IS rows, IS columns,
                                           const MatFactorInfo* info);
PetscErrorCode MatICCFactorSymbolic_Strata(Mat F, Mat A, IS rows,
                                           const MatFactorInfo* info);
PetscErrorCode MatLUFactorSymbolic_Strata(Mat F, Mat A, IS rows, IS columns,
                                          const MatFactorInfo* info);
/// Of -log_view; more calls do no harm.
PetscErrorCode register_events();

// In Solves.cpp.
void set_solves(Mat F);

inline FactorBase& factor_of(Mat F) {
  return *static_cast<FactorBase*>(F->data);
}

/// An exception must not pass through PETSc, which is C.
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

}  // namespace PetscStrata

#endif
