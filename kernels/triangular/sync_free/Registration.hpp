// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_REGISTRATION_HPP

#include <analysis/level_sets/CacheBlockOrder.hpp>
#include <analysis/merging/MergedLevels.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/sync_free/SyncFreeAlgorithm.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace Detail {

/// Its candidates differ by the number of merged level sets.
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

  void consider(Selection& selection) override {
    add(selection, !selection.may_merge()         ? 1
                   : selection.levels_are_named() ? selection.merged_levels()
                                                  : selection.merging().levels);
  }
  /// With fewer merged level sets, which take less memory; with none, if their
  /// number is named and the algorithm is not.
  void consider_smaller(Selection& selection,
                        const Candidate& dropped) override {
    if (dropped.merged_levels == 1) return;
    if (!selection.levels_are_named())
      add(selection, selection.merging().fewer(dropped.merged_levels - 1));
    else if (selection.is_automatic())
      add(selection, 1);
  }

  int merge_at_most(Selection& selection, int most,
                    const std::string& why) override {
    selection.rule_out_all(*this, why);
    const int next = most < 2 ? 1
                     : selection.levels_are_named()
                         ? most
                         : selection.merging().fewer(most);
    add(selection, next);
    return next;
  }

  /// With a workspace for as many right-hand sides as there is memory for.
  Pointer make(Selection& selection, const Candidate& candidate) override {
    Pointer made;
    const int most =
        Solve::has_tiles ? selection.options.max_right_hand_sides : 1;
    for (int columns = most; columns > 0; columns = fewer_columns(columns)) {
      if (columns > 1 && !selection.budget.allows(
                             candidate.bytes +
                             Tiles::least_bytes(selection.sizes.rows, columns)))
        continue;
      made.reset();
      made = make_for(
          selection, candidate.merged_levels, columns,
          !selection.levels_are_named() && candidate.merged_levels > 1 &&
              selection.merging().some_stay(candidate.merged_levels));
      if (selection.budget.allows(made->bytes())) break;
    }
    return made;
  }

 private:
  /// Of a plan with merged level sets, unless the options name their number.
  static constexpr double most_times_matrix = 6;

  void add(Selection& selection, int levels) {
    Candidate& added = selection.add(
        *this,
        levels > 1 ? std::to_string(levels) + " merged level sets" : "");
    added.merged_levels = levels;
    if (levels > 1 && !selection.levels_are_named())
      added.most_times_matrix = most_times_matrix;
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
    if (columns == 1 &&
        gains_by_cache_blocks(exec, analysis.order.sizes, sizeof(Scalar))) {
      auto ordered = analysis;
      ordered.order = order_by_cache_blocks(
          exec, analysis.graph, analysis.order, vertices_of_cache_block,
          Analysis::within_level, analysis.work(exec));
      return std::make_shared<Solve>(exec, ordered, columns);
    }
    return std::make_shared<Solve>(exec, analysis, columns);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
