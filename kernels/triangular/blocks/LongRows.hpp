// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_LONG_ROWS_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_LONG_ROWS_HPP

#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

/// A row stored apart: consecutive slots.
struct LongRow {
  std::int64_t first = 0;
  int count = 0;
};

/// Rows stored apart of which lanes of a team are in charge: lanes of a warp
/// take the shorter ones of theirs, the team the longer ones.
template <class Scalar, class ExecutionSpace, int threads, int R>
struct LongRows {
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int warps = threads / width;
  /// Lanes for each row where a warp has several.
  static constexpr int group = width < 8 ? width : 8;
  /// Entries up to which a row is left to a warp.
  static constexpr int of_a_warp = 128;

  struct Scratch {
    Scalar part[warps][R];
    Scalar of_group[warps][width / group][R];
    LongRow row[threads];
  };

  /// `add(row, lane, lanes, part)` adds the lane's share of a row. All threads
  /// of the team call this, with `longer_ones` in scratch at 0 behind a
  /// barrier; those whose `own` row has entries get its sum.
  template <class Member, class Add>
  KOKKOS_INLINE_FUNCTION static void sum_rows(
      const Member& team, Scratch& scratch, int& longer_ones,
      const LongRow& own, const Add& add, Scalar (&sum)[R]) {
    const int rank = team.team_rank();
    int place = -1;
    if (own.count > of_a_warp) {
      place = Kokkos::atomic_fetch_add(&longer_ones, 1);
      scratch.row[place] = own;
    }
    lane_barrier();
    sum_rows_of_warp(rank / width, rank % width, scratch, own, add, sum);
    team.team_barrier();
    // In whatever order rows have come, each is added up in the same way.
    const int count = longer_ones;
    for (int i = 0; i < count; ++i) {
      Scalar mine[R];
      clear(mine);
      add(scratch.row[i], rank, threads, mine);
      lane_barrier();
      for (int r = 0; r < R; ++r) {
        const Scalar total = lane_group_sum(mine[r], width);
        if (rank % width == 0) scratch.part[rank / width][r] = total;
      }
      team.team_barrier();
      if (place == i)
        for (int r = 0; r < R; ++r) {
          sum[r] = scratch.part[0][r];
          for (int w = 1; w < warps; ++w) sum[r] += scratch.part[w][r];
        }
      team.team_barrier();
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION static void clear(Scalar (&sums)[R]) {
    for (int r = 0; r < R; ++r) sums[r] = Scalar(0);
  }
  /// The shorter rows of a warp's lanes: several at once by a group of lanes
  /// each, one that is left alone by the whole warp.
  template <class Add>
  KOKKOS_INLINE_FUNCTION static void sum_rows_of_warp(int warp, int lane,
                                                      Scratch& scratch,
                                                      const LongRow& own,
                                                      const Add& add,
                                                      Scalar (&sum)[R]) {
    for (unsigned left = lane_ballot(own.count > 0 && own.count <= of_a_warp);
         left != 0;) {
      const int lanes = (left & (left - 1)) != 0 ? group : width;
      int owner = 0, from = -1;
      for (int g = 0; g < width / lanes && left != 0; ++g, left &= left - 1) {
        const int next = lowest_bit(left);
        if (next == lane) from = g;
        if (g <= lane / lanes) owner = g == lane / lanes ? next : -1;
      }
      LongRow row;
      row.first = lane_broadcast(own.first, owner < 0 ? 0 : owner);
      row.count = lane_broadcast(own.count, owner < 0 ? 0 : owner);
      if (owner < 0) row.count = 0;
      Scalar mine[R];
      clear(mine);
      add(row, lane % lanes, lanes, mine);
      lane_barrier();
      for (int r = 0; r < R; ++r) {
        const Scalar total = lane_group_sum(mine[r], lanes);
        if (lane % lanes == 0) scratch.of_group[warp][lane / lanes][r] = total;
      }
      lane_barrier();
      if (from >= 0)
        for (int r = 0; r < R; ++r) sum[r] = scratch.of_group[warp][from][r];
      lane_barrier();
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
