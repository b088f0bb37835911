// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_RULE_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_RULE_HPP

#include <cstdio>
#include <kernels/triangular/selection/DeviceFeatures.hpp>

namespace Strata {
namespace Detail {

/// The rule by which a GPU's triangular solves are left to `tiles`, `sync_free`
/// or `sync_free_subgraphs`. `sync_free` hands each level set on through the
/// second-level cache, unless it merges some of them; sub-graphs hand it on
/// through a team's scratch, in a fifth of the time, but wait for what comes
/// from other sub-graphs. So sub-graphs pay if one of them has many level sets,
/// and most values that its rows need. Tiles hand on up to 32 rows at a time,
/// after they have gathered all values from outside: they pay for narrow level
/// sets of long rows, as complete factors have them.
///
/// The rule times nothing and keeps nothing: it chooses the same in every
/// process on a kind of card. `scripts/fit_choice` fits the thresholds to the
/// tables of docs/tables, prints how well the rule does on systems that it was
/// not fitted to, and checks with --check that these are the fitted ones.
struct DeviceRule {
  /// Of a sub-graph: from which on it gains, if at least a share of `near` of
  /// the entries is near, so that values come from the sub-graph itself; and
  /// from which on it gains in any case, as level sets are so narrow that there
  /// are few values to wait for.
  static constexpr double levels_to_gain = 12;
  static constexpr double levels_to_gain_in_any_case = 26;
  static constexpr double near = 0.3;
  /// Entries of a row for each lane of a warp. Longer rows make merged ones
  /// that take a warp several turns; in sub-graphs four lanes share a row.
  static constexpr double entries_of_lane = 0.95;
  /// Entries of the longest row for each lane: if there are so many, but not
  /// many more, and a sub-graph has so many level sets. A merged row adds up
  /// the entries of several long rows, and all rows after it wait for that;
  /// rows that are longer still keep a sub-graph's few lanes busy for longer.
  static constexpr double long_row_from = 3.5, long_row_to = 8.9;
  static constexpr double levels_with_long_rows = 2.1;
  static constexpr double near_with_long_rows = 0.21;
  /// Sub-graphs with such a share of near entries need next to nothing from
  /// each other. They run side by side if level sets have so many rows for each
  /// lane of one warp a multiprocessor.
  static constexpr double near_all = 0.91;
  static constexpr double rows_of_lane = 0.71;
  /// If no level sets are merged, and one right-hand side is solved for: of a
  /// sub-graph and of the whole triangle, and the share of near entries that
  /// goes with these;
  static constexpr double unmerged_levels = 1.2, unmerged_levels_in_all = 30;
  static constexpr double unmerged_near = 0.27;
  /// entries of a row for each lane; and the share of near entries with which
  /// sub-graphs gain in any case.
  static constexpr double unmerged_entries_of_lane = 1.4;
  static constexpr double unmerged_near_all = 0.77;
  /// For several right-hand sides: the level sets of a sub-graph times the
  /// share of near entries; a share with which sub-graphs gain in any case; and
  /// the entries of the longest row for each lane and level set of a sub-graph
  /// with which they never do.
  static constexpr double columns_near_levels = 1;
  static constexpr double columns_near_all = 0.85;
  static constexpr double columns_long_row = 8.9;

  /// For tiles: rows of a level set for each lane; entries of a row for each
  /// lane, all by themselves, or with a longest row of so many for each lane.
  static constexpr double tiles_rows_of_lane = 3.2;
  static constexpr double tiles_entries_of_lane = 1.3;
  static constexpr double tiles_some_entries_of_lane = 0.32;
  static constexpr double tiles_long_row = 5.5;
  /// With several right-hand sides, whose chains run side by side, also: the
  /// share of near entries up to which there are few, with so many level sets,
  /// or entries of the longest row for each lane; and the rows of all columns,
  /// for each lane of the multiprocessors, up to which there is room for them.
  static constexpr double tiles_columns_near = 0.5, tiles_columns_levels = 12;
  static constexpr double tiles_columns_rows = 50;
  static constexpr double tiles_columns_long_row = 15;
  static constexpr double tiles_columns_long_rows = 120;

