// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERFORMANCE_MODEL_HPP
#define STRATA_PERFORMANCE_MODEL_HPP

#include <Strata_Error.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <cmath>
#include <string>

namespace Strata {

/// The costs of Picciau et al.'s performance model (5), in microseconds. The
/// defaults are those of an H100 or H200.
struct PerformanceParameters {
  /// Between two sub-graph levels: a kernel's launch.
  double alpha = 5.0;
  /// One slot of internal edges, all its operands in scratch.
  double tau = 0.05;
  /// One slot of external edges (Picciau et al.'s tau'), whose dependencies are
  /// in global memory.
  double tau_external = 0.6;
};

/// Throws OptionError unless every parameter is finite and positive.
inline void check_parameters(const PerformanceParameters& parameters) {
  const auto require = [](const char* name, double value) {
    if (!std::isfinite(value) || value <= 0)
      throw OptionError(
          std::string("PerformanceParameters::") + name,
          std::to_string(value) + " microseconds can't be a duration",
          "leave the default");
  };
  require("alpha", parameters.alpha);
  require("tau", parameters.tau);
  require("tau_external", parameters.tau_external);
}

/// Predicted time of one solve by sub-graphs, in microseconds: Picciau et al.'s
/// (5),
///   levels * alpha + sum over levels of max over the level's sub-graphs of
///   (tau' * external slots + tau * internal slots).
/// It supposes that a level's sub-graphs all run at once. Cost: O(sub-graphs).
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
