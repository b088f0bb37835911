// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP

#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// Bytes of a plan through memory: an edge has the numbers of both its ends.
inline double bytes_of_subgraphs_us(const SolveFeatures& f) {
  return 1.1 * f.bytes_us * (f.scalar + 8) / (f.scalar + 4);
}

/// Time on a GPU over that of Picciau et al.'s model, whose parameters are
/// measured with one team and arrays that the caches hold. Chosen on 14 systems
/// in float on an H200; there, and on 13 of them in double, predictions are 0.8
/// to 1.6 times the measured time. (150 large sub-graphs in double: 0.46.)
constexpr double subgraphs_over_model = 1.5;

/// @param one  prediction of Picciau et al.'s model, for one right-hand side
inline double predict_subgraphs(const SolveFeatures& f, double one) {
  return f.p.alpha +
         subgraphs_over_model * std::max(one, bytes_of_subgraphs_us(f)) *
             std::max(1., f.columns / (4. * f.processors)) +
         f.more_vectors(2);
}

/// Time of sub-graphs by one thread of a host, over that of substitution for
/// the same rows and edges. Time slots read edges in an order with more cache
/// misses, the more so the larger a scalar is. A branch finds the last edge
/// into a row, which costs short rows most. Where the processor remembers the
/// lengths of all rows, substitution has no mispredicted branches, and time
/// slots have some. A margin covers threads that end later than others, and
/// short rows for which `level_sets` is faster than predicted. Fitted to
/// block-diagonal systems in float and double on a host of two cores.
inline double subgraphs_over_substitution(const SolveFeatures& f) {
  const double of_edges = f.edges / std::max(1., f.edges + 8 * f.rows);
  const double remembered = f.rows <= 16384 ? 0.8 + 0.1 * f.scalar : 1.;
  return remembered * (1.6 + 0.11 * f.scalar - 0.46 * of_edges);
}

/// The prediction for a host, whose threads take sub-graphs of a level side by
/// side. Rows without edges have a kernel of their own.
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
    time += std::max(longest, sum / f.processors);
  }
  const double alone = double(subgraphs.isolated.size());
  time += f.serial(alone, 0) / f.processors;
  const double bytes = bytes_of_subgraphs_us(f);
  const int kernels = subgraphs.num_levels + (alone > 0 ? 1 : 0);
  return f.columns * std::max(time, bytes) +
         kernels * (1 + 0.1 * f.processors) * f.p.alpha;
}

/// The number of vertices above which a component alone takes one thread of a
/// host longer than `us`, if its share of the edges is that of the vertices.
inline double largest_component_within(const SolveFeatures& f, double us) {
  return f.rows * us /
         (f.columns * subgraphs_over_substitution(f) *
          std::max(1e-9, f.one_thread(f.rows, f.edges)));
}

/// A lower bound on the prediction for any partition: a slot for each level set
/// and, on a GPU, for each edge of the longest row; all threads or
/// multiprocessors at work from begin to end.
inline double subgraphs_at_least(const SolveFeatures& f) {
  if (f.width > 1) {
    const double slots = std::max<double>(f.sizes.num_levels, f.longest_row());
    // They may be those of different sub-graphs.
    return predict_subgraphs(
        f, f.p.alpha + std::max(slots * std::min(f.p.tau, f.p.tau_external),
                                f.edges * f.p.tau_edge / f.processors));
  }
  const double slots = f.sizes.num_levels * f.p.tau;
  const double shared = f.serial(f.rows, 0) +
                        f.serial(0, f.edges) * subgraphs_over_substitution(f);
  return f.p.alpha +
         f.columns * std::max({shared / f.processors, slots, f.bytes_us});
}

/// About the least on a GPU where the largest component is known: its share of
/// the edges is taken for that of its vertices, and the longest chain and row
/// for its own. A multiprocessor has its share of small components.
inline double subgraphs_at_least(const SolveFeatures& f, int largest) {
  const double slots = std::max<double>(f.sizes.num_levels, f.longest_row());
  const double share =
      std::max(largest / std::max(1., f.rows), 1. / f.processors);
  return predict_subgraphs(
      f, f.p.alpha + slots * f.p.tau + f.edges * share * f.p.tau_edge);
}

/// What a partition of components and the plan take, by one thread of the host,
/// as the share of each solve: 0.25 us a row, in systems of 420,000 and 720,000
/// rows beside an H100.
inline double partition_us_a_solve(double rows) {
  return 0.25 * rows / solves_of_a_plan;
}

}  // namespace Detail
}  // namespace Strata

#endif
