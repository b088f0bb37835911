// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_RANK_EDGES_HPP
#define STRATA_ANALYSIS_PACKING_RANK_EDGES_HPP

#include <Kokkos_Core.hpp>
#include <analysis/packing/PackingStages.hpp>
#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

/// Ranks the edges of every row by age, newest first, which gives them their
/// places. Ages that the row's last step does not tell apart (see age_bins)
/// follow in the order of the edges.
///
/// A short row is left to a few lanes that compare all with all; a long one to
/// a warp, which counts the ages in scratch and then takes the edges in turn.
template <class ExecutionSpace>
struct RankEdges {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Stages = PackingStages<Memory>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = width == 1 ? 1 : 128;
  static constexpr int warps = width == 1 ? 1 : team_size / width;
  /// A host's thread takes several rows.
  static constexpr int rows_of_thread = width == 1 ? 256 : 1;
  static constexpr int scratch_bytes =
      warps * Stages::age_bins * static_cast<int>(sizeof(int));
  Stages stages;
  int lanes;  // that share a short row

  std::int64_t rows_per_team() const {
    return std::int64_t{team_size / lanes} * rows_of_thread;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank();
    int* const count =
        static_cast<int*>(team.team_scratch(0).get_shmem(+scratch_bytes)) +
        rank / width * Stages::age_bins;
    const std::int64_t n = stages.graph.num_vertices;
    for (int r = 0; r < rows_of_thread; ++r) {
      const std::int64_t i = std::int64_t{team.league_rank()} *
                                 (team_size / lanes) * rows_of_thread +
                             r + rank / lanes;
      const std::int64_t m =
          i < n ? stages.end_edge(i) - stages.first_edge(i) : 0;
      const bool is_long = m > 8 && m > 4 * lanes;
      if (!is_long && m > 0) compare_all(i, rank % lanes);
      for (LaneMask left = lane_ballot(is_long && rank % lanes == 0); left;
           left &= left - 1)
        count_ages(lane_broadcast(i, lowest_bit(left)), rank % width, count);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void compare_all(std::int64_t i, int lane) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const int age = stages.known_after(stages.graph.entries(k), g);
      int rank = 0;
      for (std::int64_t other = begin; other < end; ++other) {
        const int its = stages.known_after(stages.graph.entries(other), g);
        rank += its > age || (its == age && other < k);
      }
      stages.place_edge(i, k, rank);
    }
  }
  /// All lanes of the warp; `count` has room for age_bins.
  KOKKOS_INLINE_FUNCTION void count_ages(std::int64_t i, int lane,
                                         int* count) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    int newest = 0;
    for (std::int64_t k = begin + lane; k < end; k += width) {
      const int age = stages.known_after(stages.graph.entries(k), g);
      newest = age > newest ? age : newest;
    }
    lane_barrier();
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(newest, mask);
      newest = other > newest ? other : newest;
    }
    // The last one is for all that are older.
    const int exact = stages.bins_of(end - begin);
    const int last = exact < Stages::age_bins ? exact : Stages::age_bins - 1;
    const auto bin_at = [&](std::int64_t k) {
      const int bin = Stages::bin_of(
          newest - stages.known_after(stages.graph.entries(k), g));
      return bin < last ? bin : last;
    };
    for (int bin = lane; bin <= last; bin += width) count[bin] = 0;
    lane_barrier();
    for (std::int64_t k = begin + lane; k < end; k += width)
      Kokkos::atomic_fetch_add(count + bin_at(k), 1);
    lane_barrier();
    // First rank of each bin.
    int before = 0;
    for (int first = 0; first <= last; first += width) {
      const int bin = first + lane;
      const int own = bin <= last ? count[bin] : 0;
      int sum = own;
      for (int distance = 1; distance < width; distance *= 2) {
        const int lower = lane_up(sum, distance);
        if (lane >= distance) sum += lower;
      }
      if (bin <= last) count[bin] = before + sum - own;
      before += lane_broadcast(sum, width - 1);
    }
    lane_barrier();
    for (std::int64_t first = begin; first < end; first += width) {
      const std::int64_t k = first + lane;
      const int bin = k < end ? bin_at(k) : -1;
      int ahead = 0, same = 0;
      for (int other = 0; other < width; ++other) {
        const bool equal = lane_broadcast(bin, other) == bin;
        ahead += equal && other < lane;
        same += equal;
      }
      const int rank = bin >= 0 ? count[bin] + ahead : 0;
      lane_barrier();
      if (bin >= 0 && ahead == 0) count[bin] += same;
      lane_barrier();
      if (bin >= 0) stages.place_edge(i, k, rank);
    }
    lane_barrier();
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
