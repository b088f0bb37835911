// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_BLOCKS_DIAGONAL_BLOCK_ORDER_HPP
#define STRATA_ANALYSIS_BLOCKS_DIAGONAL_BLOCK_ORDER_HPP

#include <analysis/blocks/FindBlocks.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/matrix/PackValues.hpp>

namespace Strata {
namespace Detail {

/// The block of each vertex, by the starts of blocks.
struct BlockOfVertex {
  const int* start;
  int num_blocks;
  int* block_of;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    block_of[v] = first_from(
                      1, num_blocks, [&](int b) { return start[b]; }, v + 1) -
                  1;
  }
};

/// The vertices in the order of their diagonal blocks, which take the place of
/// level sets: what a vertex needs is in earlier blocks. The order's arrays
/// must not outlive the pool. The host waits three times at most.
/// @param within  how the vertices of a block follow each other
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> order_by_diagonal_blocks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WithinLevel within, WorkPool<ExecutionSpace>& pool) {
  const std::int64_t n = graph.num_vertices;
  if (n == 0) return {};
  const FoundBlocks blocks = find_blocks(exec, graph, pool);
  const auto block_of = pool.template view<int>(n);
  for_each_index("Strata::DiagonalBlockOrder::block_of", exec, n,
                 BlockOfVertex{blocks.start, blocks.count, block_of.data()});
  return order_by_known_levels(
      exec, graph, {block_of, blocks.count, blocks.longest_row, true}, nullptr,
      within, pool);
}

}  // namespace Detail
}  // namespace Strata

#endif
