// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KEPT_WORKSPACE_HPP
#define STRATA_KEPT_WORKSPACE_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

namespace Strata {
namespace Detail {

/// What memory is kept for: arrays whose user has waited for all work with them
/// before it lets go of them. The largest block is kept.
struct ForWork {
  static constexpr bool may_be_in_use = false, keeps_largest = true;
};
/// Plans, which may be let go of while solves are under way. The last block is
/// kept: the next plan is likely to be of about that size.
struct ForPlans {
  static constexpr bool may_be_in_use = true, keeps_largest = false;
};

/// Memory that outlives its user, for the next one: beyond some hundred
/// kilobytes, a device takes longer to allocate and to free than all the kernels
/// of a short analysis. One block of at most `most_bytes` is kept for each
/// memory space and use until Kokkos is finalized. Users take it out, so two at
/// a time do not share it: the second allocates its own.
template <class MemorySpace, class Use = ForWork>
class KeptWorkspace {
 public:
  using Block = Kokkos::View<char*, MemorySpace>;
  /// A block that goes back when it is let go of: nothing may work with it any
  /// more.
  using Pointer = std::shared_ptr<const Block>;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// A block of at least `bytes`, and of no more than `most` unless it is new.
  static Pointer take(
      const std::string& label, std::size_t bytes,
      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const auto wrapped = [](const Block& block) {
      return Pointer(new Block(block), [](const Block* mine) {
        give_back(*mine);
        delete mine;
      });
    };
    Kept& kept = instance();
    {
      const std::lock_guard<std::mutex> lock(kept.mutex);
      if (kept.block.extent(0) >= bytes && kept.block.extent(0) <= most) {
        const Block block = kept.block;
        kept.block = Block();
        return wrapped(block);
      }
    }
    return wrapped(
        Block(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), bytes));
  }

 private:
  static void give_back(const Block& block) {
    if (block.extent(0) > most_bytes || block.extent(0) == 0 ||
        !Kokkos::is_initialized())
      return;
    if (Use::may_be_in_use) Kokkos::fence();
    Kept& kept = instance();
    Block replaced = block;  // freed out of the lock
    const std::lock_guard<std::mutex> lock(kept.mutex);
    if (Use::keeps_largest && block.extent(0) <= kept.block.extent(0)) return;
    if (!kept.hooked) {
      Kokkos::push_finalize_hook([] { instance().block = Block(); });
      kept.hooked = true;
    }
    replaced = kept.block;
    kept.block = block;
  }

  struct Kept {
    std::mutex mutex;
    Block block;
    bool hooked = false;
  };
  static Kept& instance() {
    // Never destroyed: the hook has emptied it by then.
    static Kept* const kept = new Kept;
    return *kept;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
