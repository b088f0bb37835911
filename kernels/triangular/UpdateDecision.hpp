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
  // What a look at the diagonal and at entries to be scaled has found, see
  // ValuesInspection, and what one at merged rows has, see CheckGrowth. The
  // team that decides clears them.
  std::int64_t zero_row, unscalable_row, divide, growth[3];
  // What has been decided: which plan is active, 0 for the chosen one and 1 for
  // the fallback plan, and whether there are no values to solve with.
  int active_plan, failed;
  // Of the launch that decides: those that are done. The last one clears it.
  unsigned teams_done;

  KOKKOS_INLINE_FUNCTION void clear() {
    zero_row = unscalable_row = ValuesInspection::no_row;
    divide = growth[0] = growth[1] = growth[2] = 0;
    teams_done = 0;
  }
};

/// Decides by what has been found. It is the decision that update_values makes
/// on the host, with two differences: if a diagonal value has no usable
/// reciprocal, the fallback plan solves, which divides; and so it does with all
/// that update_values refuses but a zero on the diagonal.
///
/// The last team of a launch decides, whichever that is: nothing waits. Words
/// that teams of that launch write are read by load_relaxed.
struct DecideUpdate {
  UpdateWords* words;
  std::int64_t* faults;         // MergeFaults of the chosen plan; may be null
  const UpdateStatus* outside;  // of what made the values; may be null
  UpdateStatus* status;
  GrowthLimit limit;
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
    const std::int64_t zero = load_relaxed(&words->zero_row);
    const std::int64_t unscalable = load_relaxed(&words->unscalable_row);
    const std::int64_t divide = load_relaxed(&words->divide);
    const std::int64_t also =
        faults ? load_relaxed(faults + MergeFaults::zero) : none;
    const std::int64_t lost =
        faults ? load_relaxed(faults + MergeFaults::row) : none;
    const std::int64_t divides =
        faults ? load_relaxed(faults + MergeFaults::divide) : 0;
    const std::int64_t spread =
        faults ? load_relaxed(faults + MergeFaults::spread) : 0;
    const bool given = outside && outside->fault != UpdateFault::none;
    Findings found;
    found.zero_row = also < zero ? also : zero;
    found.fails = given || found.zero_row != none;
    found.suits = (divide | divides) == 0 && unscalable == none && lost == none;
    found.may_grow =
        faults && may_grow_beyond(spread, limit.longest_row, limit.limit);
    return found;
  }

 private:
  KOKKOS_INLINE_FUNCTION void decide() const {
    const std::int64_t grown = load_relaxed(&words->growth[1]);
    const Findings now = findings();
    const bool suits = now.suits && (!now.may_grow || grown == 0);
    UpdateStatus found{UpdateFault::none, 0, -1};
    if (outside && outside->fault != UpdateFault::none)
      found = *outside;
    else if (now.zero_row != ValuesInspection::no_row)
      found = {UpdateFault::zero_diagonal, 0, now.zero_row};
    words->clear();
    if (faults) ClearMergeFaults{faults}(0);
    const bool failed = found.fault != UpdateFault::none;
    found.unmerged = has_fallback && !suits && !failed ? 1 : 0;
    *status = found;
    words->active_plan = has_fallback && (failed || !suits) ? 1 : 0;
    words->failed = failed ? 1 : 0;
  }
};

/// Of plans without merged rows.
struct NoGrowth {
  static constexpr int team_size = 256;
  int teams() const { return 0; }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take(const Team&, std::int64_t) const {}
};

/// In one launch, each by teams of their own: a look at the growth of merged
/// rows, and the packing of the fallback plan, if that plan is to solve or may
/// be. Then the decision.
template <class Scalar, class MemorySpace, class Growth>
struct PackAndDecide {
  using Pack = PackTogether<Scalar, MemorySpace>;
  Growth growth;
  int growth_teams;
  Pack fallback;
  DecideUpdate decide;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (team.league_rank() < growth_teams)
      growth.take(team, team.league_rank());
    else if (decide.has_fallback)
      pack(team, team.league_rank() - growth_teams);
    decide.after(team);
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void pack(const Team& team, std::int64_t part) const {
    const auto found = decide.findings();
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

/// The last step of an update but what the chosen plan packs after it.
template <class Scalar, class MemorySpace>
struct UpdateDecision {
  DecideUpdate decide;
  /// Of the fallback plan, if there is one.
  PackTogether<Scalar, MemorySpace> fallback;

  /// Where the chosen plan has no merged rows.
  template <class ExecutionSpace>
  void enqueue(const ExecutionSpace& exec) const {
    enqueue_with(exec, NoGrowth());
  }
  /// @param rows, groups, workspace  see CheckGrowth
  template <class ExecutionSpace, class Rows>
  void enqueue(const ExecutionSpace& exec, const Rows& rows,
               std::int64_t groups,
               const GrowthWorkspace<MemorySpace>& workspace) const {
    enqueue_with(exec, CheckGrowth<Scalar, ExecutionSpace, Rows>{
                           rows, groups, workspace.spread(), workspace.growth(),
                           decide.limit.longest_row, decide.limit.limit,
                           decide.words->growth, nullptr, false,
                           decide.faults + MergeFaults::spread});
  }

 private:
  template <class ExecutionSpace, class Growth>
  void enqueue_with(const ExecutionSpace& exec, const Growth& growth) const {
    using Run = PackAndDecide<Scalar, MemorySpace, Growth>;
    using Pack = typename Run::Pack;
    static_assert(!is_gpu<ExecutionSpace> || Growth::team_size == Pack::threads,
                  "teams of one launch");
    const int packing = decide.has_fallback ? fallback.teams() : 0;
    // Someone has to decide.
    const int teams = std::max(1, growth.teams() + packing);
    run_teams<4, Pack::threads>("Strata::EnqueuedUpdates::decide", exec, teams,
                                Run{growth, growth.teams(), fallback, decide});
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
