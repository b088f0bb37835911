// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_BLOCKS_FIND_BLOCKS_HPP
#define STRATA_ANALYSIS_BLOCKS_FIND_BLOCKS_HPP

#include <core/device/Warp.hpp>
#include <core/matrix/IndexArray.hpp>

namespace Strata {
namespace Detail {

/// Strict entries of a triangular matrix, a row after the other in the order of
/// substitution: vertex v is row v of a forward solve, row n - 1 - v of a
/// backward one. Those of a vertex are sorted, either way.
struct StrictRows {
  const std::int64_t* begin = nullptr;  // vertex -> its first entry
  const int* count = nullptr;  // null: an entry ends where the next begins
  IndexArray entries;
  const std::int64_t* value_index =
      nullptr;  // entry -> its value; null: the same
  int num_vertices = 0;
  bool mirrored = false;  // entries are columns of an upper triangle

  KOKKOS_INLINE_FUNCTION int length(std::int64_t v) const {
    return count ? count[v] : static_cast<int>(begin[v + 1] - begin[v]);
  }
  /// The vertex that entry k needs.
  KOKKOS_INLINE_FUNCTION int dependency(std::int64_t k) const {
    const std::int64_t j = entries(k);
    return static_cast<int>(mirrored ? num_vertices - 1 - j : j);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t k) const {
    return value_index ? value_index[k] : k;
  }
  /// The last of the vertices that v needs, -1 if there is none. It is the
  /// first or the last entry, whichever is nearest to the diagonal. Rows that
  /// are not sorted give something below v.
  KOKKOS_INLINE_FUNCTION int nearest(std::int64_t v) const {
    const int n = length(v);
    if (n == 0) return -1;
    const int first = dependency(begin[v]), last = dependency(begin[v] + n - 1);
    const int larger = first < last ? last : first;
    return larger < v ? larger : static_cast<int>(v) - 1;
  }
};

/// Rows that one warp looks at together.
constexpr int tile_rows = 256;

template <class ExecutionSpace, class Functor>
struct TileByWarp {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Functor functor;
  int tiles;
  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    constexpr int width = lane_width<ExecutionSpace>;
    const int tile = team.league_rank() * (team.team_size() / width) +
                     team.team_rank() / width;
    if (tile < tiles) functor(tile, team.team_rank() % width);
  }
};

/// Runs `functor(tile, lane)` with a warp for every tile of `rows` rows.
template <class ExecutionSpace, class Functor>
void for_each_tile(const char* label, const ExecutionSpace& exec, int rows,
                   const Functor& functor) {
  constexpr int team_size = is_gpu<ExecutionSpace> ? 128 : 1;
  constexpr int warps = team_size / lane_width<ExecutionSpace>;
  const int tiles =
      static_cast<int>((std::int64_t{rows} + tile_rows - 1) / tile_rows);
  if (tiles == 0) return;
  Kokkos::parallel_for(label,
                       Kokkos::TeamPolicy<ExecutionSpace>(
                           exec, (tiles + warps - 1) / warps, team_size),
                       TileByWarp<ExecutionSpace, Functor>{functor, tiles});
}

/// For every vertex the last that it needs, and for every tile the last that
/// one of its vertices needs. `Locate` fills in `rows` where that is to be done
/// first.
template <class ExecutionSpace, class Locate>
struct NearestDependencies {
  static constexpr int width = lane_width<ExecutionSpace>;
  StrictRows rows;
  Locate locate;
  int* nearest;
  int* tile_nearest;

  KOKKOS_INLINE_FUNCTION void operator()(int tile, int lane) const {
    int largest = -1;
    const std::int64_t first = std::int64_t{tile} * tile_rows;
    for (int i = lane; i < tile_rows; i += width) {
      const std::int64_t v = first + i;
      if (v >= rows.num_vertices) break;
      locate(v);
      const int mine = rows.nearest(v);
      nearest[v] = mine;
      largest = mine > largest ? mine : largest;
    }
    lane_barrier();
    for (int mask = width >> 1; mask > 0; mask >>= 1) {
      const int other = lane_xor(largest, mask);
      largest = other > largest ? other : largest;
    }
    if (lane == 0) tile_nearest[tile] = largest;
  }
};

struct AlreadyLocated {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {}
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

  const int* nearest;
  const int* tile_nearest;
  int num_rows;
  int* start;                // block -> first vertex; one more at the end
  std::int64_t* num_blocks;  // in device memory

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
    int first = 0, found = 0;
    if (lane == 0) start[0] = 0;
    Tile tile, ahead;
    for (int group = 0; group < tiles; group += width) {
      const int mine = lane < tiles - group ? tile_nearest[group + lane] : -1;
      for (unsigned left = ~0u;;) {
        const unsigned hit = lane_ballot(mine >= first) & left;
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
            const unsigned next = lane_ballot(tile.nearest[i] >= first) & later;
            if (next == 0) break;
            const int row = lowest_bit(next);
            later &= ~((2u << row) - 1);
            first = tile.number * tile_rows + i * width + row;
            ++found;
            if (lane == 0) start[found] = first;
          }
      }
    }
    if (lane == 0) {
      start[found + 1] = num_rows;
      *num_blocks = found + 1;
    }
  }
};

/// Enqueues the two launches that find the blocks of `num_rows` > 0 rows.
template <class ExecutionSpace, class Locate>
void enqueue_find_blocks(const ExecutionSpace& exec, const StrictRows& rows,
                         const Locate& locate, int* nearest, int* tile_nearest,
                         int* start, std::int64_t* num_blocks) {
  for_each_tile("Strata::DiagonalBlocks::nearest", exec, rows.num_vertices,
                NearestDependencies<ExecutionSpace, Locate>{
                    rows, locate, nearest, tile_nearest});
  Kokkos::parallel_for(
      "Strata::DiagonalBlocks::find",
      Kokkos::TeamPolicy<ExecutionSpace>(exec, 1, lane_width<ExecutionSpace>),
      FindBlocks<ExecutionSpace>{nearest, tile_nearest, rows.num_vertices,
                                 start, num_blocks});
}

}  // namespace Detail
}  // namespace Strata

#endif
