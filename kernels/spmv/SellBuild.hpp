// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_BUILD_HPP
#define STRATA_KERNELS_SPMV_SELL_BUILD_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/spmv/SellFill.hpp>

namespace Strata {
namespace Detail {

/// A SELL-C-sigma matrix with what new values need.
template <class Scalar, class ExecutionSpace>
struct SellParts {
  using Memory = typename ExecutionSpace::memory_space;
  SellStorage<Scalar, Memory> storage;
  ValueIndex<Memory> row_begin;
  int piece_entries = 0;

  /// Enqueues the packing of `values`.
  void set_values(const ExecutionSpace& exec, const Scalar* values) const {
    set_chunk_values(exec, values);
    fill_pieces(exec, Kokkos::View<const int*, Memory>(), IndexArray(), values);
  }
  void set_chunk_values(const ExecutionSpace& exec,
                        const Scalar* values) const {
    for_each_chunk(
        "Strata::SellMatrix::values", exec, storage.num_chunks(),
        FillSellValues<Scalar, ExecutionSpace>{
            SellRef<Scalar>(storage), storage.value.data(), row_begin, values});
  }
  void fill_pieces(const ExecutionSpace& exec,
                   const Kokkos::View<const int*, Memory>& length,
                   const IndexArray& entries, const Scalar* values) const {
    for_each_chunk(
        "Strata::SellMatrix::pieces", exec, storage.num_pieces(),
        FillSellPieces<Scalar, ExecutionSpace>{storage, row_begin, length,
                                               entries, values, piece_entries});
  }
};

/// Gives all chunks the steps of the longest where they are of one kind and
/// that takes at most 3 % more: a product then has a fetch less to wait for
/// before the first values. Says whether they are `uneven`. Returns the number
/// of chunks on diagonals.
template <class ExecutionSpace, class Storage>
std::int64_t make_uniform(const ExecutionSpace& exec, Storage& A,
                          std::int64_t chunks) {
  using Range = RangeOf<ExecutionSpace>;
  const auto chunk = A.chunk;
  std::int64_t diagonals = 0, sum = 0, most = 0;
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::count_diagonals", Range(exec, 0, chunks),
      KOKKOS_LAMBDA(std::int64_t c, std::int64_t & all) {
        all += chunk(c).on_diagonals;
      },
      diagonals);
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::steps", Range(exec, 0, chunks),
      KOKKOS_LAMBDA(std::int64_t c, std::int64_t & all) {
        all += chunk(c).steps;
      },
      sum);
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::most_steps", Range(exec, 0, chunks),
      KOKKOS_LAMBDA(std::int64_t c, std::int64_t & longest) {
        longest = chunk(c).steps > longest ? chunk(c).steps : longest;
      },
      Kokkos::Max<std::int64_t>(most));
  exec.fence();
  A.longest_chunk = static_cast<int>(most);
  A.uneven = 2 * most * chunks > 3 * sum;
  if (sum == 0 || (diagonals != 0 && diagonals != chunks) ||
      most * chunks > sum + sum * 3 / 100)
    return diagonals;
  A.uniform_steps = static_cast<int>(most);
  A.uniform_diagonals = diagonals != 0;
  const int steps = A.uniform_steps;
  for_each_index(
      "Strata::SellMatrix::uniform", exec, chunks,
      KOKKOS_LAMBDA(std::int64_t c) { chunk(c).steps = steps; });
  return diagonals;
}

/// Long rows, and the pieces that they are cut into.
template <class MemorySpace>
struct SellLongRows {
  Kokkos::View<int*, MemorySpace> row;
  std::int64_t count = 0, entries = 0;
  Kokkos::View<std::int64_t*, MemorySpace> first_piece, first_slots;
  std::int64_t pieces = 0, slots = 0;
};

/// The most entries of a row. Waits for `exec`.
template <class ExecutionSpace>
std::int64_t find_longest_row(
    const ExecutionSpace& exec,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    std::int64_t rows) {
  std::int64_t longest = 0;
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::longest", RangeOf<ExecutionSpace>(exec, 0, rows),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t & most) {
        most = length(row) > most ? length(row) : most;
      },
      Kokkos::Max<std::int64_t>(longest));
  exec.fence();
  return std::max<std::int64_t>(longest, 0);
}

