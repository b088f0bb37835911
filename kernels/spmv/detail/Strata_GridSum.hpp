// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GRID_SUM_HPP
#define STRATA_GRID_SUM_HPP

#include <detail/Strata_KokkosCompat.hpp>

namespace Strata {
namespace Detail {

/// Where the teams of a launch leave their parts of up to three sums, with room
/// for `extra` parts that are no team's; `done` counts the teams that have, and
/// is 0 between launches. One launch at a time may use it.
template <class MemorySpace>
struct GridSum {
  static constexpr int max_sums = 3;
  Kokkos::View<double*, MemorySpace> part;
  Kokkos::View<unsigned*, MemorySpace> done;
  int max_teams = 0;
  std::int64_t extra = 0;

  GridSum() = default;
  GridSum(int teams, std::int64_t extra_parts)
      : part("Strata::GridSum::part", max_sums * teams + extra_parts),
        done("Strata::GridSum::done", 1),
        max_teams(teams),
        extra(extra_parts) {}
};

/// The same as bare pointers, for kernels.
struct GridSumRef {
  static constexpr int max_sums = 3;
  double* part;
  unsigned* done;
  int max_teams;

  template <class MemorySpace>
  explicit GridSumRef(const GridSum<MemorySpace>& sum)
      : part(sum.part.data()),
        done(sum.done.data()),
        max_teams(sum.max_teams) {}

  KOKKOS_INLINE_FUNCTION double* extra_part(std::int64_t i) const {
    return part + max_sums * max_teams + i;
  }

  /// Adds up `value` over the threads of all teams, and the first
  /// `used_extra` extra parts to the first sum. True in the threads of one team
  /// alone, the last to get here, where `value` then has the sums; the same
  /// bits every time, as parts are added in the order of teams, not of time.
  /// All threads of all teams of the launch have to call it once. Nobody waits
  /// for another team.
  template <int sums, class Member>
  KOKKOS_INLINE_FUNCTION bool operator()(const Member& team,
                                         double (&value)[sums],
                                         std::int64_t used_extra) const {
    static_assert(sums <= max_sums, "one to three sums");
    for (int s = 0; s < sums; ++s)
      team.team_reduce(Kokkos::Sum<double>(value[s]));
    const int teams = team.league_size();
    int last = 0;
    if (team.team_rank() == 0) {
      for (int s = 0; s < sums; ++s)
        store_relaxed(part + s * max_teams + team.league_rank(),
                      value[s]);
      // The parts, those of the team's other threads included, before the
      // count.
      Kokkos::memory_fence();
      last = Kokkos::atomic_fetch_add(done, 1u) + 1 ==
             static_cast<unsigned>(teams);
    }
    team.team_broadcast(last, 0);
    if (!last) return false;
    Kokkos::memory_fence();
    for (int s = 0; s < sums; ++s) {
      double sum = 0;
      for (int i = team.team_rank(); i < teams; i += team.team_size())
        sum += load_relaxed(part + s * max_teams + i);
      if (s == 0)
        for (std::int64_t i = team.team_rank(); i < used_extra;
             i += team.team_size())
          sum += load_relaxed(extra_part(i));
      team.team_reduce(Kokkos::Sum<double>(sum));
      value[s] = sum;
    }
    if (team.team_rank() == 0) *done = 0;
    return true;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
