// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP
#define STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP

#include <Strata_Types.hpp>
#include <algorithm>
#include <core/device/ActivePlan.hpp>
#include <core/matrix/InspectValues.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/UpdateDecision.hpp>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>

namespace Strata {
namespace Detail {

struct ClearUpdateWords {
  UpdateWords* words;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const { words->clear(); }
};

/// InspectValues with its findings left in device memory, by teams of threads
/// that each look at items of their own. Where nothing else is to be looked at,
/// the last team decides.
template <class Scalar, class MemorySpace>
struct InspectEnqueued {
  static constexpr int threads = 256, width = 32;
  static constexpr int teams_at_once = 4, items_of_a_thread = 8;
  InspectValues<Scalar, MemorySpace> look;
  std::int64_t items;
  UpdateWords* words;
  DecideUpdate decide;
  bool decides;

  static int teams(std::int64_t items, std::int64_t most) {
    constexpr std::int64_t share = threads * items_of_a_thread;
    return static_cast<int>(std::min((items + share - 1) / share, most));
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    inspect(team);
    if (decides) decide.after(team);
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void inspect(const Team& team) const {
    ValuesInspection found;
    const std::int64_t rank = team.league_rank(), size = team.league_size();
    if (team.team_size() == 1) {
      const std::int64_t share = (items + size - 1) / size;
      const std::int64_t end =
          items < (rank + 1) * share ? items : (rank + 1) * share;
      for (std::int64_t i = rank * share; i < end; ++i) look(i, found);
    } else {
      look.take(rank * team.team_size() + team.team_rank(),
                size * team.team_size(), found);
      for (int mask = width / 2; mask > 0; mask /= 2) {
        const ValuesInspection other = lane_xor(found, mask);
        look.join_parts(found, other);
      }
      if (team.team_rank() % width != 0) return;
    }
    if (found.zero_row != ValuesInspection::no_row)
      Kokkos::atomic_fetch_min(&words->zero_row, found.zero_row);
    if (found.unscalable_row != ValuesInspection::no_row)
      Kokkos::atomic_fetch_min(&words->unscalable_row, found.unscalable_row);
    if (found.divide != 0) store_relaxed(&words->divide, std::int64_t{1});
  }
};

/// Takes new values without a wait of the host, for a solver that has been
/// made so (TriangularOptions::enqueue_updates).
///
/// If the chosen plan can't use all values, as it merges level sets, scales
/// entries or multiplies by reciprocals, there is a fallback plan: `sync_free`
/// without any of that. Kernels look at new values, pack what may be asked for,
/// and the last team decides by what they found. A word in device memory says
/// which plan is active: solves enqueue the kernels of both, and those of the
/// other end at once (see ActivePlan). So a recorded graph takes the right path
/// each time. If no plan can use the values, the diagonal of the fallback plan
/// is NaN, or that of the chosen one if it is the only one; every row is
/// divided by its own.
///
/// Small systems wait for launches above all: merged rows of `sync_free` take
/// three, which make the values, decide and, on CUDA, publish.
///
/// Values are packed over the old ones: after bad values none are to be solved
/// with, so there is nothing to keep.
template <class Scalar, class ExecutionSpace>
class EnqueuedUpdates {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using SomeAlgorithm = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Pointer = AlgorithmPointer<Scalar, ExecutionSpace>;
  using FallbackPointer =
      std::shared_ptr<RowChunkAlgorithm<Scalar, ExecutionSpace>>;
  using StatusView = Kokkos::View<const UpdateStatus, Memory>;

  /// Whether an algorithm can't use all values.
  static bool needs_fallback_plan(SomeAlgorithm& chosen, Diag diag) {
    return chosen.merging() ||
           (diag == Diag::non_unit && scales_entries(chosen));
  }

  /// @param fallback_plan  null: none is needed
  /// @param diag           unit: there is nothing to divide by
  EnqueuedUpdates(const ExecutionSpace& exec, const Pointer& chosen,
                  const FallbackPointer& fallback_plan, Diag diag)
      : chosen_(chosen),
        fallback_plan_(fallback_plan),
        unit_(diag == Diag::unit),
        words_(make_zeroed<Kokkos::View<UpdateWords*, Memory>>(
            "Strata::EnqueuedUpdates::words", 1)),
        status_("Strata::EnqueuedUpdates::status"),
        multiprocessors_(num_multiprocessors(exec)) {
    if (fallback_plan_) {
      chosen_->set_active_plan({&words_.data()->active_plan, 0});
      fallback_plan_->set_active_plan({&words_.data()->active_plan, 1});
    }
    if (chosen_->merging()) chosen_->merging()->reserve();
  }

