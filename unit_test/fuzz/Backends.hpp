// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_BACKENDS_HPP
#define STRATA_FUZZ_BACKENDS_HPP

#include <Kokkos_Core.hpp>

#include "Context.hpp"

namespace Strata {
namespace Fuzz {

template <class Space, class F>
void on_backend(Context& context, const F& f) {
  const std::string name = Space::name();
  if (!context.options.backend.empty() && context.options.backend != name)
    return;
  context.count("backend", name);
  f(Space());
}

/// Calls f with an instance of every execution space that Kokkos has enabled
/// and the command line has not left out.
template <class F>
void for_each_backend(Context& context, const F& f) {
#ifdef KOKKOS_ENABLE_SERIAL
  on_backend<Kokkos::Serial>(context, f);
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  on_backend<Kokkos::OpenMP>(context, f);
#endif
#ifdef KOKKOS_ENABLE_CUDA
  on_backend<Kokkos::Cuda>(context, f);
#endif
}

}  // namespace Fuzz
}  // namespace Strata

#endif
