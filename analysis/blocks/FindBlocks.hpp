// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_BLOCKS_FIND_BLOCKS_HPP
#define STRATA_ANALYSIS_BLOCKS_FIND_BLOCKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>

namespace Strata {
namespace Detail {

/// Rows that one warp looks at together.
constexpr int tile_rows = 256;

/// For every vertex the last that it needs, its last entry, or -1 if there is
/// none; for every tile the last that one of its vertices needs, and the
/// entries of its longest row.
template <class ExecutionSpace>
struct NearestDependencies {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 128 : 1;
  DependencyGraph<typename ExecutionSpace::memory_space> graph;
  int *nearest, *tile_nearest, *tile_longest;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const std::int64_t first = std::int64_t{team.league_rank()} * tile_rows;
    const std::int64_t beyond = first + tile_rows < graph.num_vertices
                                    ? first + tile_rows
                                    : graph.num_vertices;
    const auto rows = Kokkos::TeamThreadRange(team, first, beyond);
    int last = -1, longest = 0;
    Kokkos::parallel_reduce(
        rows,
        [&](std::int64_t v, int& largest) {
          const std::int64_t end = graph.row_map(v + 1);
          const int mine = graph.row_map(v) < end ? graph.entries(end - 1) : -1;
          nearest[v] = mine;
          largest = mine > largest ? mine : largest;
        },
        Kokkos::Max<int>(last));
    Kokkos::parallel_reduce(
        rows,
        [&](std::int64_t v, int& largest) {
          const auto mine =
              static_cast<int>(graph.row_map(v + 1) - graph.row_map(v));
          largest = mine > largest ? mine : largest;
        },
        Kokkos::Max<int>(longest));
    if (team.team_rank() == 0) {
      tile_nearest[team.league_rank()] = last;
      tile_longest[team.league_rank()] = longest;
    }
  }
};

/// The diagonal blocks of a triangular matrix, in one pass by one warp: a block
/// ends before the first row that needs a row of it, and what a row needs last
/// is all that has to be known of it.
///
/// Tiles that need no row of the present block are passed over, 32 at a look.
/// In the others, the rows that need one are found by a vote of the lanes:
/// some tens of cycles a block.
template <class ExecutionSpace>
struct FindBlocks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int per_lane = tile_rows / width;

  const int *nearest, *tile_nearest, *tile_longest;
  int num_rows;
  int* start;    // block -> first vertex; one more at the end
  int* results;  // the number of blocks, and the entries of the longest row

  struct Tile {
    int number = -1;
    int nearest[per_lane];
  };
  KOKKOS_INLINE_FUNCTION void load(Tile& tile, int number, int lane) const {
    tile.number = number;
    STRATA_IMPL_UNROLL
    for (int i = 0; i < per_lane; ++i) {
      const std::int64_t v =
          std::int64_t{number} * tile_rows + i * width + lane;
      tile.nearest[i] = v < num_rows ? nearest[v] : -1;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int lane = team.team_rank();
    const int tiles =
        static_cast<int>((std::int64_t{num_rows} + tile_rows - 1) / tile_rows);
    int first = 0, found = 0, longest = 0;
    if (lane == 0) start[0] = 0;
    Tile tile, ahead;
    for (int group = 0; group < tiles; group += width) {
      const bool in = lane < tiles - group;
      const int mine = in ? tile_nearest[group + lane] : -1;
      const int length = in ? tile_longest[group + lane] : 0;
      longest = length > longest ? length : longest;
      for (unsigned left = ~0u;;) {
        const LaneMask hit = lane_ballot(mine >= first) & left;
        if (hit == 0) break;
        const int at = lowest_bit(hit);
        left &= ~((2u << at) - 1);
        if (ahead.number == group + at)
          tile = ahead;
        else
          load(tile, group + at, lane);
        load(ahead, group + at + 1, lane);
        STRATA_IMPL_UNROLL
        for (int i = 0; i < per_lane; ++i)
          for (unsigned later = ~0u;;) {
            const LaneMask next = lane_ballot(tile.nearest[i] >= first) & later;
            if (next == 0) break;
            const int row = lowest_bit(next);
            later &= ~((2u << row) - 1);
            first = tile.number * tile_rows + i * width + row;
            ++found;
            if (lane == 0) start[found] = first;
          }
      }
    }
    lane_barrier();
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(longest, mask);
      longest = other > longest ? other : longest;
    }
    if (lane == 0) {
      start[found + 1] = num_rows;
      results[0] = found + 1;
      results[1] = longest;
    }
  }
};

/// Diagonal blocks in device memory: block b has the vertices start[b] to
/// start[b + 1] - 1.
struct FoundBlocks {
  const int* start;
  int count;
  int longest_row;  ///< most entries of a vertex
};

/// Finds the blocks of a graph that has vertices, by two launches. The host
/// waits.
/// @param pool  for the arrays, `start` among them
template <class ExecutionSpace>
FoundBlocks find_blocks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WorkPool<ExecutionSpace>& pool) {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Nearest = NearestDependencies<ExecutionSpace>;
  const int n = graph.num_vertices;
  const int tiles = (n - 1) / tile_rows + 1;
  int* const nearest = pool.template take<int>(n);
  int* const tile_nearest = pool.template take<int>(tiles);
  int* const tile_longest = pool.template take<int>(tiles);
  int* const start = pool.template take<int>(std::int64_t{n} + 1);
  const auto results = pool.template view<int>(2);
  Kokkos::parallel_for("Strata::DiagonalBlocks::nearest",
                       Policy(exec, tiles, Nearest::team_size),
                       Nearest{graph, nearest, tile_nearest, tile_longest});
  Kokkos::parallel_for(
      "Strata::DiagonalBlocks::find",
      Policy(exec, 1, lane_width<ExecutionSpace>),
      FindBlocks<ExecutionSpace>{nearest, tile_nearest, tile_longest, n, start,
                                 results.data()});
  int found[2];
  copy_to_host(exec, results, found);
  return {start, found[0], found[1]};
}

}  // namespace Detail
}  // namespace Strata

#endif
