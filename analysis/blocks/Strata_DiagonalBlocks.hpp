// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_DIAGONAL_BLOCKS_HPP
#define STRATA_DIAGONAL_BLOCKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/blocks/FindBlocks.hpp>
#include <core/memory/ToDevice.hpp>
#include <vector>

namespace Strata {

/// The diagonal blocks of a triangular matrix: runs of consecutive rows none of
/// which needs another one of its run, each as long as it can be. Block b has
/// the vertices (see DependencyGraph) start[b] to start[b + 1] - 1.
struct DiagonalBlocks {
  std::vector<int> start{0};
  int count() const { return static_cast<int>(start.size()) - 1; }
};

/// Finds the blocks in one pass over the rows, of each of which only the entry
/// nearest to the diagonal is read: Nibbeling, *Implementation of a parallel
/// back substitution solver on GPUs* (2016), section 2.3; here for lower
/// triangles, too.
///
/// Cost on a device: two launches and two copies to the host, which waits; a
/// look at every 8,192 rows, and some tens of nanoseconds for each block.
template <class ExecutionSpace>
DiagonalBlocks find_diagonal_blocks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph) {
  using Memory = typename ExecutionSpace::memory_space;
  DiagonalBlocks blocks;
  const int n = graph.num_vertices;
  if (n == 0) return blocks;
  Detail::WorkPool<ExecutionSpace> pool(exec, std::size_t(n) * 8 + 4096);
  const auto found = Detail::find_blocks(exec, graph, pool);
  blocks.start.resize(static_cast<std::size_t>(found.count) + 1);
  Detail::copy_to_host(
      exec, Kokkos::View<const int*, Memory>(found.start, found.count + 1),
      blocks.start.data());
  return blocks;
}

}  // namespace Strata

#endif
