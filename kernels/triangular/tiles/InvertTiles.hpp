// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_INVERT_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_INVERT_TILES_HPP

#include <analysis/tiles/MakeTilePlan.hpp>
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
  static constexpr int threads = 128, stride = most_tile_rows + 1;
  static constexpr std::size_t scratch_bytes =
      std::size_t{2} * most_tile_rows * stride * sizeof(Scalar) + 16 +
      2 * most_tile_rows * sizeof(double) +
      (2 * most_tile_rows + 1) * sizeof(int);

  /// A team's scratch, and what a thread works on: columns, or rows, from
  /// `lane` on in steps of `lanes`, and the others from `first` on in steps of
  /// `step`.
  struct Block {
    Scalar *l, *c;  // row r of its tile at [r * stride]
    double *sum, *product;
    int* place;  // of each row in its tile
    unsigned* ancestors;
    int* good;
    int lane, lanes, first, step;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION static Block block_of(const Team& team) {
    auto* at = static_cast<unsigned char*>(
        team.team_scratch(0).get_shmem(static_cast<int>(scratch_bytes)));
    at += (16 - reinterpret_cast<std::uintptr_t>(at) % 16) % 16;
    constexpr int numbers = most_tile_rows * stride;
    Block block;
    block.l = reinterpret_cast<Scalar*>(at);
    block.c = block.l + numbers;
    block.sum = reinterpret_cast<double*>(block.c + numbers);
    block.product = block.sum + most_tile_rows;
    block.place = reinterpret_cast<int*>(block.product + most_tile_rows);
    block.ancestors = reinterpret_cast<unsigned*>(block.place + most_tile_rows);
    block.good = block.place + 2 * most_tile_rows;
    const int rank = team.team_rank(), size = team.team_size();
    block.lanes = size < most_tile_rows ? 1 : most_tile_rows;
    block.lane = rank % block.lanes;
    block.first = rank / block.lanes;
    block.step = size / block.lanes;
    return block;
  }
  KOKKOS_INLINE_FUNCTION bool is_invalid() const {
    return invalid_flag != nullptr && load_relaxed(invalid_flag) != 0;
  }

  /// L, and in C the right-hand sides of its columns.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void read(const Team& team, const TileGroup& g,
                                   const Block& at) const {
    for (int r = team.team_rank(); r < g.rows; r += team.team_size()) {
      at.place[r] = plan.place_in_tile(g.first_row + r);
      at.ancestors[r] = plan.ancestors(g.first_row + r);
    }
    for (int r = at.first; r < g.rows; r += at.step)
      for (int j = at.lane; j < g.width; j += at.lanes)
        at.l[r * stride + j] = at.c[r * stride + j] = Scalar(0);
    team.team_barrier();
    const bool invalid = is_invalid();
    for (int r = at.first; r < g.rows; r += at.step) {
      const int p = g.first_row + r, own = at.place[r];
      Scalar* const l = at.l + r * stride;
      const std::int64_t end = plan.inner_map(p + 1);
      for (std::int64_t k = plan.inner_map(p) + at.lane; k < end; k += at.lanes)
        l[plan.inner_place(k)] = values(plan.inner_value_index(k));
      if (at.lane > 0) continue;
      l[own] = invalid ? not_a_number<Scalar>()
                       : values.or_one(plan.diagonal_value_index(p));
      at.c[r * stride + own] = Scalar(1);
    }
    team.team_barrier();
    for (int r = team.team_rank(); r < g.rows; r += team.team_size()) {
      double sum = 0;
      for (int j = 0; j <= at.place[r]; ++j)
        sum += one_norm(at.l[r * stride + j]);
      at.sum[r] = sum;
    }
  }
  /// Forward substitution for all columns of C: row k of each tile is divided
  /// by its diagonal, then subtracted from the rows below.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void solve_columns(const Team& team,
                                            const TileGroup& g,
                                            const Block& at) const {
    bool good = true;
    for (int k = 0; k < g.width; ++k) {
      for (int r = at.first; r < g.rows; r += at.step) {
        if (at.place[r] != k) continue;
        for (int j = at.lane; j <= k; j += at.lanes) {
          Scalar& c = at.c[r * stride + j];
          const Scalar sum = c;
          c = at.ancestors[r] >> j & 1u ? sum / at.l[r * stride + k]
                                        : Scalar(0);
          if (at.ancestors[r] >> j & 1u) good = good && !is_lost(sum, c);
        }
      }
      team.team_barrier();
      for (int r = at.first; r < g.rows; r += at.step) {
        if (at.place[r] <= k) continue;
        const Scalar l = at.l[r * stride + k];
        const Scalar* const above = at.c + (r - at.place[r] + k) * stride;
        for (int j = at.lane; j <= k; j += at.lanes) {
          if (!(at.ancestors[r] >> j & 1u)) continue;
          const Scalar product = l * above[j];
          good = good && !(is_lost(l, product) && one_norm(above[j]) > 0);
          at.c[r * stride + j] -= product;
        }
      }
      team.team_barrier();
    }
    if (!good) Kokkos::atomic_and(at.good, 0);
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
    team.team_barrier();
    if (!keeps) {
      solve_columns(team, g, at);
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
    for (int j = at.first; j < g.width; j += at.step)
      for (int r = at.lane; r < g.rows; r += at.lanes)
        inner(g.first_inner + std::int64_t{j} * g.rows + r) =
            at.ancestors[r] >> j & 1u ? from[r * stride + j] : Scalar(0);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
