// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGED_LEVELS_HPP
#define STRATA_ANALYSIS_MERGING_MERGED_LEVELS_HPP

#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/merging/CountInOrder.hpp>
#include <analysis/merging/MergeLevels.hpp>
#include <analysis/merging/MergedRows.hpp>
#include <analysis/merging/ReplaceBySets.hpp>
#include <analysis/merging/SampleMerging.hpp>
#include <analysis/merging/SampleNeighbours.hpp>

namespace Strata {

/// A graph whose level sets are merged all over the graph.
///
/// Vertices of `levels` consecutive level sets, the first of which is a
/// multiple of that, are a group. Within a group x_j is replaced by its own
/// equation:
///
///     l_ii x_i = b_i + sum over j of m_j b_j
///                    - sum over dependencies k of c_k x_k
///
/// where m_j is the coefficient of b for another vertex j of the group, and
/// dependencies are not of the group. The pattern names a coefficient by its
/// vertex j. Rows that would grow too long stay as they are, and those that
/// need them wait for them as for any other dependency.
template <class MemorySpace>
struct MergedLevels {
  int levels = 1;
  /// The merged rows' dependencies, without value_indices.
  DependencyGraph<MemorySpace> graph;
  /// The coefficients of vertex v are coefficient_map(v) <= t <
  /// coefficient_map(v + 1), ascending.
  Kokkos::View<std::int64_t*, MemorySpace> coefficient_map;
  Kokkos::View<int*, MemorySpace> coefficient;
  /// Of the merged graph; rows follow each other by their ranks, see
  /// ListsRank, and count as long as these say.
  LevelOrder<MemorySpace> order;
  /// What new values need. The number of bytes of the recipes is on the
  /// device, at `recipe_bytes`; the host has to wait for it.
  MergedRows<MemorySpace> rows;
  const std::int64_t* recipe_bytes = nullptr;
  /// What became of a vertex.
  Kokkos::View<const int*, MemorySpace> row_status;

  bool exist() const { return levels > 1; }
};

/// A candidate: a number of level sets to merge, and the rows that result.
struct LevelsCandidate {
  int levels = 1;
  /// Means over a sample of rows: dependencies and other rows' coefficients of
  /// a merged row, and the share of rows that stay as they are.
  double dependencies = 0, coefficients = 0, stay = 0;
};

/// What a sample of the rows says.
struct SampledLevels {
  std::vector<LevelsCandidate> candidates;
  NeighbourShares neighbours;
};

/// A group has no more level sets than there are.
inline int levels_of_group(int levels, int num_levels) {
  return std::min(levels, std::max(2, num_levels));
}

/// What a sample of the rows says of the candidates, and of the rows as they
/// are. Cost: 1,024 eliminations for each candidate at most; the host waits
/// once.
template <class ExecutionSpace>
SampledLevels sample_merged_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    const Detail::MergeCandidates& candidates, std::size_t scalar_bytes,
    Detail::WorkPool<ExecutionSpace>& pool) {
  using namespace Detail;
  using Memory = typename ExecutionSpace::memory_space;
  const auto found = sample_merging(
      exec, LevelGroups<Memory>{graph, order.level_of.data(), 1, nullptr},
      candidates,
      CountNeighbours{
          order.permuted_row.data(), order.vertex.data(), candidates.levels[0],
          std::max(1, sector_bytes / static_cast<int>(scalar_bytes))},
      pool, [&](std::int64_t count, double mean_length, const auto& task) {
        replace_rows("Strata::MergedLevels::sample", exec, count, mean_length,
                     task);
      });
  SampledLevels made;
  for (int c = 0; c < candidates.count; ++c)
    made.candidates.push_back(
        {levels_of_group(candidates.levels[c], order.num_levels()),
         found.mean(c, MergeSample::dependencies),
         found.mean(c, MergeSample::coefficients),
         found.mean(c, MergeSample::stay)});
  made.neighbours = CountNeighbours::shares(found, 0);
  return made;
}