/// Finds the rows that are to be cut. Waits for `exec` where there are any.
template <class ExecutionSpace>
SellLongRows<typename ExecutionSpace::memory_space> find_long_rows(
    const ExecutionSpace& exec,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    const SellShape& shape, SellReport& report) {
  using Memory = typename ExecutionSpace::memory_space;
  using Range = RangeOf<ExecutionSpace>;
  constexpr int width = lane_width<ExecutionSpace>;
  SellLongRows<Memory> found;
  if (report.longest_row <= shape.long_row) return found;

  const auto list = make_unfilled<Kokkos::View<int*, Memory>>(
      "Strata::SellMatrix::long_rows",
      std::min(report.rows, report.entries / shape.long_row));
  Kokkos::parallel_scan(
      "Strata::SellMatrix::long_rows", Range(exec, 0, report.rows),
      ListLongRows<Memory>{length, list, shape.long_row}, found.count);
  exec.fence();
  Kokkos::parallel_reduce(
      "Strata::SellMatrix::long_entries", Range(exec, 0, found.count),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) {
        sum += length(list(i));
      },
      found.entries);
  found.row = list;
  make_unfilled(found.first_piece, "Strata::SellMatrix::first_piece",
                found.count);
  make_unfilled(found.first_slots, "Strata::SellMatrix::first_slots",
                found.count);
  Kokkos::parallel_scan(
      "Strata::SellMatrix::place", Range(exec, 0, found.count),
      PlaceLongRows<Memory, false>{length, list, found.first_piece,
                                   shape.piece_entries, width},
      found.pieces);
  Kokkos::parallel_scan(
      "Strata::SellMatrix::place", Range(exec, 0, found.count),
      PlaceLongRows<Memory, true>{length, list, found.first_slots,
                                  shape.piece_entries, width},
      found.slots);
  exec.fence();
  found.slots *= width;
  report.long_rows = found.count;
  return found;
}

/// Makes the chunks of A, of which `pattern` says the shape; returns how many
/// of them lie on diagonals.
template <class ExecutionSpace, class Storage>
std::int64_t make_chunks(
    const ExecutionSpace& exec,
    const MergeDiagonals<typename ExecutionSpace::memory_space>& pattern,
    bool use_diagonals, int scalar_bytes, Storage& A) {
  constexpr int width = lane_width<ExecutionSpace>;
  const SellShape& shape = pattern.shape;
  A.chunk_rows = shape.chunk_rows;
  A.log_lanes = shape.log_lanes;
  const std::int64_t chunks =
      (pattern.rows + shape.chunk_rows - 1) / shape.chunk_rows;
  make_unfilled(A.chunk, "Strata::SellMatrix::chunk", chunks);
  for_each_chunk(
      "Strata::SellMatrix::diagonals", exec, chunks,
      CountDiagonals<ExecutionSpace>{
          pattern,
          {pattern.length, pattern.order, shape, pattern.rows},
          A.chunk,
          use_diagonals && shape.log_lanes == 0 &&
              (width > 1 ? shape.chunk_rows == width : shape.chunk_rows <= 32),
          scalar_bytes});
  return make_uniform(exec, A, chunks);
}

/// Where the chunks of a matrix end in `value` and in `column`.
struct SellEnds {
  std::int64_t slots = 0, columns = 0;
};

/// Sets the first slot and column of each chunk. Waits for `exec`.
template <class ExecutionSpace, class Storage>
SellEnds place_chunks(const ExecutionSpace& exec, const Storage& A) {
  using Memory = typename ExecutionSpace::memory_space;
  SellEnds end;
  const RangeOf<ExecutionSpace> chunks(exec, 0, A.num_chunks());
  Kokkos::parallel_scan(
      "Strata::SellMatrix::place", chunks,
      PlaceSellChunks<Memory, false>{A.chunk, A.chunk_lanes()}, end.slots);
  Kokkos::parallel_scan("Strata::SellMatrix::place", chunks,
                        PlaceSellChunks<Memory, true>{A.chunk, A.chunk_lanes()},
                        end.columns);
  exec.fence();
  return end;
}

