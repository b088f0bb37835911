// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_REGISTRATION_HPP

#include <algorithm>
#include <analysis/packing/PackSubgraphs.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/sync_free_subgraphs/Prediction.hpp>
#include <kernels/triangular/sync_free_subgraphs/SyncFreeSubgraphs.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace Strata {
namespace Detail {

/// The shape of sub-graphs for a graph: chunks of rows in the order of
/// substitution keep a narrow graph's long paths together, bands of level sets
/// keep a wide one's teams busy, unless there are so few level sets that they
/// are one band. Where there are few level sets there is nothing to gain from
/// merging them, nor from looking at rows for that.
inline PackingShape packing_shape(const TriangularOptions& options,
                                  int merged_levels, int n, int levels,
                                  std::int64_t edges,
                                  const int* unmerged = nullptr) {
  PackingShape shape;
  shape.unmerged = unmerged;
  const bool narrow = !has_wide_levels(n, levels);
  shape.band_levels = narrow ? 0 : 64;
  shape.merged_levels = merged_levels;
  shape.which_team = options.lanes_per_row == 0   ? -1
                     : options.lanes_per_row == 1 ? 0
                                                  : 1;
  if (levels < 64) {
    if (shape.merged_levels == 0) shape.merged_levels = 1;
    if (shape.which_team < 0 && edges < std::int64_t{6} * n)
      shape.which_team = 0;
  }
  shape.max_rows = options.max_subgraph_rows > 0 ? options.max_subgraph_rows
                   : narrow                      ? 1024
                                                 : 1536;
  return shape;
}

/// One candidate after the other, each of which has its own packed sub-graphs:
/// they are packed to be predicted, and the packer makes one plan.
template <class Scalar, class ExecutionSpace>
class SyncFreeSubgraphsRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = SyncFreeSubgraphs<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::sync_free_subgraphs;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    const PackedRecord record(sizes.scalar_bytes);
    const std::size_t per_record =
        record.bytes + 5 + record.entries * sizes.value_index_bytes;
    return sizes.of_rows() +
           (static_cast<std::size_t>(sizes.edges) + record.entries - 1) /
               record.entries * per_record;
  }
  bool needs_parameters(const Selection&) const override { return true; }

  void consider(Selection& selection) override {
    merged_levels_ = selection.merged_levels();
    look(selection);
  }
  void consider_left_out(Selection& selection) override { look(selection); }
  void consider_given_up(Selection& selection) override {
    if (too_long_for_us_ >= 0) look(selection);
  }
  void consider_named(Selection& selection) override {
    merged_levels_ = selection.merged_levels();
    consider_packed(selection);
    if (packed_) return;
    selection.add_last_resort();
    selection.instead =
        "asked for sync_free_subgraphs, but the matrix has no rows or too many "
        "entries, or a row needs more values from outside its sub-graph than a "
        "team's scratch holds";
  }
  /// With fewer merged level sets, unless their number was asked for like the
  /// algorithm.
  void consider_smaller(Selection& selection, const Candidate&) override {
    const int levels = packed_ ? packed_->merged_levels() : 1;
    forget(selection);
    if (levels == 1 ||
        (selection.levels_are_named() && !selection.is_automatic()))
      return;
    merged_levels_ = levels > 4 ? 4 : levels > 2 ? 2 : 1;
    consider_packed(selection);
  }
  /// Once no plan is left.
  void forget(Selection& selection) override {
    if (!packed_) return;
    packed_.reset();
    selection.plans_begin_at(before_packing_);
    selection.give_back_plans();
  }

  void consider_again(Selection& selection, int merged_levels) override {
    selection.rule_out_all(*this, "made again with fewer merged rows");
    merged_levels_ = merged_levels;
    forget(selection);
    consider_packed(selection);
  }
  bool consider_fewer_levels(Selection& selection, Candidate& inaccurate,
                             int most, const std::string& why) override {
    if (most < 2) return false;
    selection.rule_out(inaccurate, why);
    selection.forget_plan();
    consider_again(selection, most);
    return true;
  }
  /// Sub-graphs merge fewer level sets than `sync_free`, and have a try of
  /// their own where that can't merge any.
  void forbid_merging(Selection& selection, bool chosen,
                      const std::string& why) override {
    if (chosen) {
      selection.rule_out_all(*this, why);
      merged_levels_ = 1;
      forget(selection);
      consider_packed(selection);
    } else if (!packed_ && selection.is_automatic()) {
      looked_ = false;
      too_long_for_us_ = -1;
      look(selection);
    }
  }

  Pointer make(Selection& selection, const Candidate&) override {
    auto& report = selection.report;
    auto solve = std::make_shared<Solve>(
        selection.exec, selection.analysis, *packed_,
        selection.options.max_right_hand_sides, selection.budget.bytes());
    report.launch_right_hand_sides = solve->capacity();
    report.subgraphs = solve->num_subgraphs();
    report.external_share = packed_->external_share();
    report.merged_levels = packed_->merged_levels();
    return solve;
  }

 private:
  static PackingShape shape(const Selection& selection, int merged_levels) {
    const auto& analysis = selection.analysis;
    return packing_shape(selection.options, merged_levels,
                         analysis.graph.num_vertices, selection.report.levels,
                         selection.sizes.edges, analysis.unmerged_rows());
  }

  /// Considers sub-graphs, once, if they are worth a look. Where their path is
  /// too long for the best time of now, they get another one for a longer time.
  void look(Selection& selection) {
    if (looked_ || !suit(selection)) return;
    const Candidate* const best = selection.best_that_may_fit();
    const double most_us = best ? best->predicted_us : no_limit;
    if (most_us <= too_long_for_us_) return;
    looked_ = true;
    if (!selection.may_fit(*this)) return;
    if (consider_packed(selection, most_us)) return;
    looked_ = false;
    too_long_for_us_ = most_us;
  }
  /// See sync_free_subgraphs_suit. Where the values ask for fewer merged rows
  /// of `sync_free`, which is slower, there is no second look unless it can't
  /// merge any.
  static bool suit(Selection& selection) {
    const Candidate* const best = selection.best_that_may_fit();
    return sync_free_subgraphs_suit(
        selection.features(), rows_are_near(selection), selection.merging_pays,
        best ? best->predicted_us : no_limit);
  }
  /// Whether most values come from a row's own sub-graph in any case.
  static bool rows_are_near(const Selection& selection) {
    return selection.neighbours.near >= 0.8;
  }

  /// Packs sub-graphs, where the matrix has any that fit in scratch. Bands
  /// whose values don't fit at first are not cut smaller where `sync_free`
  /// merges level sets, unless rows are near to those that they need: on two
  /// GPUs that won on none of 37 systems of the validation set.
  ///
  /// @param most_us  sub-graphs that are predicted to take longer are of no use
  /// @returns false if they are known to take longer
  bool consider_packed(Selection& selection, double most_us = no_limit) {
    const auto& exec = selection.exec;
    const auto& analysis = selection.analysis;
    PackingShape wanted = shape(selection, merged_levels_);
    wanted.largest_only = wanted.num_bands(selection.report.levels) > 1 &&
                          selection.merging_pays && !rows_are_near(selection);
    const auto& longest = analysis.order.sizes.longest_row;
    const SolveFeatures features = selection.features();
    if (most_us < no_limit)
      wanted.most_steps = most_steps_within(
          features, wanted.num_bands(selection.report.levels) > 1,
          wanted.latency, most_teams, most_us);
    before_packing_ = selection.mark();
    auto packed = Solve::make_builder(
        exec, analysis.graph, analysis.order.level_of.data(),
        selection.report.levels,
        longest.empty() ? std::int64_t{analysis.graph.num_vertices}
                        : *std::max_element(longest.begin(), longest.end()),
        wanted, analysis.pool, analysis.order.vertex.data());
    if (!packed.possible()) return !packed.too_long();
    selection.plans_begin_at(selection.mark());
    // There is no prediction for a host, where only its name leads to it.
    const double predicted_us =
        is_gpu<ExecutionSpace>
            ? std::max(predict_sync_free_subgraphs(
                           features, packed_features(packed, wanted.latency),
                           packed.team() == 0 ? teams_of<0> : teams_of<1>),
                       sync_free_subgraphs_not_below(features))
            : 0.;
    selection.consider(
        *this, predicted_us,
        std::to_string(packed.num_subgraphs()) + " sub-graphs of up to " +
            std::to_string(packed.max_rows()) + " rows in " +
            (packed.num_bands() > 1
                 ? "bands of " + std::to_string(wanted.band_levels) +
                       " level sets"
                 : "the order of substitution") +
            (packed.merged_levels() > 1
                 ? ", " + merged_levels_note(packed.merged_levels())
                 : "") +
            (packed.team() > 0 ? ", four lanes a row" : ""));
    packed_ = std::move(packed);
    return true;
  }

  static constexpr double no_limit = std::numeric_limits<double>::infinity();
  /// Teams of either kind that a multiprocessor runs at once.
  template <int team>
  static constexpr int teams_of =
      Solve::template Kernel<team>::teams_a_multiprocessor;
  static constexpr int most_teams = std::max(teams_of<0>, teams_of<1>);

  /// As the option, until less memory or these values ask for fewer.
  int merged_levels_ = 0;
  bool looked_ = false;
  /// Time that the longest path is known to take more than; -1: none.
  double too_long_for_us_ = -1;
  std::optional<SubgraphPacker<ExecutionSpace>> packed_;
  typename Selection::Mark before_packing_;
};

}  // namespace Detail
}  // namespace Strata

#endif
