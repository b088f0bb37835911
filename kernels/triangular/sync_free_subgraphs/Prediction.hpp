// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PREDICTION_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kernels/triangular/selection/SolveFeatures.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// A team lasts so many times a dependency's latency, most of it prologue and
/// waiting, however few steps it has. Short solves that are predicted without
/// that take 1.2 to 2 times as long. With several right-hand sides teams hold
/// each other up.
inline double least_of_team(const SolveFeatures& f) {
  return (f.columns == 1 ? 17 : 35) * f.p.handover;
}

/// No sub-graphs without merged rows can do better than this.
inline double sync_free_subgraphs_at_least(const SolveFeatures& f) {
  return f.begin() + 3 * f.p.handover + f.p.pass * f.sizes.num_levels +
         f.bytes_us;
}

/// Whether level sets are so wide that sub-graphs are cut from bands of them.
inline bool has_wide_levels(double rows, int levels) {
  return rows >= 150. * std::max(1, levels);
}

/// No prediction of sub-graphs comes to less than this, so that they need not
/// be looked at where another algorithm is predicted to take no longer. With
/// merged rows they come to half of the bound for rows that stay as they are,
/// in chains of chunks. With few level sets none are merged, and they never
/// come near the bound. Where level sets are wide they came to 1.09 of it at
/// best, the least time of a team included (the validation set on an H100,
/// before the constants were last fitted).
/// With several right-hand sides no bound is known: 0.
inline double sync_free_subgraphs_not_below(const SolveFeatures& f) {
  if (f.columns > 1) return 0;
  const int levels = f.sizes.num_levels;
  const double bound = sync_free_subgraphs_at_least(f), team = least_of_team(f);
  if (has_wide_levels(f.rows, levels)) return std::hypot(bound, team);
  if (levels < 64) return std::max(team, 1.3 * bound);
  return f.rows < 32. * levels ? team : std::max(team, bound / 2);
}

/// Whether sub-graphs are worth a look on a GPU. Where level sets are wide and
/// few, or rows long, most values come from other sub-graphs, unless rows are
/// near to those that they need: those of many components, or of an order by
/// dissection.
///
/// More memory does not make for the slower choice: the memory allowed decides
/// about `best_us` alone, and where that keeps sub-graphs from a look they
/// would not have been predicted to take less.
///
/// @param rows_are_near  whether most values come from a row's own sub-graph in
///                       any case
/// @param merging_pays   see Selection::merging_pays
/// @param best_us        least prediction of what may fit in the memory allowed
inline bool sync_free_subgraphs_suit(const SolveFeatures& f, bool rows_are_near,
                                     bool merging_pays, double best_us) {
  const int levels = f.sizes.num_levels;
  const double widest = merging_pays ? 600 : 1500;
  const bool may_have_own_values =
      !has_wide_levels(f.rows, levels) || rows_are_near ||
      (levels >= 64 && f.rows < widest * levels && f.edges < 16. * f.rows);
  return may_have_own_values && best_us > sync_free_subgraphs_not_below(f);
}

/// What is known of packed sub-graphs before they are written.
struct PackedFeatures {
  /// Steps on the longest path, of which `latency` for each value from another
  /// sub-graph.
  int critical_steps = 0;
  /// Steps full of work that all sub-graphs have together, beside those of the
  /// path, and how many sub-graphs are under way at once.
  double team_steps = 0, concurrency = 1;
  /// Of a step, relative to the measured one.
  double step_cost = 1;
  int latency = 8;
  /// Level sets that become one.
  int merged_levels = 1;
  int entries_a_step = 1;  ///< of a row
  /// Coefficients of b of a merged row in the mean, 0 where none is merged.
  double coefficients = 0;
  int subgraphs = 1;
  std::int64_t imports = 0;  ///< values that they need from each other
  bool bands = false;        ///< of level sets, more than one
};
/// @param latency  that steps were counted with, see PackingShape
template <class Packer>
PackedFeatures packed_features(const Packer& packed, int latency) {
  PackedFeatures features;
  features.bands = packed.num_bands() > 1;
  features.critical_steps = packed.critical_steps();
  features.team_steps = packed.team_steps();
  features.concurrency = packed.concurrency();
  features.step_cost = packed.step_cost();
  features.latency = latency;
  features.merged_levels = packed.merged_levels();
  features.entries_a_step = packed.entries_a_step();
  features.coefficients = packed.mean_coefficients();
  features.subgraphs = packed.num_subgraphs();
  features.imports = packed.num_imports();
  return features;
}

