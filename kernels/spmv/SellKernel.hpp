// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_KERNEL_HPP
#define STRATA_KERNELS_SPMV_SELL_KERNEL_HPP

#include <core/device/Atomics.hpp>
#include <core/device/GridSum.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/spmv/SellLane.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace Detail {

/// x of a product, contiguous and of one column.
template <class Scalar>
struct ContiguousSource {
  const Scalar* data;
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int) const {
    return data[row];
  }
};

/// The first `columns` columns of x, whatever its strides; 0 beyond.
template <class Scalar>
struct StridedSource {
  MultiVectorRef<const Scalar> x;
  int columns;
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int column) const {
    return column < columns ? x(row, column) : Scalar(0);
  }
};

/// y = alpha A x + beta y for up to R columns.
template <class Scalar, int R, class Source>
struct SellMultiply {
  static constexpr int block = R;
  static constexpr bool reduces = false, late = false, heavy = false;
  Source source;
  MultiVectorRef<Scalar> y;
  int columns;
  Scalar alpha, beta;
  bool overwrite;  // beta is 0: y is not read

  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[R]) const {
    STRATA_IMPL_UNROLL
    for (int r = 0; r < R; ++r)
      if (r < columns)
        y(row, r) =
            overwrite ? alpha * sum[r] : alpha * sum[r] + beta * y(row, r);
    return 0;
  }
};

/// A scalar that another multiprocessor has just written.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar load_fresh(const Scalar* p) {
  using Word =
      std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
  constexpr int words = sizeof(Scalar) / sizeof(Word);
  Word word[words];
  for (int w = 0; w < words; ++w)
    word[w] = load_relaxed(reinterpret_cast<const Word*>(p) + w);
  Scalar value;
  memcpy(&value, word, sizeof(Scalar));
  return value;
}

/// One pass over a SELL-C-sigma matrix. What a task returns for its rows is
/// added up where it `reduces`, and the sum handed to finish(), or, where it is
/// `late`, left for a later launch to add up. Warps (threads of a host) have
/// tasks: first the pieces of long rows, then 32 lanes' worth of chunks each
/// (on a host, whose warps have one lane, a share of the chunks).
///
/// No warp waits for another: the warp that finishes the last piece of a long
/// row adds up all of its pieces, in their order.
///
/// @tparam in_pairs a warp takes two chunks at once: see pairs_of_chunks()
template <class Scalar, class ExecutionSpace, class Task, bool in_pairs = false>
struct SellRun {
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int R = Task::block;
  /// Steps whose loads are under way together: with several vectors each step
  /// has R. More registers than there are would spill. Measured.
  static constexpr int batch = R > 4   ? 1
                               : R > 1 ? (sizeof(Scalar) > 8 ? 2 : 4)
                               : sizeof(Scalar) > 8 ? 4
                                                    : 8;
  /// Slots of a lane in several chunks under way together.
  static constexpr int short_batch = R > 1 ? 1 : 4;
  /// Steps of a chunk of a pair at most.
  static constexpr int pair_steps = 8;
  /// Rows that a host's thread works on together: as many as registers hold
  /// sums of.
  static constexpr int host_rows = R > 1 ? 1 : 8;
  /// Blocks that a multiprocessor has room for: the more, the more loads are
  /// under way; the fewer, the more registers hold what they bring. Measured.
  static constexpr int blocks_at_once = in_pairs || R > 1 || sizeof(Scalar) > 8
                                            ? 4
                                        : sizeof(Scalar) > 4 || Task::heavy ? 5
                                                                            : 6;

  using Lane = SellLane<Scalar, R, batch, SlotsOnce>;

  SellRef<Scalar> A;
  Task task;
  GridSumRef grid_sum;
  std::int64_t num_tasks;

  /// Adds the products of a lane's slots: `left` of them, `stride` apart.
  KOKKOS_INLINE_FUNCTION void add_columns(const Scalar* value,
                                          const int* column, int left,
                                          std::int64_t stride,
                                          Scalar (&sum)[R]) const {
    Lane::add_columns(task.source, value, column, left, stride, sum);
  }

