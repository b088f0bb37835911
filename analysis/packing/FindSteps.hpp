// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_FIND_STEPS_HPP
#define STRATA_ANALYSIS_PACKING_FIND_STEPS_HPP

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
/// With `short_row`, rows have up to so many dependencies, and a thread has a
/// row. That takes up to 1.9 times as long where level sets are narrow, as rows
/// of a warp wait for each other, and a quarter of the time where they are
/// wide.
///
/// Why it can't deadlock: tickets are drawn in order by running teams, which do
/// them in that order, and a row's dependencies come before it. A thread never
/// waits inside a turn of its loop, which is the same one for all lanes of a
/// warp, so the smallest unfinished row is looked at again, whatever the other
/// lanes of its warp still miss, and all its dependencies are finished.
template <class ExecutionSpace, int short_row = 0>
struct FindSteps {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Stages = PackingStages<Memory>;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Bytes of scratch for `threads`.
  static constexpr int scratch_bytes(int threads) {
    return short_row > 0 ? 0
                         : threads / width * Stages::age_bins *
                               static_cast<int>(sizeof(int));
  }
  static_assert(width < Stages::exact_bins, "few ages are exact");
  Stages stages;
  const int* sequence;  // of the rows; null: that of substitution
  unsigned* ticket;     // 0
  /// Where a sub-graph has more values, steps are of no use.
  int most_local;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (stages.count[Stages::count_local] > most_local) return;
    const std::int64_t n = stages.graph.num_vertices;
    int latest = 0;
    constexpr int lanes = short_row > 0 ? 1 : width;
    const int rows = team.team_size() / lanes;
    const int mine = team.team_rank() / lanes, lane = team.team_rank() % lanes;
    int* count = nullptr;
    if constexpr (short_row == 0) {
      const int bytes = scratch_bytes(team.team_size());
      count = static_cast<int*>(team.team_scratch(0).get_shmem(bytes)) +
              mine * Stages::age_bins;
    }
    unsigned next = 0;
    if (team.team_rank() == 0) next = Kokkos::atomic_fetch_add(ticket, 1u);
    for (;;) {
      unsigned t = 0;
      Kokkos::single(
          Kokkos::PerTeam(team), [&](unsigned& drawn) { drawn = next; }, t);
      const std::int64_t first = static_cast<std::int64_t>(t) * rows;
      if (first >= n) break;
      // Drawn ahead, it is there when the rows of this one are done.
      if (team.team_rank() == 0) next = Kokkos::atomic_fetch_add(ticket, 1u);
      if (first + mine < n) {
        const std::int64_t row =
            sequence ? sequence[first + mine] : first + mine;
        int step = 0;
        if constexpr (short_row > 0) {
          step = step_of_short_row(row);
        } else {
          step = step_of_long_row(row, lane, count);
        }
        latest = step > latest ? step : latest;
      }
      team.team_barrier();
    }
    latest = static_cast<int>(lane_max(static_cast<unsigned>(latest)));
    if (team.team_rank() % width == 0)
      Kokkos::atomic_fetch_max(&stages.count[Stages::count_time],
                               std::int64_t{latest});
  }

 private:
  /// Up to `most` dependencies of a row of sub-graph g, from entry k on every
  /// `stride`-th. Rows that wait are many, so each look reads no more than the
  /// steps that are still unknown.
  template <int most>
  struct Dependencies {
    int unknown[most];  // rows; -1: known, or beyond the end
    int after[most];    // steps from which on they count, once known; 0 beyond

    KOKKOS_INLINE_FUNCTION Dependencies(const Stages& stages, std::int64_t k,
                                        std::int64_t end, int stride, int g) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u)
        unknown[u] =
            k + u * stride < end ? stages.graph.entries(k + u * stride) : -1;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u)
        after[u] = unknown[u] >= 0 && stages.subgraph_of[unknown[u]] != g
                       ? stages.latency
                       : 0;
    }
    /// Looks at those that are unknown; true once none is.
    KOKKOS_INLINE_FUNCTION bool look(const Stages& stages) {
      int step[most];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u)
        step[u] = unknown[u] >= 0 ? load_relaxed(stages.time + unknown[u]) : -1;
      bool known = true;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u) {
        if (step[u] >= 0) {
          after[u] += step[u];
          unknown[u] = -1;
        }
        known = known && unknown[u] < 0;
      }
      return known;
    }
    KOKKOS_INLINE_FUNCTION int newest() const {
      int newest = 0;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u)
        newest = after[u] > newest ? after[u] : newest;
      return newest;
    }
  };

  template <int most>
  KOKKOS_INLINE_FUNCTION static void take(const Dependencies<most>& from,
                                          int (&after)[most]) {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < most; ++u) after[u] = from.after[u];
  }

  /// The step of row i's last record, by one thread, from the steps of the rows
  /// that it needs: it looks at all of them together.
  KOKKOS_INLINE_FUNCTION int step_of_short_row(std::int64_t i) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    Dependencies<short_row> needed(stages, begin, end, 1, g);
    int step = 0;
    bool done = false;
    for (int turn = 0; !done; ++turn) {
      if (needed.look(stages)) {
        step = stages.step_of_short_row(
            needed.after, static_cast<int>(end - begin), needed.newest());
        store_relaxed(stages.time + i, step);
        done = true;
      } else {
        pause_while_waiting(turn);
      }
    }
    return step;
  }

  /// The same by a warp: lane l looks at entries l, l + width, ...; `count` has
  /// room for age_bins.
  KOKKOS_INLINE_FUNCTION int step_of_long_row(std::int64_t i, int lane,
                                              int* count) const {
    constexpr int batch = Stages::batch;
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    using Batch = Dependencies<batch>;
    int newest = 0;
    int after[batch];
    for (std::int64_t k = begin; k < end; k += batch * width) {
      Batch needed(stages, k + lane, end, width, g);
      bool waiting = true;
      for (int turn = 0; lane_any(waiting); ++turn) {
        if (waiting) waiting = !needed.look(stages);
        if (turn > 16) pause_while_waiting(turn);
      }
      const int of_batch = needed.newest();
      newest = of_batch > newest ? of_batch : newest;
      take(needed, after);
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
        if (m > batch * width) {
          Batch known(stages, k + lane, end, width, g);
          known.look(stages);
          take(known, after);
        }
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
