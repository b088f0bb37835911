// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_FIND_LEVELS_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_FIND_LEVELS_HPP

#include <Strata_DependencyGraph.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

/// What FindLevels counts besides the levels: places of its counters.
struct LevelCounters {
  enum : int { ticket, num_levels, longest_row, size };
};

/// Level of every vertex on a device, in one launch: a vertex waits until the
/// levels of its dependencies are there. `level` holds -1 before.
///
/// A warp draws a ticket for as many vertices as it has lanes, ticket after
/// ticket in the order of vertices, and each lane takes one vertex.
/// Dependencies of other warps are polled in memory, all that a lane has in its
/// registers together; dependencies in the same warp are handed on in
/// registers. Nearly all of a long row is read by the whole warp before the
/// lanes begin.
///
/// Why it can't deadlock, however few warps run at once: dependencies have
/// smaller numbers, so those outside the warp belong to smaller tickets, all of
/// which were drawn before by warps that already run. The warp of the smallest
/// unfinished ticket therefore finds every level that it polls, and finishes;
/// so does the next one. Within a warp no lane waits in a loop of its own for
/// another: each turn, all lanes look, then hand on what is known in the order
/// of vertices, then publish.
///
/// Cost: a pass over the edges, and about a memory round trip for every warp on
/// the longest path through the warps.
template <class ExecutionSpace>
struct FindLevels {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int batch = 4;
  /// Dependencies outside the warp up to which a row is left to its lane.
  static constexpr int long_row = 64;

  DependencyGraph<Memory> graph;
  Kokkos::View<int*, Memory> level;
  Kokkos::View<int*, Memory> counters;  // zero before

  KOKKOS_INLINE_FUNCTION static int larger(int a, int b) {
    return a < b ? b : a;
  }

