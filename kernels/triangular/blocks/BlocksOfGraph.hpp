// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCKS_OF_GRAPH_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCKS_OF_GRAPH_HPP

#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/blocks/BlockSubstitution.hpp>
#include <kernels/triangular/selection/PlanSizes.hpp>

namespace Strata {
namespace Detail {

/// Bytes of a plan at least. There are as many blocks as level sets, where
/// those are known.
inline std::size_t least_bytes_of_blocks(const PlanSizes& sizes) {
  return sizes.of_rows() + sizes.of_entries() +
         std::max<std::size_t>(sizes.levels, sizes.rows > 0 ? 1 : 0) *
             sizeof(EllBlock);
}

/// ELL blocks of a dependency graph, which has vertices. The host waits.
template <class ExecutionSpace>
using GraphBlocks = EllAnalysis<ExecutionSpace>;
template <class Scalar, class ExecutionSpace>
GraphBlocks<ExecutionSpace> find_graph_blocks(
    const ExecutionSpace& exec,
    const TriangularAnalysis<ExecutionSpace>& analysis) {
  GraphBlocks<ExecutionSpace> blocks(
      exec, analysis.graph.num_vertices, analysis.graph.num_edges(), false,
      BlockSubstitution<Scalar, ExecutionSpace>::limits());
  blocks.enqueue(exec, analysis.graph);
  blocks.fetch(exec);
  return blocks;
}

}  // namespace Detail
}  // namespace Strata

#endif
