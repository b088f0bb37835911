// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <Strata_MemoryPool.hpp>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Errors.hpp"
#include "Runtime.hpp"

// The classes and functions of this module have no checks of their own but of
// types: strata_solvers, in Python, is what programs import.
NB_MODULE(_core, module) {
  using namespace StrataPython;
  // Solvers may be alive when the interpreter exits (see Runtime.hpp).
  nb::set_leak_warnings(false);

  initialize();
  translate_errors();
  module.def("finalize", &finalize,
             "Empties all solvers and ends Kokkos; called at exit.");
  module.def(
      "release_memory_pool",
      [] {
        const Work work;
        Strata::release_memory_pool<Host>();
#if defined(KOKKOS_ENABLE_CUDA)
        Strata::release_memory_pool<Kokkos::Cuda>();
#endif
      },
      "Frees memory that is kept for later analyses and plans.");
  module.attr("version") = STRATA_PYTHON_VERSION;
  module.attr("host_space") = Host::name();
  module.attr("kokkos_version") = KOKKOS_VERSION;
#if defined(KOKKOS_ENABLE_CUDA)
  module.attr("has_cuda") = true;
  module.attr("cuda_device") = Kokkos::Cuda().cuda_device();
#else
  module.attr("has_cuda") = false;
  module.attr("cuda_device") = -1;
#endif
  nb::list scalars;
  for_each_scalar([&](auto scalar) {
    scalars.append(ScalarFacts<decltype(scalar)>::name);
  });
  module.attr("scalars") = nb::tuple(scalars);
  module.def(
      "concurrency", [] { return Host().concurrency(); },
      "Threads that a host's solves may use.");

  bind_cuda_arrays(module);
  bind_triangular(module);
  bind_substitution(module);
  bind_level_sets(module);
  bind_factorization(module);
  bind_factor_solver(module);
  bind_sell_matrix(module);
  bind_krylov(module);
  bind_band(module);
  bind_dense(module);
  bind_gallery(module);
  bind_jax(module);
}
