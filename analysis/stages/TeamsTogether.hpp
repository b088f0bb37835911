// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_STAGES_TEAMS_TOGETHER_HPP
#define STRATA_ANALYSIS_STAGES_TEAMS_TOGETHER_HPP

#include <Kokkos_Core.hpp>
#include <core/device/GridBarrier.hpp>
#include <core/device/Warp.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Sizes of TeamsTogether.
struct TeamsTogetherSizes {
  /// Tiles of a sum that a team takes together: a thread has an index of each.
  static constexpr int batch = 4;
  /// Words of scratch, one for each warp and tile, and their sum.
  static constexpr int scratch_bytes = (32 * batch + 1) * sizeof(std::int64_t);
  /// Rows that the team's warps share, at most; how many there are is behind
  /// them.
  static constexpr int most_long_rows = 128;
  static_assert((most_long_rows + 1) * sizeof(int) <= scratch_bytes,
                "the words have room for them");
  /// Threads of a team, but for one sum alone.
  static constexpr int threads_of_team = 512;
  /// Teams at most, and sums at once.
  static constexpr int most_teams = 1024, most_sums = 3;
};

/// What teams that all run at the same time need to work together: a barrier
/// and prefix sums. All threads of all teams have to make the same calls.
template <class Team>
class TeamsTogether : public TeamsTogetherSizes {
 public:
  KOKKOS_INLINE_FUNCTION TeamsTogether(const Team& team, std::int64_t* arrived,
                                       std::int64_t* partial)
      : team_(team),
        barrier_{reinterpret_cast<unsigned*>(arrived), 0},
        partial_(partial) {}

  KOKKOS_INLINE_FUNCTION std::int64_t thread() const {
    return std::int64_t{team_.league_rank()} * team_.team_size() +
           team_.team_rank();
  }
  KOKKOS_INLINE_FUNCTION std::int64_t threads() const {
    return std::int64_t{team_.league_size()} * team_.team_size();
  }
  /// Everything that any thread has written before is seen by all after it.
  /// Waits for teams that run at the same time and come here as well.
  KOKKOS_INLINE_FUNCTION void barrier() {
    if (team_.league_size() > 1)
      barrier_.meet(team_);
    else
      team_.team_barrier();
  }
  template <class Call>
  KOKKOS_INLINE_FUNCTION void each(std::int64_t count, const Call& call) const {
    for (std::int64_t i = thread(); i < count; i += threads()) call(i);
  }
  /// `lanes` of a warp share a row, all of them one that is much longer. The
  /// team's warps share these, as they are often neighbours, and all of its
  /// threads one that is longer still: the lanes of a row may be of different
  /// warps.
  template <class Call>
  KOKKOS_INLINE_FUNCTION void rows(std::int64_t rows, int lanes,
                                   const Call& call) const {
    int* const long_rows = static_cast<int*>(
        team_.team_scratch(0).get_shmem(TeamsTogetherSizes::scratch_bytes));
    int* const count = long_rows + most_long_rows;
    if (team_.team_rank() == 0) *count = 0;
    team_.team_barrier();
    const int lane = team_.team_rank() % width;
    for (std::int64_t first = thread() - lane; first < rows * lanes;
         first += threads()) {
      const std::int64_t row = (first + lane) / lanes;
      const bool is_long =
          row < rows &&
          call.length(row) > (lanes < width ? 16 * lanes : very_long);
      if (row < rows && !is_long) call(row, lane % lanes, lanes);
      const LaneMask longer = lane_ballot(is_long && lane % lanes == 0);
      if (longer == 0) continue;
      int at = 0;
      if (lane == 0) at = Kokkos::atomic_fetch_add(count, count_bits(longer));
      at = lane_broadcast(at, 0);
      for (unsigned left = longer; left; left &= left - 1, ++at) {
        const std::int64_t long_row = lane_broadcast(row, lowest_bit(left));
        if (at >= most_long_rows)
          call(long_row, lane, width);
        else if (lane == 0)
          long_rows[at] = static_cast<int>(long_row);
      }
    }
    team_.team_barrier();
    const int all = *count < most_long_rows ? *count : most_long_rows;
    const auto is_of_all = [&](int row) {
      return call.length(row) > very_long;
    };
    for (int at = team_.team_rank() / width; at < all;
         at += team_.team_size() / width)
      if (!is_of_all(long_rows[at])) call(long_rows[at], lane, width);
    for (int at = 0; at < all; ++at)
      if (is_of_all(long_rows[at]))
        call(long_rows[at], team_.team_rank(), team_.team_size());
    // What comes next may use the same scratch.
    team_.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION int rank() const { return team_.team_rank(); }
  /// Prefix sums of `sums` things at once: call(i, sum, final), sum[k] of each.
  template <int sums, class Call>
  KOKKOS_INLINE_FUNCTION void sum(std::int64_t count, const Call& call) {
    const std::int64_t size = team_.team_size();
    // What one team does at once needs no others.
    const int teams = count <= size * batch ? 1 : team_.league_size();
    const std::int64_t tiles = (count + size - 1) / size;
    const std::int64_t per_team = (tiles + teams - 1) / teams * size;
    const std::int64_t begin = per_team * team_.league_rank();
    const std::int64_t end =
        begin + per_team < count ? begin + per_team : count;
    std::int64_t before[sums] = {}, all;
    Tiles<sums> mine = {};
    if (teams > 1) {
      Sums<1> total[sums] = {};
      for (std::int64_t first = begin; first < end; first += size * batch) {
        mine = own<sums>(first, end, call);
        STRATA_IMPL_UNROLL
        for (int k = 0; k < sums; ++k)
          for (int u = 0; u < batch; ++u) total[k].of[0] += mine.of[k].of[u];
      }
      // The sums of this stage and of the next one are apart.
      std::int64_t* const partial = partial_ + odd_ * most_sums * most_teams;
      odd_ = 1 - odd_;
      STRATA_IMPL_UNROLL
      for (int k = 0; k < sums; ++k) {
        exclusive(total[k], all);
        if (team_.team_rank() == 0)
          partial[k * most_teams + team_.league_rank()] = all;
      }
      barrier();
      STRATA_IMPL_UNROLL
      for (int k = 0; k < sums; ++k) {
        Sums<1> others = {};
        for (int t = team_.team_rank(); t < team_.league_rank();
             t += team_.team_size())
          others.of[0] += load_relaxed(partial + k * most_teams + t);
        exclusive(others, before[k]);
      }
    }
    // The sums of a team's only batch are known.
    const bool known = teams > 1 && per_team <= size * batch;
    for (std::int64_t first = begin; first < end; first += size * batch) {
      if (!known) mine = own<sums>(first, end, call);
      STRATA_IMPL_UNROLL
      for (int k = 0; k < sums; ++k) {
        exclusive(mine.of[k], all);
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u) mine.of[k].of[u] += before[k];
        before[k] += all;
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const std::int64_t i = first + u * size + team_.team_rank();
        std::int64_t sum[sums];
        STRATA_IMPL_UNROLL
        for (int k = 0; k < sums; ++k) sum[k] = mine.of[k].of[u];
        if (i < end) call(i, sum, true);
      }
    }
  }

