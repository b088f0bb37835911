// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP
#define STRATA_KERNELS_TRIANGULAR_ENQUEUED_UPDATES_HPP

#include <Strata_Types.hpp>
#include <core/device/ActivePlan.hpp>
#include <core/matrix/InspectValues.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/UpdateDecision.hpp>
#include <kernels/triangular/row_chunks/RowChunkAlgorithm.hpp>

namespace Strata {
namespace Detail {

/// Takes new values without a wait of the host, for a solver that has been
/// made so (TriangularOptions::enqueue_updates).
///
/// If the chosen plan can't use all values, as it merges level sets, there is a
/// fallback plan: `sync_free` without merged ones. Kernels look at new values,
/// pack what may be asked for, and the last team decides by what they found. A
/// word in device memory says which plan is active: solves enqueue the kernels
/// of both, and those of the other end at once (see ActivePlan). So a recorded
/// graph takes the right path each time. If no plan can use the values, the
/// diagonal of the fallback plan is NaN, or that of the chosen one if it is the
/// only one; every row is divided by its own.
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

  /// @param fallback_plan  null: none is needed
  /// @param diag           unit: there is nothing to divide by
  EnqueuedUpdates(const Pointer& chosen, const FallbackPointer& fallback_plan,
                  Diag diag)
      : chosen_(chosen),
        fallback_plan_(fallback_plan),
        unit_(diag == Diag::unit),
        words_(make_zeroed<Kokkos::View<UpdateWords*, Memory>>(
            "Strata::EnqueuedUpdates::words", 1)),
        status_("Strata::EnqueuedUpdates::status"),
        findings_(&words_.data()->found) {
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
    has_values_ = false;
    auto* const merging = chosen_->merging();
    UpdateFindings& findings = merging ? merging->findings() : findings_;
    if (merging)
      merging->look(exec, values, true);
    else
      findings.begin_look(exec);
    const UpdateDecision decision{words_.data(),
                                  findings.place(),
                                  outside,
                                  status_.data(),
                                  merging ? merging->longest_row() : 1,
                                  fallback_plan_ != nullptr};
    if (merging)
      merging->finish(exec, values, decision,
                      fallback_plan_->begin_packing(values, !unit_));
    else if (unit_ || !inspect(exec, values, decision))
      finish_update<Scalar>(exec, decision, {}, NoGrowth());
    // Else the last team of the look has decided (LeaveToDecision).
    findings.set_taken();
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
  /// @returns whether there is anything to look at
  bool inspect(const ExecutionSpace& exec, const Scalar* values,
               const UpdateDecision& decision) const {
    using Run = InspectValues<Scalar, DiagonalPlaces<Memory>, LeaveToDecision>;
    const Run run{chosen_->diagonal_places(),
                  values,
                  row_map_term({}),
                  entries_term({}),
                  {decision}};
    if (run.size() == 0) return false;
    run_native_teams<Run::teams_at_once, Run::threads>(
        "Strata::EnqueuedUpdates::inspect", exec,
        run.teams(num_multiprocessors(exec)), run);
    return true;
  }

  Pointer chosen_;
  FallbackPointer fallback_plan_;
  bool unit_;
  Kokkos::View<UpdateWords*, Memory> words_;  // one, as UpdateWords()
  Kokkos::View<UpdateStatus, Memory> status_;
  UpdateFindings findings_;  // unless the plan has a place for them
  bool has_values_ = false;
};

}  // namespace Detail
}  // namespace Strata

#endif