  /// A chunk of as many lanes as a warp has.
  KOKKOS_INLINE_FUNCTION void chunk_of_warp(std::int64_t c, int lane,
                                            double& part) const {
    const SellChunk chunk = A.chunk_at(c);
    const int row = A.row_at(c * A.chunk_rows + (lane >> A.log_lanes));
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    if (chunk.on_diagonals)
      Lane::add_diagonals(task.source, A.value + chunk.first_slot + lane,
                          A.diagonal_steps(chunk), chunk.steps, width, lane,
                          row, sum);
    else
      add_columns(A.value + chunk.first_slot + lane,
                  A.column + chunk.first_column + lane, chunk.steps, width,
                  sum);
    finish_rows(row, lane, sum, part);
  }

  /// A chunk of a host, some rows at once, whose sums need not wait for each
  /// other.
  KOKKOS_INLINE_FUNCTION void chunk_of_host(std::int64_t c,
                                            double& part) const {
    const SellChunk chunk = A.chunk_at(c);
    for (int first = 0; first < A.chunk_rows; first += host_rows) {
      const int left = A.chunk_rows - first;
      const int count = left < host_rows ? left : host_rows;
      int row[host_rows];
      for (int u = 0; u < host_rows; ++u)
        row[u] = u < count ? A.row_at(c * A.chunk_rows + first + u) : -1;
      Scalar sum[host_rows][R];
      for (int u = 0; u < host_rows; ++u)
        for (int r = 0; r < R; ++r) sum[u][r] = Scalar(0);
      if (chunk.on_diagonals)
        add_host_diagonals(chunk, first, row, sum);
      else
        add_host_columns(chunk, first, count, sum);
      for (int u = 0; u < host_rows; ++u)
        if (row[u] >= 0) part += task.row(row[u], sum[u]);
    }
  }
  KOKKOS_INLINE_FUNCTION void add_host_columns(
      const SellChunk& chunk, int first, int count,
      Scalar (&sum)[host_rows][R]) const {
    const Scalar* value = A.value + chunk.first_slot + first;
    const int* column = A.column + chunk.first_column + first;
    for (int s = 0; s < chunk.steps; ++s) {
      for (int u = 0; u < count; ++u)
        if (column[u] >= 0)
          for (int r = 0; r < R; ++r)
            sum[u][r] += value[u] * task.source(column[u], r);
      value += A.chunk_rows;
      column += A.chunk_rows;
    }
  }
  KOKKOS_INLINE_FUNCTION void add_host_diagonals(
      const SellChunk& chunk, int first, const int (&row)[host_rows],
      Scalar (&sum)[host_rows][R]) const {
    constexpr unsigned all = (1u << host_rows) - 1;
    const Scalar* value = A.value + chunk.first_slot + first;
    const DiagonalStep* const step = A.diagonal_steps(chunk);
    for (int s = 0; s < chunk.steps; ++s, value += A.chunk_rows) {
      const unsigned having = step[s].rows >> first & all;
      if (having == all && !A.order) {
        // Rows and columns follow each other.
        const std::int64_t column = row[0] + step[s].offset;
        for (int u = 0; u < host_rows; ++u)
          for (int r = 0; r < R; ++r)
            sum[u][r] += value[u] * task.source(column + u, r);
      } else {
        for (int u = 0; u < host_rows; ++u)
          if (having >> u & 1u)
            for (int r = 0; r < R; ++r)
              sum[u][r] += value[u] * task.source(row[u] + step[s].offset, r);
      }
    }
  }

