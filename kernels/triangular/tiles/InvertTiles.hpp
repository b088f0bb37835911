// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_INVERT_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_INVERT_TILES_HPP

#include <analysis/tiles/MakeTilePlan.hpp>
#include <core/device/Scratch.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/triangular/merging/MergedNumbers.hpp>

namespace Strata {
namespace Detail {

/// Whether `made`, which comes from a number that is not 0, is too small to
/// have all its digits.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool is_lost(const Scalar& from, const Scalar& made) {
  return one_norm(made) < SpreadSums<Scalar>::tiny && one_norm(from) > 0;
}

/// Inverts the diagonal blocks of tiles, a team each group: what a solve
/// multiplies with instead of going through a tile row by row. If an inverse
/// would cost accuracy, the group keeps its entries, and solves go row by row.
///
/// Let L be the block of a tile with s rows, C its inverse, as computed column
/// by column by forward substitution, and y = L x the right-hand side that a
/// solve finds. Row i depends on t_i rows of the tile, itself included. A
/// product goes through at most t_i roundings where L C is computed, and
/// t_i in C y, in any order, half an eps each. So L C - I is at most
/// t_i / 2 eps |L| |C| in row i, a product adds t_i / 2 eps |C| |y|, and the
/// residual of row i is at most t_i eps (|L| |C| |y|)_i. As |y| <= |L| |x|, the
/// contract of docs/accuracy.md holds for Accuracy::rowwise if
///
///     t_i (|L| |C| |L| e)_i <= limit m (|L| e)_i
///
/// where e is the vector of ones and m the longest row of the matrix, and if no
/// product of C underflows. In a run that has weights, what stands for x grows
/// by up to MakeWeights' factor, and with it the sum on the left.
template <class Scalar, class MemorySpace>
struct InvertTiles {
  TilePlan<MemorySpace> plan;
  Kokkos::View<Scalar*, MemorySpace> inner;
  Kokkos::View<int*, MemorySpace> inverted;  // of each group: 1, or 0
  GivenValues<Scalar> values;
  /// Whether all groups are left as they are: no rounding error may grow.
  bool keep_all;
  double longest_row;
  Kokkos::View<const double*, MemorySpace> growth;  // of each run
  /// A word in device memory: if it is not 0, the values are not to be used.
  const int* invalid_flag;

  /// Of 100, what the sums of outside entries leave.
  static constexpr double limit = 98, limit_in_run = 60;
  static constexpr int threads = 32, stride = most_tile_rows + 1;
  static constexpr std::size_t scratch_bytes =
      std::size_t{2} * most_tile_rows * stride * sizeof(Scalar) + 16 +
      3 * most_tile_rows * sizeof(double) +
      (2 * most_tile_rows + 1) * sizeof(int);

  /// A team's scratch.
  struct Block {
    Scalar *l, *c;  // row r at [r * stride]: of each tile, its own columns
    double *sum, *product, *least;  // of rows; the least number that is not 0
    int* place;                     // of each row in its tile
    unsigned* ancestors;
    int* good;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION static Block block_of(const Team& team) {
    constexpr int numbers = most_tile_rows * stride;
    Block block;
    block.l = aligned_scratch<Scalar>(team, scratch_bytes);
    block.c = block.l + numbers;
    block.sum = reinterpret_cast<double*>(block.c + numbers);
    block.product = block.sum + most_tile_rows;
    block.least = block.product + most_tile_rows;
    block.place = reinterpret_cast<int*>(block.least + most_tile_rows);
    block.ancestors = reinterpret_cast<unsigned*>(block.place + most_tile_rows);
    block.good = block.place + 2 * most_tile_rows;
    return block;
  }
  KOKKOS_INLINE_FUNCTION bool is_invalid() const {
    return invalid_flag != nullptr && load_relaxed(invalid_flag) != 0;
  }

