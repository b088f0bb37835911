// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGE_STAGES_HPP
#define STRATA_ANALYSIS_MERGING_MERGE_STAGES_HPP

#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/merging/EliminateRows.hpp>
#include <analysis/merging/MergeGroups.hpp>
#include <analysis/merging/MergedRows.hpp>
#include <analysis/merging/ShareRecipes.hpp>
#include <analysis/stages/StageKinds.hpp>
#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

/// MergeLimits of the rows of each depth in their groups; deep ones share.
struct DepthLimits {
  static constexpr int most_depths = 32, size = most_depths * MergeLimits::size;
  KOKKOS_FUNCTION static int shared(int depth) {
    return depth < most_depths ? depth : most_depths - 1;
  }
  KOKKOS_FUNCTION static int at(int depth, int which) {
    return shared(depth) * MergeLimits::size + which;
  }
};

/// Decides which rows are merged, and notes their lengths and their depths in
/// their groups: of the rows of one depth, once those of smaller depths are
/// known, or of all rows at once, as if none stayed. That holds for all rows up
/// to the first depth of which a row stays; merged rows then have no
/// dependencies in their group.
template <class MemorySpace>
struct CountMergedRows {
  using Groups = MergeGroups<MemorySpace>;
  Groups groups;
  const int* unmerged;  // by vertex, RowStatus::stays: has to stay; or null
  int* row_status;      // by vertex
  const int* vertices;  // to be counted
  int *length, *coefficients, *recipe, *depth_in_group;
  bool at_once;
  int* limits;  // DepthLimits

  /// MergeLimits::stays is whether a row stays, `longest` the longer of both
  /// lists of any row.
  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = number < 0 ? -1 : vertices[number];
    const EliminatedRow row = eliminate.run(v, groups, NoNotes());
    if (v < 0) return;
    const int status =
        groups.status_of(v, row, unmerged && unmerged[v] == RowStatus::stays);
    const bool merged = status == RowStatus::merged;
    const int depth = depth_of(v, merged, row, lane, eliminate);
    if (lane != 0) return;
    int* const raised =
        limits + DepthLimits::at(groups.level[v] % groups.levels, 0);
    depth_in_group[v] = depth;
    row_status[v] = status;
    if (status == RowStatus::stays) raise_limit(raised + MergeLimits::stays, 1);
    // The row may have been counted as if none stayed.
    const int others = merged ? row.coefficients - 1 : 0;
    length[v] = merged ? row.dependencies : groups.length(v);
    coefficients[v] = others;
    recipe[v] = 0;
    if (!merged) return;
    constexpr int word = MergedRows<MemorySpace>::word;
    const int bytes = MergedRows<MemorySpace>::head + others + row.operations;
    recipe[v] = (bytes + word - 1) / word;
    const int longest = row.dependencies > others ? row.dependencies : others;
    raise_limits(raised, {{MergeLimits::coefficients, row.coefficients},
                          {MergeLimits::dependencies, row.dependencies},
                          {MergeLimits::longest, longest}});
  }

 private:
  /// Behind all dependencies of its group.
  template <class Eliminate>
  KOKKOS_FUNCTION int depth_of(int v, bool merged, const EliminatedRow& row,
                               int lane, const Eliminate& eliminate) const {
    int depth = 0;
    const auto behind = [&](int from) {
      if (groups.same_group(from, v) && depth_in_group[from] >= depth)
        depth = depth_in_group[from] + 1;
    };
    if (!at_once && merged)
      for (int s = lane; s < row.dependencies; s += Eliminate::num_lanes)
        behind(eliminate.dependency(s));
    if (!merged)
      for (std::int64_t k = groups.first(v) + lane; k < groups.end(v);
           k += Eliminate::num_lanes)
        behind(groups.entry(k));
    for (int mask = Eliminate::num_lanes / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(depth, mask);
      depth = other > depth ? other : depth;
    }
    return depth;
  }
};

