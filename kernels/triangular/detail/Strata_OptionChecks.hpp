// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_OPTION_CHECKS_HPP
#define STRATA_OPTION_CHECKS_HPP

#include <Strata_TriangularOptions.hpp>
#include <cmath>

namespace Strata {
namespace Detail {

/// Options that no device and no matrix could honour. @throws OptionError
inline void check_options(const TriangularOptions& options) {
  require_enumerator("algorithm", options.algorithm);
  require_enumerator("op", options.op);
  require_enumerator("partition", options.partition);
  require_enumerator("criterion", options.criterion);
  const auto at_least = [](const char* name, int value, int least,
                           const char* remedy) {
    if (value < least)
      throw OptionError(name, "is " + std::to_string(value), remedy);
  };
  at_least("max_subgraph_rows", options.max_subgraph_rows, 0,
           "pass a positive number, or 0 for what the team scratch holds");
  at_least("team_size", options.team_size, 0,
           "pass a positive number, or 0 for a size that suits the system");
  at_least("max_right_hand_sides", options.max_right_hand_sides, 1,
           "pass a positive number");
  at_least("collapsed_levels", options.collapsed_levels, 0,
           "pass a positive number, or 0 to leave it to the analysis");
  if (options.lanes_per_row != 0 && options.lanes_per_row != 1 &&
      options.lanes_per_row != 4)
    throw OptionError("lanes_per_row",
                      "is " + std::to_string(options.lanes_per_row),
                      "pass 1 or 4, or 0 to leave it to the analysis");
  if (!std::isfinite(options.max_plan_ratio) || options.max_plan_ratio < 0)
    throw OptionError("max_plan_ratio",
                      "is " + std::to_string(options.max_plan_ratio),
                      "pass a multiple of the CRS matrix's bytes, or 0 for no "
                      "limit");
}

}  // namespace Detail
}  // namespace Strata

#endif
