// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_TILES_JOIN_TILES_HPP
#define STRATA_ANALYSIS_TILES_JOIN_TILES_HPP

#include <algorithm>
#include <analysis/tiles/GrowTiles.hpp>
#include <cmath>
#include <iterator>

namespace Strata {
namespace Detail {

/// Tiles of a run at most.
constexpr int most_run_tiles = 16;
/// Unknowns from outside that a run's rows depend on, at most: the lanes of a
/// warp.
constexpr int most_run_unknowns = gpu_lane_width;

/// Tiles that a warp solves one after the other: groups of one tile each.
struct TileRun {
  int first_group, end_group;
  int first_row, rows;
  int unknowns;               ///< places outside that its rows depend on
  std::int64_t first_weight;  ///< unknown by unknown, of all rows
};

/// Which run each tile is in. A run of depth d needs unknowns of runs of lesser
/// depth only.
struct TileRuns {
  std::vector<int> run_of;                 ///< of each tile
  std::vector<int> depth;                  ///< of each run
  std::vector<std::vector<int>> tiles;     ///< of each run, by depth
  std::vector<std::vector<int>> unknowns;  ///< of each run: vertices, sorted
  int depths = 0;

  int count() const { return static_cast<int>(depth.size()); }
};

/// Joins tiles to runs, in the order of their depth: a tile joins the deepest
/// run that it depends on, if all else that it depends on is in runs of lesser
/// depth, and if the run has room.
///
/// Cost: one pass over the entries, by one thread of the host.
/// @param most_tiles, most_unknowns  of a run
/// @returns no runs if a tile has more unknowns than a run may have
template <class RowMap, class Entries>
TileRuns join_tiles(const Tiles& t, const RowMap& row_map,
                    const Entries& entries, int most_tiles, int most_unknowns) {
  std::vector<int> first(t.count() + std::size_t{1}, 0);
  for (int k = 0; k < t.count(); ++k) first[k + 1] = first[k] + t.tile[k].size;
  auto next = first;
  std::vector<int> vertex(t.num_vertices);
  for (int v = 0; v < t.num_vertices; ++v) vertex[next[t.vertex[v].tile]++] = v;
  const auto tiles = sorted_by_key(t.count(), t.depths,
                                   [&](int k) { return t.tile[k].depth; });
  TileRuns runs;
  runs.run_of.assign(t.count(), -1);
  std::vector<int> needed, all;
  for (const int k : tiles) {
    needed.clear();
    int deepest = -1, run = -1;
    bool one_run = true;
    for (int i = first[k]; i < first[k + 1]; ++i)
      for (auto e = row_map(vertex[i]); e < row_map(vertex[i] + 1); ++e) {
        const int u = entries(e);
        const int tile = t.vertex[u].tile;
        if (tile == k) continue;
        needed.push_back(u);
        const int of_u = runs.run_of[tile];
        if (runs.depth[of_u] > deepest) {
          deepest = runs.depth[of_u];
          run = of_u;
          one_run = true;
        } else if (runs.depth[of_u] == deepest && of_u != run) {
          one_run = false;
        }
      }
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    const auto fits = [&](const std::vector<int>& unknowns) {
      return static_cast<int>(unknowns.size()) <= most_unknowns;
    };
    bool joins = run >= 0 && one_run &&
                 static_cast<int>(runs.tiles[run].size()) < most_tiles;
    if (joins) {
      const auto inside = [&](int u) {
        return runs.run_of[t.vertex[u].tile] == run;
      };
      auto outside = needed;
      outside.erase(std::remove_if(outside.begin(), outside.end(), inside),
                    outside.end());
      all.clear();
      std::set_union(outside.begin(), outside.end(), runs.unknowns[run].begin(),
                     runs.unknowns[run].end(), std::back_inserter(all));
      joins = fits(all);
    }
    if (joins) {
      runs.unknowns[run] = all;
    } else {
      if (!fits(needed)) return {};
      run = runs.count();
      runs.depth.push_back(deepest + 1);
      runs.depths = std::max(runs.depths, deepest + 2);
      runs.tiles.emplace_back();
      runs.unknowns.push_back(needed);
    }
    runs.run_of[k] = run;
    runs.tiles[run].push_back(k);
  }
  return runs;
}

/// Tiles of a run, so that the time to solve a run is about that of the chain
/// of runs; 1 if runs don't pay: they do where there are few tiles of each
/// depth.
inline int tiles_of_run(const Tiles& t) {
  constexpr int most_of_depth = 32;
  // A tile of a run takes some three times as long as a run's step.
  const int tiles = static_cast<int>(std::sqrt(t.depths / 3.0));
  if (t.count() > std::int64_t{most_of_depth} * t.depths || tiles < 3) return 1;
  return std::min(tiles, most_run_tiles);
}

/// The order of a plan by runs: by depth. Every tile is a group, and a ticket
/// has a run for each warp.
struct RunOrder {
  TileOrder order;
  std::vector<TileRun> runs;
  std::vector<int> unknowns;  ///< of each run, most_run_unknowns vertices
  std::int64_t weights = 0;
};
inline RunOrder order_runs(const Tiles& t, const TileRuns& of, int warps) {
  RunOrder made;
  TileOrder& order = made.order;
  order.place_of.resize(t.count());
  const auto runs =
      sorted_by_key(of.count(), of.depths, [&](int r) { return of.depth[r]; });
  int row = 0;
  for (const int r : runs) {
    const auto number = static_cast<int>(made.runs.size());
    if (number % warps == 0) order.tickets.push_back(number);
    TileRun run{static_cast<int>(order.groups.size()),   0,           row, 0,
                static_cast<int>(of.unknowns[r].size()), made.weights};
    for (const int k : of.tiles[r]) {
      TileGroup g{};
      order.place_of[k] = {row, static_cast<int>(order.groups.size())};
      g.first_row = row;
      g.rows = g.width = t.tile[k].size;
      while ((g.rows << (g.log_lanes + 1)) <= most_tile_rows) ++g.log_lanes;
      take_slots(order, g, t.tile[k].longest, 1 << g.log_lanes);
      g.depth = t.tile[k].depth;
      g.throttle = -1;
      g.run = number;
      row += g.rows;
      order.groups.push_back(g);
    }
    run.end_group = static_cast<int>(order.groups.size());
    run.rows = row - run.first_row;
    made.weights += std::int64_t{run.rows} * run.unknowns;
    made.runs.push_back(run);
    made.unknowns.insert(made.unknowns.end(), of.unknowns[r].begin(),
                         of.unknowns[r].end());
    made.unknowns.resize(made.runs.size() * most_run_unknowns, -1);
  }
  order.tickets.push_back(static_cast<int>(made.runs.size()));
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
