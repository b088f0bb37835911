// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_CHECKS_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_CHECKS_HPP

#include <Strata_Error.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// An option that is a whole number. @throws OptionError
inline void check_option_range(const char* name, int value, int least,
                               int most) {
  if (value < least || value > most)
    throw OptionError(name,
                      std::to_string(value) + " is not from " +
                          std::to_string(least) + " to " + std::to_string(most),
                      "choose a number in that range");
}

/// The options that all Krylov methods have. @throws OptionError
template <class Options>
void check_krylov_options(const Options& options) {
  const auto check = [](const char* name, double value) {
    if (!(value >= 0) || value - value != 0)
      throw OptionError(name, std::to_string(value) + " is no tolerance",
                        "pass a finite number that is not negative");
  };
  check("relative_tolerance", options.relative_tolerance);
  check("absolute_tolerance", options.absolute_tolerance);
  if (!(options.divergence_tolerance >= 1))
    throw OptionError("divergence_tolerance",
                      std::to_string(options.divergence_tolerance) +
                          " is less than 1 or not a number",
                      "pass the factor that a residual may grow by, infinity "
                      "for any");
  check_option_range("max_iterations", options.max_iterations, 0, 100000000);
  check_option_range("iterations_ahead", options.iterations_ahead, 1, 100000);
}

}  // namespace Detail
}  // namespace Strata

#endif
