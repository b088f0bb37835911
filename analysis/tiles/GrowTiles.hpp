// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_TILES_GROW_TILES_HPP
#define STRATA_ANALYSIS_TILES_GROW_TILES_HPP

#include <algorithm>
#include <core/device/Backend.hpp>
#include <cstdint>
#include <vector>

namespace Strata {
namespace Detail {

/// Rows of a tile at most: the bits of a mask, the lanes of a warp.
constexpr int most_tile_rows = gpu_lane_width;

/// Tiles of vertices, and the chain of tiles: a tile of depth d needs unknowns
/// of tiles of lesser depth only.
struct Tiles {
  std::vector<int> depth;             ///< of each tile
  std::vector<int> size;              ///< its vertices
  std::vector<int> longest;           ///< outside entries of its longest row
  std::vector<std::int64_t> outside;  ///< outside entries of all its rows
  /// Of each vertex: its tile; its place in it; the places of the vertices of
  /// the tile that it depends on, directly or not, itself included, as bits;
  /// its entries that lead out of the tile.
  std::vector<int> tile_of;
  std::vector<unsigned char> place;
  std::vector<unsigned> ancestors;
  std::vector<int> outside_of;
  int depths = 0;  ///< length of the longest chain of tiles

  int count() const { return static_cast<int>(size.size()); }
};

/// The numbers from 0 to `count` - 1 by their keys, which are from 0 to `keys`
/// - 1, and those of a key in their own order.
template <class KeyOf>
std::vector<int> sorted_by_key(int count, std::int64_t keys,
                               const KeyOf& key_of) {
  std::vector<int> next(keys + 1, 0), sorted(count);
  for (int k = 0; k < count; ++k) ++next[key_of(k) + 1];
  for (std::int64_t key = 0; key < keys; ++key) next[key + 1] += next[key];
  for (int k = 0; k < count; ++k) sorted[next[key_of(k)]++] = k;
  return sorted;
}

/// Slots that `rows` rows take if all are as long as the longest: no more than
/// twice what they have, but for short ones.
inline bool wastes_slots(int rows, int longest, std::int64_t entries) {
  constexpr std::int64_t few = 256;
  return std::int64_t{rows} * longest > 2 * entries + few;
}

/// Grows tiles row by row, in the order of substitution: a vertex joins the
/// tile that holds its deepest dependencies, if all of them are in one that has
/// room. Else it begins a tile, one deeper than the deepest. All dependencies
/// outside of the tile that a vertex joins are so in tiles of lesser depth,
/// which is what Tiles promises; a tile's depth never changes.
///
/// Cost: one pass over the entries, by one thread of the host.
/// @param row_map, entries  of a DependencyGraph, in host memory
/// @param most_rows         of a tile
template <class RowMap, class Entries>
Tiles grow_tiles(int n, const RowMap& row_map, const Entries& entries,
                 int most_rows = most_tile_rows) {
  Tiles t;
  t.tile_of.resize(n);
  t.place.resize(n);
  t.ancestors.resize(n);
  t.outside_of.resize(n);
  std::vector<int> depth_of(n);
  for (int v = 0; v < n; ++v) {
    const auto begin = row_map(v), end = row_map(v + 1);
    int deepest = -1, tile = -1, inside = 0;
    unsigned ancestors = 0;
    bool one_tile = true;
    // The deepest are mostly among the last.
    for (auto k = end; k-- > begin;) {
      const int u = entries(k), depth = depth_of[u];
      if (depth < deepest) continue;
      const int of_u = t.tile_of[u];
      if (depth > deepest) {
        deepest = depth;
        tile = of_u;
        one_tile = true;
        inside = 0;
        ancestors = 0;
      } else if (of_u != tile) {
        one_tile = false;
        continue;
      }
      ++inside;
      ancestors |= t.ancestors[u];
    }
    const auto outside = static_cast<int>(end - begin) - inside;
    const bool joins =
        tile >= 0 && one_tile && t.size[tile] < most_rows &&
        !wastes_slots(t.size[tile] + 1, std::max(t.longest[tile], outside),
                      t.outside[tile] + outside);
    if (!joins) {
      tile = t.count();
      t.depth.push_back(deepest + 1);
      t.size.push_back(0);
      t.longest.push_back(0);
      t.outside.push_back(0);
      t.depths = std::max(t.depths, deepest + 2);
    }
    const int place = t.size[tile]++;
    t.outside_of[v] = joins ? outside : static_cast<int>(end - begin);
    t.longest[tile] = std::max(t.longest[tile], t.outside_of[v]);
    t.outside[tile] += t.outside_of[v];
    t.tile_of[v] = tile;
    t.place[v] = static_cast<unsigned char>(place);
    t.ancestors[v] = (joins ? ancestors : 0) | 1u << place;
    depth_of[v] = t.depth[tile];
  }
  return t;
}

/// Tiles that one warp solves, or one team: their rows are those at the places
/// `first_row` and after, in the plan's order.
struct TileGroup {
  std::int64_t first_slot;   ///< of the outside entries
  std::int64_t first_inner;  ///< of the numbers inside of the tiles
  int first_row;
  int rows;   ///< at most most_tile_rows
  int width;  ///< rows of the largest tile
  int steps;  ///< slots of a thread
  /// Base-2 logarithm of the lanes that add up a row.
  int log_lanes;
  int of_team;  ///< 1: the warps of a team share the outside entries
  int depth;    ///< of the tiles
  /// Of some tile a few depths before, or -1: warps wait for this place before
  /// they ask for their last entries.
  int throttle;
  int run;  ///< see TileRun, or -1
};

/// The order of a plan by tiles: groups by depth.
struct TileOrder {
  std::vector<TileGroup> groups;
  /// Of each ticket, the first of its groups: as many as a team has warps, or
  /// one that the team shares. And the end.
  std::vector<int> tickets;
  std::vector<int> vertex;  ///< at each place
  std::int64_t slots = 0, inner = 0;
};

/// Makes room for a group's numbers behind those before.
/// @param longest  outside entries of its longest row
/// @param share    threads that add up a row
inline void take_slots(TileOrder& order, TileGroup& g, int longest, int share) {
  g.steps = (longest + share - 1) / share;
  g.first_slot = order.slots;
  g.first_inner = order.inner;
  order.slots += std::int64_t{g.steps} * share * g.rows;
  order.inner += std::int64_t{g.width} * g.rows;
}

/// Puts tiles of one depth, and of about one size, together in groups.
/// @param warps       of a team
/// @param most_steps  of a warp: groups with more go to a team
/// @param most_width  likewise
inline TileOrder order_tiles(const Tiles& t, int warps, int most_steps,
                             int most_width) {
  constexpr int throttle_depths = 3;
  TileOrder order;
  const int n = static_cast<int>(t.tile_of.size());
  // 0 for the largest.
  constexpr int classes = gpu_log_lanes + 1;
  const auto size_class = [&](int k) {
    int c = classes - 1;
    for (int size = 1; size < t.size[k]; size *= 2) --c;
    return c;
  };
  // By depth, then from large to small.
  const auto tiles =
      sorted_by_key(t.count(), std::int64_t{t.depths} * classes, [&](int k) {
        return std::int64_t{t.depth[k]} * classes + size_class(k);
      });
  std::vector<int> first_of_tile(t.count());
  std::vector<int> first_of_depth;  // its first place
  int row = 0, light = 0;           // groups of the current ticket
  for (std::size_t i = 0; i < tiles.size();) {
    const int depth = t.depth[tiles[i]], sizes = size_class(tiles[i]);
    TileGroup g{};
    g.first_row = row;
    int longest = 0;
    std::int64_t outside = 0;
    for (; i < tiles.size(); ++i) {
      const int k = tiles[i];
      if (t.depth[k] != depth || size_class(k) != sizes ||
          g.rows + t.size[k] > most_tile_rows)
        break;
      const int longer = std::max(longest, t.longest[k]);
      if (g.rows > 0 &&
          (longer > most_steps ||
           wastes_slots(g.rows + t.size[k], longer, outside + t.outside[k])))
        break;
      longest = longer;
      outside += t.outside[k];
      first_of_tile[k] = row + g.rows;
      g.rows += t.size[k];
      g.width = std::max(g.width, t.size[k]);
    }
    while ((g.rows << (g.log_lanes + 1)) <= most_tile_rows) ++g.log_lanes;
    const int lanes = 1 << g.log_lanes;
    g.of_team = warps > 1 && ((longest + lanes - 1) / lanes > most_steps ||
                              g.width > most_width);
    take_slots(order, g, longest, lanes * (g.of_team ? warps : 1));
    if (static_cast<int>(first_of_depth.size()) == depth)
      first_of_depth.push_back(row);
    g.depth = depth;
    g.run = -1;
    g.throttle =
        depth >= throttle_depths ? first_of_depth[depth - throttle_depths] : -1;
    const auto place = static_cast<int>(order.groups.size());
    if (light == 0 || g.of_team || light == warps) {
      order.tickets.push_back(place);
      light = 0;
    }
    light = g.of_team ? 0 : light + 1;
    row += g.rows;
    order.groups.push_back(g);
  }
  order.tickets.push_back(static_cast<int>(order.groups.size()));
  order.vertex.resize(n);
  for (int v = 0; v < n; ++v)
    order.vertex[first_of_tile[t.tile_of[v]] + t.place[v]] = v;
  return order;
}

}  // namespace Detail
}  // namespace Strata

#endif
