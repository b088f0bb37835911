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
  /// Share of the entries that lead to one of the 256 rows before their own.
  double near_share;
  /// Rows of a sub-graph at most, for what the scratch of a team holds.
  int subgraph_rows;
  int lanes, multiprocessors;

  double rows_of_level() const { return rows / (levels > 1 ? levels : 1); }
  /// Level sets, merged ones, of which one sub-graph has all rows.
  double levels_of_subgraph() const {
    return subgraph_rows / (merged_levels * rows_of_level());
  }
  double entries_of_row() const { return rows > 0 ? entries / rows : 0; }
};

/// The rule by which a GPU's triangular solves are left to `sync_free` or to
/// `sync_free_subgraphs`. `sync_free` hands each level set on through the
/// second-level cache, unless it merges some of them; sub-graphs hand it on
/// through a team's scratch, in a fifth of the time, but wait for what comes
/// from other sub-graphs. So sub-graphs pay if one of them has many level sets,
/// and most values that its rows need.
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

  static RuleChoice choose(const DeviceFeatures& f) {
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
