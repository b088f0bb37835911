// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_MAKE_WEIGHTS_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_MAKE_WEIGHTS_HPP

#include <core/device/NotReady.hpp>
#include <kernels/triangular/tiles/InvertTiles.hpp>

namespace Strata {
namespace Detail {

/// Makes the weights of the unknowns that runs of tiles wait for, W = L^-1 A in
/// SolveTiles, a warp each run and a lane each column, by substitution.
///
/// Let m be the longest row of the matrix, k the run's unknowns, t_i the
/// entries of row i in L, and w_i = (|W| e)_i, e the vector of ones. A solve
/// finds y = x + W u, so |y| <= (1 + w) max |x|: the residual of L y = b grows
/// by that factor. W has the residual t_i / 2 eps |L| |W|, and y - W u is
/// rounded by at most (k + 1) / 2 eps (|y| + |W| |u|) in each row, what L
/// multiplies. So x keeps the contract of docs/accuracy.md for
/// Accuracy::rowwise, with what InvertTiles leaves, if
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
    Scalar l[most_tile_rows][most_tile_rows + 1];
    unsigned columns[most_tile_rows];          // of a row of l that are stored
    double size[most_tile_rows][threads + 1];  // of the tile's weights
  };
  /// A lane's entry of a row: a place before the row, or -1.
  struct Entry {
    int q;
    Scalar v;
  };

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    alignas(16) STRATA_IMPL_TEAM_SHARED RealOf<Scalar>
        words[sizeof(Shared) / sizeof(RealOf<Scalar>)];
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
        for (int e = 0;;) {
          subtract_outside(run, p, entry, mine, lane, at, w, good);
          e += threads;
          if (e >= g.steps << g.log_lanes) break;
          entry = entry_of(g, i, e + lane);
        }
        for (unsigned left = at.columns[i]; left != 0; left &= left - 1) {
          const int j = lowest_bit(left);
          subtract(at.l[i][j],
                   at.weight[(p - i + j - run.first_row) % ring][lane], w,
                   good);
        }
        w = w / at.l[i][i];
        if (!(one_norm(w) >= eps * eps)) {
          if (!is_finite(w)) good = false;
          w = Scalar(0);
        }
        if (mine >= 0) weight(place_of(run, p, lane)) = w;
        at.weight[(p - run.first_row) % ring][lane] = w;
        at.size[i][lane] = one_norm(w);
      }
      lane_barrier();
      check(run, g, lane, at, grows, good);
    }
    for (int other = threads / 2; other > 0; other /= 2) {
      const double theirs = lane_xor(grows, other);
      grows = theirs > grows ? theirs : grows;
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
  /// Whether the rows of a tile keep the contract, a lane each.
  KOKKOS_INLINE_FUNCTION void check(const TileRun& run, const TileGroup& g,
                                    int lane, const Shared& at, double& grows,
                                    bool& good) const {
    const int p = g.first_row + lane;
    double of_row = 0;
    if (lane < g.rows) {
      for (int u = 0; u < run.unknowns; ++u) of_row += at.size[lane][u];
      sum(p) = of_row;
    }
    lane_barrier();
    if (lane >= g.rows) return;
    double of_l = one_norm(at.l[lane][lane]) * (1 + of_row);
    double all = one_norm(at.l[lane][lane]);
    int entries = 1;
    const auto add = [&](const Scalar& v, int q) {
      all += one_norm(v);
      if (q < run.first_row) return;
      of_l += one_norm(v) * (1 + sum(q));
      ++entries;
    };
    for (int e = 0; e < g.steps << g.log_lanes; ++e) {
      const Entry entry = entry_of(g, lane, e);
      if (entry.q >= 0) add(entry.v, entry.q);
    }
    for (unsigned left = at.columns[lane]; left != 0; left &= left - 1) {
      const int j = lowest_bit(left);
      add(at.l[lane][j], g.first_row + j);
    }
    grows = 1 + of_row > grows ? 1 + of_row : grows;
    const double allowed = limit * longest_row * all;
    if (!((run.unknowns + 1 + entries) * of_l <= allowed && is_finite(allowed)))
      good = false;
  }
  KOKKOS_INLINE_FUNCTION static void subtract(const Scalar& v, const Scalar& by,
                                              Scalar& w, bool& good) {
    const Scalar product = v * by;
    if (one_norm(by) > 0 && is_lost(v, product)) good = false;
    w -= product;
  }
  /// The entries outside of the tile that the lanes have in hand.
  KOKKOS_INLINE_FUNCTION void subtract_outside(const TileRun& run, int p,
                                               const Entry& entry, int mine,
                                               int lane, const Shared& at,
                                               Scalar& w, bool& good) const {
    for (LaneMask left = lane_ballot(entry.q >= 0); left != 0;
         left &= left - 1) {
      const int from = lowest_bit(left), q = lane_broadcast(entry.q, from);
      const Scalar v = lane_read(entry.v, from);
      if (q < run.first_row) {
        if (q == mine) w += v;
      } else if (p - q < ring) {
        subtract(v, at.weight[(q - run.first_row) % ring][lane], w, good);
      } else if (mine >= 0) {
        subtract(v, weight(place_of(run, q, lane)), w, good);
      }
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
