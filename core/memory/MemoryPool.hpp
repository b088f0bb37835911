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

/// A pool of scratch: arrays whose user waits for all work with them before it
/// releases them. The pool holds the largest blocks: of one analysis or update,
/// a few are in use at the same time.
struct ScratchUse {
  static constexpr bool may_be_in_use = false, keeps_largest = true;
  static constexpr std::size_t most_blocks = 3;
};
/// A pool of persistent memory: plans, which may be released while solves are
/// under way. The pool holds the last blocks, as those of the next plan are
/// likely to be of about their sizes.
struct PersistentUse {
  static constexpr bool may_be_in_use = true, keeps_largest = false;
  static constexpr std::size_t most_blocks = 4;
};

inline std::mutex& finalize_hooks_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Blocks of memory that outlive their users: beyond some hundred kilobytes, a
/// device takes longer to allocate and to free than all the kernels of a short
/// analysis. A pool holds up to `most_blocks` blocks of at most most_bytes()
/// together, for each memory space and use, until Kokkos is finalized. A user
/// takes a block out of the pool, so two users do not share one: the second
/// allocates its own.
template <class MemorySpace, class Use = ScratchUse>
class MemoryPool {
 public:
  using Block = Kokkos::View<char*, MemorySpace>;
  /// A block that goes back to the pool with the last copy of the pointer: no
  /// kernel may use it then.
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
          // A device that has failed: the pool gets nothing.
        }
        delete mine;
      });
    };
    State& state = instance();
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      for (auto it = state.blocks.begin(); it != state.blocks.end(); ++it)
        if (it->extent(0) >= bytes && it->extent(0) <= most) {
          const Block block = *it;
          state.blocks.erase(it);
          return wrapped(block);
        }
    }
    return wrapped(allocate_block(label, bytes));
  }
  /// A block that does not go to the pool afterwards.
  static Block allocate_block(const std::string& label, std::size_t bytes);

  /// Frees the blocks of the pool; returns whether there were any.
  static bool release() {
    Blocks freed;  // out of the lock
    State& state = instance();
    const std::lock_guard<std::mutex> lock(state.mutex);
    freed.swap(state.blocks);
    return !freed.empty();
  }

 private:
  /// The newest last; where the largest are kept, in the order of their sizes.
  using Blocks = std::vector<Block>;

  static void give_back(const Block& block) {
    if (block.extent(0) > most_bytes() || block.extent(0) == 0 ||
        !Kokkos::is_initialized())
      return;
    // The code that throws has not waited.
    if (Use::may_be_in_use || std::uncaught_exceptions() > 0) Kokkos::fence();
    State& state = instance();
    Blocks dropped;  // freed out of the lock
    const std::lock_guard<std::mutex> lock(state.mutex);
    // Hooks pushed before this one run after it.
    if (state.closed) return;
    if (!state.hooked) {
      const std::lock_guard<std::mutex> of_hooks(finalize_hooks_mutex());
      Kokkos::push_finalize_hook([] { close(); });
      state.hooked = true;
    }
    auto at = state.blocks.end();
    if (Use::keeps_largest)
      at = std::find_if(
          state.blocks.begin(), state.blocks.end(),
          [&](const Block& b) { return b.extent(0) > block.extent(0); });
    state.blocks.insert(at, block);
    std::size_t bytes = 0, keep = 0;
    while (keep < std::min(Use::most_blocks, state.blocks.size())) {
      bytes += state.blocks[state.blocks.size() - 1 - keep].extent(0);
      if (bytes > most_bytes()) break;
      ++keep;
    }
    const auto first = state.blocks.end() - static_cast<std::ptrdiff_t>(keep);
    dropped.assign(state.blocks.begin(), first);
    state.blocks.erase(state.blocks.begin(), first);
  }

  struct State {
    std::mutex mutex;
    Blocks blocks;
    bool hooked = false, closed = false;
  };
  static void close() {
    State& state = instance();
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      state.closed = true;
    }
    release();
  }
  static State& instance() {
    // Never destroyed: the hook has emptied it by then.
    static State* const state = new State;
    return *state;
  }
};

/// As try_to_allocate. Where that fails, frees the pools, whose memory may be
/// what is missing, and tries again.
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

/// A block for the work of an analysis. A host has no pool for these.
template <class ExecutionSpace,
          class MemorySpace = typename ExecutionSpace::memory_space>
typename MemoryPool<MemorySpace>::Pointer take_workspace(
    const std::string& label, std::size_t bytes) {
  using Pool = MemoryPool<MemorySpace>;
  if constexpr (is_gpu<ExecutionSpace>) {
    return Pool::take(label, bytes);
  } else {
    return std::make_shared<const typename Pool::Block>(
        Pool::allocate_block(label, bytes));
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