/// Writes the pieces of long rows, whose slots lie behind those of chunks, and
/// takes these rows out of the order.
template <class ExecutionSpace, class Storage>
void cut_long_rows(
    const ExecutionSpace& exec,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    const SellLongRows<typename ExecutionSpace::memory_space>& rows,
    const SellShape& shape, const SellEnds& end, Storage& A) {
  using Memory = typename ExecutionSpace::memory_space;
  make_unfilled(A.piece, "Strata::SellMatrix::piece", rows.pieces);
  for_each_index(
      "Strata::SellMatrix::cut", exec, rows.count,
      CutLongRows<Memory>{length, rows.row, rows.first_piece, rows.first_slots,
                          A.piece, end.slots, end.columns, shape.piece_entries,
                          lane_width<ExecutionSpace>});
  make_unfilled(A.piece_sum, "Strata::SellMatrix::piece_sum",
                rows.pieces * sell_max_block);
  make_zeroed(A.pieces_done, "Strata::SellMatrix::pieces_done", rows.count);
  const bool was_empty = A.order.extent(0) == 0;
  if (was_empty) make_unfilled(A.order, "Strata::SellMatrix::order", A.rows);
  for_each_index(
      "Strata::SellMatrix::drop_long_rows", exec, A.rows,
      DropLongRows<Memory>{length, A.order, shape.long_row, was_empty});
}

/// Builds the form of a checked pattern with `length` entries in each row.
template <class Scalar, class ExecutionSpace>
SellParts<Scalar, ExecutionSpace> build_sell(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const Scalar* values,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    bool ascending, const SellOptions& options, SellReport& report) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t rows = report.rows;
  SellParts<Scalar, ExecutionSpace> made;
  SellStorage<Scalar, Memory>& A = made.storage;

  if (rows > 0) report.longest_row = find_longest_row(exec, length, rows);
  SellShape shape = choose_sell_shape(
      exec, rows, report.entries, report.longest_row, sizeof(Scalar), options);
  made.piece_entries = shape.piece_entries;
  A.chunk_rows = report.chunk_rows = shape.chunk_rows;
  A.log_lanes = shape.log_lanes;
  report.lanes_per_row = 1 << shape.log_lanes;
  report.sigma = 1;
  if (rows == 0) return made;

  const auto long_rows = find_long_rows(exec, length, shape, report);
  const SellOrder<Memory> order =
      find_sell_order(exec, length, shape, report.longest_row,
                      report.entries - long_rows.entries, options.sigma);
  report.sigma = order.sigma;
  A.rows = rows;
  const MergeDiagonals<Memory> pattern{row_map,   entries, length,
                                       order.row, shape,   A.rows};
  report.diagonal_chunks =
      make_chunks(exec, pattern, options.use_diagonals && ascending,
                  static_cast<int>(sizeof(Scalar)), A);
  const SellEnds end = place_chunks(exec, A);
  report.chunks = A.num_chunks();

  report.slots = end.slots + long_rows.slots;
  make_unfilled(A.value, "Strata::SellMatrix::value", report.slots);
  make_unfilled(A.column, "Strata::SellMatrix::column",
                end.columns + long_rows.slots);
  for_each_chunk("Strata::SellMatrix::columns", exec, A.num_chunks(),
                 FillSellColumns<ExecutionSpace>{pattern, A.chunk, A.column});
  A.order = order.row;
  // The fill above reads the order as it was.
  if (long_rows.count > 0)
    cut_long_rows(exec, length, long_rows, shape, end, A);

  made.row_begin =
      ValueIndex<Memory>("Strata::SellMatrix::row_begin", rows, report.entries);
  for_each_index("Strata::SellMatrix::row_begin", exec, rows,
                 CopyRowBegin<Memory>{row_map, made.row_begin});
  made.fill_pieces(exec, length, entries, values);
  made.set_chunk_values(exec, values);
  exec.fence();
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
