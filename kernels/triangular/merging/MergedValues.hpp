// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_VALUES_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_VALUES_HPP

#include <algorithm>
#include <analysis/merging/MergedRows.hpp>
#include <analysis/packing/RowChunks.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/triangular/UpdateDecision.hpp>
#include <kernels/triangular/UpdateFindings.hpp>
#include <kernels/triangular/merging/MakeMergedValues.hpp>
#include <kernels/triangular/merging/MergedGrowth.hpp>

namespace Strata {
namespace Detail {

template <class ExecutionSpace>
struct TriangularAnalysis;

/// What a plan with merged level sets does with new values before solves read
/// them, and these values, in two buffers.
///
/// Solves read the buffer current(). A look at new values makes them in the
/// other one, or in the first if it looks in place; accept() makes that one
/// current(). Nothing else writes to the buffers. The first is memory of the
/// plan, the second is allocated by the first look for which the host waits
/// after the analysis. What looks write to beside them is memory of the
/// analysis at first; the first update allocates memory that stays. All copies
/// of the algorithm share this object.
template <class Scalar, class ExecutionSpace>
class MergedValues {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  struct Buffer {
    Kokkos::View<Scalar*, Memory> value;     // by slot
    Kokkos::View<Scalar*, Memory> diagonal;  // by permuted row
  };

  /// @param first      memory of the plan
  /// @param max_steps  entries of a row from which on it has more lanes
  MergedValues(const ExecutionSpace& exec,
               const TriangularAnalysis<ExecutionSpace>& analysis,
               const MergedRows<Memory>& rows, const RowChunks<Memory>& plan,
               const Buffer& first, int max_steps)
      : rows_(rows),
        plan_(plan),
        buffers_{first, {}},
        max_steps_(max_steps),
        conjugated_(analysis.conjugated),
        findings_(rows_.findings.data()),
        longest_row_(double(analysis.longest_row())),
        growth_(plan_.num_rows) {
    growth_.borrow(analysis.work(exec));
  }

  /// Enqueues a look at new values and their diagonal, which leaves what it has
  /// found in findings() and each row's spread. It does not change the values
  /// that solves read.
  /// @param in_place  the values that solves read may be lost, and recorded
  ///                  solves have to find the new ones
  void look(const ExecutionSpace& exec, const Scalar* values, bool in_place) {
    findings_.begin_look(exec);
    // The analysis is over.
    if (current_ != none) reserve();
    made_ = current_ == 0 && !in_place ? 1 : 0;
    if (made_ == 1 && buffers_[1].diagonal.extent(0) == 0) allocate_second();
    make(exec, values, true);
  }
  /// Has solves read the values that the last look has made.
  /// @param divide  as in TriangularAlgorithm::set_values
  /// @returns false if values have to be packed instead
  bool accept(bool divide) {
    if (divide) return false;
    current_ = made_;
    return true;
  }
  /// The growth of merged rows with the values of the last look. The host
  /// waits.
  /// @param unmerged    null, or, after such a check, marks rows over the limit
  ///                    for the next plan to leave them unmerged: by vertex,
  ///                    with RowStatus::stays. `rows_over` counts the marks.
  /// @param first_only  marks only the first such rows of each group
  MergedGrowth check_growth(const ExecutionSpace& exec, const Scalar* values,
                            int* unmerged, bool first_only) const {
    return Detail::check_growth(exec, merged_rows(values), longest_row_,
                                growth_, unmerged, first_only);
  }
  /// Enqueues finish_update for the values of the last look.
  void finish(const ExecutionSpace& exec, const Scalar* values,
              const UpdateDecision& decision,
              const PackTogether<Scalar, Memory>& fallback) const {
    finish_update(exec, decision, fallback,
                  CheckGrowth<Scalar, ExecutionSpace>{
                      merged_rows(values), growth_.spread(), growth_.growth(),
                      longest_row_, decision.words->growth, nullptr, false,
                      &decision.found->spread_bits});
  }
  UpdateFindings& findings() { return findings_; }
  /// Entries of the longest row of the matrix, the diagonal included.
  double longest_row() const { return longest_row_; }
  /// Allocates what looks write to, unless that is done.
  void reserve() { growth_.reserve(); }