  static RuleChoice choose(const DeviceFeatures& f) {
    const std::string why_these = f.may_invert ? why_tiles(f) : "";
    if (!why_these.empty()) return {Algorithm::tiles, why_these};
    const std::string why = f.columns > 1         ? why_for_columns(f)
                            : f.merged_levels > 1 ? why_subgraphs(f)
                                                  : why_unmerged_subgraphs(f);
    if (!why.empty()) return {Algorithm::sync_free_subgraphs, why};
    return {Algorithm::sync_free,
            f.levels < 2 ? "no row waits for another one"
                         : "a sub-graph has too few level sets, too few of the "
                           "values that it needs, or too long rows: " +
                               numbers(f)};
  }

 private:
  static std::string why_tiles(const DeviceFeatures& f) {
    if (f.levels < 2) return "";
    const double longest = static_cast<double>(f.longest_row) / f.lanes;
    const double entries = f.entries_of_row() / f.lanes;
    if (f.rows_of_level() <= tiles_rows_of_lane * f.lanes &&
        (entries >= tiles_entries_of_lane ||
         (entries >= tiles_some_entries_of_lane && longest >= tiles_long_row)))
      return "level sets are narrow, and rows long: " + numbers(f);
    const double rows = f.rows * static_cast<double>(f.columns) /
                        (double(f.lanes) * f.multiprocessors);
    if (f.columns > 1 &&
        ((f.near_share <= tiles_columns_near &&
          f.levels >= tiles_columns_levels && rows <= tiles_columns_rows) ||
         (longest >= tiles_columns_long_row &&
          rows <= tiles_columns_long_rows)))
      return "chains of all right-hand sides fit the device side by side: " +
             numbers(f);
    return "";
  }
  static std::string why_subgraphs(const DeviceFeatures& f) {
    if (f.levels < 2) return "";
    const double levels = f.levels_of_subgraph();
    if (levels >= levels_to_gain_in_any_case)
      return "a sub-graph has many level sets: " + numbers(f);
    if (f.longest_row >= long_row_from * f.lanes &&
        f.longest_row <= long_row_to * f.lanes &&
        levels >= levels_with_long_rows && f.near_share >= near_with_long_rows)
      return "some rows are long, and a sub-graph has level sets: " +
             numbers(f);
    if (f.near_share < near) return "";
    if (levels >= levels_to_gain)
      return "a sub-graph has many level sets, and many of the values that it "
             "needs: " +
             numbers(f);
    if (f.entries_of_row() >= entries_of_lane * f.lanes)
      return "rows have as many entries as a warp has lanes: " + numbers(f);
    if (f.near_share >= near_all &&
        f.rows_of_level() >= rows_of_lane * f.lanes * f.multiprocessors)
      return "sub-graphs need next to nothing from each other, and level sets "
             "fill the device: " +
             numbers(f);
    return "";
  }
  static std::string why_unmerged_subgraphs(const DeviceFeatures& f) {
    if (f.levels < 2) return "";
    if (f.entries_of_row() >= unmerged_entries_of_lane * f.lanes)
      return "rows have more entries than a warp has lanes: " + numbers(f);
    if (f.near_share >= unmerged_near_all)
      return "sub-graphs need little from each other: " + numbers(f);
    if (f.near_share >= unmerged_near && f.levels >= unmerged_levels_in_all &&
        f.levels_of_subgraph() >= unmerged_levels)
      return "no level sets are merged, and a sub-graph has some: " +
             numbers(f);
    return "";
  }
  /// With several right-hand sides, no level sets are merged, and `sync_free`
  /// waits for each of them. Sub-graphs wait less, but read as many bytes, and
  /// one long row keeps a sub-graph's few lanes busy for all columns.
  static std::string why_for_columns(const DeviceFeatures& f) {
    if (f.levels < 2 || static_cast<double>(f.longest_row) >
                            columns_long_row * f.lanes * f.levels_of_subgraph())
      return "";
    if (f.near_share >= columns_near_all)
      return "sub-graphs need little from each other: " + numbers(f);
    if (f.levels_of_subgraph() * f.near_share >= columns_near_levels)
      return "a sub-graph has level sets, and some of the values that it "
             "needs: " +
             numbers(f);
    return "";
  }
  /// The features that decide, for the report.
  static std::string numbers(const DeviceFeatures& f) {
    char text[200];
    std::snprintf(text, sizeof(text),
                  "%.3g level sets%s fit a sub-graph, %.2g of the entries are "
                  "near, %.3g a row, %lld in the longest",
                  f.levels_of_subgraph(),
                  f.merged_levels > 1 ? ", merged," : "", f.near_share,
                  f.entries_of_row(), static_cast<long long>(f.longest_row));
    return text;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