/// The merged rows' dependencies and coefficients, both ascending, and what new
/// values need of all rows.
template <class MemorySpace>
struct FillMerged {
  MergeGroups<MemorySpace> groups;
  const int* row_status;
  const std::int64_t *row_map, *coefficient_map;
  int *entries, *coefficients;
  MergedRows<MemorySpace> rows;  // but for recipes
  ShareRecipes<MemorySpace> recipes;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    constexpr int lanes = Eliminate::num_lanes;
    constexpr int head = MergedRows<MemorySpace>::head;
    const int v = static_cast<int>(number);
    const bool rewrites = v >= 0 && row_status[v] == RowStatus::merged;
    unsigned char* const recipe = recipes.recipe(v < 0 ? 0 : v);
    // The last word may have bytes of no recipe.
    if (rewrites && lane == 0) recipes.words[recipes.word_of[v + 1] - 1] = 0;
    lane_barrier();
    unsigned char* const slot =
        recipe + head +
        (v < 0 ? 0 : coefficient_map[v + 1] - coefficient_map[v]);
    const EliminatedRow row =
        eliminate.run_and_note(rewrites ? v : -1, groups, slot);
    if (rewrites) eliminate.write_recipe(row, groups, recipe + head, slot);
    if (v < 0) return;
    keep(v, lane, lanes);
    write_dependencies(groups, v, rewrites, row, eliminate, lane,
                       entries + row_map[v]);
    if (!rewrites) return;
    // The last of the coefficients is the row itself.
    const int others = row.coefficients - 1;
    for (int t = lane; t < row.coefficients; t += lanes) {
      const int rank = eliminate.rank_of_coefficient(t, row.coefficients);
      if (rank < others)
        coefficients[coefficient_map[v] + rank] = eliminate.coefficient(t);
    }
    if (lane == 0) {
      recipe[0] = static_cast<unsigned char>(others);
      recipe[1] = static_cast<unsigned char>(row.dependencies);
      recipe[2] = static_cast<unsigned char>(row.operations & 0xff);
      recipe[3] = static_cast<unsigned char>(row.operations >> 8);
    }
  }

 private:
  KOKKOS_FUNCTION void keep(int v, int lane, int lanes) const {
    const std::int64_t first = groups.first(v), end = groups.end(v);
    if (rows.values_in_order) {
      const int diagonals = rows.unit ? 0 : 1;
      if (lane == 0) rows.begin_of(v) = static_cast<int>(first) + diagonals * v;
      if (lane == 0 && v + 1 == groups.graph.num_vertices)
        rows.begin_of(v + 1) = static_cast<int>(end) + diagonals * (v + 1);
    } else {
      const std::int64_t at = rows.begin_of(v);
      for (std::int64_t k = first + lane; k < end; k += lanes)
        rows.value_index.set(at + 1 + (k - first), groups.graph.value_index(k));
      if (lane == 0)
        rows.value_index.set(at, groups.graph.diagonal_value_index(v));
    }
    if (lane == 0 && v == 0) rows.findings(0) = {};
  }
};

/// The sums that the host reads.
struct MergeSums {
  enum : int {
    dependencies,
    coefficients,
    recipe,
    levels,
    most_coefficients,
    most_dependencies,
    longest,
    stays,
    size
  };
};

/// The stages before rows are counted, and after.
template <class MemorySpace>
struct MergeStages {
  Kokkos::View<const std::int64_t*, MemorySpace> given_map;
  Kokkos::View<const int*, MemorySpace> permuted_row, level_of;
  Kokkos::View<const std::int64_t*, MemorySpace> level_map;
  int num_vertices, levels, num_levels;
  std::int64_t num_numbers;  // groups * levels
  // By vertex.
  int *row_status, *length, *coefficients, *recipe, *depth_in_group, *rank,
      *new_level;
  std::int64_t *row_map, *coefficient_map;
  int *by_depth, *level_begin, *number;
  int *limits, *counted;  // MergeLimits::size of all rows, and DepthLimits
  /// If one does, what was counted from the next depth on is of no use.
  bool none_may_stay = false;
  std::int64_t* work;  // see Work
  std::int64_t threads_to_clear;
  const int* unmerged;  // by vertex, RowStatus::stays: has to stay; or null
  std::int64_t* sums;
  ListsRank ranks;

