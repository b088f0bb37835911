// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_GRID_BARRIER_HPP
#define STRATA_CORE_DEVICE_GRID_BARRIER_HPP

#include <core/device/Atomics.hpp>

namespace Strata {
namespace Detail {

/// Barriers of all teams of run_resident_teams. Every thread has a copy, and
/// all copies are the same. What a thread does before a barrier comes before
/// what any thread does after it.
///
/// Order: the team meets at a barrier of its own, one of its threads counts the
/// team by a release, and goes on by an acquire of the whole count, and the
/// team meets again.
///
/// No deadlock: all teams run at the same time, all threads of all teams come
/// to the same barriers in the same order, and between two of them no team
/// waits for what another one does only after the second. Consider the first
/// barrier that a team does not leave. All have left those before it, so all
/// get there and are counted, and then the count is as large as all wait for.
/// Nor does a team leave too early: none is counted at a later barrier before
/// it has left this one.
struct GridBarrier {
  /// How many teams have come to barriers, of all launches that have this
  /// counter: it wraps around.
  unsigned* counter = nullptr;
  /// How many of them there are once this launch's barriers so far are over.
  unsigned expected = 0;

  /// All threads of all teams call it.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void meet(const Team& team) {
    team.team_barrier();
    expect(team);
    if (team.team_rank() == 0) wait();
    team.team_barrier();
  }
  /// The same in parts, for a team that has something else to do meanwhile. All
  /// threads call expect(), one of the team wait(), and a barrier of the team
  /// comes before and after it.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void expect(const Team& team) {
    expected += static_cast<unsigned>(team.league_size());
  }
  KOKKOS_INLINE_FUNCTION void wait() const {
    increment_release(counter);
    // A difference, as the count wraps around. Without a pause: one thread of a
    // team looks, and all that it could make room for waits for it.
    while (static_cast<int>(load_acquire(counter) - expected) < 0) {
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
