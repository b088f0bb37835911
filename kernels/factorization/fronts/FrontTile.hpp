// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_TILE_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_TILE_HPP

#include <core/device/Warp.hpp>
#include <cstddef>
#include <kernels/factorization/fronts/FrontArrays.hpp>

namespace Strata {
namespace Detail {

/// A tile of edge x edge entries in the registers of a team, and what the team
/// does to it with tiles in its scratch.
template <class Scalar, class ExecutionSpace>
struct FrontTile {
  static constexpr int edge = front_tile;
  static constexpr int threads = is_gpu<ExecutionSpace> ? 128 : 1;
  /// A thread has entries of `own_rows` neighbouring rows in each `lanes`-th
  /// column.
  static constexpr int lanes = threads < edge ? threads : edge;
  static constexpr int own_columns = edge / lanes;
  static constexpr int groups = threads / lanes;
  static constexpr int own_rows = edge / groups;
  /// While one pair of tiles is multiplied, the next one is stored.
  static constexpr int buffers = sizeof(Scalar) <= 8 ? 2 : 1;
  /// Contributions that scratch holds.
  static constexpr int most_terms = 64;

  struct alignas(2 * sizeof(Scalar) < 16 ? 2 * sizeof(Scalar) : 16) Pair {
    Scalar of[2];
  };
  struct Buffer {
    Pair left[edge][edge / 2 + 1];
    Scalar right[edge][edge + 1];  // another bank for each row

    KOKKOS_INLINE_FUNCTION Scalar& left_at(int row, int column) {
      return left[row][column / 2].of[column % 2];
    }
  };
  struct Scratch {
    Buffer buffer[buffers];
    Scalar inverse[edge];  // of pivots
    // Of a step of elimination, in turns.
    Scalar row[2][edge], column[2][edge], inverse_pivot[2];
    FrontTerm terms[most_terms];
    int ready;  // products that need not be waited for
  };
  /// A thread's entries of a tile.
  using Own = Scalar[own_columns][own_rows];

  /// Kokkos aligns scratch to 8 bytes.
  static constexpr std::size_t scratch_bytes = sizeof(Scratch) + 16;
  static_assert(scratch_bytes <= 48 * 1024, "too much scratch");

