// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_TRIANGLE_HPP
#define STRATA_KERNELS_DENSE_DENSE_TRIANGLE_HPP

#include <Strata_Types.hpp>
#include <core/device/Arithmetic.hpp>
#include <core/matrix/InspectValues.hpp>
#include <kernels/dense/DenseProduct.hpp>

namespace Strata {
namespace Detail {

/// Forward substitution with a unit lower tile in scratch, by rows: entry
/// (i, j) at tile[i * width + j], zero outside.
template <int width, class Scalar>
KOKKOS_INLINE_FUNCTION void substitute_forward(const Scalar* tile,
                                               Scalar (&x)[width]) {
  STRATA_IMPL_UNROLL
  for (int j = 0; j < width; ++j) STRATA_IMPL_UNROLL
  for (int i = j + 1; i < width; ++i) x[i] -= tile[i * width + j] * x[j];
}

/// Back substitution with an upper tile, whose diagonal comes with reciprocals.
/// A product with those stands for the division wherever they are normal
/// numbers: a third of the time, and an error of the same size.
template <int width, class Scalar>
KOKKOS_INLINE_FUNCTION void substitute_backward(const Scalar* tile,
                                                const Scalar* reciprocal,
                                                Scalar (&x)[width]) {
  STRATA_IMPL_UNROLL
  for (int j = width - 1; j >= 0; --j) {
    const Scalar r = reciprocal[j];
    x[j] = usable_reciprocal(r) ? x[j] * r : x[j] / tile[j * width + j];
    STRATA_IMPL_UNROLL
    for (int i = 0; i < j; ++i) x[i] -= tile[i * width + j] * x[j];
  }
}

/// A triangular tile of at most `width` rows in scratch, ready to be solved
/// with: strictly lower, or upper with the diagonal; the identity past `rows`.
template <class Scalar, Uplo uplo>
struct ScratchTile {
  static constexpr int width = panel_width<Scalar>;
  static constexpr int size = width * width + width;
  Scalar* values;

  /// By all threads of a team, of which this is number `rank`.
  KOKKOS_INLINE_FUNCTION void load(int rank, int threads,
                                   const DenseRef<Scalar>& t, int rows) const {
    copy_together<8>(
        rank, width * width, threads,
        [&](int place) {
          const int i = place % width, j = place / width;
          const bool inside =
              i < rows && j < rows && (uplo == Uplo::lower ? j < i : j >= i);
          return inside ? t(i, j) : Scalar(i == j ? 1 : 0);
        },
        [&](int place, const Scalar& value) {
          const int i = place % width, j = place / width;
          values[i * width + j] = value;
          if (uplo == Uplo::upper && i == j)
            values[width * width + i] = fast_reciprocal(value);
        });
  }
  KOKKOS_INLINE_FUNCTION void solve(Scalar (&x)[width]) const {
    if constexpr (uplo == Uplo::lower) {
      substitute_forward(values, x);
    } else {
      substitute_backward(values, values + width * width, x);
    }
  }
};

/// Columns that a team of the kernels below works on: a thread each on CUDA.
inline constexpr int columns_per_team = 64;

/// B = T^-1 B for a tile T of at most panel_width rows: a column of B a
/// thread, in registers, T in scratch. For hosts.
template <class Scalar, class ExecutionSpace, Uplo uplo>
struct SolveTile {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  static constexpr int width = panel_width<Scalar>;

  DenseRef<Scalar> tile, b;
  int rows;
  std::int64_t columns;

  static constexpr int scratch_bytes() {
    return ScratchTile<Scalar, uplo>::size * static_cast<int>(sizeof(Scalar));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const ScratchTile<Scalar, uplo> t{
        static_cast<Scalar*>(team.team_shmem().get_shmem(scratch_bytes()))};
    t.load(team.team_rank(), team.team_size(), tile, rows);
    team.team_barrier();
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * columns_per_team;
    const int count =
        static_cast<int>(first + columns_per_team < columns ? columns_per_team
                                                            : columns - first);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int place) {
      Scalar* const column = &b(0, first + place);
      Scalar x[width];
      STRATA_IMPL_UNROLL
      for (int k = 0; k < width; ++k) x[k] = k < rows ? column[k] : Scalar(0);
      t.solve(x);
      STRATA_IMPL_UNROLL
      for (int k = 0; k < width; ++k)
        if (k < rows) column[k] = x[k];
    });
  }
};

template <class Policy>
Policy column_teams(const typename Policy::execution_space& exec,
                    std::int64_t columns, int scratch_bytes) {
  const int threads =
      is_gpu<typename Policy::execution_space> ? columns_per_team : 1;
  return Policy(exec,
                static_cast<int>((columns + columns_per_team - 1) /
                                 columns_per_team),
                threads)
      .set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
}

/// B = T^-1 B for a triangle T of some tiles, for CUDA: a row of B a thread
/// and `count` columns of it in registers. Tile by tile, `count` threads solve
/// for a column each, and all rows that depend on it take the answer.
template <class Scalar, class ExecutionSpace, Uplo uplo, int count>
struct SolveRows {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  using Tile = ScratchTile<Scalar, uplo>;
  static constexpr int width = panel_width<Scalar>;
  static constexpr int pitch = count + 1;

  DenseRef<Scalar> t, b;
  int rows;
  std::int64_t columns;

