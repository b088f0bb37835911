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

/// A view of rank 1 whose elements are not initialized, for arrays that a
/// kernel is about to fill. Memory that is kept for later is freed where it is
/// what is missing.
/// @throws FailedAllocation
template <class View>
View make_unfilled(const std::string& label, std::int64_t extent) {
  using Memory = typename View::memory_space;
  const auto count = static_cast<std::size_t>(extent);
  const std::size_t bytes = count * sizeof(typename View::value_type);
  const auto make = [&] {
    return View(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), count);
  };
  return allocate_or_release<Memory>(label, bytes, make);
}
/// The same, told to Kokkos as work of `exec`.
template <class View, class ExecutionSpace>
View make_unfilled(const ExecutionSpace& exec, const std::string& label,
                   std::int64_t extent) {
  using Memory = typename View::memory_space;
  const auto count = static_cast<std::size_t>(extent);
  const std::size_t bytes = count * sizeof(typename View::value_type);
  const auto make = [&] {
    return View(Kokkos::view_alloc(exec, label, Kokkos::WithoutInitializing),
                count);
  };
  return allocate_or_release<Memory>(label, bytes, make);
}
/// The same with zeros.
template <class View>
View make_zeroed(const std::string& label, std::int64_t extent) {
  using Memory = typename View::memory_space;
  const auto count = static_cast<std::size_t>(extent);
  const std::size_t bytes = count * sizeof(typename View::value_type);
  const auto make = [&] { return View(label, count); };
  return allocate_or_release<Memory>(label, bytes, make);
}

}  // namespace Detail
}  // namespace Strata

#endif