  struct Clear {};
  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t i) const {
    for (std::int64_t at = i; at < num_numbers; at += threads_to_clear)
      number[at] = 0;
    if (i < MergeLimits::size) limits[i] = 0;
    if (i < DepthLimits::size) counted[i] = 0;
    for (std::int64_t at = i; at < recipes.table_size; at += threads_to_clear)
      recipes(typename ShareRecipes<MemorySpace>::Clear(), at);
  }
  /// Level sets by their depth in the group, then by group: the sum is of their
  /// vertices.
  struct PlaceLevels {};
  KOKKOS_INLINE_FUNCTION void operator()(PlaceLevels, std::int64_t i,
                                         std::int64_t& sum, bool final) const {
    // The first `most` depths have as many level sets as there are groups.
    const std::int64_t groups = num_numbers / levels;
    const std::int64_t most = num_levels - (groups - 1) * levels;
    const bool full = i < most * groups;
    const std::int64_t rest = i - most * groups;
    const std::int64_t level =
        full ? i % groups * levels + i / groups
             : rest % (groups - 1) * levels + most + rest / (groups - 1);
    if (final) level_begin[level] = static_cast<int>(sum);
    sum += level_map(level + 1) - level_map(level);
  }
  /// Sorts vertices by depth, and sets all numbers of those of depth 0.
  struct Begin {};
  KOKKOS_INLINE_FUNCTION void operator()(Begin, std::int64_t vertex) const {
    const auto v = static_cast<int>(vertex);
    const int level = level_of(v);
    const auto own = static_cast<int>(given_map(v + 1) - given_map(v));
    by_depth[level_begin[level] + (permuted_row(v) - level_map(level))] = v;
    row_status[v] =
        unmerged && unmerged[v] ? RowStatus::stays : RowStatus::as_it_was;
    length[v] = own;
    coefficients[v] = recipe[v] = depth_in_group[v] = 0;
    raise_limit(limits + MergeLimits::longest, own);
  }

  /// What the stages from here on have to do: nothing, where a row stays that
  /// must not.
  struct Work {
    enum : int { rows, numbers, size };
  };
  /// Index i has limit i. MergeSums::stays becomes how many depths there are up
  /// to the first one of which a row stays; 0: none does.
  struct Decide {};
  KOKKOS_INLINE_FUNCTION void operator()(Decide, std::int64_t i) const {
    const auto which = static_cast<int>(i);
    int stay_from = 0, most = 0;
    for (int d = DepthLimits::most_depths - 1; d >= 0; --d) {
      if (counted[DepthLimits::at(d, MergeLimits::stays)] != 0)
        stay_from = DepthLimits::shared(d + 1);
    }
    const bool any = !none_may_stay || stay_from == 0;
    for (int d = 0; d < DepthLimits::most_depths; ++d) {
      int& of_depth = counted[DepthLimits::at(d, which)];
      most = of_depth > most ? of_depth : most;
      // Those are counted again.
      if (!any && which != MergeLimits::stays && d >= stay_from) of_depth = 0;
    }
    if (any && most > limits[which]) limits[which] = most;
    if (which > 0) return;
    work[Work::rows] = any ? num_vertices : 0;
    work[Work::numbers] = any ? num_numbers : 0;
    for (int k = 0; k < MergeSums::size; ++k) sums[k] = 0;
    sums[MergeSums::stays] = stay_from;
  }
  struct Dependencies {};
  KOKKOS_INLINE_FUNCTION void operator()(Dependencies, std::int64_t v,
                                         std::int64_t& sum, bool final) const {
    OffsetsOf{length, row_map, num_vertices}(v, sum, final);
    if (final) mark_used(number + number_of(v));
  }
  struct Coefficients {};
  KOKKOS_INLINE_FUNCTION void operator()(Coefficients, std::int64_t v,
                                         std::int64_t& sum, bool final) const {
    OffsetsOf{coefficients, coefficient_map, num_vertices}(v, sum, final);
  }
  struct RecipeSizes {};
  KOKKOS_INLINE_FUNCTION void operator()(RecipeSizes, std::int64_t v,
                                         std::int64_t& sum, bool final) const {
    if (final) recipes.word_of[v] = static_cast<unsigned>(sum);
    sum += recipe[v];
    if (!final || v + 1 < num_vertices) return;
    recipes.word_of[v + 1] = static_cast<unsigned>(sum);
    sums[MergeSums::recipe] = sum;
  }
  /// Numbers the new level sets without gaps: those that the depths of a
  /// group's vertices make, which Dependencies has marked.
  struct Number {};
  KOKKOS_INLINE_FUNCTION void operator()(Number, std::int64_t i,
                                         std::int64_t& sum, bool final) const {
    number_used(number + i, sum, final);
    if (!final || i + 1 < num_numbers) return;
    sums[MergeSums::dependencies] = row_map[num_vertices];
    sums[MergeSums::coefficients] = coefficient_map[num_vertices];
    sums[MergeSums::levels] = sum;
    sums[MergeSums::most_coefficients] = limits[MergeLimits::coefficients];
    sums[MergeSums::most_dependencies] = limits[MergeLimits::dependencies];
    sums[MergeSums::longest] = limits[MergeLimits::longest];
  }
  struct NewLevels {};
  KOKKOS_INLINE_FUNCTION void operator()(NewLevels, std::int64_t v) const {
    rank[v] = ranks(coefficients[v], length[v]);
    new_level[v] = number[number_of(v)];
  }

  // Once the order is known.
  Kokkos::View<const int*, MemorySpace> new_vertex;
  MergedRows<MemorySpace> rows;
  ShareRecipes<MemorySpace> recipes;
  /// Where the user's values are not in order.
  struct PlaceEntries {};
  KOKKOS_INLINE_FUNCTION void operator()(PlaceEntries, std::int64_t p,
                                         std::int64_t& sum, bool final) const {
    const int v = new_vertex(p);
    if (final) rows.begin_of(v) = static_cast<int>(sum);
    sum += given_map(v + 1) - given_map(v) + 1;
    if (final && p + 1 == num_vertices)
      rows.begin_of(p + 1) = static_cast<int>(sum);
  }

 private:
  KOKKOS_INLINE_FUNCTION std::int64_t number_of(std::int64_t v) const {
    return std::int64_t{level_of(v) / levels} * levels + depth_in_group[v];
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
