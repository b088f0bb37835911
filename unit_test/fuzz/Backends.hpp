// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_BACKENDS_HPP
#define STRATA_FUZZ_BACKENDS_HPP

#include <Kokkos_Core.hpp>
#include <core/interface/Compiled.hpp>

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

/// Calls f with an instance of every execution space that Kokkos and the
/// library have and the command line has not left out.
template <class F>
void for_each_backend(Context& context, const F& f) {
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(STRATA_LIBRARY_WITHOUT_SERIAL)
  on_backend<Kokkos::Serial>(context, f);
#endif
#if defined(KOKKOS_ENABLE_OPENMP) && !defined(STRATA_LIBRARY_WITHOUT_OPENMP)
  on_backend<Kokkos::OpenMP>(context, f);
#endif
#if defined(KOKKOS_ENABLE_THREADS) && !defined(STRATA_LIBRARY_WITHOUT_THREADS)
  on_backend<Kokkos::Threads>(context, f);
#endif
#if defined(KOKKOS_ENABLE_CUDA) && !defined(STRATA_LIBRARY_WITHOUT_CUDA)
  on_backend<Kokkos::Cuda>(context, f);
#endif
#if defined(KOKKOS_ENABLE_HIP) && !defined(STRATA_LIBRARY_WITHOUT_HIP)
  on_backend<Kokkos::HIP>(context, f);
#endif
}

}  // namespace Fuzz
}  // namespace Strata

#endif
