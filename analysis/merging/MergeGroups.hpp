// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGE_GROUPS_HPP
#define STRATA_ANALYSIS_MERGING_MERGE_GROUPS_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/merging/EliminateRows.hpp>

namespace Strata {
namespace Detail {

/// What became of a vertex when level sets were merged.
struct RowStatus {
  enum : int {
    as_it_was,  // no dependency of its group that is replaced
    merged,
    stays  // it would grow too long or too inaccurate: others wait for it
  };
};

/// Which rows are merged: the edges of a graph as EliminateRow wants them, and
/// the rule that decides what becomes of a row.
///
/// A group is `levels` consecutive level sets, the first of which is a multiple
/// of that. Within a group x_j is replaced by its own equation, but for rows
/// that stay.
template <class MemorySpace>
struct MergeGroups {
  DependencyGraph<MemorySpace> graph;
  const int* level;  // by vertex
  int levels;
  const int* row_status;  // by vertex; null: none is known yet

  /// A merged row has at most three times its own dependencies, and so many
  /// more: each costs a part of a read that waits anyway.
  static constexpr int spare_dependencies = 24;

  KOKKOS_FUNCTION std::int64_t first(int v) const { return graph.row_map(v); }
  KOKKOS_FUNCTION std::int64_t end(int v) const { return graph.row_map(v + 1); }
  KOKKOS_FUNCTION int entry(std::int64_t k) const { return graph.entries(k); }
  KOKKOS_FUNCTION int length(int v) const {
    return static_cast<int>(end(v) - first(v));
  }
  KOKKOS_FUNCTION bool same_group(int a, int b) const {
    return level[a] / levels == level[b] / levels;
  }
  KOKKOS_FUNCTION bool stays(int v) const {
    return row_status && row_status[v] == RowStatus::stays;
  }
  /// The group of a vertex.
  struct Group {
    int first_level;
  };
  KOKKOS_FUNCTION Group group_of(int v) const {
    return {level[v] / levels * levels};
  }
  /// Whether a dependency of a row of the group is of it as well and is
  /// replaced. Its level set comes before the row's, so that it can't be of a
  /// later group. All that decides is read at once: the status of a row of
  /// another group may be written meanwhile, and is not used.
  KOKKOS_FUNCTION bool inner(const Group& group, int from) const {
    const bool as_it_is = stays(from);
    const bool late = level[from] >= group.first_level;
    return late & !as_it_is;
  }
  /// What becomes of row `v`, of which an elimination has made `row`.
  KOKKOS_FUNCTION int status_of(int v, const EliminatedRow& row,
                                bool has_to_stay) const {
    if (has_to_stay) return RowStatus::stays;
    if (row.fits && row.coefficients == 1) return RowStatus::as_it_was;
    const bool worthwhile =
        row.fits &&
        row.dependencies <= 3 * (end(v) - first(v)) + spare_dependencies;
    return worthwhile ? RowStatus::merged : RowStatus::stays;
  }
};

/// A group has no more level sets than there are.
inline int levels_of_group(int levels, int num_levels) {
  return std::min(levels, std::max(2, num_levels));
}

/// Maxima over all rows.
struct MergeLimits {
  enum : int {
    coefficients,  // most of a merged row, with the row itself
    dependencies,  // most of a merged row
    stays,         // whether a row stays, or how many depths that concerns
    longest,       // most elements of what rows are stored by
    size
  };
};

/// The dependencies of row v, ascending: those that an elimination has found,
/// or its own.
template <class Groups, class Eliminate>
KOKKOS_FUNCTION void write_dependencies(const Groups& groups, int v,
                                        bool merged, const EliminatedRow& row,
                                        const Eliminate& eliminate, int lane,
                                        int* dependency) {
  if (merged) {
    for (int s = lane; s < row.dependencies; s += Eliminate::num_lanes)
      dependency[eliminate.rank_of_dependency(s, row.dependencies)] =
          eliminate.dependency(s);
  } else {
    const std::int64_t first = groups.first(v), length = groups.end(v) - first;
    for (std::int64_t k = lane; k < length; k += Eliminate::num_lanes)
      dependency[k] = groups.entry(first + k);
  }
}

/// map[i]: the sum of the first i lengths.
struct OffsetsOf {
  const int* length;
  std::int64_t* map;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                         bool final) const {
    if (final) map[i] = sum;
    sum += length[i];
    if (final && i + 1 == count) map[count] = sum;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
