// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP
#define STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP

#include <Strata_Types.hpp>
#include <algorithm>
#include <core/device/Gate.hpp>
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
/// Where the chosen plan can't take all values, as it merges level sets, scales
/// entries or multiplies by reciprocals, a plan of `sync_free` without any of
/// that stands beside it. Kernels look at new values, pack what may be asked
/// for, and the last team decides by what they found. A word in device memory
/// says which plan it is: solves enqueue the kernels of both, and those whose
/// turn it is not end at once (see Gate). So a recorded graph takes the right
/// path each time. Where values can't be solved with, the diagonal of the plan
/// beside the chosen one is NaN, or that of the chosen one where it stands
/// alone; every row is divided by its own.
///
/// Small systems wait for launches above all: merged rows of `sync_free` take
/// three, which make the values, decide and, on CUDA, publish.
///
/// Values are packed where the old ones are: with bad values none are to be
/// solved with, so there is nothing to keep, and no memory for trials is held.
template <class Scalar, class ExecutionSpace>
class EnqueuedUpdates {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using SomeAlgorithm = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Pointer = AlgorithmPointer<Scalar, ExecutionSpace>;
  using OtherPointer =
      std::shared_ptr<RowChunkAlgorithm<Scalar, ExecutionSpace>>;
  using StatusView = Kokkos::View<const UpdateStatus, Memory>;

  /// Whether an algorithm can't take all values.
  static bool needs_other_plan(const SomeAlgorithm& chosen, Diag diag) {
    return chosen.merge_faults() != nullptr ||
           (diag == Diag::non_unit &&
            chosen.scaled_entries().record_row.extent(0) > 0);
  }

  /// @param other  the plan beside it; null: none is needed
  /// @param diag   unit: there is nothing to divide by
  /// Waits for `exec`.
  EnqueuedUpdates(const ExecutionSpace& exec, const Pointer& chosen,
                  const OtherPointer& other, Diag diag)
      : chosen_(chosen),
        other_(other),
        unit_(diag == Diag::unit),
        words_(make_zeroed<Kokkos::View<UpdateWords*, Memory>>(
            "Strata::EnqueuedUpdates::words", 1)),
        status_("Strata::EnqueuedUpdates::status"),
        multiprocessors_(num_multiprocessors(exec)) {
    clear(exec);
    if (other_) {
      chosen_->set_gate({&words_.data()->path, 0});
      other_->set_gate({&words_.data()->path, 1});
    }
    chosen_->keep_update_memory();
    exec.fence();
  }

  /// Enqueues all that new values need.
  /// @param outside  in device memory, says whether values were found bad
  ///                 before; may be null
  void enqueue(const ExecutionSpace& exec, const Scalar* values,
               const UpdateStatus* outside = nullptr) {
    if (dirty_) clear(exec);
    dirty_ = true;
    UpdateDecision<Scalar, Memory> decision{
        {words_.data(), chosen_->begin_in_place(exec, values), outside,
         status_.data(), chosen_->growth_limit(), other_ != nullptr},
        {}};
    bool inspected = false;
    const bool looked = chosen_->looks_at_diagonal() &&
                        chosen_->scaled_entries().record_row.extent(0) == 0;
    if (!unit_ && !looked) inspected = inspect(exec, values, decision.decide);
    if (other_) {
      other_->begin_packing(!unit_);
      decision.beside = other_->packing(values);
    }
    if (other_ || !inspected) chosen_->enqueue_decision(exec, values, decision);
    chosen_->faults_were_taken();
    dirty_ = false;
    if (other_) other_->end_packing();
    chosen_->enqueue_values(exec, values, !unit_ && !other_,
                            other_ ? nullptr : &words_.data()->failed);
    publish_writes(exec);
  }

  /// After the chosen plan's.
  /// @param beside  what with_workspace has made, null: the plan's own
  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x, std::int64_t columns,
             const SomeAlgorithm* beside) const {
    if (!other_) return;
    const SomeAlgorithm& solves = beside ? *beside : *other_;
    solves.solve(exec, b, x, columns);
  }
  /// Of the plan beside the chosen one, see TriangularAlgorithm.
  std::shared_ptr<const SomeAlgorithm> with_workspace(
      const ExecutionSpace& exec) const {
    return other_ ? other_->with_workspace(exec) : nullptr;
  }
  std::size_t workspace_bytes() const {
    return other_ ? other_->workspace_bytes() : 0;
  }
  bool has_values() const { return !other_ || other_->has_values(); }
  StatusView status() const { return status_; }
  /// Beside the chosen plan's.
  std::size_t bytes() const {
    return sizeof(UpdateWords) + sizeof(UpdateStatus) +
           (other_ ? other_->bytes() : 0);
  }

 private:
  void clear(const ExecutionSpace& exec) {
    Kokkos::parallel_for("Strata::EnqueuedUpdates::clear",
                         Kokkos::RangePolicy<ExecutionSpace>(exec, 0, 1),
                         ClearUpdateWords{words_.data()});
    if (std::int64_t* const faults = chosen_->merge_faults())
      Kokkos::parallel_for("Strata::EnqueuedUpdates::clear",
                           Kokkos::RangePolicy<ExecutionSpace>(exec, 0, 1),
                           ClearMergeFaults{faults});
  }
  /// @returns whether there is anything to look at
  bool inspect(const ExecutionSpace& exec, const Scalar* values,
               const DecideUpdate& decide) const {
    using Run = InspectEnqueued<Scalar, Memory>;
    const auto diagonal = chosen_->diagonal_places();
    const auto scaled = chosen_->scaled_entries();
    const std::int64_t items =
        std::max(diagonal.value_index.size(),
                 static_cast<std::int64_t>(scaled.record_row.extent(0)));
    run_teams<Run::teams_at_once, Run::threads>(
        "Strata::EnqueuedUpdates::inspect", exec,
        Run::teams(items, std::int64_t{Run::teams_at_once} * multiprocessors_),
        Run{InspectValues<Scalar, Memory>{diagonal, scaled, values,
                                          row_map_term({}), entries_term({})},
            items, words_.data(), decide, !other_});
    return items > 0;
  }

  Pointer chosen_;
  OtherPointer other_;
  bool unit_;
  Kokkos::View<UpdateWords*, Memory> words_;  // one
  Kokkos::View<UpdateStatus, Memory> status_;
  int multiprocessors_;
  /// An exception has kept words from being cleared.
  bool dirty_ = false;
};

}  // namespace Detail
}  // namespace Strata

#endif
