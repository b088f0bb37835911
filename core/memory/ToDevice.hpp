// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_TO_DEVICE_HPP
#define STRATA_CORE_MEMORY_TO_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <core/memory/AllocateView.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// A copy of a host vector in `MemorySpace`.
template <class T, class MemorySpace>
Kokkos::View<T*, MemorySpace> to_device(const std::string& label,
                                        const std::vector<T>& from) {
  const auto view =
      make_unfilled<Kokkos::View<T*, MemorySpace>>(label, from.size());
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace,
                                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                              from.data(), from.size()));
  return view;
}

/// Copies a view to `to` in host memory, which has room for it. Waits for
/// `exec`.
template <class ExecutionSpace, class View>
void copy_to_host(const ExecutionSpace& exec, const View& view,
                  typename View::non_const_value_type* to) {
  Kokkos::deep_copy(
      exec,
      Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(to, view.extent(0)),
      view);
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
