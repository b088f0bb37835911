// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_RULE_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_RULE_HPP

#include <cstdio>
#include <kernels/triangular/selection/DeviceFeatures.hpp>

namespace Strata {
namespace Detail {

/// The rule by which a GPU's triangular solves are left to `tiles` or
/// `sync_free`. `sync_free` hands each level set on through the second-level
/// cache, unless it merges some of them. Tiles hand on up to 32 rows at a time,
/// after they have gathered all values from outside: they pay if level sets are
/// narrow, or rows long, as in complete factors.
///
/// The rule times nothing and keeps nothing: it chooses the same in every
/// process on a kind of card. `scripts/fit_choice` fits the thresholds to the
/// tables of docs/tables, prints how well the rule does on systems that it was
/// not fitted to, and checks with --check that these are the fitted ones.
struct DeviceRule {
  /// For one right-hand side: rows of a level set, merged as `sync_free` would
  /// merge it, for each lane of a warp; or entries of a row and of the longest
  /// row, both for each lane.
  static constexpr double rows_of_lane = 0.7;
  static constexpr double entries_of_lane = 0.2, long_row = 3.2;
  /// For several right-hand sides, whose chains run side by side: rows of a
  /// level set times right-hand sides, for each lane of the multiprocessors; or
  /// entries of the longest row for each lane of a warp.
  static constexpr double columns_rows_of_lane = 1.3;
  static constexpr double columns_long_row = 80;

  static RuleChoice choose(const DeviceFeatures& f) {
    if (f.levels < 2)
      return {Algorithm::sync_free, "no row waits for another one"};
    if (!f.may_invert)
      return {Algorithm::sync_free, "tiles would have to go row by row"};
    const std::string why = f.columns > 1 ? why_for_columns(f) : why_for_one(f);
    if (!why.empty()) return {Algorithm::tiles, why + numbers(f)};
    return {Algorithm::sync_free,
            "level sets are wide, and rows short: " + numbers(f)};
  }

 private:
  static std::string why_for_one(const DeviceFeatures& f) {
    if (f.merged_levels * f.rows_of_level() <= rows_of_lane * f.lanes)
      return "level sets are narrow: ";
    if (f.entries_of_row() >= entries_of_lane * f.lanes &&
        static_cast<double>(f.longest_row) >= long_row * f.lanes)
      return "rows are long: ";
    return "";
  }
  static std::string why_for_columns(const DeviceFeatures& f) {
    const double lanes = double(f.lanes) * f.multiprocessors;
    const auto columns = static_cast<double>(f.columns);
    if (f.rows_of_level() * columns <= columns_rows_of_lane * lanes)
      return "level sets of all right-hand sides fit the device side by side: ";
    if (static_cast<double>(f.longest_row) >= columns_long_row * f.lanes)
      return "some rows are very long: ";
    return "";
  }
  /// The features that decide, for the report.
  static std::string numbers(const DeviceFeatures& f) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "%.3g rows a level set, %d of which would be merged, %.3g "
                  "entries a row, %lld in the longest",
                  f.rows_of_level(), f.merged_levels, f.entries_of_row(),
                  static_cast<long long>(f.longest_row));
    return text;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
