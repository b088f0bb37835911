// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_MEMORY_BYTES_HPP
#define STRATA_CORE_DEVICE_MEMORY_BYTES_HPP

#include <core/device/DeviceInfo.hpp>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace Strata {
namespace Detail {

/// All the memory that a device or host has; 0 if that is not known.
template <class MemorySpace>
std::size_t memory_bytes() {
#if defined(_SC_PHYS_PAGES)
  if constexpr (std::is_same<MemorySpace, Kokkos::HostSpace>::value) {
    const auto pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
      return static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
  }
#endif
  static const std::size_t total = memory_info<MemorySpace>().total;
  return total;
}

}  // namespace Detail
}  // namespace Strata

#endif
