// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_DENSE_TRIANGLE_HPP
#define STRATA_DENSE_TRIANGLE_HPP

#include <detail/Strata_DenseProduct.hpp>

namespace Strata {
namespace Detail {

/// Forward substitution with a unit lower tile in scratch, by rows: entry
/// (i, j) at tile[i * width + j], zero outside.
template <int width, class Scalar>
KOKKOS_INLINE_FUNCTION void substitute_forward(const Scalar* tile,
                                               Scalar (&x)[width]) {
  STRATA_IMPL_UNROLL
  for (int j = 0; j < width; ++j)
    STRATA_IMPL_UNROLL
  for (int i = j + 1; i < width; ++i) x[i] -= tile[i * width + j] * x[j];
}

/// Back substitution with an upper tile; its diagonal is stored, one past the
/// end.
template <int width, class Scalar>
KOKKOS_INLINE_FUNCTION void substitute_backward(const Scalar* tile,
                                                Scalar (&x)[width]) {
  STRATA_IMPL_UNROLL
  for (int j = width - 1; j >= 0; --j) {
    x[j] = x[j] / tile[j * width + j];
    STRATA_IMPL_UNROLL
    for (int i = 0; i < j; ++i) x[i] -= tile[i * width + j] * x[j];
  }
}

/// Columns that a team of the kernels below works on: a thread each on CUDA.
inline constexpr int columns_per_team = 64;

/// B = T^-1 B for a tile T of at most panel_width rows: a column of B a
/// thread, in registers, T in scratch.
template <class Scalar, class ExecutionSpace, Uplo uplo>
struct SolveTile {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  static constexpr int width = panel_width<Scalar>;

  DenseRef<Scalar> tile, b;
  int rows;
  std::int64_t columns;

  static constexpr int scratch_bytes() {
    return width * width * static_cast<int>(sizeof(Scalar));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scalar* const t =
        static_cast<Scalar*>(team.team_shmem().get_shmem(scratch_bytes()));
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, width * width), [&](int place) {
          const int i = place % width, j = place / width;
          const bool inside = i < rows && j < rows &&
                              (uplo == Uplo::lower ? j < i : j >= i);
          t[i * width + j] = inside ? tile(i, j) : Scalar(i == j ? 1 : 0);
        });
    team.team_barrier();
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * columns_per_team;
    const int count = static_cast<int>(
        first + columns_per_team < columns ? columns_per_team
                                           : columns - first);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int place) {
      Scalar* const column = &b(0, first + place);
      Scalar x[width];
      STRATA_IMPL_UNROLL
      for (int k = 0; k < width; ++k) x[k] = k < rows ? column[k] : Scalar(0);
      if constexpr (uplo == Uplo::lower)
        substitute_forward(t, x);
      else
        substitute_backward(t, x);
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
      is_cuda<typename Policy::execution_space> ? columns_per_team : 1;
  return Policy(exec,
                static_cast<int>((columns + columns_per_team - 1) /
                                 columns_per_team),
                threads)
      .set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
}

/// B = T^-1 B for a triangular T, rows x rows, unit where lower, and B rows x
/// columns: halves, so that most of it are products of large matrices.
/// Substitution and not a product with an inverse in the tiles: the residual
/// stays small for any T. Asynchronous.
template <Uplo uplo, class Scalar, class ExecutionSpace>
void solve_triangle(const ExecutionSpace& exec, const DenseRef<Scalar>& t,
                    const DenseRef<Scalar>& b, std::int64_t rows,
                    std::int64_t columns) {
  constexpr std::int64_t width = panel_width<Scalar>;
  if (rows == 0 || columns == 0) return;
  if (rows <= width) {
    using Tile = SolveTile<Scalar, ExecutionSpace, uplo>;
    Kokkos::parallel_for("Strata::Dense::SolveTile",
                         column_teams<typename Tile::Policy>(
                             exec, columns, Tile::scratch_bytes()),
                         Tile{t, b, static_cast<int>(rows), columns});
    return;
  }
  // The first half is a whole number of tiles.
  const std::int64_t top = (rows / width + 1) / 2 * width;
  if constexpr (uplo == Uplo::lower) {
    solve_triangle<uplo>(exec, t, b, top, columns);
    subtract_product(exec, t.from(top, 0), b, b.from(top, 0), rows - top,
                     columns, top);
    solve_triangle<uplo>(exec, t.from(top, top), b.from(top, 0), rows - top,
                         columns);
  } else {
    solve_triangle<uplo>(exec, t.from(top, top), b.from(top, 0), rows - top,
                         columns);
    subtract_product(exec, t.from(0, top), b.from(top, 0), b, top, columns,
                     rows - top);
    solve_triangle<uplo>(exec, t, b, top, columns);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
