// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SELL_KERNEL_HPP
#define STRATA_SELL_KERNEL_HPP

#include <algorithm>
#include <detail/Strata_GridSum.hpp>
#include <detail/Strata_MultiVectorRef.hpp>
#include <detail/Strata_SellStorage.hpp>

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
  static constexpr bool reduces = false;
  Source source;
  MultiVectorRef<Scalar> y;
  int columns;
  Scalar alpha, beta;
  bool overwrite;  // beta is 0: y is not read

  KOKKOS_INLINE_FUNCTION bool active() const { return true; }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[R]) const {
    STRATA_IMPL_UNROLL
    for (int r = 0; r < R; ++r)
      if (r < columns)
        y(row, r) = overwrite ? alpha * sum[r]
                              : alpha * sum[r] + beta * y(row, r);
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

/// One pass over a SELL-C-sigma matrix. Warps (threads of a host) have tasks:
/// first the pieces of long rows, then 32 lanes' worth of chunks each (a chunk
/// on a host).
///
/// Nobody waits: the last of a long row's pieces to be done adds up all of
/// them, in their order.
template <class Scalar, class ExecutionSpace, class Task>
struct SellRun {
  using Memory = typename ExecutionSpace::memory_space;
  using Member =
      typename Kokkos::TeamPolicy<ExecutionSpace,
                                  Kokkos::LaunchBounds<256, KNOB_BLOCKS>>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int R = Task::block;
  /// Steps whose loads are under way together.
  static constexpr int batch =
      R > 1 ? 2 : (sizeof(Scalar) > 8 ? 4 : KNOB_BATCH);
  /// Rows that a host's thread works on together.
  static constexpr int host_rows = 8;

  SellRef<Scalar> A;
  Task task;
  GridSumRef grid_sum;
  std::int64_t num_tasks;
  int team_tasks;

  /// Adds the products of a lane's slots: `left` of them, `stride` apart.
  KOKKOS_INLINE_FUNCTION void add_columns(const Scalar* value,
                                          const int* column, int left,
                                          std::int64_t stride,
                                          Scalar (&sum)[R]) const {
    for (; left > 0; left -= batch) {
      int col[batch];
      Scalar v[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const bool used = u < left;
        col[u] = used ? load_once(column + u * stride) : -1;
        v[u] = used ? load_once(value + u * stride) : Scalar(0);
      }
      add_batch(col, v, sum);
      value += batch * stride;
      column += batch * stride;
    }
  }

  /// The same for a chunk on diagonals: `column` in row `row`, number `r` of
  /// the chunk.
  KOKKOS_INLINE_FUNCTION void add_diagonals(const SellChunk& chunk, int r,
                                            int row,
                                            Scalar (&sum)[R]) const {
    const Scalar* value = A.value + chunk.first_slot + r;
    for (int s = 0; s < chunk.steps; s += batch) {
      int col[batch];
      Scalar v[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const bool used = s + u < chunk.steps;
        DiagonalStep d{0, 0};
        if (used) d = A.diagonal_step(chunk, s + u);
        v[u] = used ? load_once(value + (s + u) * A.chunk_rows) : Scalar(0);
        col[u] = (d.rows >> r) & 1u ? row + d.offset : -1;
      }
      add_batch(col, v, sum);
    }
  }

  /// Padding has a column of -1 and the value 0, and reads no x: what is not
  /// finite there must not spread.
  KOKKOS_INLINE_FUNCTION void add_batch(const int (&col)[batch],
                                        const Scalar (&v)[batch],
                                        Scalar (&sum)[R]) const {
    Scalar x[batch][R];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      STRATA_IMPL_UNROLL
      for (int r = 0; r < R; ++r)
        x[u][r] = col[u] >= 0 ? task.source(col[u], r) : Scalar(0);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      STRATA_IMPL_UNROLL
      for (int r = 0; r < R; ++r) sum[r] += v[u] * x[u][r];
  }

  /// 32 lanes' worth of chunks; `g` is the lane's number among all.
  KOKKOS_INLINE_FUNCTION void lanes_of_chunks(std::int64_t g,
                                              double& part) const {
    const int lanes = A.chunk_lanes();
    const std::int64_t c = lanes == width ? g / width : g / lanes;
    const int l = static_cast<int>(g - c * lanes);
    const bool exists = c < A.num_chunks;
    int row = -1;
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    if (exists) {
      const SellChunk chunk = A.chunk[c];
      row = A.row_at(c * A.chunk_rows + (l >> A.log_lanes));
      if (chunk.on_diagonals)
        add_diagonals(chunk, l, row, sum);
      else
        add_columns(A.value + chunk.first_slot + l,
                    A.column + chunk.first_column + l, chunk.steps,
                    lanes, sum);
    }
    if (A.log_lanes > 0)
      for (int r = 0; r < R; ++r)
        sum[r] = lane_group_sum(sum[r], 1 << A.log_lanes);
    if (row >= 0 && (l & ((1 << A.log_lanes) - 1)) == 0)
      part += task.row(row, sum);
  }

  /// A chunk by one thread of a host.
  KOKKOS_INLINE_FUNCTION void whole_chunk(std::int64_t c, double& part) const {
    const SellChunk chunk = A.chunk[c];
    const int C = A.chunk_rows;
    for (int first = 0; first < C; first += host_rows) {
      const int count = C - first < host_rows ? C - first : host_rows;
      const Scalar* value = A.value + chunk.first_slot + first;
      const int* column = A.column + chunk.first_column + first;
      Scalar sum[host_rows][R];
      int row[host_rows];
      for (int u = 0; u < host_rows; ++u) {
        for (int r = 0; r < R; ++r) sum[u][r] = Scalar(0);
        row[u] = u < count ? A.row_at(c * C + first + u) : -1;
      }
      if (chunk.on_diagonals) {
        const unsigned all = (1u << count) - 1u;
        for (int s = 0; s < chunk.steps; ++s, value += C) {
          const DiagonalStep d = A.diagonal_step(chunk, s);
          const unsigned rows = (d.rows >> first) & all;
          for (int u = 0; u < count; ++u)
            if (rows == all || (rows >> u & 1u))
              for (int r = 0; r < R; ++r)
                sum[u][r] += value[u] * task.source(row[u] + d.offset, r);
        }
      } else {
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

  KOKKOS_INLINE_FUNCTION void piece(std::int64_t p, int lane) const {
    const SellPiece piece = A.piece[p];
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    add_columns(A.value + piece.first_slot + lane,
                A.column + piece.first_column + lane, piece.steps, width,
                sum);
    for (int r = 0; r < R; ++r) sum[r] = lane_group_sum(sum[r], width);
    if (piece.pieces_of_row > 1) {
      constexpr int max_block = SellStorage<Scalar, Memory>::max_block;
      int last = 0;
      if (lane == 0) {
        for (int r = 0; r < R; ++r) A.piece_sum[p * max_block + r] = sum[r];
        Kokkos::memory_fence();
        last = Kokkos::atomic_fetch_add(&A.pieces_done[piece.long_row], 1u) +
                   1 ==
               static_cast<unsigned>(piece.pieces_of_row);
      }
      last = lane_broadcast(last, 0);
      if (!last) return;
      Kokkos::memory_fence();
      for (int r = 0; r < R; ++r) {
        Scalar total(0);
        for (int q = lane; q < piece.pieces_of_row; q += width)
          total += load_fresh(
              A.piece_sum +
              static_cast<std::int64_t>(piece.first_of_row + q) * max_block +
              r);
        sum[r] = lane_group_sum(total, width);
      }
      if (lane == 0) A.pieces_done[piece.long_row] = 0;
    }
    if (lane == 0) {
      const double part = task.row(piece.row, sum);
      // Not to the team's part: which team is last may change.
      if constexpr (Task::reduces)
        store_relaxed(grid_sum.extra_part(piece.long_row), part);
      (void)part;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (!task.active()) return;
    const int lane = team.team_rank() % width;
    const int warp = team.team_rank() / width;
    const int warps = team.team_size() / width;
    double part = 0;
    const std::int64_t stride =
        static_cast<std::int64_t>(team.league_size()) * team_tasks;
    for (std::int64_t first =
             static_cast<std::int64_t>(team.league_rank()) * team_tasks;
         first < num_tasks; first += stride)
      for (int t = warp; t < team_tasks; t += warps) {
        const std::int64_t i = first + t;
        if (i >= num_tasks) break;
        if (i < A.num_pieces)
          piece(i, lane);
        else if (width > 1)
          lanes_of_chunks((i - A.num_pieces) * width + lane, part);
        else
          whole_chunk(i - A.num_pieces, part);
      }
    if constexpr (Task::reduces) {
      double total[1] = {part};
      if (grid_sum(team, total,
                   A.num_long_rows))
        Kokkos::single(Kokkos::PerTeam(team), [&]() { task.finish(total[0]); });
    }
    (void)part;
  }
};

/// Teams of a launch that adds up over the grid: as many as run at once.
template <class ExecutionSpace>
int grid_sum_teams(const ExecutionSpace& exec) {
  return (is_cuda<ExecutionSpace> ? 4 : 8) * device_units(exec);
}

/// Enqueues a pass. Every team has one run of neighbouring tasks; or, where the
/// task adds up over the grid, as many teams as run at once share them out.
template <class Scalar, class ExecutionSpace, class Task>
void run_sell(
    const char* label, const ExecutionSpace& exec,
    const SellStorage<Scalar, typename ExecutionSpace::memory_space>& A,
    const Task& task,
    const GridSum<typename ExecutionSpace::memory_space>& grid_sum = {}) {
  using Run = SellRun<Scalar, ExecutionSpace, Task>;
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256, KNOB_BLOCKS>>;
  constexpr int width = lane_width<ExecutionSpace>;
  constexpr int team = is_cuda<ExecutionSpace> ? 256 : 1;
  const std::int64_t pieces = A.num_pieces();
  const std::int64_t chunks = A.num_chunks();
  const std::int64_t tasks =
      pieces + (width > 1 ? (chunks * A.chunk_lanes() + width - 1) / width
                          : chunks);
  int team_tasks = team / width;
  if (!is_cuda<ExecutionSpace>)
    team_tasks = static_cast<int>(std::max<std::int64_t>(
        1, tasks / (8 * static_cast<std::int64_t>(device_units(exec)))));
  if (is_cuda<ExecutionSpace>) team_tasks *= knob_sub;
  std::int64_t league = (tasks + team_tasks - 1) / team_tasks;
  if (knob_grid) league = std::min<std::int64_t>(league, knob_grid*device_units(exec));
  if (Task::reduces) {
    // Finishing is some team's work even where there are no rows.
    league = std::max<std::int64_t>(
        1, std::min<std::int64_t>(league, grid_sum.max_teams));
  }
  if (league == 0) return;
  Kokkos::parallel_for(label, Policy(exec, static_cast<int>(league), team),
                       Run{SellRef<Scalar>(A), task, GridSumRef(grid_sum), tasks,
                           team_tasks});
}

}  // namespace Detail
}  // namespace Strata

#endif
