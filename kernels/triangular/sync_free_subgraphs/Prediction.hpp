// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PREDICTION_HPP

#include <algorithm>
#include <cmath>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// A team lasts so many times a dependency's latency, most of it prologue and
/// waiting, however few steps it has. Short solves that are predicted without
/// that take 1.2 to 2 times as long.
inline double least_of_team(const SolveFeatures& f) {
  return 35 * f.p.handover;
}

/// No sub-graphs without merged rows can do better than this.
inline double sync_free_subgraphs_at_least(const SolveFeatures& f) {
  return f.begin() + 3 * f.p.handover + f.p.pass * f.sizes.num_levels +
         f.bytes_us;
}

/// @param critical_steps  steps on the longest path, of which `latency` for
///   each value from another sub-graph
/// @param work_steps  steps full of work that sub-graphs have one after the
///   other, beside those of the path; in bands of level sets, where that is not
///   counted, two fifths of them
/// @param step_cost  of a step, relative to the measured one
/// @param subgraphs, imports  their number, and that of values they need from
///   each other
inline double predict_sync_free_subgraphs(const SolveFeatures& f,
                                          int critical_steps, double work_steps,
                                          double step_cost, int latency,
                                          int subgraphs, std::int64_t imports) {
  const auto& p = f.p;
  if (f.width == 1)
    return 2 * p.alpha + 4. * f.columns * f.substitution_on_host();
  // Teams begin with a ticket, their part of b, and outside values.
  const double first = f.begin() + 3 * p.handover;
  // A team fetches 64 outside values together; the longest path waits for
  // some of them once in each sub-graph that it passes.
  const double passed =
      std::max(0, critical_steps - f.sizes.num_levels) / double(latency);
  const double fetch = double(imports) / subgraphs / 64 * p.handover;
  // The larger of path and work counts for more.
  const double steps = std::pow(
      std::pow(critical_steps, 1.5) + std::pow(work_steps, 1.5), 1 / 1.5);
  const double one =
      first + p.pass * step_cost * steps + passed * fetch / 4 + 2 * f.bytes_us;
  const double of_team = least_of_team(f);
  // Others go side by side with the first, and hold up the teams, of which four
  // run on a multiprocessor at once.
  return std::hypot(one, of_team) +
         (f.columns - 1) * subgraphs * of_team / (4. * f.processors);
}

}  // namespace Detail
}  // namespace Strata

#endif
