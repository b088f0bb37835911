// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GRID_SUM_HPP
#define STRATA_GRID_SUM_HPP

#include <detail/Strata_KokkosCompat.hpp>

namespace Strata {
namespace Detail {

/// Where the blocks of a launch leave their parts of up to three sums, with
/// room for `extra` parts that are no block's; `done` counts the blocks that
/// have, and is 0 between launches. One launch at a time may use it.
template <class MemorySpace>
struct GridSum {
  static constexpr int max_sums = 3;
  Kokkos::View<double*, MemorySpace> part;
  Kokkos::View<unsigned*, MemorySpace> done;
  int max_blocks = 0;
  std::int64_t extra = 0;

  GridSum() = default;
  GridSum(int blocks, std::int64_t extra_parts)
      : part("Strata::GridSum::part", max_sums * blocks + extra_parts),
        done("Strata::GridSum::done", 1),
        max_blocks(blocks),
        extra(extra_parts) {}
};

/// The same as bare pointers, for kernels.
struct GridSumRef {
  static constexpr int max_sums = 3;
  double* part;
  unsigned* done;
  int max_blocks;

  template <class MemorySpace>
  explicit GridSumRef(const GridSum<MemorySpace>& sum)
      : part(sum.part.data()),
        done(sum.done.data()),
        max_blocks(sum.max_blocks) {}

  KOKKOS_INLINE_FUNCTION double* extra_part(std::int64_t i) const {
    return part + max_sums * max_blocks + i;
  }

  /// Adds up `value` over the threads of all blocks, and the first
  /// `used_extra` extra parts to the first sum. True in the threads of one
  /// block alone, the last to get here, where `value` then has the sums; the
  /// same bits every time, as parts are added in the order of blocks, not of
  /// time. All threads of all blocks of the launch have to call it once. Nobody
  /// waits for another block.
  template <int sums>
  KOKKOS_INLINE_FUNCTION bool operator()(const ThreadBlock& block,
                                         double (&value)[sums],
                                         std::int64_t used_extra) const {
    static_assert(sums <= max_sums, "one to three sums");
    const int blocks = block.count();
    for (int s = 0; s < sums; ++s) value[s] = block.sum(value[s]);
    int last = 0;
    if (block.rank() == 0) {
      for (int s = 0; s < sums; ++s)
        store_relaxed(part + s * max_blocks + block.number(), value[s]);
      // The parts, those of the block's other threads included, before the
      // count.
      Kokkos::memory_fence();
      last = Kokkos::atomic_fetch_add(done, 1u) + 1 ==
             static_cast<unsigned>(blocks);
    }
    if (!block.broadcast(last)) return false;
    Kokkos::memory_fence();
    for (int s = 0; s < sums; ++s) {
      double sum = 0;
      for (int i = block.rank(); i < blocks; i += block.size())
        sum += load_relaxed(part + s * max_blocks + i);
      if (s == 0)
        for (std::int64_t i = block.rank(); i < used_extra; i += block.size())
          sum += load_relaxed(extra_part(i));
      value[s] = block.sum(sum);
    }
    if (block.rank() == 0) *done = 0;
    return true;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
