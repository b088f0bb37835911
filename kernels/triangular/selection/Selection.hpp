// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_SELECTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_SELECTION_HPP

#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <core/device/Backend.hpp>
#include <core/device/DeviceInfo.hpp>
#include <cstddef>
#include <deque>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/merging/ChooseMergedLevels.hpp>
#include <kernels/triangular/selection/PlanSizes.hpp>
#include <kernels/triangular/tiles/TileSizes.hpp>
#include <limits>
#include <optional>
#include <string>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
class AlgorithmRegistration;

/// A plan that may be made for a matrix.
template <class Scalar, class ExecutionSpace>
struct Candidate {
  AlgorithmRegistration<Scalar, ExecutionSpace>* registration;
  std::size_t place;  ///< among the report's candidates
  bool ruled_out = false;
  std::size_t bytes = 0;  ///< of the plan, or a lower bound on them
  bool made = false;  ///< whether the plan was made, and `bytes` are its own
  int merged_levels = 1;  ///< of `sync_free`
  /// A plan of more than so many times the matrix is dropped, as is one that
  /// takes more memory than allowed.
  double most_times_matrix = std::numeric_limits<double>::infinity();
};

/// One matrix and the candidates for it, which the algorithms' registrations
/// read and add to, the best first. Refers to the arguments that it is made
/// from, and keeps the report's candidates up to date.
template <class Scalar, class ExecutionSpace>
class Selection {
 public:
  using Registration = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Candidate = Detail::Candidate<Scalar, ExecutionSpace>;

  Selection(const ExecutionSpace& instance,
            TriangularAnalysis<ExecutionSpace>& analysed,
            const TriangularOptions& asked, TriangularReport& to_fill)
      : exec(instance),
        analysis(analysed),
        options(asked),
        report(to_fill),
        budget(report.rows > 0 ? options.max_plan_bytes : 0) {}

  const ExecutionSpace exec;
  TriangularAnalysis<ExecutionSpace>& analysis;
  const TriangularOptions& options;
  TriangularReport& report;
  const MemoryBudget budget;
  PlanSizes sizes{};
  /// Why the first choice could not be made.
  std::string instead;

  bool is_automatic() const {
    return options.algorithm == Algorithm::automatic;
  }
  /// As the option, 1 where the accuracy asked for allows no merged rows.
  int merged_levels() const {
    return options.accuracy == Accuracy::componentwise ? 1
                                                       : options.merged_levels;
  }
  bool levels_are_named() const { return options.merged_levels > 0; }
  /// Whether `sync_free` may merge level sets: if there are two, with one
  /// right-hand side, and on hosts, where the first thread does all anyway, if
  /// that is asked for.
  bool may_merge() const {
    return report.levels > 1 && options.max_right_hand_sides == 1 &&
           merged_levels() != 1 &&
           (is_gpu<ExecutionSpace> || levels_are_named());
  }
  /// How many level sets `sync_free` merges. A GPU looks at a sample of the
  /// rows for it, once.
  const MergeChoice& merging() {
    if (!merging_) {
      const int asked = may_merge() ? merged_levels() : 1;
      if constexpr (is_gpu<ExecutionSpace>) {
        merging_ = choose_merged_levels<Scalar>(
            exec, analysis, asked, double(report.crs_bytes),
            [&](std::size_t bytes) { return budget.allows(bytes); });
      } else {
        merging_.emplace().levels = asked;
      }
    }
    return *merging_;
  }
  /// The partition that `tiles` makes its plan from.
  const TilePartition<ExecutionSpace>& tiles() {
    if (!tiles_)
      tiles_ = partition_tiles(exec, analysis.graph,
                               TileSizes<Scalar, ExecutionSpace>::teams(
                                   options.accuracy == Accuracy::rowwise));
    return *tiles_;
  }

  /// From now on, `merging` names no more than `most` level sets.
  void limit_merging(int most) {
    if (merging_) merging_->levels = merging_->fewer(most);
  }

  /// Adds a candidate, after those that were added before. The report tells of
  /// it, and notes what its plan consists of.
  Candidate& add(Registration& registration, const std::string& note = "") {
    candidates_.push_back({&registration, report.candidates.size()});
    report.candidates.push_back({registration.algorithm(), note});
    return candidates_.back();
  }
  /// False, and a line in the report, for what is too large however it is made.
  bool may_fit(Registration& registration) {
    const std::size_t least = registration.least_bytes(sizes);
    if (budget.allows(least)) return true;
    Candidate& none = add(registration);
    none.bytes = least;
    over_budget(none);
    return false;
  }

  /// The first of those left, null: there is none.
  Candidate* best() {
    for (Candidate& candidate : candidates_)
      if (!candidate.ruled_out) return &candidate;
    return nullptr;
  }
  const Candidate& last() const { return candidates_.back(); }

  /// Rules a candidate out, and says in the report why.
  void rule_out(Candidate& candidate, const std::string& why) {
    if (candidate.ruled_out) return;
    candidate.ruled_out = true;
    auto& line = report.candidates[candidate.place];
    line.ruled_out = true;
    line.note += (line.note.empty() ? "" : "; ") + why;
  }
  void over_budget(Candidate& candidate) {
    rule_out(candidate, needs(candidate) + " of " +
                            std::to_string(budget.bytes()) + " allowed");
  }
  void rule_out_all(const Registration& registration, const std::string& why) {
    for (Candidate& candidate : candidates_)
      if (candidate.registration == &registration) rule_out(candidate, why);
  }
  static std::string needs(const Candidate& candidate) {
    return (candidate.made ? "takes " : "takes at least ") +
           std::to_string(candidate.bytes) + " bytes";
  }

  /// Plans are made in the memory of the analysis from a `mark` on: memory that
  /// was taken before the mark stays when a plan is dropped.
  using Mark = typename WorkPool<ExecutionSpace>::Mark;
  Mark mark() const { return analysis.work(exec).mark(); }
  void plans_begin_at(const Mark& mark) { plans_begin_ = mark; }
  /// Drops a plan: gives back the memory that it was made in, and clears what
  /// it has put into the report.
  void forget_plan() {
    analysis.work(exec).give_back(plans_begin_);
    report.subgraphs = report.subgraph_levels = report.max_subgraph_rows = 0;
    report.internal_slots = report.external_slots = 0;
    report.blocks = report.block_runs = 0;
    report.block_slots = 0;
    report.merged_levels = 1;
    report.launch_right_hand_sides = 0;
    report.external_share = 0;
    report.reason.clear();
    report.partition.clear();
  }

 private:
  std::optional<MergeChoice> merging_;
  std::optional<TilePartition<ExecutionSpace>> tiles_;
  std::deque<Candidate> candidates_;  // whose elements stay where they are
  Mark plans_begin_;
};

}  // namespace Detail
}  // namespace Strata

#endif
