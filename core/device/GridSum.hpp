// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_GRID_SUM_HPP
#define STRATA_CORE_DEVICE_GRID_SUM_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

/// True in the threads of one block alone, the last to get here. All threads of
/// all blocks of the launch have to call it once, after they have left their
/// parts. No block waits for another one.
template <class Team>
KOKKOS_INLINE_FUNCTION bool is_last_block(const Team& team, unsigned* done) {
  int last = 0;
  if (team.team_rank() == 0) {
    // The parts, those of the block's other threads included, before the count.
    Kokkos::memory_fence();
    last = Kokkos::atomic_fetch_add(done, 1u) + 1 ==
           static_cast<unsigned>(team.league_size());
  }
  if (!team_broadcast(team, last)) return false;
  Kokkos::memory_fence();
  if (team.team_rank() == 0) *done = 0;
  return true;
}

/// Where the blocks of a launch leave their parts of up to three sums, with
/// room for extra parts that are no block's; `done` counts the blocks that
/// have, and is 0 between launches. Launches that use it must not overlap.
/// Bare pointers, for kernels: see GridSum.
struct GridSumRef {
  static constexpr int max_sums = 3;
  double* part = nullptr;
  unsigned* done = nullptr;
  int max_blocks = 0;

  KOKKOS_INLINE_FUNCTION double* extra_part(std::int64_t i) const {
    return part + max_sums * max_blocks + i;
  }

  /// Has a block leave its parts for add_up() of a later launch.
  template <int sums, class Team>
  KOKKOS_INLINE_FUNCTION void leave(const Team& team,
                                    const double (&value)[sums]) const {
    static_assert(sums <= max_sums, "one to three sums");
    for (int s = 0; s < sums; ++s) {
      const double sum = team_sum(team, value[s]);
      if (team.team_rank() == 0)
        store_relaxed(part + s * max_blocks + team.league_rank(), sum);
    }
  }
  /// Sums of the parts of `blocks` blocks and of the first `used_extra` extra
  /// ones, the same bits in all threads of all blocks.
  template <int sums, class Team>
  KOKKOS_INLINE_FUNCTION void add_up(const Team& team, int blocks,
                                     double (&value)[sums],
                                     std::int64_t used_extra) const {
    for (int s = 0; s < sums; ++s) {
      double sum = sum_of<4>(team, part + s * max_blocks, blocks);
      if (s == 0 && used_extra > 0)
        sum += sum_of<8>(team, extra_part(0), used_extra);
      value[s] = sum;
    }
    for (int s = 0; s < sums; ++s) value[s] = team_sum(team, value[s]);
  }

  /// Adds up `value` over the threads of all blocks, and the first
  /// `used_extra` extra parts to the first sum. True in the threads of one
  /// block alone, the last to get here, where `value` then has the sums; the
  /// same bits every time, as parts are added in the order of blocks, not of
  /// time. All threads of all blocks of the launch have to call it once. No
  /// block waits for another one.
  template <int sums, class Team>
  KOKKOS_INLINE_FUNCTION bool operator()(const Team& team,
                                         double (&value)[sums],
                                         std::int64_t used_extra) const {
    static_assert(sums <= max_sums, "one to three sums");
    leave(team, value);
    if (!is_last_block(team, done)) return false;
    add_up(team, team.league_size(), value, used_extra);
    return true;
  }

 private:
  /// The thread's share, with `batch` loads under way.
  template <int batch, class Team>
  KOKKOS_INLINE_FUNCTION static double sum_of(const Team& team,
                                              const double* parts,
                                              std::int64_t count) {
    double sum = 0;
    const int stride = team.team_size();
    for (std::int64_t i = team.team_rank(); i < count; i += batch * stride) {
      double found[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        found[u] =
            i + u * stride < count ? load_relaxed(parts + i + u * stride) : 0.0;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) sum += found[u];
    }
    return sum;
  }
};

/// One with its memory, for `blocks` blocks at most.
template <class MemorySpace>
struct GridSum : GridSumRef {
  std::int64_t extra = 0;
  Kokkos::View<double*, MemorySpace> parts;
  Kokkos::View<unsigned*, MemorySpace> count;

  GridSum() = default;
  GridSum(int blocks, std::int64_t extra_parts)
      : extra(extra_parts),
        parts(make_zeroed<decltype(parts)>("Strata::GridSum::part",
                                           max_sums * blocks + extra_parts)),
        count(make_zeroed<decltype(count)>("Strata::GridSum::done", 1)) {
    part = parts.data();
    done = count.data();
    max_blocks = blocks;
  }
};

/// The same for any number of sums, which the last of the blocks to end adds
/// up.
struct ManySumsRef {
  /// Sums that are added up together.
  static constexpr int group = 8;
  double* part = nullptr;
  unsigned* done = nullptr;
  int max_blocks = 0;

  /// Has a block leave its parts of the sums from `first` on.
  template <int sums, class Team>
  KOKKOS_INLINE_FUNCTION void leave(const Team& team, int first,
                                    double (&value)[sums]) const {
    team_sums(team, value);
    if (team.team_rank() != 0) return;
    for (int s = 0; s < sums; ++s)
      store_relaxed(place(first + s) + team.league_rank(), value[s]);
  }
  /// For the threads of the last block: the first `count` sums go to `to`, to
  /// be read by the thread of rank 0, or by others after a barrier. Parts are
  /// added in the order of blocks, not of time: the same bits every time.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void add_up(const Team& team, int count,
                                     double* to) const {
    const int blocks = team.league_size();
    for (int first = 0; first < count; first += group) {
      double sum[group] = {};
      for (int i = team.team_rank(); i < blocks; i += team.team_size()) {
        STRATA_IMPL_UNROLL
        for (int s = 0; s < group; ++s)
          if (first + s < count) sum[s] += load_relaxed(place(first + s) + i);
      }
      team_sums(team, sum);
      if (team.team_rank() != 0) continue;
      STRATA_IMPL_UNROLL
      for (int s = 0; s < group; ++s)
        if (first + s < count) to[first + s] = sum[s];
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION double* place(int sum) const {
    return part + static_cast<std::int64_t>(sum) * max_blocks;
  }
};

/// One with its memory, for `blocks` blocks at most.
template <class MemorySpace>
struct ManySums : ManySumsRef {
  Kokkos::View<double*, MemorySpace> parts;
  Kokkos::View<unsigned*, MemorySpace> count;

  ManySums() = default;
  ManySums(int blocks, int sums)
      : parts(make_unfilled<decltype(parts)>("Strata::ManySums::part",
                                             std::int64_t{blocks} * sums)),
        count(make_zeroed<decltype(count)>("Strata::ManySums::done", 1)) {
    part = parts.data();
    done = count.data();
    max_blocks = blocks;
  }
};

/// What the blocks of a launch have left for the next one to add up; without
/// blocks, nothing.
struct LateSums {
  GridSumRef grid_sum;
  int blocks = 0;
  std::int64_t used_extra = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
