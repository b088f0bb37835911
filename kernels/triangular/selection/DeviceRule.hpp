// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_RULE_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_RULE_HPP

#include <Strata_TriangularOptions.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

namespace Strata {
namespace Detail {

/// What a rule has chosen, and why: a sentence for the report.
struct RuleChoice {
  Algorithm algorithm;
  std::string reason;
};

/// What DeviceRule reads: sizes of a triangle, and what the device says of
/// itself.
struct DeviceFeatures {
  double rows, entries;      ///< entries beside the diagonal
  std::int64_t longest_row;  ///< entries of it, with the diagonal
  int levels;
  /// Level sets that `sync_free` would merge into one: 1 if it does not pay,
  /// and for several right-hand sides and componentwise accuracy.
  int merged_levels;
  std::int64_t columns;  ///< right-hand sides
  int lanes, multiprocessors;
  /// Whether `tiles` may use inverses: not for componentwise accuracy.
  bool may_invert;

  double rows_of_level() const { return rows / (levels > 1 ? levels : 1); }
  /// Steps of the longest chain of `sync_free`: level sets, or groups of merged
  /// ones.
  double steps() const { return double(levels) / merged_levels; }
  double entries_of_row() const { return rows > 0 ? entries / rows : 0; }
};

/// The rule by which a GPU's triangular solves are left to `tiles` or
/// `sync_free`. Both hand results on through the second-level cache, and a step
/// of their chains takes about as long: `sync_free` has a step for each level
/// set, or for as many as it merges, and tiles hand on up to 32 rows at a time,
/// or a run of tiles.
///
/// The rule times nothing and keeps nothing: it chooses the same in every
/// process on a kind of card. `scripts/fit_choice` fits four of the thresholds
/// to tables of docs/tables, prints how well the rule does on others, and
/// checks both with --check.
struct DeviceRule {
  // For one right-hand side.
  /// `tiles` is chosen if steps of tiles / steps of `sync_free` are at most
  /// this.
  static constexpr double tile_steps = 1.3;
  /// Or if rows are long and there are at most this many steps of tiles.
  static constexpr double few_tile_steps = 27;
  /// Rows are long if entries of the longest row / lanes of a warp is at least
  /// this.
  static constexpr double long_row = 3.2;
  /// `sync_free` is chosen, and the host does not form tiles to count their
  /// steps, if it has at most this many steps; with long rows, if there are at
  /// most this many level sets.
  static constexpr double few_steps = 4;
  /// Or if rows of a level set / lanes of a warp are more than this; with long
  /// rows, more than `wider` times as many.
  static constexpr double rows_of_lane = 25;
  static constexpr double wider = 9;
  // For several right-hand sides, whose chains run side by side: `tiles` if one
  // of these holds.
  /// Rows of a level set * right-hand sides / (lanes of a warp *
  /// multiprocessors) is at most this.
  static constexpr double columns_rows_of_lane = 3;
  /// Entries of the longest row / lanes of a warp is at least this.
  static constexpr double columns_long_row = 55;

  /// @param count_steps  returns the steps of the longest chain of tiles, which
  ///                     takes a pass over the pattern
  template <class CountSteps>
  static RuleChoice choose(const DeviceFeatures& f,
                           const CountSteps& count_steps) {
    if (f.levels < 2)
      return {Algorithm::sync_free, "no row waits for another one"};
    if (!f.may_invert)
      return {Algorithm::sync_free, "tiles would have to go row by row"};
    if (f.columns == 1) {
      if ((has_long_row(f) ? f.levels : f.steps()) <= few_steps)
        return {Algorithm::sync_free, "few level sets: " + numbers(f)};
      if (f.rows_of_level() <=
          (has_long_row(f) ? wider : 1) * rows_of_lane * f.lanes)
        return compare(f, count_steps());
      return {Algorithm::sync_free, "level sets are wide: " + numbers(f)};
    }
    const std::string why = why_for_columns(f);
    if (!why.empty()) return {Algorithm::tiles, why + numbers(f)};
    return {
        Algorithm::sync_free,
        "level sets of all right-hand sides fill the device: " + numbers(f)};
  }

 private:
  static bool has_long_row(const DeviceFeatures& f) {
    return static_cast<double>(f.longest_row) >= long_row * f.lanes;
  }
  static RuleChoice compare(const DeviceFeatures& f, int steps) {
    char text[100];
    std::snprintf(text, sizeof(text),
                  "a chain of %d steps for %.4g of level sets, of %d each%s",
                  steps, f.steps(), f.merged_levels,
                  has_long_row(f) ? ", and long rows" : "");
    const bool is_short = steps <= tile_steps * f.steps() ||
                          (has_long_row(f) && steps <= few_tile_steps);
    return {is_short ? Algorithm::tiles : Algorithm::sync_free, text};
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
    char merged[40] = "", text[160];
    if (f.merged_levels > 1)
      std::snprintf(merged, sizeof(merged), ", merged by %d", f.merged_levels);
    std::snprintf(text, sizeof(text),
                  "%d level sets%s, %.3g rows in each, %.3g entries a row, "
                  "%lld in the longest",
                  f.levels, merged, f.rows_of_level(), f.entries_of_row(),
                  static_cast<long long>(f.longest_row));
    return text;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
