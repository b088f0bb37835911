// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_STRIPE_KERNELS_HPP
#define STRATA_KERNELS_DENSE_STRIPE_KERNELS_HPP

#include <core/device/Backend.hpp>
#include <kernels/dense/DenseTriangle.hpp>
#include <kernels/dense/PanelState.hpp>

namespace Strata {
namespace Detail {

/// Carries a panel's exchange of rows, and its elimination among the pivot
/// rows, to other columns of the same rows. Columns are numbered through
/// `left`, which only have their rows exchanged (multipliers of earlier panels
/// and the panel's own), and on through `right` (tiles IK). A column a thread;
/// one more for `original_row`.
template <class Scalar, class ExecutionSpace>
struct ApplyPanel {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  static constexpr int width = panel_width<Scalar>;

  DenseRef<Scalar> tile;         ///< PanelTask::tile
  DenseRef<Scalar> left, right;  ///< from the first active row
  std::int64_t left_columns, right_columns;
  int* original_row;
  PanelInfo info;

  static constexpr int scratch_bytes() {
    return width * width * static_cast<int>(sizeof(Scalar)) +
           3 * width * static_cast<int>(sizeof(int));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scalar* const t =
        static_cast<Scalar*>(team.team_shmem().get_shmem(scratch_bytes()));
    int* const source = reinterpret_cast<int*>(t + width * width);
    int* const target = source + 2 * width;  // of the displaced rows
    const int found = info.found(), others = info.moves() - found;
    const int rank = team.team_rank(), threads = team.team_size();
    for (int q = rank; q < found + others; q += threads)
      source[q] = info.source(q);
    for (int q = rank; q < others; q += threads)
      target[q] = info.target(found + q);
    copy_together<8>(
        rank, width * width, threads,
        [&](int place) {
          const int i = place % width, q = place / width;
          return q < i && i < found ? tile(i, q) : Scalar(0);
        },
        [&](int place, const Scalar& value) {
          t[place % width * width + place / width] = value;
        });
    team.team_barrier();
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * columns_per_team;
    const std::int64_t all = left_columns + right_columns + 1;
    const int count = static_cast<int>(
        first + columns_per_team < all ? columns_per_team : all - first);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int place) {
      const std::int64_t number = first + place;
      if (number == all - 1) {
        int held[width], displaced[width];
        exchange(original_row, source, target, found, others, held, displaced);
        STRATA_IMPL_UNROLL
        for (int q = 0; q < width; ++q)
          if (q < found) original_row[q] = held[q];
        return;
      }
      const bool is_right = number >= left_columns;
      Scalar* const column =
          is_right ? &right(0, number - left_columns) : &left(0, number);
      Scalar x[width], displaced[width];
      exchange(column, source, target, found, others, x, displaced);
      if (is_right) substitute_forward(t, x);
      STRATA_IMPL_UNROLL
      for (int q = 0; q < width; ++q)
        if (q < found) column[q] = x[q];
    });
  }

 private:
  /// Reads the pivot rows into x, and moves the displaced rows to their new
  /// places.
  template <class T>
  KOKKOS_INLINE_FUNCTION static void exchange(T* column, const int* source,
                                              const int* target, int found,
                                              int others, T (&x)[width],
                                              T (&displaced)[width]) {
    STRATA_IMPL_UNROLL
    for (int q = 0; q < width; ++q) x[q] = q < found ? column[source[q]] : T(0);
    STRATA_IMPL_UNROLL
    for (int q = 0; q < width; ++q)
      displaced[q] = q < others ? column[source[found + q]] : T(0);
    STRATA_IMPL_UNROLL
    for (int q = 0; q < width; ++q)
      if (q < others) column[target[q]] = displaced[q];
  }
};

/// Lists the rows that a stripe's panels exchanged, and clears `original_row`
/// for the next stripe. The order of the list has no influence on any value.
struct ListStripeMoves {
  int* original_row;
  int* count;
  int* source;
  int* target;

  KOKKOS_INLINE_FUNCTION void operator()(int row) const {
    const int from = original_row[row];
    if (from == row) return;
    const int place = Kokkos::atomic_fetch_add(count, 1);
    source[place] = from;
    target[place] = row;
    original_row[row] = row;
  }
};

/// Exchanges rows of `columns` columns as listed, some columns a team: all are
/// read into scratch before any is written. One team more does the same to
/// `row_of`, the numbers of the rows.
template <class Scalar, class ExecutionSpace>
struct MoveRows {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  static constexpr int threads = 256;

  DenseRef<Scalar> a;
  std::int64_t columns;
  int per_team, max_moves;
  const int* count;
  const int* source;
  const int* target;
  int* row_of;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scalar* const held = static_cast<Scalar*>(team.team_shmem().get_shmem(
        static_cast<std::size_t>(max_moves) * per_team * sizeof(Scalar)));
    const int moves = *count;
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * per_team;
    if (first >= columns) {
      int* const numbers = reinterpret_cast<int*>(held);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, moves),
                           [&](int k) { numbers[k] = row_of[source[k]]; });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, moves),
                           [&](int k) { row_of[target[k]] = numbers[k]; });
      return;
    }
    const int mine = static_cast<int>(
        first + per_team < columns ? per_team : columns - first);
    // A thread has the same rows in all columns.
    for (int k = team.team_rank(); k < moves; k += team.team_size())
      copy_together<8>(
          0, mine, 1, [&](int c) { return a(source[k], first + c); },
          [&](int c, const Scalar& value) { held[k + c * moves] = value; });
    team.team_barrier();
    for (int k = team.team_rank(); k < moves; k += team.team_size()) {
      const int row = target[k];
      for (int c = 0; c < mine; ++c) a(row, first + c) = held[k + c * moves];
    }
  }
};

/// Most rows that the panels of a stripe of `pivots` columns exchange.
inline int max_stripe_moves(int pivots) { return 2 * pivots; }

template <class Scalar, class ExecutionSpace>
void move_rows(const ExecutionSpace& exec, const DenseRef<Scalar>& a,
               std::int64_t columns, int max_moves, const int* count,
               const int* source, const int* target, int* row_of) {
  using Move = MoveRows<Scalar, ExecutionSpace>;
  // 32 KiB of scratch: what a device has and a host's second-level cache.
  const int per_team = static_cast<int>(
      std::max<std::size_t>(1, 32 * 1024 / (max_moves * sizeof(Scalar))));
  const auto teams = static_cast<int>((columns + per_team - 1) / per_team) + 1;
  Kokkos::parallel_for(
      "Strata::Dense::MoveRows",
      typename Move::Policy(exec, teams,
                            is_gpu<ExecutionSpace> ? Move::threads : 1)
          .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(
                                   max_moves * per_team * sizeof(Scalar)))),
      Move{a, columns, per_team, max_moves, count, source, target, row_of});
}

/// Copies columns `list[0 .. count)` of `from` beside each other.
template <class Scalar>
struct GatherColumns {
  DenseRef<Scalar> from, to;
  const int* list;
  std::int64_t rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t j = k / rows, i = k % rows;
    to(i, j) = from(i, list[j]);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