  /// Enqueues all that new values need.
  /// @param outside  in device memory, says whether values were found bad
  ///                 before; may be null
  void enqueue(const ExecutionSpace& exec, const Scalar* values,
               const UpdateStatus* outside = nullptr) {
    if (!has_values_) clear(exec);
    has_values_ = false;
    auto* const merging = chosen_->merging();
    if (merging) merging->look(exec, values, true);
    UpdateDecision<Scalar, Memory> decision{
        {words_.data(), merging ? merging->faults() : nullptr, outside,
         status_.data(), merging ? merging->limit() : GrowthLimit(),
         fallback_plan_ != nullptr},
        {}};
    // Over a diagonal of ones nothing leaves the range.
    const bool looked = unit_ || (merging && merging->sees_diagonal());
    const bool inspected = !looked && inspect(exec, values, decision.decide);
    if (fallback_plan_)
      decision.fallback = fallback_plan_->packing(values, !unit_);
    if (merging)
      merging->enqueue_decision(exec, values, decision);
    else if (fallback_plan_ || !inspected)
      decision.enqueue(exec);
    // Else the last team of the look has decided (InspectEnqueued).
    // The host does not know whether reciprocals are usable: without a fallback
    // plan solves divide.
    chosen_->enqueue_values(exec, values, !unit_ && !fallback_plan_,
                            fallback_plan_ ? nullptr : &words_.data()->failed);
    publish_writes(exec);
    has_values_ = true;
  }

  /// After the chosen plan's.
  /// @param fallback  what with_workspace has made, null: the plan's own
  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x, std::int64_t columns,
             const SomeAlgorithm* fallback) const {
    if (!fallback_plan_) return;
    const SomeAlgorithm& solves = fallback ? *fallback : *fallback_plan_;
    solves.solve(exec, b, x, columns);
  }
  /// Of the fallback plan, see TriangularAlgorithm.
  std::shared_ptr<const SomeAlgorithm> with_workspace(
      const ExecutionSpace& exec) const {
    return fallback_plan_ ? fallback_plan_->with_workspace(exec) : nullptr;
  }
  std::size_t workspace_bytes() const {
    return fallback_plan_ ? fallback_plan_->workspace_bytes() : 0;
  }
  bool has_values() const { return has_values_; }
  StatusView status() const { return status_; }
  /// Without the chosen plan's.
  std::size_t bytes() const {
    return sizeof(UpdateWords) + sizeof(UpdateStatus) +
           (fallback_plan_ ? fallback_plan_->bytes() : 0);
  }

 private:
  static bool scales_entries(const SomeAlgorithm& chosen) {
    return chosen.scaled_entries().record_row.extent(0) > 0;
  }
  void clear(const ExecutionSpace& exec) {
    Kokkos::parallel_for("Strata::EnqueuedUpdates::clear",
                         Kokkos::RangePolicy<ExecutionSpace>(exec, 0, 1),
                         ClearUpdateWords{words_.data()});
    if (chosen_->merging()) chosen_->merging()->clear_faults(exec);
  }
  /// @returns whether there is anything to look at
  bool inspect(const ExecutionSpace& exec, const Scalar* values,
               const DecideUpdate& decide) const {
    using Run = InspectEnqueued<Scalar, Memory>;
    const auto diagonal = chosen_->diagonal_places();
    const auto& scaled = chosen_->scaled_entries();
    const std::int64_t items =
        std::max(diagonal.value_index.size(),
                 static_cast<std::int64_t>(scaled.record_row.extent(0)));
    run_teams<Run::teams_at_once, Run::threads>(
        "Strata::EnqueuedUpdates::inspect", exec,
        Run::teams(items, std::int64_t{Run::teams_at_once} * multiprocessors_),
        Run{InspectValues<Scalar, Memory>{diagonal, scaled, values,
                                          row_map_term({}), entries_term({})},
            items, words_.data(), decide, !fallback_plan_});
    return items > 0;
  }

  Pointer chosen_;
  FallbackPointer fallback_plan_;
  bool unit_;
  Kokkos::View<UpdateWords*, Memory> words_;  // one
  Kokkos::View<UpdateStatus, Memory> status_;
  int multiprocessors_;
  /// False at first, and after an exception, which may have kept words from
  /// being cleared.
  bool has_values_ = false;
};

}  // namespace Detail
}  // namespace Strata

#endif
