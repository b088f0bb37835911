// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_UPDATE_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_UPDATE_HPP

#include <kernels/triangular/UpdateDecision.hpp>
#include <kernels/triangular/UpdateFindings.hpp>
#include <kernels/triangular/merging/MergedGrowth.hpp>

namespace Strata {
namespace Detail {

/// What a plan with merged rows does with new values before solves read them:
/// the part of a TriangularAlgorithm that others do not need. Its memory is the
/// analysis' at first. The first update allocates memory that stays.
template <class Scalar, class ExecutionSpace>
class MergedUpdate {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  /// Enqueues a look at new values and their diagonal, which leaves what it has
  /// found in findings() and each row's spread. It does not change the values
  /// that solves read.
  /// @param in_place  the values that solves read may be lost, and recorded
  ///                  solves have to find the new ones
  void look(const ExecutionSpace& exec, const Scalar* values, bool in_place) {
    findings_.begin_look(exec);
    enqueue_look(exec, values, in_place);
  }
  /// Has solves read the values that the last look has made.
  /// @param divide  as in TriangularAlgorithm::set_values
  /// @returns false if values have to be packed instead
  virtual bool accept(bool divide) = 0;
  /// The growth of merged rows with the values of the last look. The host
  /// waits.
  /// @param unmerged    null, or, after such a check, marks rows over the limit
  ///                    for the next plan to leave them unmerged: by vertex,
  ///                    with RowStatus::stays. `rows_over` counts the marks.
  /// @param first_only  marks only the first such rows of each group
  virtual MergedGrowth check_growth(const ExecutionSpace& exec,
                                    const Scalar* values, int* unmerged,
                                    bool first_only) const = 0;
  /// Enqueues finish_update for the values of the last look.
  virtual void finish(const ExecutionSpace& exec, const Scalar* values,
                      const UpdateDecision& decision,
                      const PackTogether<Scalar, Memory>& fallback) const = 0;

  UpdateFindings& findings() { return findings_; }
  /// Entries of the longest row of the matrix, the diagonal included.
  double longest_row() const { return longest_row_; }
  /// Allocates what looks write to, unless that is done.
  void reserve() { growth_.reserve(); }

 protected:
  ~MergedUpdate() = default;
  virtual void enqueue_look(const ExecutionSpace& exec, const Scalar* values,
                            bool in_place) = 0;

  UpdateFindings findings_;
  double longest_row_ = 1;
  GrowthWorkspace<Memory> growth_;
};

}  // namespace Detail
}  // namespace Strata

#endif
