// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_MAKE_WEIGHTS_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_MAKE_WEIGHTS_HPP

#include <kernels/triangular/tiles/InvertTiles.hpp>

namespace Strata {
namespace Detail {

/// Makes the weights of the unknowns that runs of tiles wait for, W = L^-1 A in
/// SolveTiles, a warp each run and a lane each column, by substitution.
///
/// Let m be the longest row of the matrix, k the run's unknowns, t_i the entries
/// of row i in L, and w_i = (|W| e)_i, e the vector of ones. A solve finds y =
/// x + W u, so |y| <= (1 + w) max |x|: the residual of L y = b grows by that
/// factor. W has the residual t_i / 2 eps |L| |W|, and y - W u is rounded by at
/// most (k + 1) / 2 eps (|y| + |W| |u|) in each row, what L multiplies. So x
/// keeps the contract of docs/accuracy.md for Accuracy::rowwise, with what
/// InvertTiles leaves, if
///
///     (k + 1 + t_i) (|L| (e + w))_i <= limit m (|L| e + |A| e)_i
///
/// and if 1 + w is at most `most_growth`. Weights below eps^2 are taken as 0,
/// which moves x by less than its rounding errors; the other products must not
/// underflow.
template <class Scalar, class MemorySpace>
struct MakeWeights {
  TilePlan<MemorySpace> plan;
  Kokkos::View<const Scalar*, MemorySpace> value;  // of the plan's slots
  GivenValues<Scalar> values;
  Kokkos::View<Scalar*, MemorySpace> weight;
  Kokkos::View<double*, MemorySpace> sum;  // of each row: w
  /// Of each run: the largest 1 + w, or 0 if solves must do without weights.
  Kokkos::View<double*, MemorySpace> growth;
  double longest_row;
  /// A word in device memory: if it is not 0, the values are not to be used.
  const int* invalid_flag;

  /// Of 100.
  static constexpr double limit = 30;
  static constexpr double most_growth = 4;
  static constexpr int threads = most_run_unknowns;
  /// Rows whose weights are in scratch.
  static constexpr int ring = 512 / sizeof(Scalar);

  struct Shared {
    Scalar weight[ring][threads];
    double sum[ring];
    Scalar l[most_tile_rows][most_tile_rows + 1];
    unsigned columns[most_tile_rows];  // of a row of l that are stored
  };
  /// A lane's entry of a row: a place before the row, or -1.
  struct Entry {
    int q;
    Scalar v;
  };
  /// What a lane adds to the sums of a row.
  struct Sums {
    double of_l, all;
    int entries;
  };

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    alignas(16) STRATA_IMPL_TEAM_SHARED typename ScalarWords<Scalar>::Word
        words[sizeof(Shared) / sizeof(typename ScalarWords<Scalar>::Word)];
    auto& at = *reinterpret_cast<Shared*>(words);
    const int r = team.league_rank(), lane = team.team_rank();
    const TileRun run = plan.run(r);
    const int mine = lane < run.unknowns
                         ? plan.unknown(std::int64_t{r} * threads + lane)
                         : -1;
    constexpr double eps = SpreadSums<Scalar>::is_single ? 6e-8 : 1.1e-16;
    bool good = invalid_flag == nullptr || load_relaxed(invalid_flag) == 0;
    double grows = 1;
    for (int k = run.first_group; k < run.end_group; ++k) {
      const TileGroup g = plan.group(k);
      lane_barrier();
      if (lane < g.rows) read_row(g, lane, at);
      lane_barrier();
      Entry next = entry_of(g, 0, lane);
      for (int i = 0; i < g.rows; ++i) {
        const int p = g.first_row + i;
        Entry entry = next;
        if (i + 1 < g.rows) next = entry_of(g, i + 1, lane);
        Scalar w(0);
        Sums sums{0, 0, 0};
        for (int e = 0;;) {
          add_outside(run, p, entry, mine, lane, at, w, sums, good);
          e += threads;
          if (e >= g.steps << g.log_lanes) break;
          entry = entry_of(g, i, e + lane);
        }
        const unsigned columns = at.columns[i];
        if (lane < i && (columns >> lane & 1u))
          count(at.l[i][lane], at.sum[(p - i + lane - run.first_row) % ring],
                sums);
        for (unsigned left = columns & ((1u << i) - 1u); left != 0;
             left &= left - 1) {
          const int j = lowest_bit(left);
          subtract(at.l[i][j],
                   at.weight[(p - i + j - run.first_row) % ring][lane], w,
                   good);
        }
        const Scalar diagonal = at.l[i][i];
        w = w / diagonal;
        if (!(one_norm(w) >= eps * eps)) {
          if (!is_finite(w)) good = false;
          w = Scalar(0);
        }
        if (mine >= 0) weight(place_of(run, p, lane)) = w;
        at.weight[(p - run.first_row) % ring][lane] = w;
        const double of_row = lane_group_sum(one_norm(w), threads);
        if (lane == 0) {
          sum(p) = of_row;
          at.sum[(p - run.first_row) % ring] = of_row;
          count(diagonal, of_row, sums);
        }
        const double of_l = lane_group_sum(sums.of_l, threads),
                     all = lane_group_sum(sums.all, threads);
        const int entries = lane_group_sum(sums.entries, threads);
        grows = 1 + of_row > grows ? 1 + of_row : grows;
        if (!((run.unknowns + 1 + entries) * of_l <= limit * longest_row * all))
          good = false;
        lane_barrier();
      }
    }
    const bool all_good = !lane_any(!good) && grows <= most_growth;
    if (lane == 0) growth(r) = all_good ? grows : 0;
  }

