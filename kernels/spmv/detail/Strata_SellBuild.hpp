// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SELL_BUILD_HPP
#define STRATA_SELL_BUILD_HPP

#include <detail/Strata_SellCheck.hpp>
#include <detail/Strata_SellFill.hpp>

namespace Strata {
namespace Detail {

/// A SELL-C-sigma matrix with what new values need.
template <class Scalar, class ExecutionSpace>
struct SellParts {
  using Memory = typename ExecutionSpace::memory_space;
  SellStorage<Scalar, Memory> storage;
  OriginIndex<Memory> row_begin;
  int piece_entries = 0;

  /// Enqueues the packing of `values`.
  void set_values(const ExecutionSpace& exec, const Scalar* values) const {
    set_chunk_values(exec, values);
    fill_pieces(exec, Kokkos::View<const int*, Memory>(),
                Kokkos::View<const int*, Memory>(), values);
  }
  void set_chunk_values(const ExecutionSpace& exec,
                        const Scalar* values) const {
    for_each_chunk(
        "Strata::SellMatrix::values", exec, storage.num_chunks(),
        FillSellValues<Scalar, ExecutionSpace>{
            SellRef<Scalar>(storage), storage.value.data(), row_begin, values});
  }
  template <class Entries>
  void fill_pieces(const ExecutionSpace& exec,
                   const Kokkos::View<const int*, Memory>& length,
                   const Entries& entries, const Scalar* values) const {
    for_each_chunk(
        "Strata::SellMatrix::pieces", exec, storage.num_pieces(),
        FillSellPieces<Scalar, ExecutionSpace, Entries>{
            storage, row_begin, length, entries, values, piece_entries});
  }
};

/// Builds the form of a checked pattern with `length` entries in each row.
template <class Scalar, class ExecutionSpace, class RowMap, class Entries>
SellParts<Scalar, ExecutionSpace> build_sell(
    const ExecutionSpace& exec, const RowMap& row_map, const Entries& entries,
    const Scalar* values,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    bool ascending, const SellOptions& options, SellReport& report) {
  using Memory = typename ExecutionSpace::memory_space;
  using Range = RangeOf<ExecutionSpace>;
  using Ints = Kokkos::View<int*, Memory>;
  using Offsets = Kokkos::View<std::int64_t*, Memory>;
  constexpr int width = lane_width<ExecutionSpace>;
  const std::int64_t rows = report.rows;
  SellParts<Scalar, ExecutionSpace> made;
  SellStorage<Scalar, Memory>& A = made.storage;
  A.rows = rows;

  const SellShape shape =
      choose_sell_shape(exec, rows, report.entries, sizeof(Scalar), options);
  made.piece_entries = shape.piece_entries;
  A.chunk_rows = report.chunk_rows = shape.chunk_rows;
  A.log_lanes = shape.log_lanes;
  report.lanes_per_row = 1 << shape.log_lanes;
  report.sigma = 1;
  if (rows == 0) return made;

  // Long rows.
  const Ints& all_lengths = length;
  std::int64_t longest = 0, long_rows = 0;
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::longest", Range(exec, 0, rows),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t & most) {
        most = all_lengths(row) > most ? all_lengths(row) : most;
      },
      Kokkos::Max<std::int64_t>(longest));
  exec.fence();
  report.longest_row = longest = std::max<std::int64_t>(longest, 0);
  Ints long_row;
  std::int64_t chunk_entries = report.entries;
  if (longest > shape.long_row) {
    long_row =
        make_unfilled<Ints>("Strata::SellMatrix::long_rows",
                            std::min(rows, report.entries / shape.long_row));
    Kokkos::parallel_scan(
        "Strata::SellMatrix::long_rows", Range(exec, 0, rows),
        ListLongRows<Memory>{length, long_row, shape.long_row}, long_rows);
    exec.fence();
    std::int64_t in_long_rows = 0;
    Kokkos::parallel_reduce(
        "Strata::SellMatrix::long_entries", Range(exec, 0, long_rows),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) {
          sum += all_lengths(long_row(i));
        },
        in_long_rows);
    exec.fence();
    chunk_entries -= in_long_rows;
  }
  report.long_rows = long_rows;

  // Chunks.
  auto order = find_sell_order(exec, length, shape, longest, chunk_entries,
                               options.sigma);
  report.sigma = order.sigma;
  const std::int64_t chunks = (rows + shape.chunk_rows - 1) / shape.chunk_rows;
  const std::int64_t lanes = std::int64_t{shape.chunk_rows} << shape.log_lanes;
  A.chunk =
      make_unfilled<decltype(A.chunk)>("Strata::SellMatrix::chunk", chunks);
  const bool use_diagonals =
      options.use_diagonals && ascending && shape.log_lanes == 0 &&
      (width > 1 ? shape.chunk_rows == width : shape.chunk_rows <= 32);
  using Merge = MergeDiagonals<RowMap, Entries, Memory>;
  const Merge merge{row_map, entries, length, order.row, shape, rows};
  for_each_chunk(
      "Strata::SellMatrix::diagonals", exec, chunks,
      CountDiagonals<ExecutionSpace, Merge>{merge,
                                            {length, order.row, shape, rows},
                                            A.chunk,
                                            use_diagonals,
                                            static_cast<int>(sizeof(Scalar))});
  std::int64_t chunk_slots = 0, chunk_columns = 0;
  Kokkos::parallel_scan("Strata::SellMatrix::place", Range(exec, 0, chunks),
                        PlaceSellChunks<Memory, false>{A.chunk, lanes},
                        chunk_slots);
  Kokkos::parallel_scan("Strata::SellMatrix::place", Range(exec, 0, chunks),
                        PlaceSellChunks<Memory, true>{A.chunk, lanes},
                        chunk_columns);
  const auto chunk = A.chunk;
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::count_diagonals", Range(exec, 0, chunks),
      KOKKOS_LAMBDA(std::int64_t c, std::int64_t & sum) {
        sum += chunk(c).on_diagonals;
      },
      report.diagonal_chunks);
  exec.fence();
  report.chunks = chunks;

  // Pieces of long rows.
  Offsets first_piece, first_unit;
  std::int64_t pieces = 0, units = 0;
  if (long_rows > 0) {
    first_piece =
        make_unfilled<Offsets>("Strata::SellMatrix::first_piece", long_rows);
    first_unit =
        make_unfilled<Offsets>("Strata::SellMatrix::first_unit", long_rows);
    Kokkos::parallel_scan(
        "Strata::SellMatrix::place", Range(exec, 0, long_rows),
        PlaceLongRows<Memory, false>{length, long_row, first_piece,
                                     shape.piece_entries, width},
        pieces);
    Kokkos::parallel_scan(
        "Strata::SellMatrix::place", Range(exec, 0, long_rows),
        PlaceLongRows<Memory, true>{length, long_row, first_unit,
                                    shape.piece_entries, width},
        units);
    exec.fence();
  }
  A.value = make_unfilled<decltype(A.value)>("Strata::SellMatrix::value",
                                             chunk_slots + units * width);
  A.column = make_unfilled<decltype(A.column)>("Strata::SellMatrix::column",
                                               chunk_columns + units * width);
  for_each_chunk(
      "Strata::SellMatrix::columns", exec, chunks,
      FillSellColumns<ExecutionSpace, Merge>{merge, A.chunk, A.column});
  A.order = order.row;
  if (long_rows > 0) {
    A.piece =
        make_unfilled<decltype(A.piece)>("Strata::SellMatrix::piece", pieces);
    Kokkos::parallel_for(
        "Strata::SellMatrix::cut", Range(exec, 0, long_rows),
        CutLongRows<Memory>{length, long_row, first_piece, first_unit, A.piece,
                            chunk_slots, chunk_columns, shape.piece_entries,
                            width});
    A.piece_sum = make_unfilled<decltype(A.piece_sum)>(
        "Strata::SellMatrix::piece_sum", pieces * sell_max_block);
    A.pieces_done =
        decltype(A.pieces_done)("Strata::SellMatrix::pieces_done", long_rows);
    const bool was_empty = A.order.extent(0) == 0;
    // The fill above reads the order as it was.
    if (was_empty)
      A.order = make_unfilled<Ints>("Strata::SellMatrix::order", rows);
    Kokkos::parallel_for(
        "Strata::SellMatrix::drop_long_rows", Range(exec, 0, rows),
        DropLongRows<Memory>{length, A.order, shape.long_row, was_empty});
  }

  made.row_begin = OriginIndex<Memory>("Strata::SellMatrix::row_begin", rows,
                                       report.entries);
  Kokkos::parallel_for("Strata::SellMatrix::row_begin", Range(exec, 0, rows),
                       CopyRowBegin<RowMap, Memory>{row_map, made.row_begin});
  made.fill_pieces(exec, length, entries, values);
  made.set_chunk_values(exec, values);
  exec.fence();
  report.slots = chunk_slots + units * width;
  report.bytes_read =
      A.value.extent(0) * sizeof(Scalar) + A.column.extent(0) * sizeof(int) +
      A.chunk.extent(0) * sizeof(SellChunk) + A.order.extent(0) * sizeof(int) +
      A.piece.extent(0) * sizeof(SellPiece);
  report.bytes = report.bytes_read + made.row_begin.bytes() +
                 A.piece_sum.extent(0) * sizeof(Scalar) +
                 A.pieces_done.extent(0) * sizeof(unsigned);
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
