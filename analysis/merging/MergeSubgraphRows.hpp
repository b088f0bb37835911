// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGE_SUBGRAPH_ROWS_HPP
#define STRATA_ANALYSIS_MERGING_MERGE_SUBGRAPH_ROWS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/merging/EliminateRows.hpp>
#include <analysis/merging/MergeGroups.hpp>
#include <analysis/merging/MergedSubgraphRows.hpp>
#include <analysis/merging/SampleMerging.hpp>
#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

template <class MemorySpace>
using SubgraphGroups = MergeGroups<MemorySpace, true>;

/// Notes the lengths of the merged rows, for CountMergedRows: of the rows of
/// one depth in the groups, once those of smaller depths are known, or of all
/// rows at once. Lengths of all rows at once hold up to the first depth with a
/// row that stays as it is and was not known to.
template <class MemorySpace>
struct SubgraphRowLengths {
  static constexpr int all_depths = -1;
  int depth;
  const int* unmerged;  // as CountMergedRows has it
  int *coefficients, *dependencies;
  int* words;  // see MergedSubgraphRows
  MergedSubgraphRows<MemorySpace> shape;

  KOKKOS_FUNCTION int vertex(const SubgraphGroups<MemorySpace>& groups,
                             std::int64_t number) const {
    const int v = static_cast<int>(number);
    return depth == all_depths || groups.level[v] % groups.levels == depth ? v
                                                                           : -1;
  }
  KOKKOS_FUNCTION static int* limits_of(const SubgraphGroups<MemorySpace>&, int,
                                        int* limits) {
    return limits;
  }
  /// MergeLimits::stays is how many depths there are from the first row on that
  /// stays, but was not known to; `longest` the most coefficients and
  /// dependencies together of a merged row.
  template <class Eliminate>
  KOKKOS_FUNCTION int note(const SubgraphGroups<MemorySpace>& groups, int v,
                           const EliminatedRow& row, int status, int lane,
                           const Eliminate&, int* limits) const {
    if (lane != 0) return 0;
    const bool known = unmerged && unmerged[v] == RowStatus::stays;
    const bool merged = status == RowStatus::merged;
    if (status == RowStatus::stays && !known)
      raise_limit(limits + MergeLimits::stays,
                  groups.levels - groups.level[v] % groups.levels);
    coefficients[v] = merged ? row.coefficients : 1;
    dependencies[v] = merged ? row.dependencies : groups.length(v);
    const int tasks = shape.tasks_of(dependencies[v]);
    words[v] = merged ? 1 + tasks + (row.operations + 3) / 4
               : dependencies[v] > shape.max_ranks
                   ? dependencies[v]
                   : tasks + (dependencies[v] + 3) / 4;
    return row.coefficients + row.dependencies;
  }
};

/// The merged rows' dependencies, ascending.
template <class MemorySpace>
struct FillMergedInSubgraph {
  SubgraphGroups<MemorySpace> groups;
  const int* coefficients;
  const std::int64_t* dependency_map;
  int* dependency;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = static_cast<int>(number);
    const bool merged = v >= 0 && coefficients[v] > 1;
    const EliminatedRow row = eliminate.run(merged ? v : -1, groups, NoNotes());
    if (v < 0) return;
    write_dependencies(groups, v, merged, row, eliminate, lane,
                       dependency + dependency_map[v]);
  }
};

/// Counts the steps that a candidate takes for a sample of rows, for
/// SampleMergedRows. With `d` groups from a row down to its dependency of rank
/// r, newest first, and e dependencies a step, a group takes (1 + r / e) / d
/// steps at least; a row that stays as it is takes a step for each of its level
/// sets. Steps for a group of level sets are counted in parts, of which
/// `parts_of_step` make a step.
struct SubgraphSteps {
  enum : int {
    operations = MergeSample::size,  // of the merged rows' recipes
    tasks,
    tasks_wide,
    late,
    late_wide,
    end
  };
  static constexpr int size = end - MergeSample::size, parts_of_step = 64;
  int entries, entries_wide;

  template <class Groups, class Eliminate>
  KOKKOS_FUNCTION void operator()(const Groups& groups, int v,
                                  const EliminatedRow& row, int status,
                                  int lane, const Eliminate& eliminate,
                                  std::int64_t* sums) const {
    int slow = parts_of_step, slow_wide = parts_of_step;
    if (v >= 0 && row.fits) {
      const int own = groups.level[v] / groups.levels;
      for (int s = lane; s < row.dependencies; s += Eliminate::num_lanes) {
        const int group = groups.level[eliminate.dependency(s)] / groups.levels;
        int rank = 0;
        for (int other = 0; other < row.dependencies; ++other) {
          const int its =
              groups.level[eliminate.dependency(other)] / groups.levels;
          rank += its > group || (its == group && other < s);
        }
        const int d = own > group ? own - group : 1;
        const int steps = (1 + rank / entries) * parts_of_step / d;
        const int wide = (1 + rank / entries_wide) * parts_of_step / d;
        slow = steps > slow ? steps : slow;
        slow_wide = wide > slow_wide ? wide : slow_wide;
      }
    }
    for (int mask = Eliminate::num_lanes / 2; mask > 0; mask /= 2) {
      const int a = lane_xor(slow, mask), b = lane_xor(slow_wide, mask);
      slow = a > slow ? a : slow;
      slow_wide = b > slow_wide ? b : slow_wide;
    }
    if (v < 0 || lane != 0) return;
    // A row without dependencies in its group is none the worse for not being
    // merged.
    if (status == RowStatus::stays) {
      constexpr int most = 1 << 24;
      const int all =
          (groups.levels < most ? groups.levels : most) * parts_of_step;
      slow = all > slow ? all : slow;
      slow_wide = all > slow_wide ? all : slow_wide;
    }
    const bool merged = status == RowStatus::merged;
    const std::int64_t m = merged ? row.dependencies : groups.length(v);
    const auto add = [&](int what, std::int64_t value) {
      Kokkos::atomic_fetch_add(sums + (what - MergeSample::size), value);
    };
    const auto tasks_of = [&](int entries_a_step) {
      return m == 0 ? std::int64_t{1}
                    : (m + entries_a_step - 1) / entries_a_step;
    };
    add(tasks, tasks_of(entries));
    add(tasks_wide, tasks_of(entries_wide));
    if (merged) add(operations, row.operations);
    add(late, slow);
    add(late_wide, slow_wide);
  }
};

