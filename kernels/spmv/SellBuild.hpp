// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_BUILD_HPP
#define STRATA_KERNELS_SPMV_SELL_BUILD_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/spmv/SellFill.hpp>
#include <limits>
#include <vector>

namespace Strata {
namespace Detail {

/// A SELL-C-sigma matrix with what new values need.
template <class Scalar, class ExecutionSpace>
struct SellParts {
  using Memory = typename ExecutionSpace::memory_space;
  SellStorage<Scalar, Memory> storage;
  ValueIndex<Memory> row_begin;
  int piece_entries = 0;
  /// Of groups: the first chunk of each, and behind the last.
  std::vector<std::int64_t> first_chunk;

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
  A.uneven = 2 * most * chunks > 3 * sum;
  if (sum == 0 || (diagonals != 0 && diagonals != chunks) ||
      most * chunks > sum + sum * 3 / 100)
    return diagonals;
  A.uniform_steps = static_cast<int>(most);
  A.uniform_diagonals = diagonals != 0;
  const int steps = A.uniform_steps;
  Kokkos::parallel_for(
      "Strata::SellMatrix::uniform", Range(exec, 0, chunks),
      KOKKOS_LAMBDA(std::int64_t c) { chunk(c).steps = steps; });
  return diagonals;
}

/// Groups of rows that are to have chunks of their own: group g has the rows
/// row(first[g]) to row(first[g + 1] - 1).
template <class MemorySpace>
struct SellGroups {
  Kokkos::View<const int*, MemorySpace> row;
  std::vector<std::int64_t> first;
};

/// The order of positions for groups, each filled up to whole chunks with
/// positions without a row (-1).
template <class ExecutionSpace>
Kokkos::View<int*, typename ExecutionSpace::memory_space> order_by_groups(
    const ExecutionSpace& exec,
    const SellGroups<typename ExecutionSpace::memory_space>& groups,
    std::int64_t chunk_rows, std::vector<std::int64_t>& first_chunk) {
  first_chunk.assign(1, 0);
  for (std::size_t g = 0; g + 1 < groups.first.size(); ++g)
    first_chunk.push_back(
        first_chunk.back() +
        (groups.first[g + 1] - groups.first[g] + chunk_rows - 1) / chunk_rows);
  const auto order =
      make_unfilled<Kokkos::View<int*, typename ExecutionSpace::memory_space>>(
          "Strata::SellMatrix::order", first_chunk.back() * chunk_rows);
  const auto row = groups.row;
  for (std::size_t g = 0; g + 1 < groups.first.size(); ++g) {
    const std::int64_t to = first_chunk[g] * chunk_rows;
    const std::int64_t from = groups.first[g], end = groups.first[g + 1];
    Kokkos::parallel_for(
        "Strata::SellMatrix::order",
        RangeOf<ExecutionSpace>(exec, 0, first_chunk[g + 1] * chunk_rows - to),
        KOKKOS_LAMBDA(std::int64_t i) {
          order(to + i) = from + i < end ? row(from + i) : -1;
        });
  }
  return order;
}

/// Builds the form of a checked pattern with `length` entries in each row; of
/// the rows of `groups` alone, and without long rows, where there are any.
template <class Scalar, class ExecutionSpace>
SellParts<Scalar, ExecutionSpace> build_sell(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const Scalar* values,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    bool ascending, const SellOptions& options, SellReport& report,
    const SellGroups<typename ExecutionSpace::memory_space>* groups = nullptr) {
  using Memory = typename ExecutionSpace::memory_space;
  using Range = RangeOf<ExecutionSpace>;
  using Ints = Kokkos::View<int*, Memory>;
  using Offsets = Kokkos::View<std::int64_t*, Memory>;
  constexpr int width = lane_width<ExecutionSpace>;
  const std::int64_t rows = report.rows;
  SellParts<Scalar, ExecutionSpace> made;
  SellStorage<Scalar, Memory>& A = made.storage;
  A.rows = rows;

  SellShape shape =
      choose_sell_shape(exec, rows, report.entries, sizeof(Scalar), options);
  if (groups) shape.long_row = std::numeric_limits<int>::max();
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
  SellOrder<Memory> order;
  if (groups)
    order.row =
        order_by_groups(exec, *groups, shape.chunk_rows, made.first_chunk);
  else
    order = find_sell_order(exec, length, shape, longest, chunk_entries,
                            options.sigma);
  report.sigma = order.sigma;
  const std::int64_t positions =
      groups ? static_cast<std::int64_t>(order.row.extent(0)) : rows;
  A.rows = positions;
  const std::int64_t chunks =
      (positions + shape.chunk_rows - 1) / shape.chunk_rows;
  const std::int64_t lanes = std::int64_t{shape.chunk_rows} << shape.log_lanes;
  A.chunk =
      make_unfilled<decltype(A.chunk)>("Strata::SellMatrix::chunk", chunks);
  const bool use_diagonals =
      options.use_diagonals && ascending && shape.log_lanes == 0 &&
      (width > 1 ? shape.chunk_rows == width : shape.chunk_rows <= 32);
  const MergeDiagonals<Memory> merge{row_map,   entries, length,
                                     order.row, shape,   positions};
  for_each_chunk(
      "Strata::SellMatrix::diagonals", exec, chunks,
      CountDiagonals<ExecutionSpace>{merge,
                                     {length, order.row, shape, positions},
                                     A.chunk,
                                     use_diagonals,
                                     static_cast<int>(sizeof(Scalar))});
  report.diagonal_chunks = make_uniform(exec, A, chunks);
  std::int64_t chunk_slots = 0, chunk_columns = 0;
  Kokkos::parallel_scan("Strata::SellMatrix::place", Range(exec, 0, chunks),
                        PlaceSellChunks<Memory, false>{A.chunk, lanes},
                        chunk_slots);
  Kokkos::parallel_scan("Strata::SellMatrix::place", Range(exec, 0, chunks),
                        PlaceSellChunks<Memory, true>{A.chunk, lanes},
                        chunk_columns);
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
  for_each_chunk("Strata::SellMatrix::columns", exec, chunks,
                 FillSellColumns<ExecutionSpace>{merge, A.chunk, A.column});
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
    A.pieces_done = make_zeroed<decltype(A.pieces_done)>(
        "Strata::SellMatrix::pieces_done", long_rows);
    const bool was_empty = A.order.extent(0) == 0;
    // The fill above reads the order as it was.
    if (was_empty)
      A.order = make_unfilled<Ints>("Strata::SellMatrix::order", rows);
    Kokkos::parallel_for(
        "Strata::SellMatrix::drop_long_rows", Range(exec, 0, rows),
        DropLongRows<Memory>{length, A.order, shape.long_row, was_empty});
  }

  made.row_begin =
      ValueIndex<Memory>("Strata::SellMatrix::row_begin", rows, report.entries);
  Kokkos::parallel_for("Strata::SellMatrix::row_begin", Range(exec, 0, rows),
                       CopyRowBegin<Memory>{row_map, made.row_begin});
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
