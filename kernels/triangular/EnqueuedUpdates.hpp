// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP
#define STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP

#include <Strata_Types.hpp>
#include <Strata_UpdateStatus.hpp>
#include <algorithm>
#include <core/device/Gate.hpp>
#include <core/matrix/InspectValues.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>

namespace Strata {
namespace Detail {

/// What kernels of an update pass on to each other and to solves.
struct UpdateWords {
  // What a look at the diagonal and at entries to be scaled has found, see
  // ValuesInspection, and what one at merged rows has, see CheckGrowth. The
  // kernel that decides clears them.
  std::int64_t zero_row, unscalable_row, divide, growth[3];
  // What has been decided: which plan solves, 0 for the chosen one and 1 for
  // the one beside it, and whether there are no values to solve with.
  int path, failed;

  KOKKOS_INLINE_FUNCTION void clear() {
    zero_row = unscalable_row = ValuesInspection::no_row;
    divide = growth[0] = growth[1] = growth[2] = 0;
  }
};

struct ClearUpdateWords {
  UpdateWords* words;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const { words->clear(); }
};

/// InspectValues with its findings left in device memory, by teams of threads
/// that each look at items of their own.
template <class Scalar, class MemorySpace>
struct InspectEnqueued {
  static constexpr int threads = 256, width = 32;
  static constexpr int teams_at_once = 4, items_of_a_thread = 8;
  InspectValues<Scalar, MemorySpace> look;
  std::int64_t items;
  UpdateWords* words;

  static int teams(std::int64_t items, std::int64_t most) {
    constexpr std::int64_t share = threads * items_of_a_thread;
    return static_cast<int>(std::min((items + share - 1) / share, most));
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
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

/// Decides by what has been found, by one thread. It is the decision that
/// update_values makes on the host, with two differences: where a diagonal
/// value has no usable reciprocal, the plan beside the chosen one solves, which
/// divides; and so it does with all that update_values refuses but a zero on
/// the diagonal.
struct DecideUpdate {
  UpdateWords* words;
  std::int64_t* faults;         // MergeFaults of the chosen plan; may be null
  const UpdateStatus* outside;  // of what made the values; may be null
  UpdateStatus* status;
  GrowthLimit limit;
  bool has_other_plan;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (team.team_rank() != 0) return;
    std::int64_t zero_row = words->zero_row;
    bool suits =
        words->divide == 0 && words->unscalable_row == ValuesInspection::no_row;
    if (faults) {
      const std::int64_t also = faults[MergeFaults::zero];
      zero_row = also < zero_row ? also : zero_row;
      suits = suits && faults[MergeFaults::divide] == 0 &&
              faults[MergeFaults::row] == ValuesInspection::no_row;
      if (may_grow_beyond(faults[MergeFaults::spread], limit.longest_row,
                          limit.limit))
        suits = suits && words->growth[1] == 0;
      ClearMergeFaults{faults}(0);
    }
    words->clear();
    UpdateStatus found{UpdateFault::none, 0, -1};
    if (outside && outside->fault != UpdateFault::none)
      found = *outside;
    else if (zero_row != ValuesInspection::no_row)
      found = {UpdateFault::zero_diagonal, 0, zero_row};
    const bool failed = found.fault != UpdateFault::none;
    found.unmerged = has_other_plan && !suits && !failed ? 1 : 0;
    *status = found;
    words->path = has_other_plan && (failed || !suits) ? 1 : 0;
    words->failed = failed ? 1 : 0;
  }
};

/// Takes new values without a wait of the host, for a solver that has been
/// made so (TriangularOptions::enqueue_updates).
///
/// Where the chosen plan can't take all values, as it merges level sets, scales
/// entries or multiplies by reciprocals, a plan of `sync_free` without any of
/// that stands beside it. Kernels look at new values, one thread decides by
/// what they found, and kernels pack what the decision asks for. A word in
/// device memory says which plan it is: solves enqueue the kernels of both, and
/// those whose turn it is not end at once (see Gate). So a recorded graph takes
/// the right path each time. Where values can't be solved with, the diagonal of
/// the plan beside the chosen one is NaN, or that of the chosen one where it
/// stands alone; every row is divided by its own.
///
/// Values are packed where the old ones are: with bad values none are to be
/// solved with, so there is nothing to keep, and no memory for trials is held.
template <class Scalar, class ExecutionSpace>
class EnqueuedUpdates {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using SomeAlgorithm = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Pointer = AlgorithmPointer<Scalar, ExecutionSpace>;
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
                  const Pointer& other, Diag diag)
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
    UpdateWords* const words = words_.data();
    std::int64_t* const faults = chosen_->begin_in_place(exec, values);
    if (!unit_) inspect(exec, values);
    const GrowthLimit limit = chosen_->growth_limit();
    chosen_->enqueue_check_growth(exec, values, words->growth);
    run_teams<1, 32>("Strata::EnqueuedUpdates::decide", exec, 1,
                     DecideUpdate{words, faults, outside, status_.data(), limit,
                                  other_ != nullptr});
    chosen_->faults_were_taken();
    dirty_ = false;
    chosen_->enqueue_values(exec, values, !unit_ && !other_,
                            other_ ? nullptr : &words->failed);
    if (other_) other_->enqueue_values(exec, values, !unit_, &words->failed);
    publish_writes(exec);
  }

  /// After the chosen plan's.
  /// @param beside  what with_workspace has made, null: the plan's own
  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x, std::int64_t columns,
             const SomeAlgorithm* beside) const {
    if (other_) (beside ? beside : other_.get())->solve(exec, b, x, columns);
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
  void inspect(const ExecutionSpace& exec, const Scalar* values) const {
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
            items, words_.data()});
  }

  Pointer chosen_, other_;
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