 private:
  /// Of the weight of unknown u in the row at place p.
  KOKKOS_INLINE_FUNCTION static std::int64_t place_of(const TileRun& run, int p,
                                                      int u) {
    return run.first_weight + std::int64_t{u} * run.rows + (p - run.first_row);
  }
  /// Row r of the tile's block.
  KOKKOS_INLINE_FUNCTION void read_row(const TileGroup& g, int r,
                                       Shared& at) const {
    const int p = g.first_row + r;
    unsigned columns = 0;
    for (std::int64_t e = plan.inner_map(p); e < plan.inner_map(p + 1); ++e) {
      const int j = plan.inner_place(e);
      at.l[r][j] = values(plan.inner_value_index(e));
      columns |= 1u << j;
    }
    at.l[r][r] = values.or_one(plan.diagonal_value_index(p));
    at.columns[r] = columns;
  }
  KOKKOS_INLINE_FUNCTION Entry entry_of(const TileGroup& g, int r,
                                        int e) const {
    if (e >= g.steps << g.log_lanes) return {-1, Scalar(0)};
    const std::int64_t slot = slot_of(g, r, e);
    return {plan.dependency(slot), value(slot)};
  }
  KOKKOS_INLINE_FUNCTION static void count(const Scalar& v, double of_row,
                                           Sums& sums) {
    sums.of_l += one_norm(v) * (1 + of_row);
    sums.all += one_norm(v);
    ++sums.entries;
  }
  KOKKOS_INLINE_FUNCTION static void subtract(const Scalar& v,
                                              const Scalar& by, Scalar& w,
                                              bool& good) {
    const Scalar product = v * by;
    if (one_norm(by) > 0 && is_lost(v, product)) good = false;
    w -= product;
  }
  /// The entries outside of the tile that the lanes have in hand.
  KOKKOS_INLINE_FUNCTION void add_outside(const TileRun& run, int p,
                                          const Entry& entry, int mine,
                                          int lane, const Shared& at, Scalar& w,
                                          Sums& sums, bool& good) const {
    const bool in_run = entry.q >= run.first_row;
    const auto is_near = [&](int q) { return p - q < ring; };
    const auto in_ring = [&](int q) { return (q - run.first_row) % ring; };
    if (in_run)
      count(entry.v, is_near(entry.q) ? at.sum[in_ring(entry.q)] : sum(entry.q),
            sums);
    else
      sums.all += one_norm(entry.v);
    for (unsigned left = lane_ballot(entry.q >= 0); left != 0;
         left &= left - 1) {
      const int from = lowest_bit(left), q = lane_broadcast(entry.q, from);
      const Scalar v = lane_read(entry.v, from);
      if (q < run.first_row) {
        if (q == mine) w += v;
      } else if (is_near(q)) {
        subtract(v, at.weight[in_ring(q)][lane], w, good);
      } else if (mine >= 0) {
        subtract(v, weight(place_of(run, q, lane)), w, good);
      }
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