  template <class Team>
  KOKKOS_INLINE_FUNCTION static int lane_of(const Team& team) {
    return team.team_rank() % lanes;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION static int group_of(const Team& team) {
    return team.team_rank() / lanes;
  }
  KOKKOS_INLINE_FUNCTION static unsigned below(int bit) {
    return (1u << bit) - 1u;
  }
  /// work(c, column, r, row) for all entries of the thread.
  template <class Team, class Work>
  KOKKOS_INLINE_FUNCTION static void for_own(const Team& team,
                                             const Work& work) {
    const int lane = lane_of(team), first = group_of(team) * own_rows;
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c) STRATA_IMPL_UNROLL
    for (int r = 0; r < own_rows; ++r) work(c, lane + c * lanes, r, first + r);
  }
  /// What a child contributes to a tile, 0 where it has nothing.
  /// @param any  else nothing is read
  template <class Team>
  KOKKOS_INLINE_FUNCTION static void read_term(const Team& team,
                                               const FrontTerm& term, bool any,
                                               const Scalar* fronts,
                                               Own& values) {
    const int lane = lane_of(team), first = group_of(team) * own_rows;
    const unsigned rows = any ? term.rows : 0u;
    const std::int64_t before =
        std::int64_t{count_bits(rows & below(first))} * term.stride;
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c) {
      const int column = lane + c * lanes;
      const bool has_column = term.columns >> column & 1u;
      const Scalar* from = fronts + term.first + before +
                           count_bits(term.columns & below(column));
      STRATA_IMPL_UNROLL
      for (int r = 0; r < own_rows; ++r) {
        const bool has_row = rows >> (first + r) & 1u;
        values[c][r] = has_column && has_row ? *from : Scalar(0);
        from += has_row ? term.stride : 0;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION static void add(const Own& values, Own& own) {
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c) STRATA_IMPL_UNROLL
    for (int r = 0; r < own_rows; ++r) own[c][r] += values[c][r];
  }

  /// The first `count` contributions in scratch, in their order; some are read
  /// at a time.
  template <class Team>
  KOKKOS_INLINE_FUNCTION static void add_terms(const Team& team,
                                               const Scratch& scratch,
                                               int count, const Scalar* fronts,
                                               Own& own) {
    constexpr int batch = threads == 1 ? 1 : 2;
    for (int k = 0; k < count; k += batch) {
      Own values[batch];
      STRATA_IMPL_UNROLL
      for (int b = 0; b < batch; ++b) {
        const bool any = k + b < count;
        read_term(team, scratch.terms[any ? k + b : k], any, fronts, values[b]);
      }
      STRATA_IMPL_UNROLL
      for (int b = 0; b < batch; ++b) add(values[b], own);
    }
  }

  /// Less a product of tiles, as far as two columns of the left one and rows of
  /// the right one for each of `pairs`.
  template <class Team>
  KOKKOS_INLINE_FUNCTION static void subtract_product(const Team& team,
                                                      const Buffer& buffer,
                                                      int pairs, Own& own) {
    const int lane = lane_of(team), first = group_of(team) * own_rows;
    for (int k = 0; k < pairs; ++k) {
      Scalar upper[own_columns], lower[own_columns];
      STRATA_IMPL_UNROLL
      for (int c = 0; c < own_columns; ++c) {
        upper[c] = buffer.right[2 * k][lane + c * lanes];
        lower[c] = buffer.right[2 * k + 1][lane + c * lanes];
      }
      STRATA_IMPL_UNROLL
      for (int r = 0; r < own_rows; ++r) {
        const Pair pair = buffer.left[first + r][k];
        STRATA_IMPL_UNROLL
        for (int c = 0; c < own_columns; ++c) {
          own[c][r] -= pair.of[0] * upper[c];
          own[c][r] -= pair.of[1] * lower[c];
        }
      }
    }
  }
  /// Solves with the strictly lower triangle in buffer[0].left, column by
  /// column; finish(value, k, c) is entry k of column c, less its sum. Leaves
  /// the solution in buffer[0].right as well, once all threads are here.
  template <class Team, class Finish>
  KOKKOS_INLINE_FUNCTION static void solve(const Team& team, Scratch& scratch,
                                           Own& own, const Finish& finish) {
    Buffer& buffer = scratch.buffer[0];
    const int lane = lane_of(team), group = group_of(team),
              first = group * own_rows;
    for (int block = 0; block < groups; ++block) {
      if (block > 0) team.team_barrier();
      if (group > block - 1 && block > 0) {
        STRATA_IMPL_UNROLL
        for (int c = 0; c < own_columns; ++c) STRATA_IMPL_UNROLL
        for (int at = 0; at < own_rows; ++at) {
          const int k = (block - 1) * own_rows + at;
          const Scalar x = buffer.right[k][lane + c * lanes];
          STRATA_IMPL_UNROLL
          for (int r = 0; r < own_rows; ++r)
            own[c][r] -= buffer.left_at(first + r, k) * x;
        }
      }
      if (group != block) continue;
      STRATA_IMPL_UNROLL
      for (int c = 0; c < own_columns; ++c) STRATA_IMPL_UNROLL
      for (int at = 0; at < own_rows; ++at) {
        const int k = first + at;
        const Scalar x = finish(own[c][at], k, c);
        own[c][at] = x;
        buffer.right[k][lane + c * lanes] = x;
        STRATA_IMPL_UNROLL
        for (int r = 0; r < own_rows; ++r)
          if (r > at) own[c][r] -= buffer.left_at(first + r, k) * x;
      }
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
