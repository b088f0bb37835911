// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_ARRAYS_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_ARRAYS_HPP

#include <core/matrix/PatternCheck.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Rows and columns of a tile of a front.
inline constexpr int front_tile = 32;

/// What a team does at once: a tile of a front, or a whole front that is small.
struct FrontTask {
  /// Where in memory the front's entry (0, 0) is; of a small front, would be,
  /// as rows and columns of its pivots are not stored.
  std::int64_t front;
  std::int64_t rows;  // in FrontArrays::rows; -1: the tile has no pivot
  unsigned first_term, end_term;  // in FrontArrays::terms
  unsigned first_flag;            // of the front
  int stride;                     // between rows of the front in memory
  int first_row;                  // of its pivots, in FrontArrays::row_numbers
  int row_begin, column_begin;    // local indices
  int pivots;                     // of the front
  unsigned short row_tile, column_tile, pivot_tiles, tiles;
  unsigned char num_rows, num_columns;
  bool is_small;

  /// The lesser one of its tile row and tile column.
  KOKKOS_INLINE_FUNCTION int smaller_tile() const {
    return row_tile < column_tile ? row_tile : column_tile;
  }
  KOKKOS_INLINE_FUNCTION bool has_pivot() const {
    return smaller_tile() < pivot_tiles;
  }
  KOKKOS_INLINE_FUNCTION bool is_diagonal() const {
    return row_tile == column_tile && has_pivot();
  }
  /// Elimination steps of a diagonal tile.
  KOKKOS_INLINE_FUNCTION int steps() const {
    return is_small ? pivots : num_rows;
  }
  KOKKOS_INLINE_FUNCTION unsigned flag(int row, int column) const {
    return first_flag +
           static_cast<unsigned>(row) * static_cast<unsigned>(tiles) +
           static_cast<unsigned>(column);
  }
};

/// What a row of the pattern has in a tile with a pivot: entries in the tile's
/// columns `mask`.
struct FrontRow {
  unsigned mask;
  unsigned first;  // in FrontTasks::places
  unsigned to_l;   // from a place in A to that in L
  /// From a place in A to that in U. In a row without a pivot of the front all
  /// entries are of L, and this is the number of the row, for faults.
  unsigned to_u;
};

/// What the contribution of a child adds to a tile: to each of its rows and
/// columns of the masks an entry, which follow each other in the child.
struct FrontTerm {
  std::int64_t first;  // in memory
  unsigned rows, columns;
  int stride;
  unsigned flag;       // of the first of the child's tiles that are needed
  unsigned next_flag;  // from a tile to the one below
  /// Tiles that are needed besides: bit 0: that to the right, bit 1: that
  /// below, both: and that below on the right.
  unsigned more;
};

/// A plan, as kernels see it.
struct FrontArrays {
  const FrontTask* tasks;
  const FrontRow* rows;
  const FrontTerm* terms;
  const unsigned* places;
  const int* row_numbers;  // of rows in the order of pivots
  unsigned num_tasks;
};

/// Takes flags and tickets back and forgets the last fault.
struct ResetFronts {
  unsigned *flags, *drawn;
  std::int64_t* fault;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    flags[i] = 0;
    if (i > 0) return;
    *drawn = 0;
    *fault = no_fault;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
