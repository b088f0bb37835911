// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_TILES_PARTITION_TILES_HPP
#define STRATA_ANALYSIS_TILES_PARTITION_TILES_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/tiles/JoinTiles.hpp>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// What a plan of tiles is made for.
struct TileTeams {
  int warps;       ///< of a team
  int most_steps;  ///< of a warp: see order_tiles
  int most_width;  ///< likewise, and of a tile of a run
  /// At most; 1: there are no runs, 0: as many as pay.
  int tiles_of_run;
};

/// Tiles of a graph, and runs if they pay: what a plan is made from, in host
/// memory.
struct TilePartition {
  Tiles tiles;    ///< if there are runs, of at most TileTeams::most_width rows
  TileRuns runs;  ///< none if they do not pay
  std::vector<std::int64_t> row_map;  ///< of the graph
  /// Steps of the longest chain: tiles or, with runs, runs and three steps for
  /// each tile of a run, which a warp solves before it waits.
  int chain = 0;
};

/// Cost: a copy of the graph's pattern to the host and a pass over it there.
/// Waits for `exec`.
template <class ExecutionSpace>
TilePartition partition_tiles(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const TileTeams& teams) {
  const int n = graph.num_vertices;
  exec.fence();
  const Kokkos::HostSpace host;
  const auto row_map = Kokkos::create_mirror_view_and_copy(host, graph.row_map);
  const auto entries = Kokkos::create_mirror_view_and_copy(host, graph.entries);
  TilePartition made;
  made.row_map.assign(row_map.data(), row_map.data() + row_map.extent(0));
  made.tiles = grow_tiles(n, row_map, entries);
  Tiles& tiles = made.tiles;
  made.chain = tiles.depths;
  const int wanted = teams.tiles_of_run > 0
                         ? std::min(teams.tiles_of_run, most_run_tiles)
                         : tiles_of_run(tiles);
  if (wanted > 1) {
    Tiles narrow;
    if (teams.most_width < most_tile_rows)
      narrow = grow_tiles(n, row_map, entries, teams.most_width);
    const bool is_narrow = narrow.count() > 0;
    TileRuns runs = join_tiles(is_narrow ? narrow : tiles, row_map, entries,
                               wanted, most_run_unknowns);
    const bool pays =
        teams.tiles_of_run > 0 ||
        std::int64_t{5} * runs.depths <= std::int64_t{2} * tiles.depths;
    if (runs.count() > 0 && pays) {
      made.chain = runs.depths + 3 * wanted;
      made.runs = std::move(runs);
      if (is_narrow) tiles = std::move(narrow);
    }
  }
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
