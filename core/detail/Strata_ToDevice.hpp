// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TO_DEVICE_HPP
#define STRATA_TO_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// A copy of a host vector in `MemorySpace`.
template <class T, class MemorySpace>
Kokkos::View<T*, MemorySpace> to_device(const std::string& label,
                                        const std::vector<T>& from) {
  Kokkos::View<T*, MemorySpace> view(
      Kokkos::view_alloc(label, Kokkos::WithoutInitializing), from.size());
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace,
                                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                              from.data(), from.size()));
  return view;
}

}  // namespace Detail
}  // namespace Strata

#endif
