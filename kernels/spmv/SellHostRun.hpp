// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_HOST_RUN_HPP
#define STRATA_KERNELS_SPMV_SELL_HOST_RUN_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/spmv/SellHostTiles.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace Detail {

/// The part of a SellRun that one thread of a host does.
///
/// A host's matrix has one of two forms. Where rows stand alone (C = 1), a pass
/// is that over a CRS matrix, and threads share it by entries. Otherwise chunks
/// of eight rows lie on diagonals, mostly: they take no columns, and as their
/// rows follow each other in x, too, compilers make vector instructions of
/// them. Chunks of any other shape, which options can ask for, take the general
/// loop. Several columns of either form are SellHostTiles' work, unless there
/// are exactly as many as a loop here is for. So is one column of a product
/// alone, where SellHostTiles::takes_one() says so.
template <class Scalar, class Task>
struct SellHostRun {
  static constexpr int R = Task::block;
  /// Rows that a thread works on together.
  static constexpr int rows_at_once = 8;

  const SellRef<Scalar>& A;
  const Task& task;

  /// Thread `thread`'s share of the chunks `first` to `end` - 1; returns the
  /// sum of what the task returns for its rows.
  KOKKOS_INLINE_FUNCTION double share(std::int64_t first, std::int64_t end,
                                      std::int64_t thread,
                                      std::int64_t threads) const {
    double part = 0;
    if constexpr (R > 1) {
      if constexpr (!decltype(task.source)::is_whole) {
        if (SellHostTiles<Scalar>::serves(A)) {
          tiles(first, end, thread, threads);
          return 0;
        }
      }
    }
    if (A.row_first) {
      const std::int64_t begin = boundary(first, end, thread, threads);
      const std::int64_t stop = boundary(first, end, thread + 1, threads);
      if (A.wide_row_first)
        return rows_alone(static_cast<const std::int64_t*>(A.row_first), begin,
                          stop);
      return rows_alone(static_cast<const std::uint32_t*>(A.row_first), begin,
                        stop);
    }
    const std::int64_t chunks = end - first;
    const std::int64_t stop = first + chunks * (thread + 1) / threads;
    for (std::int64_t c = first + chunks * thread / threads; c < stop; ++c)
      whole_chunk(c, part);
    return part;
  }

 private:
  /// The same for several columns, whose task is a SellMultiply.
  KOKKOS_INLINE_FUNCTION void tiles(std::int64_t first, std::int64_t end,
                                    std::int64_t thread,
                                    std::int64_t threads) const {
    const SellHostTiles<Scalar> own{
        A,          task.source.x, task.y,        task.columns,
        task.alpha, task.beta,     task.overwrite};
    const std::int64_t chunks = end - first;
    if (A.row_first)
      own.chunks(boundary(first, end, thread, threads),
                 boundary(first, end, thread + 1, threads));
    else
      own.chunks(first + chunks * thread / threads,
                 first + chunks * (thread + 1) / threads);
  }
  /// What the rows before `permuted_row` cost: a row as much as three entries.
  KOKKOS_INLINE_FUNCTION std::int64_t cost_before(
      std::int64_t permuted_row) const {
    return A.row_first_at(permuted_row) + 3 * permuted_row;
  }
  /// The first permuted row of a thread's share.
  KOKKOS_INLINE_FUNCTION std::int64_t boundary(std::int64_t first,
                                               std::int64_t end,
                                               std::int64_t thread,
                                               std::int64_t threads) const {
    const std::int64_t begin = cost_before(first);
    const std::int64_t cost = cost_before(end) - begin;
    // In this order there is no overflow for any matrix that fits memory.
    const std::int64_t wanted =
        begin + cost / threads * thread + cost % threads * thread / threads;
    while (first < end) {
      const std::int64_t middle = first + (end - first) / 2;
      if (cost_before(middle) < wanted)
        first = middle + 1;
      else
        end = middle;
    }
    return first;
  }

  /// The permuted rows `first` to `end` - 1, which stand alone.
  template <class Slot>
  STRATA_IMPL_HOST_LOOP KOKKOS_FUNCTION double rows_alone(
      const Slot* row_first, std::int64_t first, std::int64_t end) const {
    double part = 0;
    // Copies, which no store of a sum can change.
    const Scalar* const value = A.value;
    const int* const column = A.column;
    const int* const order = A.order;
    const auto source = task.source;
    std::int64_t k = first < end ? row_first[first] : 0;
    for (std::int64_t p = first; p < end; ++p) {
      const std::int64_t row_end = row_first[p + 1];
      Scalar sum[R];
      for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
      for (; k < row_end; ++k) {
        const Scalar v = value[k];
        const std::int64_t from = column[k];
        for (int r = 0; r < R; ++r) sum[r] += v * source(from, r);
        STRATA_IMPL_ONE_BY_ONE(k);
      }
      const int row = order ? order[p] : static_cast<int>(p);
      if (row >= 0) part += task.row(row, sum);
    }
    return part;
  }

