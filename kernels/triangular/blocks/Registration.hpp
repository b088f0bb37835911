// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_REGISTRATION_HPP

#include <analysis/blocks/DiagonalBlockOrder.hpp>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <memory>

namespace Strata {
namespace Detail {

/// Block substitution: diagonal blocks whose rows do not need each other, one
/// after the other (Nibbeling 2016, Algorithm 2), by the kernels of
/// `level_sets`. See docs/algorithms/blocks.md.
template <class Scalar, class ExecutionSpace>
class BlocksRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = LevelSetSolve<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::blocks;

  bool needs_level_sets() const override { return false; }
  /// The number of blocks is not known.
  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() + sizes.of_chunks();
  }

  Pointer make(Selection& selection, const Candidate&) override {
    const auto& analysis = selection.analysis;
    const auto order = order_by_diagonal_blocks(selection.exec, analysis.graph,
                                                analysis.within_level,
                                                analysis.work(selection.exec));
    const auto solve = std::make_shared<Solve>(
        selection.exec, analysis, order, "Strata::Triangular::solve::blocks");
    auto& report = selection.report;
    report.longest_row = 1 + order.sizes.longest_row_of_all();
    report.blocks = order.num_levels();
    report.block_runs = solve->num_launches();
    report.block_slots = solve->chunks().num_slots;
    return solve;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
