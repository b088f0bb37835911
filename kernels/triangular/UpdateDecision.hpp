// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_UPDATE_DECISION_HPP
#define STRATA_KERNELS_TRIANGULAR_UPDATE_DECISION_HPP

#include <Strata_UpdateStatus.hpp>
#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/PackValues.hpp>
#include <kernels/triangular/merging/MergedGrowth.hpp>

namespace Strata {
namespace Detail {

/// What kernels of an update pass on to each other and to solves.
struct UpdateWords {
  // What a look at the diagonal has found, unless the plan has a place for that
  // (MergedValues); and what one at merged rows has, see CheckGrowth. The team
  // that decides clears them.
  ValuesInspection found;
  std::int64_t growth[3] = {};
  // What has been decided: which plan is active, 0 for the chosen one and 1 for
  // the fallback plan, and whether there are no values to solve with.
  int active_plan = 0, failed = 0;
  // Of the launch that decides: those that are done. The last one clears it.
  unsigned teams_done = 0;
};

/// The decision on new values, by what has been found. It is the decision that
/// update_values makes on the host, with two differences: if a diagonal value
/// has no usable reciprocal, the fallback plan solves, which divides; and so it
/// does with all that update_values refuses but a zero on the diagonal.
///
/// The last team of a launch decides, whichever that is: nothing waits. Words
/// that teams of that launch write are read by load_relaxed.
struct UpdateDecision {
  UpdateWords* words;
  ValuesInspection* found;
  const UpdateStatus* outside;  // of what made the values; may be null
  UpdateStatus* status;
  double longest_row;  // see CheckGrowth
  bool has_fallback;

  /// Called by all threads of each team of the launch, when the team has done
  /// all else.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void after(const Team& team) const {
    team.team_barrier();
    if (team.team_rank() != 0) return;
    Kokkos::memory_fence();
    const unsigned before =
        Kokkos::atomic_fetch_add(&words->teams_done, unsigned{1});
    if (before + 1 != static_cast<unsigned>(team.league_size())) return;
    Kokkos::memory_fence();
    decide();
  }
  /// What kernels have found so far, but for the growth of merged rows: those
  /// before this one or, in `decide`, of this one.
  struct Findings {
    std::int64_t zero_row;  // ValuesInspection::no_row: there is none
    bool fails;             // no plan can take the values
    bool suits;             // the chosen one can
    bool may_grow;          // merged rows have to be looked at to know that
  };
  KOKKOS_INLINE_FUNCTION Findings findings() const {
    // All reads are under way before the first is needed.
    constexpr std::int64_t none = ValuesInspection::no_row;
    const std::int64_t zero = load_relaxed(&found->zero_row);
    const std::int64_t divide = load_relaxed(&found->divide);
    const std::int64_t spread = load_relaxed(&found->spread_bits);
    const bool given = outside && outside->fault != UpdateFault::none;
    return {zero, given || zero != none, divide == 0,
            may_grow_too_much(spread, longest_row)};
  }

 private:
  KOKKOS_INLINE_FUNCTION void decide() const {
    const std::int64_t grown = load_relaxed(&words->growth[1]);
    const Findings now = findings();
    const bool suits = now.suits && (!now.may_grow || grown == 0);
    UpdateStatus decided{UpdateFault::none, 0, -1};
    if (outside && outside->fault != UpdateFault::none)
      decided = *outside;
    else if (now.zero_row != ValuesInspection::no_row)
      decided = {UpdateFault::zero_diagonal, 0, now.zero_row};
    *found = {};
    for (std::int64_t& word : words->growth) word = 0;
    words->teams_done = 0;
    const bool failed = decided.fault != UpdateFault::none;
    decided.unmerged = has_fallback && !suits && !failed ? 1 : 0;
    *status = decided;
    words->active_plan = has_fallback && (failed || !suits) ? 1 : 0;
    words->failed = failed ? 1 : 0;
  }
};

/// For InspectValues: leaves what teams have found to the decision, which the
/// last of them makes.
struct LeaveToDecision {
  UpdateDecision decision;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team,
                                         const ValuesInspection& mine) const {
    if (team.team_rank() == 0) {
      ValuesInspection* const all = decision.found;
      if (mine.zero_row != ValuesInspection::no_row)
        Kokkos::atomic_fetch_min(&all->zero_row, mine.zero_row);
      if (mine.divide != 0) store_relaxed(&all->divide, std::int64_t{1});
    }
    decision.after(team);
  }
};

/// Of plans without merged rows.
struct NoGrowth {
  static constexpr int team_size = 256;
  int teams() const { return 0; }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take(const Team&, std::int64_t) const {}
};

/// The launch that ends an update, each part by teams of its own: a look at the
/// growth of merged rows, and the packing of the fallback plan, if that plan is
/// to solve or may be. Then the decision.
template <class Scalar, class MemorySpace, class Growth>
struct FinishUpdate {
  using Pack = PackTogether<Scalar, MemorySpace>;
  Growth growth;
  int growth_teams;
  Pack fallback;
  UpdateDecision decision;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (team.league_rank() < growth_teams)
      growth.take(team, team.league_rank());
    else if (decision.has_fallback)
      pack(team, team.league_rank() - growth_teams);
    decision.after(team);
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void pack(const Team& team, std::int64_t part) const {
    const auto found = decision.findings();
    if (found.fails)
      invalidate(team, part);
    else if (!found.suits || found.may_grow)
      fallback.take(team, part);
  }
  /// A diagonal of NaN, for each row is divided by its own.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void invalidate(const Team& team,
                                         std::int64_t part) const {
    constexpr std::int64_t share = Pack::threads * Pack::items_of_a_thread;
    const auto& diagonal = fallback.diagonal.packed;
    for (std::int64_t i = team.team_rank(); i < share; i += team.team_size())
      if (part * share + i < fallback.num_rows())
        diagonal(part * share + i) = not_a_number<Scalar>();
  }
};

/// Enqueues the last step of an update but what the chosen plan packs after it.
/// @param fallback  of the fallback plan, if there is one
/// @param growth    CheckGrowth, or NoGrowth
template <class Scalar, class ExecutionSpace, class Growth>
void finish_update(
    const ExecutionSpace& exec, const UpdateDecision& decision,
    const PackTogether<Scalar, typename ExecutionSpace::memory_space>& fallback,
    const Growth& growth) {
  using Run =
      FinishUpdate<Scalar, typename ExecutionSpace::memory_space, Growth>;
  constexpr int threads = Run::Pack::threads;
  static_assert(!is_gpu<ExecutionSpace> || Growth::team_size == threads,
                "teams of one launch");
  const int packing = decision.has_fallback ? fallback.teams() : 0;
  // Someone has to decide.
  const int teams = std::max(1, growth.teams() + packing);
  run_native_teams<4, threads>("Strata::EnqueuedUpdates::decide", exec, teams,
                               Run{growth, growth.teams(), fallback, decision});
}

}  // namespace Detail
}  // namespace Strata

#endif
