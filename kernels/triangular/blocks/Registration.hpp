// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_REGISTRATION_HPP

#include <kernels/triangular/blocks/BlockSubstitution.hpp>
#include <kernels/triangular/blocks/BlocksOfGraph.hpp>
#include <kernels/triangular/blocks/Prediction.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <memory>
#include <optional>
#include <string>

namespace Strata {
namespace Detail {

/// Of a dependency graph; BlocksOfMatrix.hpp makes blocks straight from a
/// matrix where that is possible.
template <class Scalar, class ExecutionSpace>
class BlocksRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = BlockSubstitution<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::blocks;

  bool needs_level_sets() const override { return false; }
  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return least_bytes_of_blocks(sizes);
  }

  /// Blocks are at least as many as level sets. Rows without entries are solved
  /// in one launch by all algorithms.
  void consider(Selection& selection) override {
    const auto& analysis = selection.analysis;
    const SolveFeatures features = selection.features();
    if (selection.report.levels <= 1 ||
        !(blocks_at_least(features) < selection.best()->predicted_us) ||
        !selection.may_fit(*this))
      return;
    blocks_.emplace(find_graph_blocks<Scalar>(selection.exec, analysis));
    const auto runs = make_block_runs(blocks_->wide(), blocks_->num_blocks(),
                                      analysis.graph.num_vertices,
                                      Solve::is_irregular(*blocks_));
    selection.consider(
        *this,
        predict_blocks(features, runs, blocks_->found(EllHead::num_slots)),
        std::to_string(blocks_->num_blocks()) + " blocks in " +
            std::to_string(runs.size()) + " launches");
  }
  void consider_smaller(Selection&, const Candidate&) override {
    blocks_.reset();
  }

  Pointer make(Selection& selection, const Candidate&) override {
    const auto& analysis = selection.analysis;
    if (analysis.graph.num_vertices == 0) return std::make_shared<Solve>();
    if (blocks_) return make_from(selection, *blocks_);
    return make_from(selection,
                     find_graph_blocks<Scalar>(selection.exec, analysis));
  }

 private:
  static Pointer make_from(Selection& selection,
                           const GraphBlocks<ExecutionSpace>& blocks) {
    const auto& analysis = selection.analysis;
    const auto& graph = analysis.graph;
    const auto solve = std::make_shared<Solve>(
        selection.exec, blocks,
        DiagonalSource{graph.diagonal_value_index.data(), false, false,
                       graph.reversed},
        analysis.num_values, analysis.conjugated);
    selection.exec.fence();
    solve->describe(selection.report);
    return solve;
  }

  std::optional<GraphBlocks<ExecutionSpace>> blocks_;
};

}  // namespace Detail
}  // namespace Strata

#endif
