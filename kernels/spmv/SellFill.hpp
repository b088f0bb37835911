// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_FILL_HPP
#define STRATA_KERNELS_SPMV_SELL_FILL_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <kernels/spmv/SellDiagonals.hpp>

namespace Strata {
namespace Detail {

/// Places of chunks in the arrays, from their steps.
template <class MemorySpace, bool columns>
struct PlaceSellChunks {
  Kokkos::View<SellChunk*, MemorySpace> chunk;
  std::int64_t lanes;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, std::int64_t& sum,
                                         bool final) const {
    SellChunk& made = chunk(c);
    if (final) (columns ? made.first_column : made.first_slot) = sum;
    if (!columns)
      sum += made.steps * lanes;
    else
      sum += sell_columns(made.steps * lanes, made.steps, made.on_diagonals);
  }
};

/// The rows above shape.long_row, in their order.
template <class MemorySpace>
struct ListLongRows {
  Kokkos::View<const int*, MemorySpace> length;
  Kokkos::View<int*, MemorySpace> long_row;
  std::int64_t above;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, std::int64_t& sum,
                                         bool final) const {
    if (length(row) <= above) return;
    if (final) long_row(sum) = static_cast<int>(row);
    ++sum;
  }
};

/// First piece and first slot of each long row; the sum counts pieces, or slots
/// in multiples of a warp's lanes.
template <class MemorySpace, bool slots>
struct PlaceLongRows {
  Kokkos::View<const int*, MemorySpace> length, long_row;
  Kokkos::View<std::int64_t*, MemorySpace> first;
  int piece_entries, width;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                         bool final) const {
    if (final) first(i) = sum;
    const std::int64_t divisor = slots ? width : piece_entries;
    sum += (length(long_row(i)) + divisor - 1) / divisor;
  }
};

template <class MemorySpace>
struct CutLongRows {
  Kokkos::View<const int*, MemorySpace> length, long_row;
  Kokkos::View<const std::int64_t*, MemorySpace> first_piece, first_slots;
  Kokkos::View<SellPiece*, MemorySpace> piece;
  std::int64_t slots_before, columns_before;
  int piece_entries, width;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const int row = long_row(i);
    const int pieces = (length(row) - 1) / piece_entries + 1;
    for (int p = 0; p < pieces; ++p) {
      const std::int64_t before = std::int64_t{p} * piece_entries;
      const std::int64_t left = length(row) - before;
      const std::int64_t entries = left < piece_entries ? left : piece_entries;
      const std::int64_t slot = first_slots(i) * width + before;
      piece(first_piece(i) + p) =
          SellPiece{slots_before + slot,
                    columns_before + slot,
                    static_cast<int>((entries + width - 1) / width),
                    row,
                    static_cast<int>(i),
                    static_cast<int>(first_piece(i)),
                    pieces};
    }
  }
};

/// Takes long rows out of the order of permuted rows.
template <class MemorySpace>
struct DropLongRows {
  Kokkos::View<const int*, MemorySpace> length;
  Kokkos::View<int*, MemorySpace> order;
  std::int64_t above;
  bool was_empty;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const int row = was_empty ? static_cast<int>(p) : order(p);
    order(p) = length(row) > above ? -1 : row;
  }
};

/// Columns, or diagonals, of a chunk.
template <class ExecutionSpace>
struct FillSellColumns {
  using Memory = typename ExecutionSpace::memory_space;
  MergeDiagonals<Memory> merge;
  Kokkos::View<const SellChunk*, Memory> chunk;
  Kokkos::View<int*, Memory> column;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, int lane) const {
    const SellChunk made = chunk(c);
    if (made.on_diagonals) {
      auto* const steps =
          reinterpret_cast<DiagonalStep*>(column.data() + made.first_column);
      int found = merge.template visit_steps<ExecutionSpace>(
          c, lane, made.steps,
          [&](int s, const DiagonalStep& d) { steps[s] = d; });
      // Chunks made as long as the longest.
      for (; lane == 0 && found < made.steps; ++found)
        steps[found] = DiagonalStep{0, 0};
      return;
    }
    const int log_lanes = merge.shape.log_lanes;
    const int lanes = merge.shape.chunk_rows << log_lanes;
    for (int l = lane; l < lanes; l += lane_width<ExecutionSpace>) {
      std::int64_t row, k, end;
      merge.span(c * merge.shape.chunk_rows + (l >> log_lanes), row, k, end);
      k += l & ((1 << log_lanes) - 1);
      for (int s = 0; s < made.steps; ++s, k += 1 << log_lanes)
        column(made.first_column + static_cast<std::int64_t>(s) * lanes + l) =
            k < end ? static_cast<int>(merge.entries(k)) : -1;
    }
  }
};

/// Values of a chunk's slots, by the columns or diagonals already there.
template <class Scalar, class ExecutionSpace>
struct FillSellValues {
  using Memory = typename ExecutionSpace::memory_space;
  SellRef<Scalar> A;
  Scalar* to;
  ValueIndex<Memory> row_begin;
  const Scalar* values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, int lane) const {
    const SellChunk chunk = A.chunk[c];
    const int lanes = A.chunk_lanes();
    const int per_row = 1 << A.log_lanes;
    for (int l = lane; l < lanes; l += lane_width<ExecutionSpace>) {
      const int row = A.row_at(c * A.chunk_rows + (l >> A.log_lanes));
      std::int64_t k = row < 0 ? 0 : row_begin(row);
      if (!chunk.on_diagonals) k += l & (per_row - 1);
      for (int s = 0; s < chunk.steps; ++s) {
        const std::int64_t at = static_cast<std::int64_t>(s) * lanes + l;
        bool used;
        if (chunk.on_diagonals)
          used = A.diagonal_steps(chunk)[s].rows >> l & 1u;
        else
          used = A.column[chunk.first_column + at] >= 0;
        to[chunk.first_slot + at] = used ? values[k] : Scalar(0);
        if (chunk.on_diagonals)
          k += used;
        else
          k += per_row;
      }
    }
  }
};

/// Columns and values of the pieces of long rows, or values alone.
template <class Scalar, class ExecutionSpace>
struct FillSellPieces {
  using Memory = typename ExecutionSpace::memory_space;
  SellStorage<Scalar, Memory> A;
  ValueIndex<Memory> row_begin;
  Kokkos::View<const int*, Memory> length;
  IndexArray entries;
  const Scalar* values;
  int piece_entries;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, int lane) const {
    constexpr int width = lane_width<ExecutionSpace>;
    const SellPiece piece = A.piece(p);
    const std::int64_t before =
        (p - piece.first_of_row) * static_cast<std::int64_t>(piece_entries);
    const std::int64_t begin = row_begin(piece.row) + before;
    for (int s = 0; s < piece.steps; ++s) {
      const std::int64_t at = static_cast<std::int64_t>(s) * width + lane;
      bool used;
      if (entries.extent(0)) {
        used = before + at < length(piece.row);
        A.column(piece.first_column + at) =
            used ? static_cast<int>(entries(begin + at)) : -1;
      } else {
        used = A.column(piece.first_column + at) >= 0;
      }
      A.value(piece.first_slot + at) = used ? values[begin + at] : Scalar(0);
    }
  }
};

template <class MemorySpace>
struct CopyRowBegin {
  IndexArray row_map;
  ValueIndex<MemorySpace> row_begin;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    row_begin.set(row, row_map(row));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
