// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_MEMORY_POOL_HPP
#define STRATA_CORE_MEMORY_MEMORY_POOL_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// What memory is kept for: arrays whose user has waited for all work with them
/// before it lets go of them. The largest block is kept.
struct ScratchUse {
  static constexpr bool may_be_in_use = false, keeps_largest = true;
  static constexpr std::size_t most_blocks = 1;
};
/// Plans, which may be let go of while solves are under way. The last blocks
/// are kept: those of the next plan are likely to be of about their sizes.
struct PersistentUse {
  static constexpr bool may_be_in_use = true, keeps_largest = false;
  static constexpr std::size_t most_blocks = 4;
};

inline std::mutex& finalize_hooks_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Memory that outlives its user, for the next one: beyond some hundred
/// kilobytes, a device takes longer to allocate and to free than all the
/// kernels of a short analysis. Up to `most_blocks` of at most most_bytes()
/// together are kept for each memory space and use until Kokkos is finalized.
/// Users take them out, so two users do not share one: the second allocates its
/// own.
template <class MemorySpace, class Use = ScratchUse>
class MemoryPool {
 public:
  using Block = Kokkos::View<char*, MemorySpace>;
  /// A block that goes back when it is let go of: nothing may work with it any
  /// more.
  using Pointer = std::shared_ptr<const Block>;
  /// A sixty-fourth of the device's memory, and 128 MiB at least.
  static std::size_t most_bytes() {
    static const std::size_t bytes = std::max<std::size_t>(
        std::size_t{128} << 20, memory_info<MemorySpace>().total / 64);
    return bytes;
  }

  /// A block of at least `bytes`, and of no more than `most` unless it is new.
  static Pointer take(
      const std::string& label, std::size_t bytes,
      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const auto wrapped = [](const Block& block) {
      return Pointer(new Block(block), [](const Block* mine) {
        try {
          give_back(*mine);
        } catch (...) {
          // Of a device that has failed: nothing is kept.
        }
        delete mine;
      });
    };
    Kept& kept = instance();
    {
      const std::lock_guard<std::mutex> lock(kept.mutex);
      for (auto it = kept.blocks.begin(); it != kept.blocks.end(); ++it)
        if (it->extent(0) >= bytes && it->extent(0) <= most) {
          const Block block = *it;
          kept.blocks.erase(it);
          return wrapped(block);
        }
    }
    return wrapped(allocate_block(label, bytes));
  }
  /// A block that is not kept afterwards.
  static Block allocate_block(const std::string& label, std::size_t bytes);

  /// Frees what is kept; returns whether there was anything.
  static bool release() {
    Blocks freed;  // out of the lock
    Kept& kept = instance();
    const std::lock_guard<std::mutex> lock(kept.mutex);
    freed.swap(kept.blocks);
    return !freed.empty();
  }

 private:
  using Blocks = std::vector<Block>;  // the newest last

  static void give_back(const Block& block) {
    if (block.extent(0) > most_bytes() || block.extent(0) == 0 ||
        !Kokkos::is_initialized())
      return;
    // The code that throws has not waited.
    if (Use::may_be_in_use || std::uncaught_exceptions() > 0) Kokkos::fence();
    Kept& kept = instance();
    Blocks dropped;  // freed out of the lock
    const std::lock_guard<std::mutex> lock(kept.mutex);
    // Hooks pushed before this one run after it.
    if (kept.closed) return;
    if (Use::keeps_largest && !kept.blocks.empty() &&
        block.extent(0) <= kept.blocks.back().extent(0))
      return;
    if (!kept.hooked) {
      const std::lock_guard<std::mutex> of_hooks(finalize_hooks_mutex());
      Kokkos::push_finalize_hook([] { close(); });
      kept.hooked = true;
    }
    kept.blocks.push_back(block);
    std::size_t bytes = 0, keep = 0;
    while (keep < std::min(Use::most_blocks, kept.blocks.size())) {
      bytes += kept.blocks[kept.blocks.size() - 1 - keep].extent(0);
      if (bytes > most_bytes()) break;
      ++keep;
    }
    const auto first = kept.blocks.end() - static_cast<std::ptrdiff_t>(keep);
    dropped.assign(kept.blocks.begin(), first);
    kept.blocks.erase(kept.blocks.begin(), first);
  }

  struct Kept {
    std::mutex mutex;
    Blocks blocks;
    bool hooked = false, closed = false;
  };
  static void close() {
    Kept& kept = instance();
    {
      const std::lock_guard<std::mutex> lock(kept.mutex);
      kept.closed = true;
    }
    release();
  }
  static Kept& instance() {
    // Never destroyed: the hook has emptied it by then.
    static Kept* const kept = new Kept;
    return *kept;
  }
};

/// As try_to_allocate, after another try without the memory that is kept: it
/// may be what is missing.
template <class MemorySpace, class Make>
auto allocate_or_release(const std::string& label, std::size_t bytes,
                         const Make& make) {
  try {
    return try_to_allocate<MemorySpace>(label, bytes, make);
  } catch (const FailedAllocation&) {
    const bool of_work = MemoryPool<MemorySpace, ScratchUse>::release();
    const bool of_plans = MemoryPool<MemorySpace, PersistentUse>::release();
    if (!of_work && !of_plans) throw;
  }
  return try_to_allocate<MemorySpace>(label, bytes, make);
}

template <class MemorySpace, class Use>
typename MemoryPool<MemorySpace, Use>::Block
MemoryPool<MemorySpace, Use>::allocate_block(const std::string& label,
                                             std::size_t bytes) {
  return allocate_or_release<MemorySpace>(label, bytes, [&] {
    return Block(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), bytes);
  });
}

/// Memory for work of an analysis, of which a host keeps none.
template <class ExecutionSpace>
typename MemoryPool<typename ExecutionSpace::memory_space>::Pointer
take_workspace(const std::string& label, std::size_t bytes) {
  using Kept = MemoryPool<typename ExecutionSpace::memory_space>;
  if constexpr (is_gpu<ExecutionSpace>) {
    return Kept::take(label, bytes);
  } else {
    return std::make_shared<const typename Kept::Block>(
        Kept::allocate_block(label, bytes));
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
