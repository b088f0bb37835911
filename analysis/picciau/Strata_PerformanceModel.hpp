// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERFORMANCE_MODEL_HPP
#define STRATA_PERFORMANCE_MODEL_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace Strata {

/// The costs of Picciau et al.'s performance model (5) on one device, in
/// microseconds. The defaults are of the order of one H200's; measure to have
/// the real ones.
struct PerformanceParameters {
  /// Between two sub-graph levels (or level sets): a kernel's launch.
  double alpha = 5.0;
  /// One slot of internal edges, all its operands in scratch.
  double tau = 0.05;
  /// One slot of external edges (Picciau et al.'s tau'), whose dependencies are
  /// in global memory.
  double tau_external = 0.6;

  // Ours, for the algorithms that Picciau et al. do not have.
  /// One narrow level set by one team of `level_sets`.
  double narrow_level = 1.0;
  /// Latency of a dependency of `sync_free`, through memory; on a host
  /// with several threads, what a level set of `level_sets` that they share
  /// takes longer than its rows.
  double handover = 1.0;
  /// One step of `sync_free_subgraphs`, barrier included.
  double pass = 0.4;
  /// One single-team block of `blocks`.
  double block = 0.2;
  /// Memory traffic, bytes a microsecond (megabytes a second).
  double bytes_per_us = 3.0e6;
  /// `substitution`: a row and an entry by one thread.
  double serial_row = 0.5, serial_entry = 0.1;

  /// Every parameter by name, in the order of the cache file.
  template <class Parameters, class Visitor>
  static void for_each(Parameters& p, const Visitor& visit) {
    visit("alpha", p.alpha);
    visit("tau", p.tau);
    visit("tau_external", p.tau_external);
    visit("narrow_level", p.narrow_level);
    visit("handover", p.handover);
    visit("pass", p.pass);
    visit("block", p.block);
    visit("bytes_per_us", p.bytes_per_us);
    visit("serial_row", p.serial_row);
    visit("serial_entry", p.serial_entry);
  }
};

/// Throws OptionError unless every parameter is finite and positive.
inline void check_parameters(const PerformanceParameters& parameters) {
  PerformanceParameters::for_each(
      parameters, [](const char* name, double value) {
        if (!std::isfinite(value) || value <= 0)
          throw OptionError(
              std::string("PerformanceParameters::") + name,
              std::to_string(value) + " microseconds can't be a duration",
              "measure it again or leave the default");
      });
}

/// Predicted time of one solve by sub-graphs, in microseconds: Picciau et al.'s
/// (5),
///   levels * alpha + sum over levels of max over the level's sub-graphs of
///   (tau' * external slots + tau * internal slots).
/// It supposes that a level's sub-graphs all run at once.
/// Cost: O(sub-graphs).
inline double predict_subgraphs(const PerformanceParameters& parameters,
                                const Subgraphs& subgraphs,
                                const SlotCounts& slots) {
  double total = parameters.alpha * subgraphs.num_levels;
  for (int p = 0; p < subgraphs.num_levels; ++p) {
    double longest = 0;
    for (int q = subgraphs.level_map[p]; q < subgraphs.level_map[p + 1]; ++q) {
      const int g = subgraphs.order[q];
      longest = std::max(longest, parameters.tau_external * slots.external[g] +
                                      parameters.tau * slots.internal[g]);
    }
    total += longest;
  }
  return total;
}

}  // namespace Strata

#endif
