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

/// What tiles keep of a vertex.
struct TileVertex {
  int tile;
  int depth;  ///< of its tile
  /// The places of the vertices of its tile that it depends on, directly or
  /// not, as bits. The highest one is its own: those of a tile are in the order
  /// of substitution.
  unsigned ancestors;
  int outside;  ///< its entries that lead out of the tile

  KOKKOS_INLINE_FUNCTION int place() const {
    int place = 0;
    for (unsigned bits = ancestors; bits >>= 1;) ++place;
    return place;
  }
};

/// Vertices of which all dependencies outside are of tiles of lesser depth.
struct Tile {
  int depth;
  int size;              ///< its vertices
  int longest;           ///< outside entries of its longest row
  std::int64_t outside;  ///< outside entries of all its rows
};

/// Tiles of vertices, and the chain of tiles.
struct Tiles {
  std::vector<Tile> tile;
  const TileVertex* vertex = nullptr;
  int num_vertices = 0;
  int depths = 0;  ///< length of the longest chain of tiles

  int count() const { return static_cast<int>(tile.size()); }
  const Tile& of(int v) const { return tile[vertex[v].tile]; }
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
/// @param vertex            becomes Tiles::vertex: `n` elements
/// @param most_rows         of a tile
template <class RowMap, class Entries>
Tiles grow_tiles(int n, const RowMap& row_map, const Entries& entries,
                 TileVertex* vertex, int most_rows = most_tile_rows) {
  Tiles t;
  t.vertex = vertex;
  t.num_vertices = n;
  t.tile.reserve(n / 8);
  for (int v = 0; v < n; ++v) {
    const auto begin = row_map(v), end = row_map(v + 1);
    int deepest = -1, tile = -1, inside = 0;
    unsigned ancestors = 0;
    bool one_tile = true;
    // The deepest are mostly among the last.
    for (auto k = end; k-- > begin;) {
      const TileVertex& u = vertex[entries(k)];
      if (u.depth < deepest) continue;
      if (u.depth > deepest) {
        deepest = u.depth;
        tile = u.tile;
        one_tile = true;
        inside = 0;
        ancestors = 0;
      } else if (u.tile != tile) {
        one_tile = false;
        continue;
      }
      ++inside;
      ancestors |= u.ancestors;
    }
    int outside = static_cast<int>(end - begin) - inside;
    const auto has_room = [&](const Tile& in) {
      return in.size < most_rows &&
             !wastes_slots(in.size + 1, std::max(in.longest, outside),
                           in.outside + outside);
    };
    if (tile < 0 || !one_tile || !has_room(t.tile[tile])) {
      tile = t.count();
      t.tile.push_back({deepest + 1, 0, 0, 0});
      t.depths = std::max(t.depths, deepest + 2);
      outside += inside;
      ancestors = 0;
    }
    Tile& joined = t.tile[tile];
    vertex[v] = {tile, joined.depth, ancestors | 1u << joined.size, outside};
    ++joined.size;
    joined.longest = std::max(joined.longest, outside);
    joined.outside += outside;
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

/// Where a tile is in a plan's order.
struct TilePlace {
  int first_row, group;
};

/// The order of a plan by tiles: groups by depth.
struct TileOrder {
  std::vector<TileGroup> groups;
  /// Of each ticket, the first of its groups: as many as a team has warps, or
  /// one that the team shares. And the end.
  std::vector<int> tickets;
  std::vector<TilePlace> place_of;  ///< of each tile
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
  // By depth, then from large to small.
  constexpr int classes = gpu_log_lanes + 1;
  std::vector<std::int64_t> key(t.count());
  for (int k = 0; k < t.count(); ++k) {
    key[k] = std::int64_t{t.tile[k].depth} * classes + classes - 1;
    for (int size = 1; size < t.tile[k].size; size *= 2) --key[k];
  }
  const auto tiles = sorted_by_key(t.count(), std::int64_t{t.depths} * classes,
                                   [&](int k) { return key[k]; });
  order.place_of.resize(t.count());
  std::vector<int> first_of_depth;  // its first place
  int row = 0, light = 0;           // groups of the current ticket
  for (std::size_t i = 0; i < tiles.size();) {
    const int depth = t.tile[tiles[i]].depth;
    const std::int64_t sizes = key[tiles[i]];
    const auto place = static_cast<int>(order.groups.size());
    TileGroup g{};
    g.first_row = row;
    int longest = 0;
    std::int64_t outside = 0;
    for (; i < tiles.size(); ++i) {
      const int k = tiles[i];
      const Tile& next = t.tile[k];
      if (key[k] != sizes || g.rows + next.size > most_tile_rows) break;
      const int longer = std::max(longest, next.longest);
      if (g.rows > 0 &&
          (longer > most_steps ||
           wastes_slots(g.rows + next.size, longer, outside + next.outside)))
        break;
      longest = longer;
      outside += next.outside;
      order.place_of[k] = {row + g.rows, place};
      g.rows += next.size;
      g.width = std::max(g.width, next.size);
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
    if (light == 0 || g.of_team || light == warps) {
      order.tickets.push_back(place);
      light = 0;
    }
    light = g.of_team ? 0 : light + 1;
    row += g.rows;
    order.groups.push_back(g);
  }
  order.tickets.push_back(static_cast<int>(order.groups.size()));
  return order;
}

}  // namespace Detail
}  // namespace Strata

#endif