  /// L. A thread has several loads under way.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void read(const Team& team, const TileGroup& g,
                                   const Block& at) const {
    constexpr int batch = 8;
    const int rank = team.team_rank(), size = team.team_size();
    const std::int64_t begin = plan.inner_map(g.first_row);
    const auto count =
        static_cast<int>(plan.inner_map(g.first_row + g.rows) - begin);
    for (int r = rank; r < g.rows; r += size) {
      at.place[r] = plan.place_in_tile(g.first_row + r);
      at.ancestors[r] = plan.ancestors(g.first_row + r);
      for (int j = 0; j < g.width; ++j) at.l[r * stride + j] = Scalar(0);
    }
    team.team_barrier();
    for (int r = rank; r < g.rows; r += size)
      at.l[r * stride + at.place[r]] =
          is_invalid()
              ? not_a_number<Scalar>()
              : values.or_one(plan.diagonal_value_index(g.first_row + r));
    for (int first = rank; first < count; first += batch * size) {
      int to[batch] = {};
      std::int64_t from[batch] = {};
      Scalar value[batch] = {};
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const std::int64_t k = begin + first + u * size;
        if (first + u * size >= count) continue;
        to[u] = plan.inner_row(k) * stride + plan.inner_place(k);
        from[u] = plan.inner_value_index(k);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (first + u * size < count) value[u] = values(from[u]);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (first + u * size < count) at.l[to[u]] = value[u];
    }
    team.team_barrier();
    for (int r = rank; r < g.rows; r += size) {
      double sum = 0, least = 1;
      for (int j = 0; j <= at.place[r]; ++j) {
        const double norm = one_norm(at.l[r * stride + j]);
        sum += norm;
        if (norm > 0 && norm < least) least = norm;
      }
      at.sum[r] = sum;
      at.least[r] = least;
    }
    team.team_barrier();
  }
  /// The column of C that belongs to row r.
  /// @returns whether no product underflows
  KOKKOS_INLINE_FUNCTION bool solve_column(const TileGroup& g, int r,
                                           const Block& at) const {
    const int column = at.place[r], base = r - column;
    bool good = true;
    double least = 1, least_of_l = 1;
    int i = r;
    for (; i < g.rows; ++i) {
      const int row = i - base;
      if (at.place[i] != row) break;  // the next tile
      const Scalar* const l = at.l + i * stride;
      const Scalar* const c = at.c + base * stride + column;
      Scalar sum(row == column ? 1 : 0), made(0);
      if (at.ancestors[i] >> column & 1u) {
        for (int k = column; k < row; ++k) sum -= l[k] * c[k * stride];
        made = sum / l[row];
        good = good && !is_lost(sum, made);
      }
      at.c[i * stride + column] = made;
      const double norm = one_norm(made);
      if (norm > 0 && norm < least) least = norm;
      if (at.least[i] < least_of_l) least_of_l = at.least[i];
    }
    for (int above = 0; above < column; ++above)
      at.c[(base + above) * stride + column] = Scalar(0);
    // The norm of a product is half the product of the norms at least.
    if (least * least_of_l >= 2 * SpreadSums<Scalar>::tiny) return good;
    for (int below = r; below < i; ++below)
      for (int k = column; k < below - base; ++k) {
        const Scalar& l = at.l[below * stride + k];
        const Scalar& c = at.c[(base + k) * stride + column];
        if (one_norm(c) > 0 && is_lost(l, l * c)) good = false;
      }
    return good;
  }
  /// Sum over the tile's columns of |matrix(r, j)| of_column[base + j].
  KOKKOS_INLINE_FUNCTION double times(const Scalar* matrix,
                                      const double* of_column, int r,
                                      const Block& at) const {
    double sum = 0;
    for (int j = 0; j <= at.place[r]; ++j)
      sum += one_norm(matrix[r * stride + j]) * of_column[r - at.place[r] + j];
    return sum;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const TileGroup g = plan.group(team.league_rank());
    const int rank = team.team_rank(), size = team.team_size();
    const Block at = block_of(team);
    const bool keeps = keep_all || is_invalid();
    if (rank == 0) *at.good = keeps ? 0 : 1;
    read(team, g, at);
    if (!keeps) {
      for (int r = rank; r < g.rows; r += size)
        if (!solve_column(g, r, at)) Kokkos::atomic_and(at.good, 0);
      team.team_barrier();
      for (int r = rank; r < g.rows; r += size)
        at.product[r] = times(at.c, at.sum, r, at);
      team.team_barrier();
      for (int r = rank; r < g.rows; r += size) {
        const double bound = times(at.l, at.product, r, at);
        const int entries = count_bits(at.ancestors[r]);
        const double grows = g.run < 0 ? 0 : growth(g.run);
        const double most = grows > 0 ? limit_in_run / grows : limit;
        const double allowed = most * longest_row * at.sum[r];
        // Not so for numbers that are not finite, either.
        if (!(entries * bound <= allowed && is_finite(allowed)))
          Kokkos::atomic_and(at.good, 0);
      }
      team.team_barrier();
    }
    const bool good = *at.good != 0;
    if (rank == 0) inverted(team.league_rank()) = good ? 1 : 0;
    const Scalar* const from = good ? at.c : at.l;
    // Zeros elsewhere, as solves multiply without a look at `ancestors`.
    for (int r = rank; r < g.rows; r += size)
      for (int j = 0; j < g.width; ++j)
        inner(g.first_inner + std::int64_t{j} * g.rows + r) =
            at.ancestors[r] >> j & 1u ? from[r * stride + j] : Scalar(0);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
