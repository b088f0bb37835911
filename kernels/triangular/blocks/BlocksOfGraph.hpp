// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCKS_OF_GRAPH_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCKS_OF_GRAPH_HPP

#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/blocks/BlockSubstitution.hpp>

namespace Strata {
namespace Detail {

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
