// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_OPTION_CHECKS_HPP
#define STRATA_KERNELS_TRIANGULAR_OPTION_CHECKS_HPP

#include <Strata_TriangularOptions.hpp>
#include <cmath>
#include <core/scalar/RealPart.hpp>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

/// Digits that rows have which are not merged, of whatever length: 10^-d is at
/// least 2.5 eps.
template <class Scalar>
constexpr int digits_of = (sizeof(RealOf<Scalar>) == sizeof(float) ? 6 : 15) -
                          (std::is_same<RealOf<Scalar>, Scalar>::value ? 0 : 1);

/// How much the rounding errors of merged rows may grow, in units of the
/// scalar's eps times the longest row: the c of Accuracy::rowwise.
constexpr double rowwise_growth = 100;
template <class Scalar>
double growth_limit(const TriangularOptions& options) {
  constexpr double eps =
      (sizeof(RealOf<Scalar>) == sizeof(float) ? 0x1p-23 : 0x1p-52) *
      (std::is_same<RealOf<Scalar>, Scalar>::value ? 1 : 4);
  return options.accuracy == Accuracy::relaxed
             ? std::pow(10, -options.accuracy_digits) / eps
             : rowwise_growth;
}

/// @throws OptionError
template <class Scalar>
void check_accuracy(const TriangularOptions& options) {
  const auto refuse = [](const char* name, const std::string& problem,
                         const std::string& remedy) {
    throw OptionError(name, problem, remedy);
  };
  const double digits = options.accuracy_digits;
  require_enumerator("accuracy", options.accuracy);
  if (options.accuracy == Accuracy::relaxed) {
    if (!(digits > 0 && digits <= digits_of<Scalar>))
      refuse("accuracy_digits", "is " + std::to_string(digits),
             "name more than 0 and at most " +
                 std::to_string(digits_of<Scalar>) +
                 " digits, or choose another accuracy");
    return;
  }
  if (options.accuracy == Accuracy::componentwise && options.merged_levels > 1)
    refuse("merged_levels",
           "is " + std::to_string(options.merged_levels) +
               ", and accuracy is componentwise",
           "leave it at 0, or choose another accuracy: merged level sets have "
           "no small componentwise errors");
  if (digits != 0)
    refuse("accuracy_digits",
           "is " + std::to_string(digits) + ", and accuracy is " +
               to_string(options.accuracy),
           "leave it at 0, or choose Accuracy::relaxed");
}

/// Options that no device and no matrix could honour. @throws OptionError
inline void check_options(const TriangularOptions& options) {
  require_enumerator("algorithm", options.algorithm);
  require_enumerator("op", options.op);
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
  at_least("merged_levels", options.merged_levels, 0,
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
