// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_REGISTRATION_HPP

#include <kernels/triangular/blocks/BlockSubstitution.hpp>
#include <kernels/triangular/blocks/BlocksOfGraph.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <memory>

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

  Pointer make(Selection& selection, const Candidate&) override {
    const auto& analysis = selection.analysis;
    if (analysis.graph.num_vertices == 0) return std::make_shared<Solve>();
    const auto blocks = find_graph_blocks<Scalar>(selection.exec, analysis);
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
};

}  // namespace Detail
}  // namespace Strata

#endif
