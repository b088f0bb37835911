// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_ALLOCATE_VIEW_HPP
#define STRATA_CORE_MEMORY_ALLOCATE_VIEW_HPP

#include <Kokkos_Core.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/memory/MemoryPool.hpp>
#include <cstdint>
#include <string>

namespace Strata {
namespace Detail {

/// Of rank 1, of memory that is someone else's.
template <class T, class MemorySpace>
using UnmanagedView =
    Kokkos::View<T*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A view of rank 1 with these properties of Kokkos::view_alloc. Memory that is
/// kept for later is freed where it is what is missing.
/// @throws FailedAllocation
template <class View, class... Properties>
View make_view(const std::string& label, std::int64_t extent,
               const Properties&... properties) {
  const auto count = static_cast<std::size_t>(extent);
  return allocate_or_release<typename View::memory_space>(
      label, count * sizeof(typename View::value_type),
      [&] { return View(Kokkos::view_alloc(label, properties...), count); });
}
/// One whose elements are not initialized, for arrays that a kernel is about to
/// fill.
template <class View>
View make_unfilled(const std::string& label, std::int64_t extent) {
  return make_view<View>(label, extent, Kokkos::WithoutInitializing);
}
/// The same, told to Kokkos as work of `exec`.
template <class View, class ExecutionSpace>
View make_unfilled(const ExecutionSpace& exec, const std::string& label,
                   std::int64_t extent) {
  return make_view<View>(label, extent, exec, Kokkos::WithoutInitializing);
}
/// One with zeros.
template <class View>
View make_zeroed(const std::string& label, std::int64_t extent) {
  return make_view<View>(label, extent);
}

/// The same in place of a view that there is.
template <class View>
void make_unfilled(View& view, const std::string& label, std::int64_t extent) {
  view = make_unfilled<View>(label, extent);
}
template <class View>
void make_zeroed(View& view, const std::string& label, std::int64_t extent) {
  view = make_zeroed<View>(label, extent);
}

}  // namespace Detail
}  // namespace Strata

#endif
