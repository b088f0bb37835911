// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KEPT_MEMORY_HPP
#define STRATA_KEPT_MEMORY_HPP

#include <detail/Strata_KeptWorkspace.hpp>
#include <device/Strata_Backend.hpp>

namespace Strata {

/// Frees the memory that is kept for later analyses, plans and new values, at
/// most a thirty-second of the device's, or 256 MiB if that is more (see
/// docs/memory.md). Kokkos's finalization does so, too. What is in use is left
/// alone. May be called at any time, from any thread; may wait for the device.
template <class ExecutionSpace>
void release_kept_memory() {
  using Memory = typename ExecutionSpace::memory_space;
  Detail::KeptWorkspace<Memory, Detail::ForWork>::release();
  Detail::KeptWorkspace<Memory, Detail::ForPlans>::release();
  Detail::KeptWorkspace<Detail::HostVisibleSpace<ExecutionSpace>>::release();
}

}  // namespace Strata

#endif