  /// Makes the values of the last look again, with the diagonal itself in place
  /// of its reciprocals, and has solves, which then divide, read them. Waits
  /// for `exec`.
  void make_with_diagonal(const ExecutionSpace& exec, const Scalar* values) {
    // Nobody takes what this finds again.
    findings_.begin_look(exec);
    make(exec, values, false);
    exec.fence();
    current_ = made_;
  }
  /// What solves read.
  const Buffer& current() const { return buffers_[current_]; }

  /// But for the first buffer.
  std::size_t bytes() const {
    return rows_.bytes() + growth_.own_bytes() +
           (buffers_[1].value.extent(0) + buffers_[1].diagonal.extent(0)) *
               sizeof(Scalar);
  }

 private:
  static constexpr int none = -1;

  void allocate_second() {
    Buffer second;
    make_unfilled(second.value, "Strata::MergedRows::value",
                  buffers_[0].value.extent(0));
    make_unfilled(second.diagonal, "Strata::MergedRows::diagonal",
                  buffers_[0].diagonal.extent(0));
    buffers_[1] = second;
  }
  RowsToCheck<Scalar, Memory> merged_rows(const Scalar* values) const {
    return {
        rows_, plan_.chunk, plan_.row, plan_.dependency, {values, conjugated_}};
  }
  /// Enqueues the making of values, and what is found on the way.
  /// @param reciprocals  of the diagonal are made
  void make(const ExecutionSpace& exec, const Scalar* values,
            bool reciprocals) const {
    using Run = MakeMergedValues<Scalar, ExecutionSpace>;
    const int chunks = plan_.num_chunks();
    Run run{rows_,
            plan_.chunk,
            plan_.row,
            plan_.dependency,
            {values, conjugated_},
            0,
            1,
            rows_.most_coefficients + 1,
            rows_.most_coefficients + rows_.most_dependencies,
            buffers_[made_].value.data(),
            buffers_[made_].diagonal.data(),
            growth_.spread(),
            reciprocals};
    int teams = (chunks + Run::host_chunks - 1) / Run::host_chunks;
    if constexpr (Run::on_device) {
      // Several warps a chunk as long as there are lanes to spare.
      const int multiprocessors = num_multiprocessors(exec);
      run.log_warps = chunks < 16 * multiprocessors   ? 2
                      : chunks < 64 * multiprocessors ? 1
                                                      : 0;
      // Rows with several lanes have more elements, and are fewer.
      const int coefficients = std::min(rows_.most_coefficients, max_steps_);
      run.most_coefficients = (coefficients + 1) * Run::width;
      run.most_slots = std::max(
          run.most_slots,
          (coefficients + std::min(rows_.most_dependencies, max_steps_)) *
              Run::width);
      // One chunk's part always fits.
      const auto most = static_cast<int>(team_scratch_bytes(exec));
      for (;; ++run.log_warps) {
        run.team_chunks = 4 >> run.log_warps;
        if (run.log_warps == 2 || run.scratch_bytes() <= most) break;
      }
      teams = (chunks + run.team_chunks - 1) / run.team_chunks;
    }
    constexpr const char* label = "Strata::MergedRows::make";
    run_native_teams<Run::most_teams_per_multiprocessor, Run::team_size>(
        label, exec, teams, run, std::size_t(run.scratch_bytes()));
  }

  MergedRows<Memory> rows_;
  RowChunks<Memory> plan_;
  Buffer buffers_[2];
  /// The buffers that solves read, and that the last look has made.
  int current_ = none, made_ = 0;
  int max_steps_;
  bool conjugated_;
  UpdateFindings findings_;
  double longest_row_;
  GrowthWorkspace<Memory> growth_;
};

}  // namespace Detail
}  // namespace Strata

#endif
