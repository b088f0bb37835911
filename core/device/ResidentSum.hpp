// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_RESIDENT_SUM_HPP
#define STRATA_CORE_DEVICE_RESIDENT_SUM_HPP

#include <core/device/Atomics.hpp>
#include <core/device/GridBarrier.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

/// Memory for sums over the teams of run_resident_teams, and for barriers of
/// all these teams. Launches that use it must not overlap.
template <class MemorySpace>
struct ResidentSum {
  /// Sets of parts, used in turn, each with one part for every team and the
  /// sums, on a line of their own. A part is two numbers.
  static constexpr int sets = 4;
  /// Parts between the end of the teams' and the sums.
  static constexpr int gap = 8;
  Kokkos::View<double*, MemorySpace> part;
  /// The set of the next sum, how many teams have arrived at barriers, and how
  /// many were to.
  Kokkos::View<unsigned*, MemorySpace> counts;
  int max_teams = 0;

  ResidentSum() = default;
  /// Enqueued on `exec`.
  template <class ExecutionSpace>
  ResidentSum(const ExecutionSpace& exec, int teams)
      : part(make_unfilled<decltype(part)>(
            exec, "Strata::ResidentSum::part",
            std::int64_t{2} * sets * (teams + 2 * gap))),
        counts(make_unfilled<decltype(counts)>(
            exec, "Strata::ResidentSum::counts", 3)),
        max_teams(teams) {
    Kokkos::parallel_for("Strata::ResidentSum::reset",
                         Kokkos::RangePolicy<ExecutionSpace>(
                             exec, 0, static_cast<int>(part.extent(0))),
                         ResetNotReady<double, MemorySpace>{part});
    Kokkos::deep_copy(exec, counts, 0u);
  }
};

/// Where a launch is in its sums and barriers: each thread has a copy, and all
/// are the same.
struct ResidentTurn {
  int set;
  GridBarrier barrier;
};

/// The same as bare pointers, for kernels, with lanes in warps of `width`.
///
/// Waiting ends, as all teams are resident: each gets to its store whatever the
/// others do, and nothing it waits for comes after that. The first team hands
/// out the sums: it waits for parts only, never for what others do with the
/// sums. See GridBarrier for the barriers.
template <int width>
struct ResidentSumRef {
  /// Numbers of scratch that a team lends to each call.
  static constexpr int scratch_size = 2 * 32;

  Packet* part = nullptr;
  unsigned* counts = nullptr;
  int max_teams = 0;

  ResidentSumRef() = default;
  template <class MemorySpace>
  explicit ResidentSumRef(const ResidentSum<MemorySpace>& sum)
      : part(reinterpret_cast<Packet*>(sum.part.data())),
        counts(sum.counts.data()),
        max_teams(sum.max_teams) {}

  /// Called by all threads before the launch's first sum or barrier.
  KOKKOS_INLINE_FUNCTION ResidentTurn begin() const {
    return {static_cast<int>(counts[0]), {counts + 1, counts[2]}};
  }
  /// Called by one thread of the launch behind its last barrier.
  KOKKOS_INLINE_FUNCTION void end(const ResidentTurn& turn) const {
    counts[0] = static_cast<unsigned>(turn.set);
    counts[2] = turn.barrier.expected;
  }

  /// Adds up two values over all threads of all teams, in an order that is the
  /// same each time, and leaves the sums, the same bits in each team, with the
  /// team's first warp. All threads of all teams call it, and meet their team
  /// at a barrier afterwards, before any of them goes on.
  ///
  /// @tparam meets  whether it is a barrier of all teams as well. Else it says
  ///   nothing of other memory. Between any two sums that are none there has to
  ///   be one that is, or a barrier of its own.
  ///
  /// Why a part is never taken for a later one: a set serves every fourth sum.
  /// When a team knows this sum, all have known the one before, and it makes
  /// its part of that not ready. Three sums later, when that set is used again,
  /// all teams have met at a barrier in between, so they find it not ready or
  /// final. The same goes for the sums that the first team hands out: it knows
  /// that all have read those of the sum before when they have sent it their
  /// parts of this one.
  template <bool meets, class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, double* scratch,
                                         ResidentTurn& turn,
                                         double (&value)[2]) const {
    const int stride = max_teams + 2 * gap;
    Packet* const now = part + turn.set * stride;
    Packet* const before =
        part + (turn.set == 0 ? sets - 1 : turn.set - 1) * stride;
    turn.set = turn.set == sets - 1 ? 0 : turn.set + 1;
    if (meets) turn.barrier.expect(team);
    const int lane = team.team_rank() % width, warp = team.team_rank() / width;
    const int warps = team.team_size() / width;
    for (int s = 0; s < 2; ++s) {
      const double of_warp = lane_group_sum(value[s], width);
      if (lane == 0) scratch[s * 32 + warp] = of_warp;
    }
    team.team_barrier();
    // The second warp counts the team while the first one sees to the sums.
    if (meets && warp == 1 && lane == 0) turn.barrier.wait();
    if (warp > 0) return;
    for (int s = 0; s < 2; ++s)
      value[s] =
          lane_group_sum(lane < warps ? scratch[s * 32 + lane] : 0.0, width);
    const int own = team.league_rank();
    if (own == 0) {
      const double first[2] = {value[0], value[1]};
      add_parts(now, team.league_size(), lane, first, value);
      if (lane == 0) {
        store_relaxed_packet(now + max_teams + gap, Values::final(value));
        store_relaxed_packet(before + max_teams + gap, Values::not_ready());
      }
    } else {
      if (lane == 0) {
        store_relaxed_packet(now + own, Values::final(value));
        store_relaxed_packet(before + own, Values::not_ready());
      }
      Packet found;
      for (int wait = 0;; ++wait) {
        found = load_relaxed_packet(now + max_teams + gap);
        if (!Values::is_not_ready(found)) break;
        pause_while_waiting(wait);
      }
      Values::unpack(found, value);
    }
  }

 private:
  static constexpr int sets = 4, gap = 8;

  using Values = NotReadyPacket<double>;

  /// Of the first team: its own part and those of the others.
  KOKKOS_INLINE_FUNCTION static void add_parts(const Packet* parts, int count,
                                               int lane,
                                               const double (&first)[2],
                                               double (&sum)[2]) {
    constexpr int batch = 5;
    sum[0] = lane == 0 ? first[0] : 0.0;
    sum[1] = lane == 0 ? first[1] : 0.0;
    for (int begin = 0; begin < count; begin += batch * width) {
      Packet found[batch];
      // The lanes wait together: lanes that have gone ahead slow down those
      // that have not.
      for (int wait = 0;; ++wait) {
        bool all = true;
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u) {
          const int team = begin + u * width + lane;
          found[u] = {{0, 0}};
          if (team > 0 && team < count)
            found[u] = load_relaxed_packet(parts + team);
        }
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u)
          all = all && !Values::is_not_ready(found[u]);
        if (!lane_any(!all)) break;
        pause_while_waiting(wait);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        double both[2];
        Values::unpack(found[u], both);
        sum[0] += both[0];
        sum[1] += both[1];
      }
    }
    sum[0] = lane_group_sum(sum[0], width);
    sum[1] = lane_group_sum(sum[1], width);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
