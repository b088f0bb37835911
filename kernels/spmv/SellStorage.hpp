// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_STORAGE_HPP
#define STRATA_KERNELS_SPMV_SELL_STORAGE_HPP

#include <core/device/Backend.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// C rows, padded to the length of the longest. With T lanes a row, slot
/// first_slot + s * (C T) + r * T + t holds entry s * T + t of the chunk's row
/// r.
///
/// `column` has, from first_column on, either a column for every slot (-1 in
/// padding), or (on_diagonals, T = 1, C <= 32) a DiagonalStep for every step.
struct SellChunk {
  std::int64_t first_slot, first_column;
  int steps;
  int on_diagonals;
};

/// Step of a chunk on diagonals: row r has an entry in column r + offset if bit
/// (r's number in the chunk) of `rows` is set, and padding else.
struct alignas(8) DiagonalStep {
  int offset;
  unsigned rows;
};

/// Elements of `column` that a chunk of so many slots takes: even, so that a
/// DiagonalStep is aligned.
KOKKOS_INLINE_FUNCTION std::int64_t sell_columns(std::int64_t slots, int steps,
                                                 bool on_diagonals) {
  return on_diagonals ? 2 * std::int64_t{steps} : (slots + 1) / 2 * 2;
}

/// A piece of a long row for all lanes of a warp: entry s * width + lane in
/// slot first_slot + s * width + lane, its column at the same distance from
/// first_column.
struct SellPiece {
  std::int64_t first_slot, first_column;
  int steps;
  int row;
  int long_row;      // its number among the long rows
  int first_of_row;  // the row's first piece
  int pieces_of_row;
};

/// Vectors that one pass over a matrix serves at most.
constexpr int sell_max_block = 8;

/// A matrix in SELL-C-sigma form.
template <class Scalar, class MemorySpace>
struct SellStorage {
  std::int64_t rows = 0;
  int chunk_rows = 1, log_lanes = 0;
  /// Steps of every chunk, where all have as many and are of one kind (0
  /// else): kernels then know where a chunk is without reading it.
  int uniform_steps = 0;
  bool uniform_diagonals = false;
  /// Steps of the longest chunk, and whether that is over 1.5 times the mean.
  int longest_chunk = 0;
  bool uneven = false;
  Kokkos::View<SellChunk*, MemorySpace> chunk;
  Kokkos::View<int*, MemorySpace> column;
  Kokkos::View<Scalar*, MemorySpace> value;
  /// Permuted row, in the order of chunks, -> row, -1 for long rows; empty
  /// where rows are not permuted.
  Kokkos::View<int*, MemorySpace> order;
  Kokkos::View<SellPiece*, MemorySpace> piece;
  /// Sums of the pieces of long rows, sell_max_block of each; and for each long
  /// row how many of its pieces are done (all 0 between products).
  Kokkos::View<Scalar*, MemorySpace> piece_sum;
  Kokkos::View<unsigned*, MemorySpace> pieces_done;

  std::int64_t num_chunks() const {
    return static_cast<std::int64_t>(chunk.extent(0));
  }
  std::int64_t num_pieces() const {
    return static_cast<std::int64_t>(piece.extent(0));
  }
  std::int64_t num_long_rows() const {
    return static_cast<std::int64_t>(pieces_done.extent(0));
  }
  int chunk_lanes() const { return chunk_rows << log_lanes; }
};

/// The same as bare pointers: Views would make a kernel's arguments so long
/// that Kokkos passes them by constant memory, which the host waits for.
template <class Scalar>
struct SellRef {
  std::int64_t rows, num_chunks, num_pieces, num_long_rows;
  int chunk_rows, log_lanes, uniform_steps;
  bool uniform_diagonals;
  const SellChunk* chunk;
  const int* column;
  const Scalar* value;
  const int* order;  // null where rows are not permuted
  const SellPiece* piece;
  Scalar* piece_sum;
  unsigned* pieces_done;

  template <class MemorySpace>
  explicit SellRef(const SellStorage<Scalar, MemorySpace>& A)
      : rows(A.rows),
        num_chunks(A.num_chunks()),
        num_pieces(A.num_pieces()),
        num_long_rows(A.num_long_rows()),
        chunk_rows(A.chunk_rows),
        log_lanes(A.log_lanes),
        uniform_steps(A.uniform_steps),
        uniform_diagonals(A.uniform_diagonals),
        chunk(A.chunk.data()),
        column(A.column.data()),
        value(A.value.data()),
        order(A.order.extent(0) ? A.order.data() : nullptr),
        piece(A.piece.data()),
        piece_sum(A.piece_sum.data()),
        pieces_done(A.pieces_done.data()) {}

  KOKKOS_INLINE_FUNCTION int chunk_lanes() const {
    return chunk_rows << log_lanes;
  }
  /// Whether several chunks make a batch of loads.
  KOKKOS_INLINE_FUNCTION bool short_steps() const {
    return uniform_steps > 0 && uniform_steps <= 2 && log_lanes == 0 &&
           chunk_rows == gpu_lane_width;
  }
  KOKKOS_INLINE_FUNCTION SellChunk chunk_at(std::int64_t c) const {
    if (uniform_steps == 0) return chunk[c];
    const std::int64_t slots = std::int64_t{uniform_steps} * chunk_lanes();
    return {c * slots,
            c * sell_columns(slots, uniform_steps, uniform_diagonals),
            uniform_steps, uniform_diagonals};
  }
  /// Row of a permuted row; -1 past the last, and for a long row.
  KOKKOS_INLINE_FUNCTION int row_at(std::int64_t permuted_row) const {
    if (permuted_row >= rows) return -1;
    return order ? order[permuted_row] : static_cast<int>(permuted_row);
  }
  KOKKOS_INLINE_FUNCTION const DiagonalStep* diagonal_steps(
      const SellChunk& c) const {
    return reinterpret_cast<const DiagonalStep*>(column + c.first_column);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