  /// Chunks of at most `most_steps` steps each, all alike, from c on, `stride`
  /// apart: as many as make a batch have their loads under way together.
  template <int most_steps>
  KOKKOS_INLINE_FUNCTION void short_chunks(std::int64_t c, std::int64_t stride,
                                           std::int64_t end, int lane,
                                           double& part) const {
    static_assert(R == 1, "one vector");
    constexpr int chunks = short_batch / most_steps;
    for (; c < end; c += chunks * stride) {
      int col[short_batch], row[chunks];
      Scalar v[short_batch], x[short_batch];
      STRATA_IMPL_UNROLL
      for (int g = 0; g < chunks; ++g) {
        const std::int64_t at = c + g * stride;
        const SellChunk chunk = A.chunk_at(at);
        row[g] = at < end ? A.row_at(at * width + lane) : -1;
        STRATA_IMPL_UNROLL
        for (int s = 0; s < most_steps; ++s) {
          const int u = g * most_steps + s;
          const bool used = at < end && s < chunk.steps;
          v[u] = used ? load_once(A.value + chunk.first_slot + lane + s * width)
                      : Scalar(0);
          if (chunk.on_diagonals) {
            DiagonalStep d{0, 0};
            if (used) d = A.diagonal_steps(chunk)[s];
            col[u] = (d.rows >> lane) & 1u ? row[g] + d.offset : -1;
          } else {
            col[u] = used ? load_once(A.column + chunk.first_column + lane +
                                      s * width)
                          : -1;
          }
        }
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < short_batch; ++u)
        x[u] = col[u] >= 0 ? task.source(col[u], 0) : Scalar(0);
      STRATA_IMPL_UNROLL
      for (int g = 0; g < chunks; ++g) {
        Scalar sum[R] = {Scalar(0)};
        STRATA_IMPL_UNROLL
        for (int s = 0; s < most_steps; ++s)
          sum[0] += v[g * most_steps + s] * x[g * most_steps + s];
        if (row[g] >= 0) part += task.row(row[g], sum);
      }
    }
  }

  /// Chunks on diagonals of at most `pair_steps` steps each, all alike, from c
  /// on, `stride` apart, in pairs: with scalars of 4 bytes the loads of
  /// one are too few to keep memory busy until they are back.
  KOKKOS_INLINE_FUNCTION void pairs_of_chunks(std::int64_t c,
                                              std::int64_t stride,
                                              std::int64_t end, int lane,
                                              double& part) const {
    static_assert(R == 1, "one vector");
    const int steps = A.uniform_steps;
    for (; c < end; c += 2 * stride) {
      Scalar v[2][pair_steps], x[2][pair_steps];
      int col[2][pair_steps], row[2];
      STRATA_IMPL_UNROLL
      for (int g = 0; g < 2; ++g) {
        const bool there = c + g * stride < end;
        const std::int64_t at = there ? c + g * stride : c;
        row[g] = there ? A.row_at(at * width + lane) : -1;
        const SellChunk chunk = A.chunk_at(at);
        const Scalar* value = A.value + chunk.first_slot + lane;
        const DiagonalStep* step = A.diagonal_steps(chunk);
        STRATA_IMPL_UNROLL
        for (int u = 0; u < pair_steps; ++u) {
          const bool used = there && u < steps;
          DiagonalStep d{0, 0};
          if (used) d = step[u];
          v[g][u] = used ? load_once(value + u * width) : Scalar(0);
          col[g][u] = (d.rows >> lane) & 1u ? row[g] + d.offset : -1;
        }
      }
      STRATA_IMPL_UNROLL
      for (int g = 0; g < 2; ++g) STRATA_IMPL_UNROLL
      for (int u = 0; u < pair_steps; ++u)
        x[g][u] = col[g][u] >= 0 ? task.source(col[g][u], 0) : Scalar(0);
      STRATA_IMPL_UNROLL
      for (int g = 0; g < 2; ++g) {
        Scalar sum[R] = {Scalar(0)};
        STRATA_IMPL_UNROLL
        for (int u = 0; u < pair_steps; ++u) sum[0] += v[g][u] * x[g][u];
        if (row[g] >= 0) part += task.row(row[g], sum);
      }
    }
  }

  /// 32 lanes of chunks of any size; `g` is the lane's number among all.
  KOKKOS_INLINE_FUNCTION void lanes_of_chunks(std::int64_t g,
                                              double& part) const {
    const int lanes = A.chunk_lanes();
    const std::int64_t c = g / lanes;
    const int l = static_cast<int>(g - c * lanes);
    int row = -1;
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    if (c < A.num_chunks) {
      const SellChunk chunk = A.chunk_at(c);
      row = A.row_at(c * A.chunk_rows + (l >> A.log_lanes));
      add_columns(A.value + chunk.first_slot + l,
                  A.column + chunk.first_column + l, chunk.steps, lanes, sum);
    }
    finish_rows(row, l, sum, part);
  }

