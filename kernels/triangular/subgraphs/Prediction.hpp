// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP

#include <algorithm>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// Bytes of a plan through memory: an edge has the numbers of both its ends.
inline double bytes_of_subgraphs_us(const SolveFeatures& f) {
  return 1.1 * f.bytes_us * (f.scalar + 8) / (f.scalar + 4);
}

/// Time over that of Picciau et al.'s model, whose parameters are
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

/// A lower bound on the prediction for any partition: a slot for each level set
/// and for each edge of the longest row; all multiprocessors at work from begin
/// to end. Slots may be those of different sub-graphs.
inline double subgraphs_at_least(const SolveFeatures& f) {
  const double slots = std::max<double>(f.sizes.num_levels, f.longest_row());
  return predict_subgraphs(
      f, f.p.alpha + std::max(slots * std::min(f.p.tau, f.p.tau_external),
                              f.edges * f.p.tau_edge / f.processors));
}

/// About the least where the largest component is known: its share of
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
