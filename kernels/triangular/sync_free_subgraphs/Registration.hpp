// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_REGISTRATION_HPP

#include <algorithm>
#include <analysis/packing/PackSubgraphs.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/sync_free_subgraphs/SyncFreeSubgraphs.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace Strata {
namespace Detail {

/// Whether level sets are so wide that sub-graphs are cut from bands of them.
inline bool has_wide_levels(double rows, int levels) {
  return rows >= 150. * std::max(1, levels);
}

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
  const auto& experimental = options.experimental;
  shape.which_team = experimental.lanes_per_row == 0   ? -1
                     : experimental.lanes_per_row == 1 ? 0
                                                       : 1;
  if (levels < 64) {
    if (shape.merged_levels == 0) shape.merged_levels = 1;
    if (shape.which_team < 0 && edges < std::int64_t{6} * n)
      shape.which_team = 0;
  }
  const int asked = experimental.max_subgraph_rows;
  shape.max_rows = asked > 0 ? asked : narrow ? 1024 : 1536;
  return shape;
}

/// One candidate after the other, each of which has its own packed sub-graphs.
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

  bool supports(const TriangularOptions&) const override {
    return has_partial_barriers<ExecutionSpace>;
  }
  std::size_t least_bytes(const PlanSizes& sizes) const override {
    const PackedRecord record(sizes.scalar_bytes);
    const std::size_t per_record =
        record.bytes + 5 + record.entries * sizes.value_index_bytes;
    return sizes.of_rows() +
           (static_cast<std::size_t>(sizes.edges) + record.entries - 1) /
               record.entries * per_record;
  }

  void consider(Selection& selection) override {
    merged_levels_ = selection.merged_levels();
    consider_packed(selection);
    if (packed_ || selection.is_automatic()) return;
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
    merge_at_most(selection, merged_levels,
                  "made again with fewer merged rows");
  }
  int merge_at_most(Selection& selection, int most,
                    const std::string& why) override {
    selection.rule_out_all(*this, why);
    merged_levels_ = std::max(1, most);
    forget(selection);
    consider_packed(selection);
    return packed_ ? packed_->merged_levels() : 1;
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

  /// Packs sub-graphs, where the matrix has any that fit in scratch.
  void consider_packed(Selection& selection) {
    const auto& exec = selection.exec;
    const auto& analysis = selection.analysis;
    const PackingShape wanted = shape(selection, merged_levels_);
    before_packing_ = selection.mark();
    auto packed = Solve::make_packer(
        exec, analysis.graph, analysis.order.level_of.data(),
        selection.report.levels, analysis.order.sizes.longest_row_of_all(),
        wanted, analysis.pool, analysis.order.vertex.data());
    if (!packed.possible()) return;
    selection.plans_begin_at(selection.mark());
    selection.add(
        *this, std::to_string(packed.num_subgraphs()) +
                   " sub-graphs of up to " + std::to_string(packed.max_rows()) +
                   " rows in " +
                   (packed.num_bands() > 1
                        ? "bands of " + std::to_string(wanted.band_levels) +
                              " level sets"
                        : "the order of substitution") +
                   (packed.merged_levels() > 1
                        ? ", " + merged_levels_note(packed.merged_levels())
                        : "") +
                   (packed.team() > 0 ? ", four lanes a row" : ""));
    packed_ = std::move(packed);
  }

  /// As the option, until less memory or these values ask for fewer.
  int merged_levels_ = 0;
  std::optional<SubgraphPacker<ExecutionSpace>> packed_;
  typename Selection::Mark before_packing_;
};

}  // namespace Detail
}  // namespace Strata

#endif
