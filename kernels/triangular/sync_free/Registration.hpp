// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_REGISTRATION_HPP

#include <algorithm>
#include <analysis/level_sets/BlockedOrder.hpp>
#include <analysis/merging/MergedLevels.hpp>
#include <cmath>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/sync_free/Prediction.hpp>
#include <kernels/triangular/sync_free/SyncFreeSolve.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// Its candidates: all level sets apart, and the best number of merged ones.
template <class Scalar, class ExecutionSpace>
class SyncFreeRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = SyncFreeAlgorithm<Scalar, ExecutionSpace>;
  using Tiles = SyncFreeTiles<Scalar, ExecutionSpace>;
  using Analysis = TriangularAnalysis<ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::sync_free;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() + sizes.of_chunks() +
           2 * static_cast<std::size_t>(sizes.rows) * sizes.scalar_bytes;
  }
  /// Of a plan with merged level sets, unless the options name their number.
  double most_times_matrix(const Selection& selection,
                           const Candidate& candidate) const override {
    return candidate.merged_levels == 1 || selection.levels_are_named()
               ? std::numeric_limits<double>::infinity()
               : most_made;
  }
  bool needs_parameters(const Selection& selection) const override {
    return may_merge(selection) && selection.merged_levels() == 0;
  }

  void consider(Selection& selection) override {
    // Its sample tells of the rows as they are, too.
    const MergedLevelSets merged = best_merged(selection);
    selection.consider(*this, predict_apart(selection));
    if (merged.levels > 1) consider_merged(selection, merged);
  }
  /// Where the number of merged level sets was left to the analysis, a plan
  /// without any is a candidate, too.
  void consider_named(Selection& selection) override {
    const int named = selection.merged_levels();
    int levels = 1;
    if (may_merge(selection))
      levels = named > 0 ? named : best_merged(selection).levels;
    selection.add(*this).merged_levels = levels;
    if (levels == 1 || named > 0) return;
    selection.add(*this).predicted_us = 1;
  }
  /// The best of those with fewer merged level sets, which take less memory.
  void consider_smaller(Selection& selection,
                        const Candidate& dropped) override {
    if (dropped.merged_levels == 1 || selection.levels_are_named()) return;
    const MergedLevelSets next = fewer_merged(dropped.merged_levels - 1);
    if (next.levels > 1) replace(selection, dropped, next);
  }

  bool consider_fewer_levels(Selection& selection, Candidate& inaccurate,
                             int most, const std::string& why) override {
    const MergedLevelSets next =
        selection.levels_are_named()
            ? MergedLevelSets{most, inaccurate.predicted_us}
            : fewer_merged(most);
    if (next.levels < 2) return false;
    selection.rule_out(inaccurate, why);
    replace(selection, inaccurate, next);
    selection.forget_plan();
    return true;
  }
  void forbid_merging(Selection& selection, bool /*chosen*/,
                      const std::string& why) override {
    selection.merging_pays = false;
    selection.rule_out_all(*this, why, [](const Candidate& candidate) {
      return candidate.merged_levels > 1;
    });
  }

  /// With a workspace for as many right-hand sides as there is memory for.
  Pointer make(Selection& selection, const Candidate& candidate) override {
    Pointer made;
    for (int columns = selection.options.max_right_hand_sides; columns > 0;
         columns = fewer_columns(columns)) {
      if (columns > 1 && !selection.budget.allows(
                             candidate.bytes +
                             Tiles::least_bytes(selection.sizes.rows, columns)))
        continue;
      made.reset();
      made = make_for(selection, candidate.merged_levels, columns,
                      some_stay(candidate.merged_levels));
      if (selection.budget.allows(made->bytes())) break;
    }
    return made;
  }

 private:
  /// Times the matrix: what is made, and what is expected of what is chosen.
  static constexpr double most_made = 6, most_size = 5.4;

  /// A number of level sets that become one, and the solve predicted.
  struct MergedLevelSets {
    int levels = 1;
    double us = 0;
  };

  static bool in_blocks(const Selection& selection) {
    return gains_by_blocks(selection.exec, selection.analysis.order.sizes,
                           sizeof(Scalar));
  }
  static double predict_apart(const Selection& selection) {
    const SolveFeatures features = selection.features();
    return predict_sync_free(features,
                             features.columns == 1 && in_blocks(selection),
                             selection.neighbours);
  }

  /// One right-hand side a launch, and not on hosts, where the first thread
  /// does all anyway, unless asked for.
  static bool may_merge(const Selection& selection) {
    const int named = selection.merged_levels();
    return selection.options.max_right_hand_sides == 1 &&
           selection.report.levels > 1 && named != 1 &&
           (is_gpu<ExecutionSpace> || named > 1);
  }
  /// The number asked for, or the best.
  MergedLevelSets best_merged(Selection& selection) {
    MergedLevelSets found;
    if (!may_merge(selection)) return found;
    const auto& analysis = selection.analysis;
    const int named = selection.merged_levels();
    const SolveFeatures features = selection.features();
    MergeCandidates candidates =
        named > 0 ? MergeCandidates{{named}, 1}
                  : MergeCandidates{{2, 3, 4, 5, 6, 7, 8, 12, 16, 24}, 10};
    // A group has no more level sets than there are.
    while (candidates.count > 1 &&
           candidates.levels[candidates.count - 2] >= selection.report.levels)
      --candidates.count;
    const SampledLevels sampled = sample_merged_levels(
        selection.exec, analysis.graph, analysis.order, candidates,
        sizeof(Scalar), analysis.work(selection.exec));
    selection.neighbours = sampled.neighbours;
    const double apart = predict_apart(selection);
    found.us = apart;
    worthwhile_.clear();
    staying_.clear();
    const double crs = double(selection.report.crs_bytes);
    double least = std::numeric_limits<double>::max(), size = 0;
    for (const LevelsCandidate& c : sampled.candidates) {
      const double us =
          predict_merged_sync_free(features, c, sampled.neighbours);
      if (c.stay > 0) staying_.push_back(c.levels);
      // Memory counts, too, which is also what new values take longer for;
      // and a plan should not take over five times the matrix, never six.
      // Plans grow with the number of level sets, whatever is predicted: if
      // not, less memory allowed could make for the faster choice.
      size = std::max(size, merged_sync_free_bytes(
                                features, c, analysis.graph.values_in_order) /
                                crs);
      const bool saves = us < 0.95 * apart && c.stay < 0.2;
      if (saves) worthwhile_.push_back({c.levels, us});
      if (named > 0 || (saves && size < most_size))
        selection.merging_pays = true;
      // No host enqueues solves faster than that. Solves share what counts rows
      // depth by depth.
      const double counting =
          counting_us / solves_of_a_plan *
          counted_depths(c.levels, analysis.graph.num_vertices, c.stay > 0);
      const double cost =
          (std::max(us, selection.parameters.alpha) + counting) *
          std::pow(size + 1.5, 1. / 8);
      const bool best =
          saves && size < most_size &&
          selection.budget.allows(static_cast<std::size_t>(size * crs)) &&
          cost < 0.995 * least;
      if (best || named > 0) {
        found = {c.levels, us};
        least = cost;
      }
    }
    return found;
  }
  /// The best number up to `most`; one, if none is worthwhile.
  MergedLevelSets fewer_merged(int most) const {
    MergedLevelSets next;
    for (const MergedLevelSets& fewer : worthwhile_)
      if (fewer.levels <= most && (next.levels == 1 || fewer.us <= next.us))
        next = fewer;
    return next;
  }

  Candidate& consider_merged(Selection& selection,
                             const MergedLevelSets& merged) {
    Candidate& made =
        selection.consider(*this, merged.us, merged_levels_note(merged.levels));
    made.merged_levels = merged.levels;
    return made;
  }
  /// Another number in place of a candidate's, which the report tells of where
  /// it tells of that.
  void replace(Selection& selection, const Candidate& other,
               const MergedLevelSets& merged) {
    if (other.place == Candidate::not_reported)
      selection.add(*this).merged_levels = merged.levels;
    else
      consider_merged(selection, merged);
  }

  /// Whether the sample has found rows that stay as they are.
  bool some_stay(int levels) const {
    return std::find(staying_.begin(), staying_.end(), levels) !=
           staying_.end();
  }

  /// The next smaller workspace worth a try.
  static int fewer_columns(int columns) {
    return columns > 32 ? 32 : columns > 8 ? 8 : columns > 1 ? 1 : 0;
  }
  static Pointer make_for(Selection& selection, int levels, int columns,
                          bool some_stay) {
    const auto& exec = selection.exec;
    const Analysis& analysis = selection.analysis;
    auto& report = selection.report;
    report.launch_right_hand_sides =
        columns == 1
            ? 1
            : Tiles::capacity_for(analysis.graph.num_vertices, columns);
    if (levels > 1 && columns == 1) {
      const auto merged = merge_levels(
          exec, analysis.graph, analysis.order, levels, analysis.num_values,
          Solve::max_steps, Analysis::within_level, analysis.work(exec),
          analysis.unmerged_rows(), some_stay);
      report.merged_levels = merged.levels;
      if (merged.exist())
        return std::make_shared<Solve>(exec, analysis, merged);
    }
    if (columns == 1 && in_blocks(selection)) {
      auto ordered = analysis;
      ordered.order = order_by_blocks(exec, analysis.graph, analysis.order,
                                      vertices_of_block, Analysis::within_level,
                                      analysis.work(exec));
      return std::make_shared<Solve>(exec, ordered, columns);
    }
    return std::make_shared<Solve>(exec, analysis, columns);
  }

  std::vector<MergedLevelSets> worthwhile_;
  std::vector<int> staying_;  ///< see some_stay
};

}  // namespace Detail
}  // namespace Strata

#endif
