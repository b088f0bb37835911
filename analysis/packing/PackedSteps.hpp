// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACKED_STEPS_HPP
#define STRATA_ANALYSIS_PACKING_PACKED_STEPS_HPP

#include <Kokkos_Core.hpp>
#include <analysis/packing/PackingStages.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

/// Finds the steps of all rows in one launch. Teams draw tickets; rows are in a
/// valid sequence. A thread, or a warp, has a row and looks at its dependencies
/// again and again until all are known. Where the order of level sets is known,
/// rows are in that order, in which rows under way seldom wait for each other.
///
/// Why it can't deadlock: tickets are drawn in order by running teams, and a
/// row's dependencies come before it. A thread never waits inside a turn of
/// its loop, which is the same one for all lanes of a warp, so the smallest
/// unfinished row is looked at again, whatever the other lanes of its warp
/// still miss, and all its dependencies are finished.
template <class ExecutionSpace, bool by_warp>
struct PackedSteps {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Stages = PackingStages<Memory>;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Scratch of a warp that has a row.
  static constexpr int warp_bins = Stages::warp_bins;
  Stages stages;
  const int* sequence;  // of the rows; null: that of substitution
  unsigned* ticket;
  /// Where a sub-graph has more values, steps are of no use.
  int most_local;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (stages.count[Stages::count_local] > most_local) return;
    const std::int64_t n = stages.graph.num_vertices;
    int latest = 0;
    double spans = 0;
    const int rows = by_warp ? team.team_size() / width : team.team_size();
    const int mine = by_warp ? team.team_rank() / width : team.team_rank();
    int* const count = by_warp
                           ? static_cast<int*>(team.team_scratch(0).get_shmem(
                                 rows * warp_bins * int(sizeof(int)))) +
                                 mine * warp_bins
                           : nullptr;
    for (;;) {
      unsigned t = 0;
      Kokkos::single(
          Kokkos::PerTeam(team),
          [&](unsigned& drawn) {
            drawn = Kokkos::atomic_fetch_add(ticket, 1u);
          },
          t);
      const std::int64_t first = static_cast<std::int64_t>(t) * rows;
      if (first >= n) break;
      const bool any = first + mine < n;
      const std::int64_t row = !any       ? 0
                               : sequence ? sequence[first + mine]
                                          : first + mine;
      // All lanes of a warp take the same loop.
      const std::int64_t longest =
          by_warp ? 0 : longest_of_lanes(any ? stages.length(row) : 0);
      if (any) {
        const int lane = by_warp ? team.team_rank() % width : 0;
        const int g = stages.subgraph_of[row];
        // Read before the row waits, they may be out of date then: the limits
        // are at least as far apart.
        const int first_known = load_relaxed(stages.first_step + g);
        const int last_known = load_relaxed(stages.last_step + g);
        int step = 0;
        if constexpr (by_warp) {
          step = row_of_warp(row, lane, count);
        } else {
          step = row_of_thread(row, longest);
        }
        latest = step > latest ? step : latest;
        if (lane == 0) {
          if (step < first_known) spans += move_first(g, step);
          if (step > last_known) spans += move_last(g, step);
        }
      }
      team.team_barrier();
    }
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(latest, mask);
      latest = other > latest ? other : latest;
    }
    spans = lane_group_sum(spans, width);
    if (team.team_rank() % width == 0) {
      Kokkos::atomic_fetch_max(&stages.count[Stages::count_time],
                               std::int64_t{latest});
      Kokkos::atomic_fetch_add(&stages.count[Stages::count_spans],
                               static_cast<std::int64_t>(spans));
    }
  }

 private:
  /// The first or last step of sub-graph g becomes `step`, if that is farther
  /// out. Returns by how much the last less the first grows; summed over all
  /// calls, whatever their order, that is the last less the first at the end.
  KOKKOS_INLINE_FUNCTION int move_first(int g, int step) const {
    const int before = Kokkos::atomic_fetch_min(stages.first_step + g, step);
    return before == Stages::no_step ? -step
           : step < before           ? before - step
                                     : 0;
  }
  KOKKOS_INLINE_FUNCTION int move_last(int g, int step) const {
    const int before = Kokkos::atomic_fetch_max(stages.last_step + g, step);
    return before < 0 ? step : step > before ? step - before : 0;
  }

  /// Steps of up to `most` dependencies from entry k on, every
  /// `stride`-th; -1 where not known, 0 beyond the end.
  template <int most>
  KOKKOS_INLINE_FUNCTION void look(std::int64_t k, std::int64_t end, int stride,
                                   int g, int (&after)[most]) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < most; ++u) {
      after[u] = 0;
      if (k + u * stride >= end) continue;
      const int j = stages.graph.entries(k + u * stride);
      // Side by side.
      const int step = load_relaxed(stages.time + j);
      const int more = stages.subgraph_of[j] == g ? 0 : stages.latency;
      after[u] = step < 0 ? -1 : step + more;
    }
  }

  KOKKOS_INLINE_FUNCTION static std::int64_t longest_of_lanes(
      std::int64_t length) {
    constexpr std::int64_t most = 1 << 20;
    return lane_max(static_cast<unsigned>(length < most ? length : most));
  }
  /// @param longest  entries of the longest row of the warp's lanes
  KOKKOS_INLINE_FUNCTION int row_of_thread(std::int64_t i,
                                           std::int64_t longest) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t end = stages.end_edge(i);
    std::int64_t k = stages.first_edge(i);
    if (longest <= 8) return short_row_of_thread<8>(i, g, k, end);
    if (longest <= 16) return short_row_of_thread<16>(i, g, k, end);
    if (longest <= 32 &&
        longest <= std::int64_t{Stages::exact_ages} * stages.entries_a_step())
      return short_row_of_thread<32>(i, g, k, end);
    int newest = 0, step = 0;
    bool done = false;
    for (int turn = 0; !done; ++turn) {
      for (bool known = true; known && k < end;) {
        int after[Stages::batch];
        look(k, end, 1, g, after);
        int first = 0;
        for (; first < Stages::batch && k < end && after[first] >= 0;
             ++first, ++k)
          newest = after[first] > newest ? after[first] : newest;
        known = first == Stages::batch;
      }
      if (k == end) {
        step = stages.step_of_row(i, newest);
        store_relaxed(stages.time + i, step);
        done = true;
      } else {
        pause_while_waiting(turn);
      }
    }
    return step;
  }

  /// A row whose dependencies are looked at together: once they are known, all
  /// that its step follows from is there.
  template <int most>
  KOKKOS_INLINE_FUNCTION int short_row_of_thread(std::int64_t i, int g,
                                                 std::int64_t begin,
                                                 std::int64_t end) const {
    int after[most], step = 0;
    bool done = false;
    for (int turn = 0; !done; ++turn) {
      look(begin, end, 1, g, after);
      bool known = true;
      int newest = 0;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u) {
        known = known && after[u] >= 0;
        newest = after[u] > newest ? after[u] : newest;
      }
      if (known) {
        step = stages.step_of_short_row(after, static_cast<int>(end - begin),
                                        newest);
        store_relaxed(stages.time + i, step);
        done = true;
      } else {
        pause_while_waiting(turn);
      }
    }
    return step;
  }

  /// The same, lane l looking at entries l, l + width, ...; `count` has room
  /// for warp_bins.
  KOKKOS_INLINE_FUNCTION int row_of_warp(std::int64_t i, int lane,
                                         int* count) const {
    constexpr int batch = Stages::batch;
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    int newest = 0;
    int after[batch];
    for (std::int64_t k = begin; k < end; k += batch * width) {
      bool waiting = true;
      for (int turn = 0; lane_any(waiting); ++turn) {
        if (waiting) {
          look(k + lane, end, width, g, after);
          waiting = false;
          STRATA_IMPL_UNROLL
          for (int u = 0; u < batch; ++u) waiting = waiting || after[u] < 0;
        }
        if (turn > 16) pause_while_waiting(turn);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        newest = after[u] > newest ? after[u] : newest;
    }
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(newest, mask);
      newest = other > newest ? other : newest;
    }
    const std::int64_t m = end - begin;
    int late = 0;
    if (m > stages.entries_a_step()) {
      // Dependencies older than the row has steps don't matter.
      const int bins = stages.bins_of(m);
      for (int bin = lane; bin < bins; bin += width) count[bin] = 0;
      lane_barrier();
      for (std::int64_t k = begin; k < end; k += batch * width) {
        if (m > batch * width) look(k + lane, end, width, g, after);
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u) {
          if (k + lane + u * width >= end) continue;
          const int bin = Stages::bin_of(newest - after[u]);
          if (bin < bins) Kokkos::atomic_fetch_add(count + bin, 1);
        }
      }
      lane_barrier();
      int before = 0;
      for (int first = 0; first < bins; first += width) {
        const int bin = first + lane;
        int sum = bin < bins ? count[bin] : 0;
        for (int distance = 1; distance < width; distance *= 2) {
          const int lower = lane_up(sum, distance);
          if (lane >= distance) sum += lower;
        }
        sum += before;
        before = lane_broadcast(sum, width - 1);
        if (bin < bins) {
          const int u = stages.late_by(sum, Stages::age_of(bin));
          late = u > late ? u : late;
        }
      }
      for (int mask = width / 2; mask > 0; mask /= 2) {
        const int other = lane_xor(late, mask);
        late = other > late ? other : late;
      }
      lane_barrier();
    }
    const int step = newest + 1 + late;
    if (lane == 0) store_relaxed(stages.time + i, step);
    return step;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
