// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_DIAGONAL_BLOCKS_HPP
#define STRATA_DIAGONAL_BLOCKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/blocks/FindBlocks.hpp>
#include <core/memory/Arena.hpp>
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
  int *nearest, *tile_nearest, *start;
  std::int64_t* count;
  const auto arena =
      Detail::make_arena<Memory>("Strata::DiagonalBlocks", [&](auto& a) {
        a.take(nearest, n);
        a.take(tile_nearest, n / Detail::tile_rows + 1);
        a.take(start, std::int64_t{n} + 1);
        a.take(count, 1);
      });
  Detail::StrictRows rows;
  rows.begin = graph.row_map.data();
  rows.entries = graph.entries;
  rows.num_vertices = n;
  Detail::enqueue_find_blocks(exec, rows, Detail::AlreadyLocated{}, nearest,
                              tile_nearest, start, count);
  std::int64_t found = 0;
  Detail::copy_to_host(exec, Kokkos::View<std::int64_t*, Memory>(count, 1),
                       &found);
  blocks.start.resize(static_cast<std::size_t>(found) + 1);
  Detail::copy_to_host(exec, Kokkos::View<int*, Memory>(start, found + 1),
                       blocks.start.data());
  return blocks;
}

}  // namespace Strata

#endif
