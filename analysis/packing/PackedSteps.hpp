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
/// valid sequence. A warp has a row and looks at its dependencies again and
/// again until all are known. Where the order of level sets is known, rows are
/// in that order, in which rows under way seldom wait for each other.
///
/// A thread a row takes up to 1.6 times as long even where rows have two
/// dependencies, as rows of a warp wait for each other.
///
/// Why it can't deadlock: tickets are drawn in order by running teams, and a
/// row's dependencies come before it. A thread never waits inside a turn of
/// its loop, which is the same one for all lanes of a warp, so the smallest
/// unfinished row is looked at again, whatever the other lanes of its warp
/// still miss, and all its dependencies are finished. A path that is too long
/// ends all: who waits looks for that, too, and rows that are given up for it
/// are waited for by nobody else.
template <class ExecutionSpace>
struct PackedSteps {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Stages = PackingStages<Memory>;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Bytes of scratch for `threads`.
  static constexpr int scratch_bytes(int threads) {
    return threads / width * Stages::age_bins * int(sizeof(int));
  }
  static_assert(width < Stages::exact_bins, "few ages are exact");
  Stages stages;
  const int* sequence;  // of the rows; null: that of substitution
  unsigned* ticket;     // and, behind it, whether a path is too long; both 0
  /// Where a sub-graph has more values, steps are of no use.
  int most_local;
  /// Nor are they where a path has more of them: the latest is one more then,
  /// at least.
  int most_steps;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (stages.count[Stages::count_local] > most_local) return;
    const std::int64_t n = stages.graph.num_vertices;
    int latest = 0;
    double spans = 0;
    const int rows = team.team_size() / width;
    const int mine = team.team_rank() / width, lane = team.team_rank() % width;
    int* const count = static_cast<int*>(team.team_scratch(0).get_shmem(
                           scratch_bytes(team.team_size()))) +
                       mine * Stages::age_bins;
    for (;;) {
      unsigned t = 0;
      Kokkos::single(
          Kokkos::PerTeam(team),
          [&](unsigned& drawn) {
            const bool none = too_long();
            drawn = Kokkos::atomic_fetch_add(ticket, 1u);
            if (none) drawn = ~0u;
          },
          t);
      const std::int64_t first = static_cast<std::int64_t>(t) * rows;
      if (first >= n) break;
      if (first + mine < n) {
        const std::int64_t row =
            sequence ? sequence[first + mine] : first + mine;
        const int g = stages.subgraph_of[row];
        // Read before the row waits, they may be out of date then: the limits
        // are at least as far apart.
        const int first_known = load_relaxed(stages.first_step + g);
        const int last_known = load_relaxed(stages.last_step + g);
        const int step = step_of_row(row, lane, count);
        latest = step > latest ? step : latest;
        if (step > most_steps) store_relaxed(ticket + 1, 1u);
        if (lane == 0) {
          if (step < first_known) spans += move_first(g, step);
          if (step > last_known) spans += move_last(g, step);
        }
      }
      team.team_barrier();
    }
    spans = lane_group_sum(spans, width);
    if (lane == 0) {
      Kokkos::atomic_fetch_max(&stages.count[Stages::count_time],
                               std::int64_t{latest});
      Kokkos::atomic_fetch_add(&stages.count[Stages::count_spans],
                               static_cast<std::int64_t>(spans));
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION bool too_long() const {
    return load_relaxed(ticket + 1) != 0;
  }
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

  /// The step of row i's last record, from the steps of the rows that it needs:
  /// lane l looks at entries l, l + width, ...; `count` has room for age_bins.
  KOKKOS_INLINE_FUNCTION int step_of_row(std::int64_t i, int lane,
                                         int* count) const {
    constexpr int batch = Stages::batch;
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    int newest = 0;
    int after[batch];
    for (std::int64_t k = begin; k < end; k += batch * width) {
      bool waiting = true;
      for (int turn = 0; lane_any(waiting); ++turn) {
        if (turn % 16 == 15 && lane_any(too_long())) return most_steps + 1;
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
    newest = static_cast<int>(lane_max(static_cast<unsigned>(newest)));
    const std::int64_t m = end - begin;
    // Dependencies older than the row has steps don't matter.
    const int bins = m > stages.entries_a_step() ? stages.bins_of(m) : 0;
    int late = 0;
    if (m <= width) {
      // Ages are exact, and a lane has one of them.
      const int own = lane < m ? newest - after[0] : Stages::exact_bins;
      for (int age = 0; age < bins; ++age) {
        const int by = stages.late_by(count_bits(lane_ballot(own <= age)), age);
        late = by > late ? by : late;
      }
    } else if (bins > 0) {
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