  /// One look at all dependencies that are still unknown: takes those that are
  /// known now out of `dependency` and into `mine`. True if some are left.
  template <int n>
  KOKKOS_INLINE_FUNCTION bool look(int (&dependency)[n], int& mine) const {
    int known[n];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < n; ++u)
      known[u] =
          dependency[u] >= 0 ? load_relaxed(level.data() + dependency[u]) : -1;
    bool waiting = false;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < n; ++u) {
      if (known[u] >= 0) {
        mine = larger(mine, known[u] + 1);
        dependency[u] = -1;
      }
      waiting = waiting || dependency[u] >= 0;
    }
    return waiting;
  }

  /// The warp reads the edges [begin, end), all from other warps' vertices.
  KOKKOS_INLINE_FUNCTION int level_after(std::int64_t begin, std::int64_t end,
                                         int lane) const {
    int mine = 0;
    for (std::int64_t k = begin + lane; k < end; k += batch * width) {
      int dependency[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        dependency[u] = k + u * width < end ? graph.entries(k + u * width) : -1;
      for (int turn = 0; look(dependency, mine); ++turn) wait(turn);
    }
    lane_barrier();
    for (int mask = width >> 1; mask > 0; mask >>= 1)
      mine = larger(mine, lane_xor(mine, mask));
    return mine;
  }

  KOKKOS_INLINE_FUNCTION static void wait(int turn) {
    if (turn > 32) pause_while_waiting(turn);
  }

  KOKKOS_INLINE_FUNCTION void load(std::int64_t& k, std::int64_t end,
                                   int (&dependency)[batch]) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      dependency[u] = k + u < end ? graph.entries(k + u) : -1;
    k += batch;
  }

  /// Hands levels on to the lanes that need those of smaller lanes of their
  /// warp: `local` has a bit for each such lane, `left` for each lane that
  /// others need and whose level has not been handed on.
  KOKKOS_INLINE_FUNCTION static void hand_on(bool waiting, int& mine,
                                             unsigned& local, unsigned& left) {
    for (;;) {
      const LaneMask known = lane_ballot(!waiting && local == 0) & left;
      if (known == 0) return;
      left &= ~known;
      for (unsigned next = known; next; next &= next - 1) {
        const int from = lowest_bit(next);
        const int theirs = lane_broadcast(mine, from);
        if (local & (1u << from)) mine = larger(mine, theirs + 1);
      }
      local &= ~known;
    }
  }

  /// The same where each lane needs at most the one before it: a maximum over
  /// every run of such lanes, in log2(width) exchanges.
  KOKKOS_INLINE_FUNCTION static void hand_along(bool waiting, int& mine,
                                                unsigned& local, int lane) {
    constexpr int unknown = 0x7fffffff;
    int ahead = waiting ? unknown : mine - lane;
    int linked = local != 0;
    for (int distance = 1; distance < width; distance *= 2) {
      const int other = lane_up(ahead, distance);
      const int other_linked = lane_up(linked, distance);
      if (linked && lane >= distance) {
        ahead = larger(ahead, other);
        linked = other_linked;
      }
    }
    if (local && ahead != unknown) {
      mine = ahead + lane;
      local = 0;
    }
  }

  /// The vertices from `first` on; keeps the number of levels and of entries of
  /// a row, the largest that the lane has seen.
  KOKKOS_INLINE_FUNCTION void solve(std::int64_t first, int lane, int& levels,
                                    int& longest) const {
    const std::int64_t v = first + lane;
    const bool active = v < graph.num_vertices;
    std::int64_t k = 0, end = 0;
    if (active) {
      k = graph.row_map(v);
      end = graph.row_map(v + 1);
    }
    longest = larger(longest, static_cast<int>(end - k));
    // Dependencies ascend, so those of this warp are last.
    unsigned local = 0;
    while (end > k) {
      const std::int64_t from = graph.entries(end - 1) - first;
      if (from < 0) break;
      local |= 1u << from;
      --end;
    }
    int mine = 0;
    lane_barrier();
    for (LaneMask left = lane_ballot(end - k > long_row); left;
         left &= left - 1) {
      const int owner = lowest_bit(left);
      const std::int64_t begin = lane_broadcast(k, owner);
      const std::int64_t stop = lane_broadcast(end, owner) - batch;
      const int deepest = level_after(begin, stop, lane);
      if (lane == owner) {
        mine = deepest;
        k = stop;
      }
    }

    unsigned dependencies = local;
    for (int mask = width >> 1; mask > 0; mask >>= 1)
      dependencies |=
          static_cast<unsigned>(lane_xor(static_cast<int>(dependencies), mask));
    const bool chains =
        lane_ballot((local & ~(lane > 0 ? 1u << (lane - 1) : 0u)) != 0) == 0;
    int dependency[batch];
    load(k, end, dependency);
    bool waiting = true, published = !active;
    unsigned left = dependencies;
    for (int turn = 0;; ++turn) {
      const bool waited = waiting;
      if (waiting) {
        waiting = look(dependency, mine);
        if (!waiting && k < end) {
          load(k, end, dependency);
          waiting = true;
          turn = 0;
        }
      }
      if (dependencies != 0 && lane_ballot(waited != waiting) != 0) {
        if (chains)
          hand_along(waiting, mine, local, lane);
        else
          hand_on(waiting, mine, local, left);
      }
      if (!published && !waiting && local == 0) {
        store_relaxed(level.data() + v, mine);
        published = true;
      }
      if (lane_ballot(!published) == 0) break;
      wait(turn);
    }
    if (active) levels = larger(levels, mine + 1);
  }

  /// counters(which) = the largest `value` of the lanes, if that is larger.
  KOKKOS_INLINE_FUNCTION void keep_largest(int value, int which,
                                           int lane) const {
    for (int mask = width >> 1; mask > 0; mask >>= 1)
      value = larger(value, lane_xor(value, mask));
    if (lane == 0 && value > load_relaxed(&counters(which)))
      Kokkos::atomic_fetch_max(&counters(which), value);
  }

  /// By every thread of whole warps; `rank` is that in the team.
  KOKKOS_INLINE_FUNCTION void run(int rank) const {
    const int lane = rank % width;
    int levels = 0, longest = 0;
    for (;;) {
      int ticket = 0;
      if (lane == 0)
        ticket = Kokkos::atomic_fetch_add(&counters(LevelCounters::ticket), 1);
      ticket = lane_broadcast(ticket, 0);
      const std::int64_t first = static_cast<std::int64_t>(ticket) * width;
      if (first >= graph.num_vertices) break;
      solve(first, lane, levels, longest);
    }
    keep_largest(levels, LevelCounters::num_levels, lane);
    keep_largest(longest, LevelCounters::longest_row, lane);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
