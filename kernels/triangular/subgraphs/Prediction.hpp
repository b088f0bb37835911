// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP

#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// @param one  prediction of Picciau et al.'s model, for one right-hand side
inline double predict_subgraphs(const SolveFeatures& f, double one) {
  return one * std::max(1., f.columns / (4. * f.units)) + f.more_vectors(2);
}

/// So many rows and edges of sub-graphs by one thread of a host, relative to
/// what substitution takes for them: time slots take edges in an order that
/// caches like less, the more so the larger a scalar is, and the last edge into
/// a row is found by a branch, which short rows notice most. A processor that
/// remembers the lengths of all rows spares substitution its wrong guesses, and
/// time slots fewer. A margin is for threads that end later than others, and
/// for short rows that `level_sets` takes faster than predicted. Fitted to
/// block-diagonal systems in float and double on a host of two cores.
inline double subgraphs_over_substitution(const SolveFeatures& f) {
  const double of_edges = f.edges / std::max(1., f.edges + 8 * f.rows);
  const double remembered = f.rows <= 16384 ? 0.8 + 0.1 * f.scalar : 1.;
  return remembered * (1.6 + 0.11 * f.scalar - 0.46 * of_edges);
}

/// Of a host, whose threads take sub-graphs of a level side by side. Rows
/// without edges have a kernel of their own.
inline double predict_subgraphs_on_host(const SolveFeatures& f,
                                        const Subgraphs& subgraphs,
                                        const SlotCounts& slots) {
  const double ratio = subgraphs_over_substitution(f);
  double time = 0;
  for (int p = 0; p < subgraphs.num_levels; ++p) {
    double longest = 0, sum = 0;
    for (int q = subgraphs.level_map[p]; q < subgraphs.level_map[p + 1]; ++q) {
      const int g = subgraphs.order[q];
      const double t = std::max(
          ratio * f.one_thread(subgraphs.size(g), double(slots.edges[g])),
          f.p.tau * (slots.internal[g] + slots.external[g]));
      longest = std::max(longest, t);
      sum += t;
    }
    time += std::max(longest, sum / f.units);
  }
  const double alone = double(subgraphs.isolated.size());
  time += f.serial(alone, 0) / f.units;
  // An edge has the numbers of both its ends.
  const double bytes = 1.1 * f.bytes_us * (f.scalar + 8) / (f.scalar + 4);
  const int kernels = subgraphs.num_levels + (alone > 0 ? 1 : 0);
  return f.columns * std::max(time, bytes) +
         kernels * (1 + 0.1 * f.units) * f.p.alpha;
}

/// Vertices of a component above which one thread of a host would take longer
/// for it alone than `us`, if its share of the edges is that of the vertices.
inline double largest_component_within(const SolveFeatures& f, double us) {
  return f.rows * us /
         (f.columns * subgraphs_over_substitution(f) *
          std::max(1e-9, f.one_thread(f.rows, f.edges)));
}

/// No partition can do better than this: a slot a level set and, on a host, all
/// threads at work from begin to end.
inline double subgraphs_at_least(const SolveFeatures& f) {
  const double slots = f.sizes.num_levels * f.p.tau;
  if (f.width > 1) return f.p.alpha + slots + f.bytes_us;
  const double shared = f.serial(f.rows, 0) +
                        f.serial(0, f.edges) * subgraphs_over_substitution(f);
  return f.p.alpha +
         f.columns * std::max({shared / f.units, slots, f.bytes_us});
}

}  // namespace Detail
}  // namespace Strata

#endif
