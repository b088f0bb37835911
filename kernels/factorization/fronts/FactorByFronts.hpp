// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_FACTOR_BY_FRONTS_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_FACTOR_BY_FRONTS_HPP

#include <core/device/Arithmetic.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <kernels/factorization/fronts/FrontTasks.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>

namespace Strata {
namespace Detail {

struct FrontArrays {
  const FrontTask* tasks;
  const FrontRow* rows;
  const FrontTerm* terms;
  unsigned num_tasks;
};

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
/// in the order of tasks, each to a team that runs and that has nothing more to
/// wait for in the task before. In that order a task comes after all that it
/// waits for. Consider the first task that is not finished. If it has not been
/// drawn, every drawn task before it is finished, and a team draws it. The team
/// that has drawn it has finished the task before, which waited for nothing
/// more; what the first one waits for comes before it and is finished, its
/// flags are set, and it is finished, too, and so on. Each flag is set once,
/// whatever the values are. Threads that wait for long leave the execution
/// units to others.
///
/// Entries that are not in the pattern are zeros, computed and not stored: in L
/// they are set to zero, so that a reciprocal that is not finite reaches the
/// rows that the pattern names and no others.
template <class Scalar, class ExecutionSpace>
struct FactorByFronts {
  static constexpr int tile = FrontTree::tile;
  static constexpr int threads = is_gpu<ExecutionSpace> ? 128 : 1;
  /// A thread has entries of `own_rows` neighbouring rows in each `lanes`-th
  /// column.
  static constexpr int lanes = threads < tile ? threads : tile;
  static constexpr int own_columns = tile / lanes;
  static constexpr int groups = threads / lanes;
  static constexpr int own_rows = tile / groups;
  static constexpr int teams_of_multiprocessor = 4;
  /// While one pair of tiles is multiplied, the next one is stored.
  static constexpr int buffers = sizeof(Scalar) <= 8 ? 2 : 1;

  CrsArrays<Scalar> A;
  FrontArrays arrays;
  Scalar *l_values, *u_values;
  Scalar* fronts;
  unsigned* flags;  // by tile; 0 at the start
  unsigned* drawn;  // tickets; 0 at the start
  std::int64_t* fault;  // the first one, see FactorChecks
  SmallPivots<Scalar> pivots;

 private:
  struct alignas(2 * sizeof(Scalar) < 16 ? 2 * sizeof(Scalar) : 16) Pair {
    Scalar of[2];
  };
  struct Buffer {
    Pair left[tile][tile / 2 + 1];
    Scalar right[tile][tile + 1];  // another bank for each row

    KOKKOS_INLINE_FUNCTION Scalar& left_at(int row, int column) {
      return left[row][column / 2].of[column % 2];
    }
  };
  struct Scratch {
    Buffer buffer[buffers];
    Scalar inverse[tile];  // of pivots
    int ready;             // products that need not be waited for
  };
  using Own = Scalar[own_columns][own_rows];