/// The maps of MergedSubgraphRows, all in one scan: index i stands for permuted
/// row i % n of map i / n.
template <class MemorySpace>
struct MergedMaps {
  SubgraphGroups<MemorySpace> groups;
  Kokkos::View<const unsigned*, MemorySpace> row;
  MergedSubgraphRows<MemorySpace> rows;
  const int *coefficients, *words;             // by vertex
  std::int64_t num_entries, num_coefficients;  // sums over all rows

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                  bool final) const {
    const std::int64_t n = groups.graph.num_vertices, p = i % n;
    const int v = groups.graph.row_of(static_cast<int>(row(p)));
    const int which = static_cast<int>(i / n);
    const auto& map = which == 0   ? rows.row_map
                      : which == 1 ? rows.coefficient_map
                                   : rows.word_map;
    const std::int64_t before = which == 0   ? 0
                                : which == 1 ? num_entries
                                             : num_entries + num_coefficients;
    if (final) map(p) = static_cast<int>(sum - before);
    sum += which == 0   ? groups.end(v) - groups.first(v)
           : which == 1 ? std::int64_t{coefficients[v]}
                        : std::int64_t{words[v]};
    if (final && p + 1 == n) map(n) = static_cast<int>(sum - before);
  }
};

/// What new values need of each row, once its place among the packed
/// records is known.
template <class MemorySpace>
struct WriteMergedInSubgraph {
  SubgraphGroups<MemorySpace> groups;
  MergedSubgraphRows<MemorySpace> rows;
  const int* permuted_row_of;
  // Of the merged graph: by vertex, by edge, by vertex, and by task.
  const std::int64_t* dependency_map;
  const unsigned *rank, *place;
  const int* first_task;
  const unsigned* task_place;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    constexpr int lanes = Eliminate::num_lanes;
    using Rows = MergedSubgraphRows<MemorySpace>;
    const int v = static_cast<int>(number);
    const int p = v < 0 ? 0 : permuted_row_of[v];
    const int first_coefficient = rows.coefficient_map(p);
    const bool merged =
        v >= 0 && rows.coefficient_map(p + 1) - first_coefficient > 1;
    unsigned* const word = rows.word.data() + rows.word_map(p);
    const std::int64_t first_dependency = v < 0 ? 0 : dependency_map[v];
    const int dependencies =
        v < 0 ? 0 : static_cast<int>(dependency_map[v + 1] - first_dependency);
    const int tasks = rows.tasks_of(dependencies);
    unsigned char* const recipe =
        reinterpret_cast<unsigned char*>(word + 1 + tasks);
    const EliminatedRow row =
        eliminate.run(merged ? v : -1, groups, RecipeNotes{recipe});
    if (v < 0) return;
    const std::int64_t first = groups.first(v), end = groups.end(v);
    if (rows.has_value_indices)
      for (std::int64_t k = first + lane; k < end; k += lanes)
        rows.value_index.set(rows.row_map(p) + (k - first),
                             groups.graph.value_index(k));
    if (!merged && lane == 0) rows.coefficient(first_coefficient) = 0;
    if (!merged && dependencies > Rows::max_ranks) {
      for (std::int64_t k = first + lane; k < end; k += lanes)
        word[k - first] = place[first_dependency + (k - first)];
      return;
    }
    for (int q = lane; q < tasks; q += lanes)
      word[merged + q] = task_place[first_task[v] + q];
    if (!merged) {
      auto* const ranks = reinterpret_cast<unsigned char*>(word + tasks);
      for (std::int64_t k = first + lane; k < end; k += lanes)
        ranks[k - first] =
            static_cast<unsigned char>(rank[first_dependency + (k - first)]);
      return;
    }
    if (lane == 0) word[0] = static_cast<unsigned>(row.dependencies);
    for (int t = lane; t < row.coefficients; t += lanes)
      rows.coefficient(first_coefficient + row.coefficients - 1 -
                       eliminate.rank_of_coefficient(t, row.coefficients)) =
          static_cast<std::int16_t>(p -
                                    permuted_row_of[eliminate.coefficient(t)]);
    notes_to_slots(
        row, eliminate, lane, recipe,
        [&](int its) { return row.coefficients - 1 - its; },
        [&](int its) {
          return row.coefficients +
                 static_cast<int>(rank[first_dependency + its]);
        });
    if (lane == 0)
      for (int o = row.operations; o % 4 != 0; ++o) recipe[o] = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
