// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_ROWS_ON_HOST_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_ROWS_ON_HOST_HPP

#include <core/device/Atomics.hpp>
#include <kernels/factorization/EliminationArrays.hpp>
#include <kernels/factorization/SmallPivots.hpp>

namespace Strata {
namespace Detail {

/// What FactorByRecipe does, by threads of a host. A thread draws some rows,
/// next to each other in an order in which each row comes after those it needs,
/// and takes them one after the other (see HostRowShares). It keeps where each
/// column is in its row. Rows that are finished say so: the store of that
/// follows those of the row's values of U, and whoever reads it reads them.
///
/// Why it can't deadlock, however few threads run at once. Rows are drawn in
/// order by threads that run. Consider the first row in the order that is not
/// finished. If it has not been drawn, some thread has finished all it had and
/// draws it. The thread that has it has finished those before it of the same
/// draw. The row waits for earlier ones only, which are finished; so it is
/// finished, too, and so on.
///
/// Cost: a pass over row k of U for each entry k of the lower part of a row;
/// memory for each thread, 4 bytes a column and the values of the longest row.
///
/// @tparam alone  one thread takes all rows in their order and waits for none
template <class Scalar, bool alone>
struct FactorRowsOnHost {
  EliminationArrays<Scalar> arrays;
  const int *a_columns, *u_columns;  // the entries of A and U once more
  const int* row;   // by place in the order; null: the place itself
  unsigned* drawn;  // so many times; 0 at the start
  unsigned* ready;  // by row, 0 at the start
  std::int64_t rows_of_draw, num_rows, longest_row;
  // Of each thread: by column, -1 outside of a row; by place in its row.
  int* place_of_column;
  Scalar* value;
  SmallPivots<Scalar> pivots;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    int* const places = place_of_column + team.league_rank() * num_rows;
    Scalar* const values = value + team.league_rank() * longest_row;
    if constexpr (alone) {
      for (std::int64_t i = 0; i < num_rows; ++i) eliminate(i, places, values);
    } else {
      for (;;) {
        const std::int64_t first =
            std::int64_t{Kokkos::atomic_fetch_add(drawn, 1u)} * rows_of_draw;
        if (first >= num_rows) return;
        const std::int64_t last =
            first + rows_of_draw < num_rows ? first + rows_of_draw : num_rows;
        for (std::int64_t at = first; at < last; ++at)
          eliminate(row ? row[at] : at, places, values);
      }
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void await(int other) const {
    if constexpr (!alone) {
      for (int turn = 0; load_acquire(ready + other) == 0; ++turn)
        pause_while_waiting(turn);
    }
  }
  KOKKOS_INLINE_FUNCTION void eliminate(std::int64_t i, int* places,
                                        Scalar* values) const {
    const auto& A = arrays.A;
    const std::int64_t begin = A.row_map(i), end = A.row_map(i + 1);
    const std::int64_t own_l = arrays.l_row_map(i);
    const std::int64_t lower = arrays.l_row_map(i + 1) - own_l - 1;
    for (std::int64_t e = begin; e < end; ++e) {
      places[a_columns[e]] = static_cast<int>(e - begin);
      values[e - begin] = A.values[e];
    }
    for (std::int64_t k = 0; k < lower; ++k) {
      const int other = a_columns[begin + k];
      std::int64_t entry = arrays.u_row_map(other);
      const std::int64_t last = arrays.u_row_map(other + 1);
      await(other);
      const Scalar factor = values[k] / arrays.u_values[entry];
      for (++entry; entry < last; ++entry) {
        const int place = places[u_columns[entry]];
        if (place >= 0) values[place] -= factor * arrays.u_values[entry];
      }
      arrays.l_values[own_l + k] = factor;
    }
    arrays.l_values[own_l + lower] = Scalar(1);
    if (pivots.least) values[lower] = pivots.replaced(i, values[lower]);
    Scalar* const own_u = arrays.u_values + arrays.u_row_map(i);
    for (std::int64_t e = lower; e < end - begin; ++e)
      own_u[e - lower] = values[e];
    if constexpr (!alone) {
      store_release(ready + i, 1u);
    }
    for (std::int64_t e = begin; e < end; ++e) places[a_columns[e]] = -1;
  }
};

/// Takes the tickets back, and what was ready.
struct ResetRows {
  unsigned *drawn, *ready;
  std::int64_t num_rows;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team&) const {
    *drawn = 0;
    for (std::int64_t i = 0; i < num_rows; ++i) ready[i] = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