 public:
  /// Kokkos aligns scratch to 8 bytes.
  static constexpr std::size_t scratch_bytes = sizeof(Scratch) + 16;
  static_assert(scratch_bytes <= 48 * 1024, "too much scratch");

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const auto address = reinterpret_cast<std::uintptr_t>(
        team.team_scratch(0).get_shmem(scratch_bytes));
    auto& scratch = *reinterpret_cast<Scratch*>((address + 15) / 16 * 16);
    STRATA_IMPL_TEAM_SHARED unsigned tickets[2];
    const bool draws = team.team_rank() == 0;
    if (draws) tickets[0] = Kokkos::atomic_fetch_add(drawn, 1u);
    for (int turn = 0;; turn ^= 1) {
      // All threads are done with the task before, and see the ticket.
      team.team_barrier();
      const unsigned ticket = tickets[turn];
      if (ticket >= arrays.num_tasks) return;
      const FrontTask task = arrays.tasks[ticket];
      Own own;
      complete(team, task, scratch, own);
      unsigned next = 0;
      if (draws) next = Kokkos::atomic_fetch_add(drawn, 1u);
      hand_over(team, task, own);
      if (draws) tickets[turn ^ 1] = next;
      store_factors(team, task, own);
    }
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION static int lane_of(const Team& team) {
    return team.team_rank() % lanes;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION static int group_of(const Team& team) {
    return team.team_rank() / lanes;
  }
  KOKKOS_INLINE_FUNCTION static unsigned below(int bit) {
    return (1u << bit) - 1u;
  }
  /// work(c, column, r, row) for all entries of the thread.
  template <class Team, class Work>
  KOKKOS_INLINE_FUNCTION static void for_own(const Team& team,
                                             const Work& work) {
    const int lane = lane_of(team), first = group_of(team) * own_rows;
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c)
      STRATA_IMPL_UNROLL
    for (int r = 0; r < own_rows; ++r)
      work(c, lane + c * lanes, r, first + r);
  }
  KOKKOS_INLINE_FUNCTION void await(unsigned flag) const {
    for (int turn = 0; !is_set(flag); ++turn) pause_while_waiting(turn);
  }
  /// What was stored before the flag was set can then be read.
  KOKKOS_INLINE_FUNCTION bool is_set(unsigned flag) const {
    return load_acquire(flags + flag) != 0;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void complete(const Team& team, const FrontTask& task,
                                       Scratch& scratch, Own& own) const {
    take_entries(team, task, own);
    take_contributions(team, task, own);
    const int m = task.smaller_tile();
    multiply(team, task, m < task.pivot_tiles ? m : task.pivot_tiles, scratch,
             own);
    if (!task.has_pivot()) return;
    if (task.is_diagonal())
      eliminate(team, task, scratch, own);
    else if (task.row_tile < task.column_tile)
      solve_right(team, task, scratch, own);
    else
      solve_below(team, task, scratch, own);
  }

  /// Those of A.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take_entries(const Team& team,
                                           const FrontTask& task,
                                           Own& own) const {
    for_own(team, [&](int c, int column, int r, int row) {
      own[c][r] = Scalar(0);
      if (task.rows < 0 || row >= task.num_rows) return;
      const FrontRow of = arrays.rows[task.rows + row];
      if (of.mask >> column & 1u)
        own[c][r] = A.values[of.a + static_cast<unsigned>(count_bits(
                                        of.mask & below(column)))];
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void take_contributions(const Team& team,
                                                 const FrontTask& task,
                                                 Own& own) const {
    if (task.first_term == task.end_term) return;
    for (unsigned k =
             task.first_term + static_cast<unsigned>(team.team_rank());
         k < task.end_term; k += threads) {
      const FrontTerm& term = arrays.terms[k];
      await(term.flag);
      if (term.more & 1u) await(term.flag + 1);
      if (term.more & 2u) await(term.flag + term.next_flag);
      if (term.more == 3u) await(term.flag + term.next_flag + 1);
    }
    team.team_barrier();
    const int lane = lane_of(team), first = group_of(team) * own_rows;
    FrontTerm next = arrays.terms[task.first_term];
    for (unsigned k = task.first_term; k < task.end_term; ++k) {
      const FrontTerm term = next;
      if (k + 1 < task.end_term) next = arrays.terms[k + 1];
      const int before = count_bits(term.rows & below(first));
      STRATA_IMPL_UNROLL
      for (int c = 0; c < own_columns; ++c) {
        const int column = lane + c * lanes;
        if (!(term.columns >> column & 1u)) continue;
        const Scalar* from = fronts + term.first +
                             count_bits(term.columns & below(column)) +
                             std::int64_t{before} * term.stride;
        STRATA_IMPL_UNROLL
        for (int r = 0; r < own_rows; ++r)
          if (term.rows >> (first + r) & 1u) {
            own[c][r] += *from;
            from += term.stride;
          }
      }
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
  /// task begins; threads wait for the others by themselves.
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
      for_own(team, [&](int c, int column, int r, int row) {
        buffer.left_at(row, column) = left[c][r];
        buffer.right[row][column] = right[c][r];
      });
      team.team_barrier();
      const bool more = p + 1 < count;
      const bool is_early = more && (p + 1 < ready || is_ready(task, p + 1));
      if (is_early) read_tiles(team, task, p + 1, left, right);
      const int width =
          p + 1 < task.pivot_tiles ? tile : task.pivots - p * tile;
      subtract_product(team, buffer, (width + 1) / 2, own);
      if (more && !is_early) read(p + 1, left, right);
    }
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION static void subtract_product(const Team& team,
                                                      const Buffer& buffer,
                                                      int pairs, Own& own) {
    const int lane = lane_of(team), first = group_of(team) * own_rows;
    for (int k = 0; k < pairs; ++k) {
      Scalar upper[own_columns], lower[own_columns];
      STRATA_IMPL_UNROLL
      for (int c = 0; c < own_columns; ++c) {
        upper[c] = buffer.right[2 * k][lane + c * lanes];
        lower[c] = buffer.right[2 * k + 1][lane + c * lanes];
      }
      STRATA_IMPL_UNROLL
      for (int r = 0; r < own_rows; ++r) {
        const Pair pair = buffer.left[first + r][k];
        STRATA_IMPL_UNROLL
        for (int c = 0; c < own_columns; ++c) {
          own[c][r] -= pair.of[0] * upper[c];
          own[c][r] -= pair.of[1] * lower[c];
        }
      }
    }
  }
  /// The tiles (i, p) and (p, j), which are complete, with zeros where they end.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void read_tiles(const Team& team,
                                         const FrontTask& task, int p,
                                         Own& left, Own& right) const {
    const int begin = p * tile;
    const int width = task.pivots - begin < tile ? task.pivots - begin : tile;
    const Scalar* const from_left =
        fronts + task.front + std::int64_t{task.row_begin} * task.stride +
        begin;
    const Scalar* const from_right = fronts + task.front +
                                     std::int64_t{begin} * task.stride +
                                     task.column_begin;
    for_own(team, [&](int c, int column, int r, int row) {
      const std::int64_t at = std::int64_t{row} * task.stride + column;
      left[c][r] =
          row < task.num_rows && column < width ? from_left[at] : Scalar(0);
      right[c][r] = row < width && column < task.num_columns ? from_right[at]
                                                             : Scalar(0);
    });
  }

  /// Of L, where it is in the pattern.
  KOKKOS_INLINE_FUNCTION static Scalar multiplier(const Scalar& value,
                                                  const Scalar& inverse,
                                                  unsigned mask, int column) {
    return mask >> column & 1u ? value * inverse : Scalar(0);
  }

  /// L U of a tile on the diagonal, or the first steps of it: row and column k
  /// of what is left go through scratch.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void eliminate(const Team& team, const FrontTask& task,
                                        Scratch& scratch, Own& own) const {
    auto& shared = scratch.buffer[0].right;
    const int lane = lane_of(team), group = group_of(team),
              first = group * own_rows, steps = task.steps();
    unsigned mask[own_rows];
    STRATA_IMPL_UNROLL
    for (int r = 0; r < own_rows; ++r)
      mask[r] = first + r < task.num_rows
                    ? arrays.rows[task.rows + first + r].mask
                    : 0u;
    if (task.row_tile > 0) team.team_barrier();
    for (int block = 0; block < groups; ++block) {
      STRATA_IMPL_UNROLL
      for (int at = 0; at < own_rows; ++at) {
        const int k = block * own_rows + at;
        if (k >= steps) return;
        STRATA_IMPL_UNROLL
        for (int c = 0; c < own_columns; ++c) {
          const int column = lane + c * lanes;
          if (group == block && column > k) shared[k][column] = own[c][at];
          if (column != k) continue;
          if (group == block) {
            if (pivots.least)
              own[c][at] = pivots.replaced(
                  task.first_row + task.row_begin + k, own[c][at]);
            scratch.inverse[k] = reciprocal(own[c][at]);
          }
          STRATA_IMPL_UNROLL
          for (int r = 0; r < own_rows; ++r)
            if (first + r > k) shared[first + r][k] = own[c][r];
        }
        team.team_barrier();
        if (group < block) continue;
        const Scalar inverse = scratch.inverse[k];
        STRATA_IMPL_UNROLL
        for (int c = 0; c < own_columns; ++c) {
          const int column = lane + c * lanes;
          if (column < k) continue;
          const Scalar u = column > k ? shared[k][column] : Scalar(0);
          STRATA_IMPL_UNROLL
          for (int r = 0; r < own_rows; ++r) {
            if (first + r <= k) continue;
            const Scalar l =
                multiplier(shared[first + r][k], inverse, mask[r], k);
            if (column == k)
              own[c][r] = l;
            else
              own[c][r] -= l * u;
          }
        }
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
    for_own(team, [&](int, int column, int, int row) {
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
    solve(team, scratch, own,
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
    for_own(team, [&](int c, int column, int r, int row) {
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
    for_own(team, [&](int c, int column, int r, int row) {
      own[c][r] = buffer.right[column][row];
    });
    unsigned mask[own_columns];
    STRATA_IMPL_UNROLL
    for (int c = 0; c < own_columns; ++c) {
      const int row = lane_of(team) + c * lanes;
      mask[c] =
          row < task.num_rows ? arrays.rows[task.rows + row].mask : 0u;
    }
    team.team_barrier();
    solve(team, scratch, own, [&](const Scalar& value, int k, int c) {
      return multiplier(value, scratch.inverse[k], mask[c], k);
    });
    // The last rows of the solution.
    team.team_barrier();
    for_own(team, [&](int c, int column, int r, int row) {
      own[c][r] = buffer.right[column][row];
    });
  }

  /// Solves with the strictly lower triangle in buffer[0].left, column by
  /// column; finish(value, k, c) is entry k of column c, less its sum. Leaves
  /// the solution in buffer[0].right as well, once all threads are here.
  template <class Team, class Finish>
  KOKKOS_INLINE_FUNCTION static void solve(const Team& team, Scratch& scratch,
                                           Own& own, const Finish& finish) {
    Buffer& buffer = scratch.buffer[0];
    const int lane = lane_of(team), group = group_of(team),
              first = group * own_rows;
    for (int block = 0; block < groups; ++block) {
      if (block > 0) team.team_barrier();
      if (group > block - 1 && block > 0) {
        STRATA_IMPL_UNROLL
        for (int c = 0; c < own_columns; ++c)
          STRATA_IMPL_UNROLL
        for (int at = 0; at < own_rows; ++at) {
          const int k = (block - 1) * own_rows + at;
          const Scalar x = buffer.right[k][lane + c * lanes];
          STRATA_IMPL_UNROLL
          for (int r = 0; r < own_rows; ++r)
            own[c][r] -= buffer.left_at(first + r, k) * x;
        }
      }
      if (group != block) continue;
      STRATA_IMPL_UNROLL
      for (int c = 0; c < own_columns; ++c)
        STRATA_IMPL_UNROLL
      for (int at = 0; at < own_rows; ++at) {
        const int k = first + at;
        const Scalar x = finish(own[c][at], k, c);
        own[c][at] = x;
        buffer.right[k][lane + c * lanes] = x;
        STRATA_IMPL_UNROLL
        for (int r = 0; r < own_rows; ++r)
          if (r > at) own[c][r] -= buffer.left_at(first + r, k) * x;
      }
    }
  }

  /// Stores what other tasks need and sets the flag.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void hand_over(const Team& team, const FrontTask& task,
                                        const Own& own) const {
    Scalar* const to = fronts + task.front +
                       std::int64_t{task.row_begin} * task.stride +
                       task.column_begin;
    const int first = task.is_small ? task.pivots : 0;
    for_own(team, [&](int c, int column, int r, int row) {
      if (row >= first && row < task.num_rows && column >= first &&
          column < task.num_columns)
        to[std::int64_t{row} * task.stride + column] = own[c][r];
    });
    team.team_barrier();
    if (team.team_rank() == 0)
      store_release(flags + task.flag(task.row_tile, task.column_tile), 1u);
  }

  /// Checks and stores the entries of L and U.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void store_factors(const Team& team,
                                            const FrontTask& task,
                                            const Own& own) const {
    if (!task.has_pivot()) return;
    const bool is_diagonal = task.is_diagonal();
    const bool is_below = task.row_tile > task.column_tile;
    for_own(team, [&](int c, int column, int r, int row) {
      if (row >= task.num_rows) return;
      const FrontRow of = arrays.rows[task.rows + row];
      if (!(of.mask >> column & 1u)) return;
      const auto place =
          static_cast<unsigned>(count_bits(of.mask & below(column)));
      const Scalar value = own[c][r];
      const bool is_lower = is_diagonal ? column < row : is_below;
      const bool is_pivot = is_diagonal && column == row;
      if (is_lower)
        l_values[of.l + place] = value;
      else
        u_values[of.u + place] = value;
      if (is_pivot) l_values[of.l + place] = Scalar(1);
      // An infinity less itself is a NaN, and a NaN equals nothing.
      const bool finite = value - value == Scalar(0);
      if (finite && !(is_pivot && value == Scalar(0))) return;
      const int local = task.row_begin + row;
      const std::int64_t number = local < task.pivots
                                      ? std::int64_t{task.first_row} + local
                                      : std::int64_t{of.u};
      Kokkos::atomic_fetch_min(
          fault, number * num_factor_faults +
                     (finite ? factor_zero_pivot : factor_not_finite));
    });
  }
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
