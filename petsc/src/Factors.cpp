// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All of Strata that the plug-in compiles.

#include "Factor.hpp"

namespace PetscStrata {

std::unique_ptr<FactorBase> make_device_factor() {
  return std::make_unique<Factor<Kokkos::DefaultExecutionSpace>>();
}
std::unique_ptr<FactorBase> make_host_factor() {
  return std::make_unique<Factor<Kokkos::DefaultHostExecutionSpace>>();
}

}  // namespace PetscStrata