  KOKKOS_INLINE_FUNCTION void whole_chunk(std::int64_t c, double& part) const {
    const SellChunk chunk = A.chunk[c];
    const int C = A.chunk_rows;
    if (chunk.on_diagonals && C == rows_at_once && !A.order)
      return diagonals_in_order(chunk, c * C, part);
    for (int first = 0; first < C; first += rows_at_once) {
      const int count = C - first < rows_at_once ? C - first : rows_at_once;
      const Scalar* value = A.value + chunk.first_slot + first;
      Scalar sum[rows_at_once][R];
      int row[rows_at_once];
      for (int u = 0; u < rows_at_once; ++u) {
        for (int r = 0; r < R; ++r) sum[u][r] = Scalar(0);
        row[u] = u < count ? A.row_at(c * C + first + u) : -1;
      }
      if (chunk.on_diagonals) {
        const DiagonalStep* const step = A.diagonal_steps(chunk);
        for (int s = 0; s < chunk.steps; ++s, value += C)
          for (int u = 0; u < count; ++u)
            if (step[s].rows >> (first + u) & 1u)
              for (int r = 0; r < R; ++r)
                sum[u][r] += value[u] * task.source(row[u] + step[s].offset, r);
      } else {
        const int* column = A.column + chunk.first_column + first;
        for (int s = 0; s < chunk.steps; ++s, value += C, column += C)
          for (int u = 0; u < count; ++u)
            if (column[u] >= 0)
              for (int r = 0; r < R; ++r)
                sum[u][r] += value[u] * task.source(column[u], r);
      }
      for (int u = 0; u < count; ++u)
        if (row[u] >= 0) part += task.row(row[u], sum[u]);
    }
  }

  /// Rows `row` to `row` + 7 on diagonals: the steps that all of them have an
  /// entry in, then the others.
  KOKKOS_INLINE_FUNCTION void diagonals_in_order(const SellChunk& chunk,
                                                 std::int64_t row,
                                                 double& part) const {
    constexpr int C = rows_at_once;
    constexpr unsigned all = (1u << C) - 1u;
    const Scalar* value = A.value + chunk.first_slot;
    const DiagonalStep* const step = A.diagonal_steps(chunk);
    const int steps = chunk.steps;
    const auto source = task.source;
    // An array of one rank: of two, compilers take odd parts together.
    Scalar sum[R * C];
    for (int i = 0; i < R * C; ++i) sum[i] = Scalar(0);
    bool others = false;
    for (int s = 0; s < steps; ++s, value += C) {
      if (step[s].rows != all) {
        others = true;
        continue;
      }
      const std::int64_t column = row + step[s].offset;
      for (int r = 0; r < R; ++r)
        for (int u = 0; u < C; ++u)
          sum[r * C + u] += value[u] * source(column + u, r);
    }
    // Compilers begin with stores of neighbours, so these have to be made.
    Scalar kept[R * C];
    for (int i = 0; i < R * C; ++i) kept[i] = sum[i];
    STRATA_IMPL_IN_MEMORY(kept);
    if (others) other_steps(chunk, row, kept);
    for (int u = 0; u < C && row + u < A.rows; ++u) {
      Scalar of_row[R];
      for (int r = 0; r < R; ++r) of_row[r] = kept[r * C + u];
      part += task.row(static_cast<int>(row) + u, of_row);
    }
  }
  KOKKOS_INLINE_FUNCTION void other_steps(
      const SellChunk& chunk, std::int64_t row,
      Scalar (&sum)[R * rows_at_once]) const {
    constexpr int C = rows_at_once;
    constexpr unsigned all = (1u << C) - 1u;
    const Scalar* value = A.value + chunk.first_slot;
    const DiagonalStep* const step = A.diagonal_steps(chunk);
    for (int s = 0; s < chunk.steps; ++s, value += C) {
      const DiagonalStep d = step[s];
      if (d.rows == all) continue;
      for (int u = 0; u < C; ++u)
        if (d.rows >> u & 1u)
          for (int r = 0; r < R; ++r)
            sum[r * C + u] += value[u] * task.source(row + u + d.offset, r);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