/// Whether the rows of all depths of `levels` level sets are counted at once
/// first, as if none stayed: one depth after the other takes long where there
/// are few rows, of which none stays as a rule.
/// @param some_stay  whether a sample says that some do
inline bool counts_at_once(int levels, std::int64_t rows, bool some_stay) {
  return levels > 2 && rows <= Detail::few_rows_to_replace && !some_stay;
}
/// Depths whose rows are counted one after the other, unless a row stays that
/// the sample has not seen.
inline int counted_depths(int levels, std::int64_t rows, bool some_stay) {
  return counts_at_once(levels, rows, some_stay) ? 1 : levels - 1;
}

/// Rewrites a graph's rows.
///
/// @param order   of `graph`, which has vertices
/// @param levels  that are to become one, at least two; all, if there are fewer
/// @param num_values  values that the user's matrix stores
/// @param max_steps   of the chunks that are to be made, see make_row_chunks
/// @param pool    for all arrays: it has to outlive them
/// @param unmerged  by vertex, RowStatus::stays: the row stays as it is, and
///                  others wait for it; null: no row has to
/// @param some_stay  see counts_at_once
/// @returns with `levels` 1 where there is nothing to rewrite, or too much:
///          2^30 edges and vertices, or coefficients and dependencies, or 2^32
///          slots or words of recipes
/// Cost on a device: two eliminations of each row, a launch for each depth or,
/// for few rows of which none stays or of many depths, for all, a sort as for a
/// LevelOrder, four passes over the rows' recipes, which are in memory twice
/// meanwhile, and 136 bytes a row where rows of many depths are counted. The
/// host waits once, once more for an order of many rows or of many level sets,
/// and once more for few rows of which one stays.
template <class ExecutionSpace>
MergedLevels<typename ExecutionSpace::memory_space> merge_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order, int levels,
    std::int64_t num_values, int max_steps, WithinLevel within,
    Detail::WorkPool<ExecutionSpace>& pool, const int* unmerged = nullptr,
    bool some_stay = false) {
  using namespace Detail;
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const int num_levels = order.num_levels();
  MergedLevels<Memory> made;
  constexpr std::int64_t most_entries = std::int64_t{1} << 30;
  if (graph.num_edges() + n >= most_entries) return made;
  levels = levels_of_group(levels, num_levels);
  const std::int64_t num_groups =
      (std::int64_t{num_levels} + levels - 1) / levels;
  const double mean_length = double(graph.num_edges()) / double(n);

  MergeStages<ExecutionSpace> stages;
  using Stages = MergeStages<ExecutionSpace>;
  stages.given_map = graph.row_map;
  stages.permuted_row = order.permuted_row;
  stages.level_of = order.level_of;
  stages.level_map = order.level_map;
  stages.num_vertices = graph.num_vertices;
  stages.levels = levels;
  stages.num_levels = num_levels;
  stages.num_numbers = num_groups * levels;
  stages.ranks.max_steps = max_steps;
  stages.unmerged = unmerged;
  for (int** const ints :
       {&stages.row_status, &stages.length, &stages.coefficients,
        &stages.recipe, &stages.depth_in_group, &stages.rank, &stages.new_level,
        &stages.by_depth})
    pool.take(*ints, n);
  for (std::int64_t** const map : {&stages.row_map, &stages.coefficient_map})
    pool.take(*map, n + 1);
  if (is_gpu<ExecutionSpace> && counts_in_order(n, levels - 1))
    pool.take(stages.counted_row, n);
  pool.take(stages.level_begin, num_levels);
  pool.take(stages.number, stages.num_numbers);
  pool.take(stages.limits, MergeLimits::size);
  pool.take(stages.counted, DepthLimits::size);
  pool.take(stages.work, Stages::Work::size);
  pool.take(stages.shape, 3);
  // The sums and the sizes of the new level sets side by side, for one report.
  const bool may_order =
      has_resident_teams<ExecutionSpace> && n <= Stages::Order::most_vertices;
  pool.take(stages.sums,
            MergeSums::size + (may_order ? 3 * stages.num_numbers : 0) + 1);
  const Kokkos::View<int*, Memory> new_level(stages.new_level, n);
  stages.order.row_length = {graph.row_map, stages.rank};
  stages.order.level_of = new_level;
  stages.order.levels_found = stages.shape;
  stages.order.longest_found = stages.shape + 1;
  stages.order.within = within;
  if (may_order) stages.order.take(pool, n, stages.sums + MergeSums::size);
  using Share = ShareRecipes<Memory>;
  Share& recipes = stages.recipes;
  recipes.take(pool, n);
  FusedStages<ExecutionSpace> sequence(exec, pool);
  const LevelGroups<Memory> groups{graph, order.level_of.data(), levels,
                                   stages.row_status};
  const auto rows_of_depth = [&](int depth) {
    std::int64_t count = 0;
    for (int l = depth; l < num_levels; l += levels)
      count += order.sizes.rows(l);
    return count;
  };
  const ListLengths longest =
      longest_lists(*std::max_element(order.sizes.longest_row.begin(),
                                      order.sizes.longest_row.end()),
                    levels);
  using Lengths = LevelRowLengths<Memory>;
  using CountRows = CountMergedRows<LevelGroups<Memory>, Lengths>;
  // Vertices by depth, those from `first` on.
  const auto task_from = [&](std::int64_t first, bool at_once) {
    LevelGroups<Memory> known = groups;
    if (at_once) known.row_status = nullptr;
    return CountRows{
        known, unmerged, stages.row_status,
        Lengths{stages.by_depth + first, stages.length, stages.coefficients,
                stages.recipe, stages.depth_in_group, at_once},
        stages.counted};
  };
  const auto count_rows = [&](std::int64_t first, std::int64_t count,
                              bool at_once) {
    replace_rows("Strata::MergedLevels::count", exec, count, mean_length,
                 task_from(first, at_once),
                 lists_to_find<ExecutionSpace>(mean_length, longest), longest);
  };
  // All from `depth` on, the first of which is `first`.
  const auto count_from = [&](int depth, std::int64_t first) {
    if constexpr (is_gpu<ExecutionSpace>) {
      if (stages.counted_row && counts_in_order(n - first, levels - depth)) {
        count_in_order("Strata::MergedLevels::count", exec, n - first, depth,
                       task_from(first, false), stages.counted_row, pool);
        return;
      }
    }
    for (; depth < levels; ++depth) {
      const std::int64_t count = rows_of_depth(depth);
      count_rows(first, count, false);
      first += count;
    }
  };
  stages.threads_to_clear =
      std::min(std::int64_t{1} << 17,
               std::max<std::int64_t>({stages.num_numbers, DepthLimits::size,
                                       std::int64_t{recipes.table_size}}));
  sequence.run("Strata::MergedLevels::begin", stages,
               EachStage<typename Stages::Clear>{stages.threads_to_clear},
               SumStage<typename Stages::PlaceLevels>{num_levels},
               EachStage<typename Stages::Begin>{n});
  std::vector<std::int64_t> found;
  bool ordered = false;
  // Offsets and the order, once the rows are counted.
  const auto sum_up = [&] {
    const char* const label = "Strata::MergedLevels::offsets";
    const std::int64_t* const work = stages.work;
    using Work = typename Stages::Work;
    const StageCount rows{n, work + Work::rows};
    const EachStage<typename Stages::Decide> decide{MergeLimits::size};
    const SumsStage<typename Stages::Dependencies,
                    typename Stages::Coefficients, typename Stages::RecipeSizes>
        offsets{rows};
    const SumStage<typename Stages::Number> number{
        {stages.num_numbers, work + Work::numbers}};
    const EachStage<typename Stages::NewLevels> renumber{rows};
    const WordsWithSizes<ExecutionSpace> words(
        stages.sums, MergeSums::size, may_order ? stages.num_numbers : 0);
    ordered = false;
    if constexpr (has_resident_teams<ExecutionSpace>) {
      ordered =
          may_order &&
          sequence.run_in_one(
              label, stages, decide, offsets, number,
              EachStage<typename Stages::NewLevelsAndKeys>{rows},
              SortStage<typename Stages::Sort>{rows},
              EachStage<typename Stages::Bounds>{
                  {stages.order.lanes_of_whole_warps(), work + Work::lanes}},
              words.report(stages.shape + 2));
    }
    if (!ordered)
      sequence.run(label, stages, decide, offsets, number, renumber,
                   words.report_heads());
    found = words.take(exec, [&](const std::int64_t* sums) {
      return ordered ? sums[MergeSums::levels] : 0;
    });
  };
  // If some stay after all, all is right up to the first of their depths.
  int depth = 1;
  std::int64_t first = rows_of_depth(0);
  stages.none_may_stay = !unmerged && counts_at_once(levels, n, some_stay);
  if (stages.none_may_stay) {
    count_rows(first, n - first, true);
    sum_up();
    const int right = static_cast<int>(found[MergeSums::stays]);
    stages.none_may_stay = right == 0;
    for (; depth < right; ++depth) first += rows_of_depth(depth);
  }
  if (!stages.none_may_stay) {
    const auto before = pool.mark();
    count_from(depth, first);
    sum_up();
    pool.give_back(before);
  }
  const std::int64_t total = found[MergeSums::dependencies];
  const std::int64_t total_coefficients = found[MergeSums::coefficients];
  // A row takes at most 16 slots, or 8 for each element of the longer of its
  // lists: chunks number those of dependencies by 32 bits.
  constexpr std::int64_t words = (std::int64_t{1} << 32) - 64;
  if (found[MergeSums::most_coefficients] < 2 ||
      total + total_coefficients >= most_entries ||
      16 * n + 8 * (total + total_coefficients) >= words ||
      found[MergeSums::recipe] >= words)
    return made;

  // The merged rows.
  const ListLengths lists{
      static_cast<int>(found[MergeSums::most_coefficients] + 3) / 4 * 4,
      static_cast<int>(found[MergeSums::most_dependencies] + 3) / 4 * 4};
  auto& merged = made.graph;
  merged.num_vertices = graph.num_vertices;
  merged.reversed = graph.reversed;
  merged.diagonal_value_index = graph.diagonal_value_index;
  using Offsets = Kokkos::View<std::int64_t*, Memory>;
  merged.row_map = Offsets(stages.row_map, n + 1);
  merged.entries = pool.template view<int>(total);
  made.coefficient_map = Offsets(stages.coefficient_map, n + 1);
  made.coefficient = pool.template view<int>(total_coefficients);
  const int new_levels = static_cast<int>(found[MergeSums::levels]);
  if (ordered)
    made.order = order_of_stages(stages.order, new_level, new_levels, 0,
                                 found.data() + MergeSums::size);
  else
    made.order = order_by_known_levels(
        exec, merged, new_level, new_levels, stages.rank,
        stages.ranks.at_most(static_cast<int>(found[MergeSums::longest])),
        within, pool);
  auto& rows = made.rows;
  rows.most_coefficients =
      static_cast<int>(found[MergeSums::most_coefficients]) - 1;
  rows.most_dependencies =
      static_cast<int>(found[MergeSums::most_dependencies]);
  rows.values_in_order = graph.values_in_order;
  rows.reversed = graph.reversed;
  rows.unit = num_values == graph.num_edges();
  rows.last_value = num_values - 1;
  const auto take = [&](PlanStorage<Memory> storage) {
    rows.take(storage, n, graph.num_edges() + n,
              found[MergeSums::recipe] * MergedRows<Memory>::word,
              MergeFaults::size, num_values);
    return static_cast<std::int64_t>(storage.bytes());
  };
  const std::int64_t bytes = take(PlanStorage<Memory>());
  // A plan copies them as a whole.
  take(PlanStorage<Memory>(pool.template take<unsigned char>(bytes)));
  stages.new_vertex = made.order.vertex;
  stages.rows = rows;
  recipes.take_words(pool, found[MergeSums::recipe]);
  recipes.vertex = made.order.vertex;
  recipes.rows = rows;
  if (!rows.values_in_order)
    sequence.run("Strata::MergedLevels::places", stages,
                 SumStage<typename Stages::PlaceEntries>{n});
  replace_rows("Strata::MergedLevels::fill", exec, n, mean_length,
               FillMerged<Memory>{groups, stages.row_status, stages.row_map,
                                  stages.coefficient_map, merged.entries.data(),
                                  made.coefficient.data(), rows, recipes},
               lists, lists, most_rows_to_replace(lists));
  sequence.run("Strata::MergedLevels::recipes", recipes,
               EachStage<typename Share::Enter>{n},
               EachStage<typename Share::Compare>{n},
               SumStage<typename Share::Place>{n},
               EachStage<typename Share::Copy>{n});
  made.recipe_bytes = recipes.total;
  made.levels = levels;
  made.row_status = Kokkos::View<const int*, Memory>(stages.row_status, n);
  return made;
}

}  // namespace Strata

#endif
