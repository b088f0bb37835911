// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MEMORY_POOL_HPP
#define STRATA_MEMORY_POOL_HPP

#include <core/device/Backend.hpp>
#include <core/memory/MemoryPool.hpp>

namespace Strata {

/// Frees the memory that is kept for later analyses, plans and new values, at
/// most a thirty-second of the device's, or 256 MiB if that is more (see
/// docs/memory.md). Kokkos's finalization does so, too. What is in use is left
/// alone. May be called at any time, from any thread; may wait for the device.
template <class ExecutionSpace>
void release_memory_pool() {
  using Memory = typename ExecutionSpace::memory_space;
  Detail::MemoryPool<Memory, Detail::ScratchUse>::release();
  Detail::MemoryPool<Memory, Detail::PersistentUse>::release();
  Detail::MemoryPool<Detail::HostVisibleSpace<ExecutionSpace>>::release();
}

}  // namespace Strata

#endif
