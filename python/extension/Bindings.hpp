// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_BINDINGS_HPP
#define STRATA_PYTHON_BINDINGS_HPP

#include <nanobind/nanobind.h>

#include <Kokkos_Core.hpp>

#include "Arrays.hpp"

namespace StrataPython {

// Each defines the classes of one solver, for every scalar and space.
void bind_triangular(nb::module_& module);
void bind_substitution(nb::module_& module);
void bind_level_sets(nb::module_& module);
void bind_factorization(nb::module_& module);
void bind_preconditioner(nb::module_& module);
void bind_sell_matrix(nb::module_& module);
void bind_krylov(nb::module_& module);
void bind_band(nb::module_& module);
void bind_dense(nb::module_& module);

/// Calls Bind<Scalar, Space>::define(module) for every one that there is.
template <template <class, class> class Bind>
void for_each_type(nb::module_& module) {
  const auto for_space = [&](auto space) {
    using Space = decltype(space);
    Bind<float, Space>::define(module);
    Bind<double, Space>::define(module);
    Bind<Kokkos::complex<float>, Space>::define(module);
    Bind<Kokkos::complex<double>, Space>::define(module);
  };
  for_space(Host());
#if defined(KOKKOS_ENABLE_CUDA)
  for_space(Kokkos::Cuda());
#endif
}

}  // namespace StrataPython

#endif