  static constexpr int scratch_bytes() {
    return (Tile::size + width * pitch) * static_cast<int>(sizeof(Scalar));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Tile tile{
        static_cast<Scalar*>(team.team_shmem().get_shmem(scratch_bytes()))};
    Scalar* const x = tile.values + Tile::size;
    const int row = team.team_rank(), threads = team.team_size();
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * count;
    Scalar v[count];
    STRATA_IMPL_UNROLL
    for (int c = 0; c < count; ++c)
      v[c] = row < rows && first + c < columns ? b(row, first + c) : Scalar(0);
    const int tiles = (rows + width - 1) / width;
    for (int step = 0; step < tiles; ++step) {
      const int r = (uplo == Uplo::lower ? step : tiles - 1 - step) * width;
      const bool mine = row >= r && row < r + width;
      const bool depends =
          row < rows && (uplo == Uplo::lower ? row >= r + width : row < r);
      tile.load(row, threads, t.from(r, r), rows - r);
      // Under way while the tile is solved.
      Scalar l[width];
      STRATA_IMPL_UNROLL
      for (int k = 0; k < width; ++k)
        l[k] = depends && r + k < rows ? t(row, r + k) : Scalar(0);
      if (mine) {
        STRATA_IMPL_UNROLL
        for (int c = 0; c < count; ++c) x[(row - r) * pitch + c] = v[c];
      }
      team.team_barrier();
      if (row < count) {
        Scalar y[width];
        STRATA_IMPL_UNROLL
        for (int k = 0; k < width; ++k) y[k] = x[k * pitch + row];
        tile.solve(y);
        STRATA_IMPL_UNROLL
        for (int k = 0; k < width; ++k) x[k * pitch + row] = y[k];
      }
      team.team_barrier();
      if (mine) {
        STRATA_IMPL_UNROLL
        for (int c = 0; c < count; ++c) v[c] = x[(row - r) * pitch + c];
      }
      if (depends) {
        STRATA_IMPL_UNROLL
        for (int k = 0; k < width; ++k) STRATA_IMPL_UNROLL
        for (int c = 0; c < count; ++c) v[c] -= l[k] * x[k * pitch + c];
      }
      team.team_barrier();
    }
    STRATA_IMPL_UNROLL
    for (int c = 0; c < count; ++c)
      if (row < rows && first + c < columns) b(row, first + c) = v[c];
  }
};

/// Rows that one launch of solve_rows takes: with many columns teams are
/// smaller, and products do more of the work.
template <class Scalar, class ExecutionSpace>
constexpr std::int64_t rows_per_launch(std::int64_t columns) {
  return is_gpu<ExecutionSpace> ? (columns > 4096 ? 128 : 256)
                                : panel_width<Scalar>;
}

template <Uplo uplo, class Scalar, class ExecutionSpace>
void solve_rows(const ExecutionSpace& exec, const DenseRef<Scalar>& t,
                const DenseRef<Scalar>& b, int rows, std::int64_t columns) {
  if constexpr (is_gpu<ExecutionSpace>) {
    const auto run = [&](auto solve, int count) {
      using Solve = decltype(solve);
      constexpr int lanes = lane_width<ExecutionSpace>;
      const int threads = (rows + lanes - 1) / lanes * lanes;
      Kokkos::parallel_for(
          "Strata::Dense::SolveRows",
          typename Solve::Policy(
              exec, static_cast<int>((columns + count - 1) / count), threads)
              .set_scratch_size(0, Kokkos::PerTeam(Solve::scratch_bytes())),
          Solve{t, b, rows, columns});
    };
    constexpr int few = 4, many = panel_width<Scalar>;
    if (columns <= few)
      run(SolveRows<Scalar, ExecutionSpace, uplo, few>{}, few);
    else
      run(SolveRows<Scalar, ExecutionSpace, uplo, many>{}, many);
  } else {
    using Tile = SolveTile<Scalar, ExecutionSpace, uplo>;
    Kokkos::parallel_for("Strata::Dense::SolveTile",
                         column_teams<typename Tile::Policy>(
                             exec, columns, Tile::scratch_bytes()),
                         Tile{t, b, rows, columns});
  }
}

/// B = T^-1 B for a triangular T, rows x rows, unit where lower, and B rows x
/// columns: halves, so that most of it are products of large matrices.
/// On a host with `use_blas` by BLAS. The tiles are solved by substitution and
/// not by a product with an inverse, so the residual stays small for any T.
/// Asynchronous.
template <Uplo uplo, class Scalar, class ExecutionSpace>
void solve_triangle(const ExecutionSpace& exec, const DenseRef<Scalar>& t,
                    const DenseRef<Scalar>& b, std::int64_t rows,
                    std::int64_t columns, bool use_blas) {
  if (rows == 0 || columns == 0) return;
  if constexpr (has_lapack<ExecutionSpace>) {
    if (use_blas) {
      exec.fence();
      return Lapack<Scalar>::trsm(uplo == Uplo::upper, static_cast<int>(rows),
                                  static_cast<int>(columns), t.data,
                                  static_cast<int>(t.ld), b.data,
                                  static_cast<int>(b.ld));
    }
  }
  const std::int64_t at_once = rows_per_launch<Scalar, ExecutionSpace>(columns);
  if (rows <= at_once) {
    solve_rows<uplo>(exec, t, b, static_cast<int>(rows), columns);
    return;
  }
  // The first half is a whole number of these.
  const std::int64_t top = (rows / at_once + 1) / 2 * at_once;
  if constexpr (uplo == Uplo::lower) {
    solve_triangle<uplo>(exec, t, b, top, columns, use_blas);
    subtract_product(exec, t.from(top, 0), b, b.from(top, 0), rows - top,
                     columns, top, use_blas);
    solve_triangle<uplo>(exec, t.from(top, top), b.from(top, 0), rows - top,
                         columns, use_blas);
  } else {
    solve_triangle<uplo>(exec, t.from(top, top), b.from(top, 0), rows - top,
                         columns, use_blas);
    subtract_product(exec, t.from(0, top), b.from(top, 0), b, top, columns,
                     rows - top, use_blas);
    solve_triangle<uplo>(exec, t, b, top, columns, use_blas);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
