// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_FACTOR_BY_FRONTS_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_FACTOR_BY_FRONTS_HPP

#include <core/device/Arithmetic.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <kernels/factorization/fronts/FrontArrays.hpp>
#include <kernels/factorization/fronts/FrontTile.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>

namespace Strata {
namespace Detail {

/// Complete elimination by fronts (multifrontal LU without row exchanges) in
/// one launch.
///
/// Teams draw tickets, tasks of FrontTasks, until there are none left. A task
/// is a tile of at most 32 x 32 entries of a front, or all of a small one. Its
/// entries are in registers: those of A, and those of contributions, child by
/// child; less, for each tile p of pivots before, the tile (i, p) of L times
/// the tile (p, j) of U, whose flags it waits for. A tile on the diagonal then
/// is eliminated, one right of it is solved with its L, and one below with its
/// U. The team stores the tile in the memory of fronts, sets its flag, and
/// stores the values of the factors. All sums have a fixed order.
///
/// Why it can't deadlock, however few teams run at once. Tickets are handed out
/// in the order of tasks. In that order a task comes after all that it waits
/// for. A team draws its next ticket after the last wait of the task before, so
/// it reaches that task. Consider the first task that is not finished. If no
/// team has drawn it, those that run finish what they have drawn, and draw it.
/// The team that has drawn it waits for earlier tasks only: these are finished,
/// their flags are set, and it finishes. Each flag is set once, whatever the
/// values are. Threads that wait for long leave the execution units to others.
///
/// Fronts have entries that are not in the pattern. They are zeros, and not
/// stored in the factors. In L they are set to zero, so that a reciprocal that
/// is not finite does not reach rows that the pattern does not name.
template <class Scalar, class ExecutionSpace>
struct FactorByFronts {
  using Tile = FrontTile<Scalar, ExecutionSpace>;
  static constexpr int tile = Tile::edge;
  static constexpr int threads = Tile::threads;
  static constexpr std::size_t scratch_bytes = Tile::scratch_bytes;
  static constexpr int teams_of_multiprocessor = 3;

  CrsArrays<Scalar> A;
  FrontArrays arrays;
  Scalar *l_values, *u_values;
  Scalar* fronts;
  unsigned* flags;      // by tile; 0 at the start
  unsigned* drawn;      // tickets; 0 at the start
  std::int64_t* fault;  // the first one, see FactorChecks
  SmallPivots<Scalar> pivots;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    auto& scratch = *aligned_scratch<Scratch>(team, scratch_bytes);
    STRATA_IMPL_TEAM_SHARED unsigned tickets[2];
    const bool draws = team.team_rank() == 0;
    if (draws) tickets[0] = Kokkos::atomic_fetch_add(drawn, 1u);
    for (int turn = 0;; turn ^= 1) {
      // All threads are done with the task before, and see the ticket.
      team.team_barrier();
      const unsigned ticket = tickets[turn];
      if (ticket >= arrays.num_tasks) return;
      const FrontTask task = arrays.tasks[ticket];
      unsigned next = 0;
      const auto draw = [&] {
        if (draws) next = Kokkos::atomic_fetch_add(drawn, 1u);
      };
      run_task(team, task, scratch, draw);
      if (draws) tickets[turn ^ 1] = next;
    }
  }

 private:
  static constexpr int lanes = Tile::lanes, groups = Tile::groups;
  static constexpr int own_columns = Tile::own_columns;
  static constexpr int own_rows = Tile::own_rows;
  static constexpr int buffers = Tile::buffers;
  using Buffer = typename Tile::Buffer;
  using Scratch = typename Tile::Scratch;
  using Own = typename Tile::Own;
  KOKKOS_INLINE_FUNCTION void await(unsigned flag) const {
    for (int turn = 0; !is_set(flag); ++turn) pause_while_waiting(turn);
  }
  /// What was stored before the flag was set can then be read.
  KOKKOS_INLINE_FUNCTION bool is_set(unsigned flag) const {
    return load_acquire(flags + flag) != 0;
  }