 private:
  static constexpr int width = 32;
  /// Entries of a row from which on it is shared by a team.
  static constexpr int very_long = 32 * width;

  /// Of this thread's index in each of `tiles` tiles: what the call adds, and
  /// then the sum over all indices before.
  template <int tiles>
  struct Sums {
    std::int64_t of[tiles];
  };
  template <int sums>
  struct Tiles {
    Sums<batch> of[sums];
  };
  /// Of the batch of tiles that begins with index `first`.
  template <int sums, class Call>
  KOKKOS_INLINE_FUNCTION Tiles<sums> own(std::int64_t first, std::int64_t end,
                                         const Call& call) const {
    const std::int64_t size = team_.team_size();
    Tiles<sums> tiles = {};
    const std::int64_t i = first + team_.team_rank();
    const bool whole = first + size * batch <= end;
    const auto add = [&](int u) {
      std::int64_t sum[sums] = {};
      call(i + u * size, sum, false);
      STRATA_IMPL_UNROLL
      for (int k = 0; k < sums; ++k) tiles.of[k].of[u] = sum[k];
    };
    if (whole) {
      // Without branches the calls read side by side.
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) add(u);
    } else {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (i + u * size < end) add(u);
    }
    return tiles;
  }
  /// @param all  of the team's threads
  template <int tiles>
  KOKKOS_INLINE_FUNCTION void exclusive(Sums<tiles>& sums,
                                        std::int64_t& all) const {
    std::int64_t* const of_warp = static_cast<std::int64_t*>(
        team_.team_scratch(0).get_shmem(TeamsTogetherSizes::scratch_bytes));
    const int lane = team_.team_rank() % width,
              warp = team_.team_rank() / width;
    const int warps = team_.team_size() / width;
    const Sums<tiles> added = sums;
    up_to(sums, lane);
    team_.team_barrier();
    STRATA_IMPL_UNROLL
    for (int u = 0; u < tiles; ++u)
      if (lane == width - 1) of_warp[u * warps + warp] = sums.of[u];
    team_.team_barrier();
    if (warp == 0) {
      Sums<tiles> of_lane = {};
      STRATA_IMPL_UNROLL
      for (int u = 0; u < tiles; ++u)
        if (lane < warps) of_lane.of[u] = of_warp[u * warps + lane];
      const Sums<tiles> given = of_lane;
      up_to(of_lane, lane);
      std::int64_t before = 0;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < tiles; ++u) {
        if (lane < warps)
          of_warp[u * warps + lane] = before + of_lane.of[u] - given.of[u];
        before += lane_broadcast(of_lane.of[u], width - 1);
      }
      if (lane == 0) of_warp[tiles * warps] = before;
    }
    team_.team_barrier();
    STRATA_IMPL_UNROLL
    for (int u = 0; u < tiles; ++u)
      sums.of[u] += of_warp[u * warps + warp] - added.of[u];
    all = of_warp[tiles * warps];
  }
  /// Of each tile the sum over the lanes up to this one.
  template <int tiles>
  KOKKOS_INLINE_FUNCTION static void up_to(Sums<tiles>& sums, int lane) {
    STRATA_IMPL_UNROLL
    for (int distance = 1; distance < width; distance *= 2) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < tiles; ++u) {
        const std::int64_t lower = lane_broadcast_up(sums.of[u], distance);
        if (lane >= distance) sums.of[u] += lower;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION static std::int64_t lane_broadcast_up(
      std::int64_t value, int distance) {
    const auto low = static_cast<unsigned>(
        lane_up(static_cast<int>(value & 0xffffffff), distance));
    const auto high = lane_up(static_cast<int>(value >> 32), distance);
    return static_cast<std::int64_t>(high) << 32 | low;
  }

  Team team_;
  GridBarrier barrier_;
  std::int64_t* partial_;
  int odd_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