  /// Adds up the lanes of each row, and finishes the row.
  KOKKOS_INLINE_FUNCTION void finish_rows(int row, int l, Scalar (&sum)[R],
                                          double& part) const {
    if (A.log_lanes > 0)
      for (int r = 0; r < R; ++r)
        sum[r] = lane_group_sum(sum[r], 1 << A.log_lanes);
    if (row >= 0 && (l & ((1 << A.log_lanes) - 1)) == 0)
      part += task.row(row, sum);
  }

  KOKKOS_INLINE_FUNCTION void piece(std::int64_t p, int lane) const {
    const SellPiece piece = A.piece[p];
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    add_columns(A.value + piece.first_slot + lane,
                A.column + piece.first_column + lane, piece.steps, width, sum);
    for (int r = 0; r < R; ++r) sum[r] = lane_group_sum(sum[r], width);
    if (piece.pieces_of_row > 1) {
      int last = 0;
      if (lane == 0) {
        for (int r = 0; r < R; ++r)
          A.piece_sum[p * sell_max_block + r] = sum[r];
        Kokkos::memory_fence();
        last =
            Kokkos::atomic_fetch_add(&A.pieces_done[piece.long_row], 1u) + 1 ==
            static_cast<unsigned>(piece.pieces_of_row);
      }
      last = lane_broadcast(last, 0);
      if (!last) return;
      Kokkos::memory_fence();
      for (int r = 0; r < R; ++r) {
        Scalar total(0);
        for (int q = lane; q < piece.pieces_of_row; q += width)
          total +=
              load_fresh(A.piece_sum +
                         static_cast<std::int64_t>(piece.first_of_row + q) *
                             sell_max_block +
                         r);
        sum[r] = lane_group_sum(total, width);
      }
      if (lane == 0) A.pieces_done[piece.long_row] = 0;
    }
    if (lane == 0) {
      const double part = task.row(piece.row, sum);
      // Not added to the block's part, as which block is last may change.
      if constexpr (Task::reduces) {
        store_relaxed(grid_sum.extra_part(piece.long_row), part);
      }
      (void)part;
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    SellRun own = *this;
    if (own.task.read(team)) own.run(team);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void run(const Team& team) const {
    double part = 0;
    if constexpr (is_gpu<ExecutionSpace>) {
      const int lane = team.team_rank() % width;
      const int warps = team.team_size() / width;
      const std::int64_t stride =
          static_cast<std::int64_t>(team.league_size()) * warps;
      std::int64_t i = static_cast<std::int64_t>(team.league_rank()) * warps +
                       team.team_rank() / width;
      for (; i < A.num_pieces; i += stride) piece(i, lane);
      i -= A.num_pieces;
      const std::int64_t end = num_tasks - A.num_pieces;
      if constexpr (in_pairs) {
        pairs_of_chunks(i, stride, end, lane, part);
        i = end;
      } else if constexpr (R == 1 && short_batch > 1) {
        if (A.short_steps()) {
          if (A.uniform_steps == 1)
            short_chunks<1>(i, stride, end, lane, part);
          else
            short_chunks<2>(i, stride, end, lane, part);
          i = end;
        }
      }
      if (A.chunk_lanes() == width)
        for (; i < end; i += stride) chunk_of_warp(i, lane, part);
      else
        for (; i < end; i += stride) lanes_of_chunks(i * width + lane, part);
    } else {
      const std::int64_t team_number = team.league_rank();
      const std::int64_t teams = team.league_size();
      for (std::int64_t p = A.num_pieces * team_number / teams;
           p < A.num_pieces * (team_number + 1) / teams; ++p)
        piece(p, 0);
      const std::int64_t chunks = num_tasks - A.num_pieces;
      for (std::int64_t c = chunks * team_number / teams;
           c < chunks * (team_number + 1) / teams; ++c)
        chunk_of_host(c, part);
    }
    if constexpr (Task::late) {
      const double own[1] = {part};
      grid_sum.leave(team, own);
    } else if constexpr (Task::reduces) {
      double total[1] = {part};
      if (grid_sum(team, total, A.num_long_rows) && team.team_rank() == 0)
        task.finish(total[0]);
    }
    (void)part;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