  /// @param draw  is called when the task waits for nothing more
  template <class Team, class Draw>
  KOKKOS_INLINE_FUNCTION void run_task(const Team& team, const FrontTask& task,
                                       Scratch& scratch,
                                       const Draw& draw) const {
    Own own;
    take_entries(team, task, own);
    take_contributions(team, task, scratch, own);
    const int m = task.smaller_tile();
    multiply(team, task, m < task.pivot_tiles ? m : task.pivot_tiles, scratch,
             own);
    if (task.has_pivot() && !task.is_diagonal()) {
      if (task.row_tile < task.column_tile)
        solve_right(team, task, scratch, own);
      else
        solve_below(team, task, scratch, own);
    }
    draw();
    if (task.is_diagonal()) eliminate(team, task, scratch, own);
    hand_over(team, task, own);
    if (task.has_pivot()) store_factors(team, task, own);
  }

  /// What the pattern has of a row of a tile with a pivot.
  KOKKOS_INLINE_FUNCTION FrontRow row_of(const FrontTask& task, int row) const {
    return arrays.rows[task.rows + row];
  }

  /// Of an entry that it has, in A.
  KOKKOS_INLINE_FUNCTION unsigned place_of(const FrontRow& of,
                                           int column) const {
    return arrays.places[of.first + static_cast<unsigned>(count_bits(
                                        of.mask & Tile::below(column)))];
  }
  /// Those of A.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take_entries(const Team& team,
                                           const FrontTask& task,
                                           Own& own) const {
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      own[c][r] = Scalar(0);
      if (task.rows < 0 || row >= task.num_rows) return;
      const FrontRow of = row_of(task, row);
      if (of.mask >> column & 1u) own[c][r] = A.values[place_of(of, column)];
    });
  }

  /// Those of children.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take_contributions(const Team& team,
                                                 const FrontTask& task,
                                                 Scratch& scratch,
                                                 Own& own) const {
    for (unsigned begin = task.first_term; begin < task.end_term;
         begin += Tile::most_terms) {
      const auto left = static_cast<int>(task.end_term - begin);
      const int count = left < Tile::most_terms ? left : Tile::most_terms;
      if (begin > task.first_term) team.team_barrier();
      for (int k = team.team_rank(); k < count; k += threads) {
        const FrontTerm term = arrays.terms[begin + static_cast<unsigned>(k)];
        scratch.terms[k] = term;
        await(term.flag);
        if (term.more & 1u) await(term.flag + 1);
        if (term.more & 2u) await(term.flag + term.next_flag);
        if (term.more == 3u) await(term.flag + term.next_flag + 1);
      }
      team.team_barrier();
      Tile::add_terms(team, scratch, count, fronts, own);
    }
  }

  KOKKOS_INLINE_FUNCTION bool is_ready(const FrontTask& task, int p) const {
    return is_set(task.flag(task.row_tile, p)) &&
           is_set(task.flag(p, task.column_tile));
  }
  /// The first of `count` products whose tiles are not all complete.
  template <class Team>
  KOKKOS_INLINE_FUNCTION int count_ready(const Team& team,
                                         const FrontTask& task, int count,
                                         Scratch& scratch) const {
    if (team.team_rank() == 0) scratch.ready = count;
    team.team_barrier();
    for (int p = team.team_rank(); p < count; p += threads)
      if (!is_ready(task, p)) Kokkos::atomic_fetch_min(&scratch.ready, p);
    team.team_barrier();
    return scratch.ready;
  }
  /// Less the product of `count` tiles of L and of U. Most are complete when a
  /// task begins; each thread waits for the others before it reads them.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void multiply(const Team& team, const FrontTask& task,
                                       int count, Scratch& scratch,
                                       Own& own) const {
    if (count == 0) return;
    const int ready = count_ready(team, task, count, scratch);
    const auto read = [&](int p, Own& left, Own& right) {
      if (p >= ready) {
        await(task.flag(task.row_tile, p));
        await(task.flag(p, task.column_tile));
      }
      read_tiles(team, task, p, left, right);
    };
    Own left, right;
    read(0, left, right);
    for (int p = 0; p < count; ++p) {
      Buffer& buffer = scratch.buffer[p % buffers];
      // One buffer is still being read.
      if (buffers == 1 && p > 0) team.team_barrier();
      Tile::for_own(team, [&](int c, int column, int r, int row) {
        buffer.left_at(row, column) = left[c][r];
        buffer.right[row][column] = right[c][r];
      });
      team.team_barrier();
      const bool more = p + 1 < count;
      const bool is_early = more && (p + 1 < ready || is_ready(task, p + 1));
      if (is_early) read_tiles(team, task, p + 1, left, right);
      const int width =
          p + 1 < task.pivot_tiles ? tile : task.pivots - p * tile;
      Tile::subtract_product(team, buffer, (width + 1) / 2, own);
      if (more && !is_early) read(p + 1, left, right);
    }
  }
  /// The tiles (i, p) and (p, j), which are complete, with zeros where they
  /// end.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void read_tiles(const Team& team,
                                         const FrontTask& task, int p,
                                         Own& left, Own& right) const {
    const int begin = p * tile;
    const int width = task.pivots - begin < tile ? task.pivots - begin : tile;
    const Scalar* const from_left = fronts + task.front +
                                    std::int64_t{task.row_begin} * task.stride +
                                    begin;
    const Scalar* const from_right = fronts + task.front +
                                     std::int64_t{begin} * task.stride +
                                     task.column_begin;
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      const std::int64_t at = std::int64_t{row} * task.stride + column;
      left[c][r] =
          row < task.num_rows && column < width ? from_left[at] : Scalar(0);
      right[c][r] =
          row < width && column < task.num_columns ? from_right[at] : Scalar(0);
    });
  }

  /// Entry of L in the row and column k of the tile. If a reciprocal is not
  /// finite, 0 that is not in the pattern stays 0.
  KOKKOS_INLINE_FUNCTION Scalar multiplier(const FrontTask& task,
                                           const Scalar& value,
                                           const Scalar& inverse, int row,
                                           int k) const {
    if (inverse - inverse != Scalar(0) &&
        (row >= task.num_rows || !(row_of(task, row).mask >> k & 1u)))
      return Scalar(0);
    return value * inverse;
  }

  /// L U of a tile on the diagonal, or the first steps of that of a small
  /// front: row and column k of what is left go through scratch.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void eliminate(const Team& team, const FrontTask& task,
                                        Scratch& scratch, Own& own) const {
    const int group = Tile::group_of(team);
    for (int block = 0; block < groups; ++block) {
      STRATA_IMPL_UNROLL
      for (int at = 0; at < own_rows; ++at) {
        const int k = block * own_rows + at;
        if (k >= task.steps()) return;
        share_pivot(team, task, k, at, group == block, scratch, own);
        team.team_barrier();
        take_step(team, task, k, at, scratch, own);
      }
    }
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void share_pivot(const Team& team,
                                          const FrontTask& task, int k, int at,
                                          bool has_row, Scratch& scratch,
                                          Own& own) const {
    const int lane = Tile::lane_of(team),
              first = Tile::group_of(team) * own_rows;
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c) {
      const int column = lane + c * lanes;
      if (has_row && column > k) scratch.row[at % 2][column] = own[c][at];
      if (column != k) continue;
      if (has_row) {
        Scalar& pivot = own[c][at];
        if (pivots.least)
          pivot = pivots.replaced(
              arrays.row_numbers[task.first_row + task.row_begin + k], pivot);
        scratch.inverse_pivot[at % 2] = reciprocal(pivot);
      }
      STRATA_IMPL_UNROLL
      for (int r = 0; r < own_rows; ++r)
        if (first + r > k) scratch.column[at % 2][first + r] = own[c][r];
    }
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take_step(const Team& team, const FrontTask& task,
                                        int k, int at, const Scratch& scratch,
                                        Own& own) const {
    const int lane = Tile::lane_of(team),
              first = Tile::group_of(team) * own_rows;
    if (first + own_rows - 1 <= k) return;
    const Scalar inverse = scratch.inverse_pivot[at % 2];
    Scalar u[own_columns];
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c) {
      const int column = lane + c * lanes;
      if (column > k) u[c] = scratch.row[at % 2][column];
    }
    STRATA_IMPL_UNROLL
    for (int r = 0; r < own_rows; ++r) {
      if (first + r <= k) continue;
      const Scalar l = multiplier(task, scratch.column[at % 2][first + r],
                                  inverse, first + r, k);
      STRATA_IMPL_UNROLL
      for (int c = 0; c < own_columns; ++c) {
        const int column = lane + c * lanes;
        if (column > k)
          own[c][r] -= l * u[c];
        else if (column == k)
          own[c][r] = l;
      }
    }
  }

  /// The complete tile (m, m) of pivots: work(row, column, value), 0 where it
  /// ends.
  template <class Team, class Work>
  KOKKOS_INLINE_FUNCTION void read_diagonal(const Team& team,
                                            const FrontTask& task, int m,
                                            int size, const Work& work) const {
    await(task.flag(m, m));
    const Scalar* const from =
        fronts + task.front + std::int64_t{m * tile} * (task.stride + 1);
    Tile::for_own(team, [&](int, int column, int, int row) {
      work(row, column,
           row < size && column < size
               ? from[std::int64_t{row} * task.stride + column]
               : Scalar(0));
    });
  }

  /// A tile right of the diagonal one: solves with its L.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void solve_right(const Team& team,
                                          const FrontTask& task,
                                          Scratch& scratch, Own& own) const {
    Buffer& buffer = scratch.buffer[0];
    team.team_barrier();
    read_diagonal(team, task, task.row_tile, task.num_rows,
                  [&](int row, int column, const Scalar& value) {
                    buffer.left_at(row, column) = value;
                  });
    team.team_barrier();
    Tile::solve(team, scratch, own,
                [](const Scalar& value, int, int) { return value; });
  }

  /// A tile below the diagonal one: solves with its U, as the transposed tile
  /// with the transposed U.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void solve_below(const Team& team,
                                          const FrontTask& task,
                                          Scratch& scratch, Own& own) const {
    Buffer& buffer = scratch.buffer[0];
    const int size = task.num_columns;
    team.team_barrier();
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      buffer.right[row][column] = own[c][r];
    });
    read_diagonal(team, task, task.column_tile, size,
                  [&](int row, int column, const Scalar& value) {
                    buffer.left_at(column, row) = value;
                    if (row == column)
                      scratch.inverse[row] =
                          row < size ? reciprocal(value) : Scalar(0);
                  });
    team.team_barrier();
    // From here on `column` is a row of the tile.
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      own[c][r] = buffer.right[column][row];
    });
    team.team_barrier();
    Tile::solve(team, scratch, own, [&](const Scalar& value, int k, int c) {
      return multiplier(task, value, scratch.inverse[k],
                        Tile::lane_of(team) + c * lanes, k);
    });
    // The last rows of the solution.
    team.team_barrier();
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      own[c][r] = buffer.right[column][row];
    });
  }

  /// Stores what other tasks need and sets the flag.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void hand_over(const Team& team, const FrontTask& task,
                                        const Own& own) const {
    Scalar* const to = fronts + task.front +
                       std::int64_t{task.row_begin} * task.stride +
                       task.column_begin;
    const int first = task.is_small ? task.pivots : 0;
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      if (row >= first && row < task.num_rows && column >= first &&
          column < task.num_columns)
        to[std::int64_t{row} * task.stride + column] = own[c][r];
    });
    // A barrier of a wave's team is not known to wait for stores to memory.
    if constexpr (gpu_lane_width < wave_width<ExecutionSpace>) {
      Kokkos::memory_fence();
    }
    team.team_barrier();
    if (team.team_rank() == 0)
      store_release(flags + task.flag(task.row_tile, task.column_tile), 1u);
  }

  /// Checks and stores the entries of L and U.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void store_factors(const Team& team,
                                            const FrontTask& task,
                                            const Own& own) const {
    Tile::for_own(team, [&](int c, int column, int r, int row) {
      if (row >= task.num_rows) return;
      const FrontRow of = row_of(task, row);
      if (!(of.mask >> column & 1u)) return;
      store_factor(task, of, place_of(of, column), task.row_begin + row,
                   task.column_begin + column, own[c][r]);
    });
  }
  /// @param row, column  local ones of the front
  KOKKOS_INLINE_FUNCTION void store_factor(const FrontTask& task,
                                           const FrontRow& of, unsigned place,
                                           int row, int column,
                                           const Scalar& value) const {
    const bool is_pivot = column == row;
    if (column < row)
      l_values[of.to_l + place] = value;
    else
      u_values[of.to_u + place] = value;
    if (is_pivot) l_values[of.to_l + place] = Scalar(1);
    // An infinity less itself is a NaN, and a NaN equals nothing.
    const bool finite = value - value == Scalar(0);
    if (finite && !(is_pivot && value == Scalar(0))) return;
    const std::int64_t number =
        row < task.pivots
            ? std::int64_t{arrays.row_numbers[task.first_row + row]}
            : std::int64_t{of.to_u};
    Kokkos::atomic_fetch_min(
        fault, number * num_factor_faults +
                   (finite ? factor_zero_pivot : factor_not_finite));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
