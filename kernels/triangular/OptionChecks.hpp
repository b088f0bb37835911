// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_OPTION_CHECKS_HPP
#define STRATA_KERNELS_TRIANGULAR_OPTION_CHECKS_HPP

#include <Strata_TriangularOptions.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Options that no device and no matrix could honour. @throws OptionError
inline void check_options(const TriangularPlanOptions& options) {
  require_enumerator("algorithm", options.algorithm);
  require_enumerator("accuracy", options.accuracy);
  const auto at_least = [](const char* name, int value, int least,
                           const char* remedy) {
    if (value < least)
      throw OptionError(name, "is " + std::to_string(value), remedy);
  };
  const auto& experimental = options.experimental;
  at_least("experimental.max_subgraph_rows", experimental.max_subgraph_rows, 0,
           "pass a positive number, or 0 for what the team scratch holds");
  at_least("experimental.team_size", experimental.team_size, 0,
           "pass a positive number, or 0 for a size that suits the system");
  at_least("max_right_hand_sides", options.max_right_hand_sides, 1,
           "pass a positive number");
  at_least("merged_levels", options.merged_levels, 0,
           "pass a positive number, or 0 to leave it to the analysis");
  if (options.accuracy == Accuracy::componentwise && options.merged_levels > 1)
    throw OptionError(
        "merged_levels",
        "is " + std::to_string(options.merged_levels) +
            ", and accuracy is componentwise",
        "leave it at 0, or choose another accuracy: merged level sets have "
        "no small componentwise errors");
}

}  // namespace Detail
}  // namespace Strata

#endif