/// Factor on the prediction of sub-graphs in bands, fitted for one to four
/// merged level sets: merged rows have more dependencies, and four teams share
/// a multiprocessor that does that work.
inline double in_bands(const SolveFeatures& f, int merged_levels) {
  return f.columns == 1 ? 0.6 + 0.08 * merged_levels
                        : 0.75 + 0.12 * merged_levels;
}

/// Time in which teams fetch values from other sub-graphs, 64 together, and the
/// longest path waits for them, once in each sub-graph that it passes.
/// @param together  sub-graphs that are under way at once
inline double predict_fetches(const SolveFeatures& f,
                              const PackedFeatures& packed, double together) {
  const auto passed = [&](double steps_of_rows) {
    return std::max(0., packed.critical_steps - steps_of_rows) / packed.latency;
  };
  const double levels = f.sizes.num_levels, imports = double(packed.imports);
  const double fetch = f.p.handover / 64 / packed.subgraphs;
  if (packed.bands || f.columns > 1)
    return passed(levels) * imports * fetch / 4;
  // One band's sub-graphs are passed upwards. As many values as a sub-graph has
  // rows are new to the next one at most, the others have been there for long.
  // Sub-graphs that are under way at once fetch side by side, and have part of
  // their values before they need them.
  return 0.26 *
         std::min(passed(std::ceil(levels / packed.merged_levels)),
                  packed.subgraphs - 1.) *
         std::min(imports, f.rows) * fetch / std::sqrt(together);
}

/// @param teams  that a multiprocessor runs at once
inline double predict_sync_free_subgraphs(const SolveFeatures& f,
                                          const PackedFeatures& packed,
                                          int teams) {
  const auto& p = f.p;
  const bool one_vector = f.columns == 1;
  // Teams begin with a ticket, their part of b, and outside values; merged rows
  // with a sum over b.
  const double first =
      f.begin() + (3 + (one_vector ? 2 * packed.coefficients : 0)) * p.handover;
  // With several right-hand sides, teams have others of them to do.
  const double together =
      one_vector ? std::min(packed.concurrency, double(teams) * f.processors)
                 : 1.;
  // Sub-graphs that are under way at once do their work side by side. In bands
  // of level sets, where it is not counted, a multiple of the path stands for
  // it.
  const double work = packed.bands
                          ? (one_vector ? 1.25 : 0.4) * packed.critical_steps
                          : packed.team_steps / together;
  // The larger of path and work counts for more.
  double steps = std::pow(
      std::pow(packed.critical_steps, 1.5) + std::pow(work, 1.5), 1 / 1.5);
  // Of the longest row, few lanes of a team have work, step after step, and
  // others of the sub-graph wait for what it waits for.
  if (!packed.bands && one_vector)
    steps += 0.8 * f.longest_row() / packed.entries_a_step;
  // Records take about twice the bytes of entries. Of one right-hand side, much
  // of the time passes beside the steps.
  const double bytes =
      (one_vector ? 1.4 : 2.) * f.bytes_us *
      (one_vector && f.is_in_shared_cache() ? SolveFeatures::beside_waiting
                                            : 1.);
  const double one = first + p.pass * packed.step_cost * steps +
                     predict_fetches(f, packed, together) + bytes;
  // Others go side by side with the first, and hold up the teams, of which four
  // run on a multiprocessor at once.
  const double others = (f.columns - 1) * packed.subgraphs * 35 * p.handover /
                        (4. * f.processors);
  return (std::hypot(one, least_of_team(f)) + others) *
         (packed.bands ? in_bands(f, packed.merged_levels) : 1.);
}

/// Steps on the longest path with which sub-graphs may still be predicted to
/// take no longer than `best_us`, whatever else they turn out to be.
inline int most_steps_within(const SolveFeatures& f, bool bands, int latency,
                             int teams, double best_us) {
  PackedFeatures least;
  least.bands = bands;
  least.latency = latency;
  least.entries_a_step = std::numeric_limits<int>::max();
  int most = 0;
  for (int more = 1 << 30; more > 0; more /= 2) {
    least.critical_steps = most + more;
    if (predict_sync_free_subgraphs(f, least, teams) <= best_us) most += more;
  }
  return most;
}

}  // namespace Detail
}  // namespace Strata

#endif
