// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGED_LEVELS_HPP
#define STRATA_ANALYSIS_MERGING_MERGED_LEVELS_HPP

#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/merging/MergeStages.hpp>
#include <analysis/merging/MergedRows.hpp>
#include <analysis/merging/ReplaceBySets.hpp>
#include <analysis/stages/FusedStages.hpp>

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

namespace Detail {

/// A graph and its order become merged rows and their order, by one call of
/// `make`; an object serves one number of level sets. Steps, all of which work
/// on `stages_`:
///
/// 1. begin: vertices by their depth in their groups (`by_depth`).
/// 2. count: for each row whether it is merged (`row_status`), its numbers of
///    dependencies, coefficients and words of recipe, and its new level; their
///    sums, on the host in `found_`. Needs eliminations, but keeps no lists.
/// 3. If `found_` says that it is worthwhile, make_order: the order by new
///    levels, and room for the lists. Needs the lengths only.
/// 4. fill: the lists, by the same eliminations again, and the recipes. The
///    order decides where a row's values and recipe are.
template <class ExecutionSpace>
class LevelMerger {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Graph = DependencyGraph<Memory>;

  LevelMerger(const ExecutionSpace& exec, const Graph& graph,
              const LevelOrder<Memory>& order, int levels, int max_steps,
              WorkPool<ExecutionSpace>& pool, const int* unmerged)
      : exec_(exec),
        graph_(graph),
        order_(order),
        levels_(levels_of_group(levels, order.num_levels())),
        pool_(pool),
        sequence_(exec, pool) {
    const std::int64_t num_groups =
        (std::int64_t{order.num_levels()} + levels_ - 1) / levels_;
    stages_.given_map = graph.row_map;
    stages_.permuted_row = order.permuted_row;
    stages_.level_of = order.level_of;
    stages_.level_map = order.level_map;
    stages_.num_vertices = graph.num_vertices;
    stages_.levels = levels_;
    stages_.num_levels = order.num_levels();
    stages_.num_numbers = num_groups * levels_;
    stages_.ranks.max_steps = max_steps;
    stages_.unmerged = unmerged;
  }

  MergedLevels<Memory> make(std::int64_t num_values, WithinLevel within,
                            bool some_stay) {
    MergedLevels<Memory> made;
    if (graph_.num_edges() + graph_.num_vertices >= most_entries) return made;
    allocate();
    begin();
    count(some_stay);
    if (!worthwhile()) return made;
    make_order(within, made);
    fill(num_values, made);
    made.recipe_bytes = stages_.recipes.total;
    made.levels = levels_;
    made.row_status =
        Kokkos::View<const int*, Memory>(stages_.row_status, num_rows());
    return made;
  }

 private:
  using Stages = MergeStages<Memory>;
  using Share = ShareRecipes<Memory>;
  static constexpr std::int64_t most_entries = std::int64_t{1} << 30;

  std::int64_t num_rows() const { return graph_.num_vertices; }
  double mean_length() const {
    return double(graph_.num_edges()) / double(num_rows());
  }
  MergeGroups<Memory> groups() const {
    return {graph_, order_.level_of.data(), levels_, stages_.row_status};
  }
  std::int64_t rows_of_depth(int depth) const {
    std::int64_t count = 0;
    for (int l = depth; l < order_.num_levels(); l += levels_)
      count += order_.sizes.rows(l);
    return count;
  }

  void allocate() {
    const std::int64_t n = num_rows();
    for (int** const ints :
         {&stages_.row_status, &stages_.length, &stages_.coefficients,
          &stages_.recipe, &stages_.depth_in_group, &stages_.rank,
          &stages_.new_level, &stages_.by_depth})
      pool_.take(*ints, n);
    for (std::int64_t** const map :
         {&stages_.row_map, &stages_.coefficient_map})
      pool_.take(*map, n + 1);
    pool_.take(stages_.level_begin, order_.num_levels());
    pool_.take(stages_.number, stages_.num_numbers);
    pool_.take(stages_.limits, MergeLimits::size);
    pool_.take(stages_.counted, DepthLimits::size);
    pool_.take(stages_.work, Stages::Work::size);
    pool_.take(stages_.sums, MergeSums::size);
    stages_.recipes.take(pool_, n);
  }
  void begin() {
    stages_.threads_to_clear = std::min(
        std::int64_t{1} << 17,
        std::max<std::int64_t>({stages_.num_numbers, DepthLimits::size,
                                std::int64_t{stages_.recipes.table_size}}));
    sequence_.run("Strata::MergedLevels::begin", stages_,
                  EachStage<typename Stages::Clear>{stages_.threads_to_clear},
                  SumStage<typename Stages::PlaceLevels>{order_.num_levels()},
                  EachStage<typename Stages::Begin>{num_rows()});
  }

  /// What becomes of all rows, and sum_up. Few rows are counted at once, as if
  /// none stayed. If some stay after all, what was counted holds up to the
  /// first of their depths, and the others follow depth by depth.
  void count(bool some_stay) {
    const std::int64_t n = num_rows();
    int depth = 1;
    std::int64_t first = rows_of_depth(0);
    stages_.none_may_stay =
        !stages_.unmerged && counts_at_once(levels_, n, some_stay);
    if (stages_.none_may_stay) {
      count_rows(first, n - first, true);
      sum_up();
      const int right = static_cast<int>(found_[MergeSums::stays]);
      if (right == 0) return;
      stages_.none_may_stay = false;
      for (; depth < right; ++depth) first += rows_of_depth(depth);
    }
    for (; depth < levels_; ++depth) {
      const std::int64_t rows = rows_of_depth(depth);
      count_rows(first, rows, false);
      first += rows;
    }
    sum_up();
  }
  /// So many of the vertices by depth, those from `first` on.
  void count_rows(std::int64_t first, std::int64_t rows, bool at_once) {
    const ListLengths longest =
        longest_lists(order_.sizes.longest_row_of_all(), levels_);
    MergeGroups<Memory> known = groups();
    if (at_once) known.row_status = nullptr;
    replace_rows(
        "Strata::MergedLevels::count", exec_, rows, mean_length(),
        CountMergedRows<Memory>{
            known, stages_.unmerged, stages_.row_status,
            stages_.by_depth + first, stages_.length, stages_.coefficients,
            stages_.recipe, stages_.depth_in_group, at_once, stages_.counted},
        lists_to_find<ExecutionSpace>(mean_length(), longest), longest);
  }
  /// Offsets and new levels, once the rows are counted.
  void sum_up() {
    using Work = typename Stages::Work;
    const StageCount rows{num_rows(), stages_.work + Work::rows};
    const HostWords<ExecutionSpace> told(MergeSums::size);
    sequence_.run(
        "Strata::MergedLevels::offsets", stages_,
        EachStage<typename Stages::Decide>{MergeLimits::size},
        SumsStage<typename Stages::Dependencies, typename Stages::Coefficients,
                  typename Stages::RecipeSizes>{rows},
        SumStage<typename Stages::Number>{
            {stages_.num_numbers, stages_.work + Work::numbers}},
        EachStage<typename Stages::NewLevels>{rows},
        ReportStage{std::int64_t{MergeSums::size}, stages_.sums, told.data()});
    exec_.fence();
    std::copy(told.data(), told.data() + MergeSums::size, found_);
  }
  bool worthwhile() const {
    const std::int64_t entries =
        found_[MergeSums::dependencies] + found_[MergeSums::coefficients];
    // A row takes at most 16 slots, or 8 for each element of the longer of its
    // lists: chunks number those of dependencies by 32 bits.
    constexpr std::int64_t words = (std::int64_t{1} << 32) - 64;
    return found_[MergeSums::most_coefficients] >= 2 &&
           entries < most_entries && 16 * num_rows() + 8 * entries < words &&
           found_[MergeSums::recipe] < words;
  }

  void make_order(WithinLevel within, MergedLevels<Memory>& made) {
    const std::int64_t n = num_rows();
    using Offsets = Kokkos::View<std::int64_t*, Memory>;
    auto& merged = made.graph;
    merged.num_vertices = graph_.num_vertices;
    merged.reversed = graph_.reversed;
    merged.diagonal_value_index = graph_.diagonal_value_index;
    merged.row_map = Offsets(stages_.row_map, n + 1);
    merged.entries = pool_.template view<int>(found_[MergeSums::dependencies]);
    made.coefficient_map = Offsets(stages_.coefficient_map, n + 1);
    made.coefficient =
        pool_.template view<int>(found_[MergeSums::coefficients]);
    made.order = order_by_known_levels(
        exec_, merged,
        {Kokkos::View<int*, Memory>(stages_.new_level, n),
         static_cast<int>(found_[MergeSums::levels]),
         stages_.ranks.at_most(static_cast<int>(found_[MergeSums::longest])),
         true},
        stages_.rank, within, pool_);
  }
  /// The merged rows and their recipes.
  void fill(std::int64_t num_values, MergedLevels<Memory>& made) {
    const std::int64_t n = num_rows();
    make_rows(num_values, made.rows);
    Share& recipes = stages_.recipes;
    stages_.new_vertex = made.order.vertex;
    stages_.rows = made.rows;
    recipes.take_words(pool_, found_[MergeSums::recipe]);
    recipes.vertex = made.order.vertex;
    recipes.rows = made.rows;
    if (!made.rows.values_in_order)
      sequence_.run("Strata::MergedLevels::places", stages_,
                    SumStage<typename Stages::PlaceEntries>{n});
    const ListLengths lists{
        static_cast<int>(found_[MergeSums::most_coefficients] + 3) / 4 * 4,
        static_cast<int>(found_[MergeSums::most_dependencies] + 3) / 4 * 4};
    replace_rows(
        "Strata::MergedLevels::fill", exec_, n, mean_length(),
        FillMerged<Memory>{groups(), stages_.row_status, stages_.row_map,
                           stages_.coefficient_map, made.graph.entries.data(),
                           made.coefficient.data(), made.rows, recipes},
        lists, lists, most_rows_to_replace(lists));
    sequence_.run("Strata::MergedLevels::recipes", recipes,
                  EachStage<typename Share::Enter>{n},
                  EachStage<typename Share::Compare>{n},
                  SumStage<typename Share::Place>{n},
                  EachStage<typename Share::Copy>{n});
  }
  void make_rows(std::int64_t num_values, MergedRows<Memory>& rows) {
    rows.most_coefficients =
        static_cast<int>(found_[MergeSums::most_coefficients]) - 1;
    rows.most_dependencies =
        static_cast<int>(found_[MergeSums::most_dependencies]);
    rows.values_in_order = graph_.values_in_order;
    rows.reversed = graph_.reversed;
    rows.unit = num_values == graph_.num_edges();
    rows.last_value = num_values - 1;
    const auto take = [&](PlanStorage<Memory> storage) {
      rows.take(storage, num_rows(), graph_.num_edges() + num_rows(),
                found_[MergeSums::recipe] * MergedRows<Memory>::word,
                num_values);
      return static_cast<std::int64_t>(storage.bytes());
    };
    const std::int64_t bytes = take(PlanStorage<Memory>());
    // A plan copies them as a whole.
    take(PlanStorage<Memory>(pool_.template take<unsigned char>(bytes)));
  }

  ExecutionSpace exec_;
  Graph graph_;
  const LevelOrder<Memory>& order_;
  int levels_;
  WorkPool<ExecutionSpace>& pool_;
  FusedStages<ExecutionSpace> sequence_;
  Stages stages_;
  std::int64_t found_[MergeSums::size];
};

}  // namespace Detail

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
/// for few rows of which none stays, for all, a sort as for a LevelOrder, and
/// four passes over the rows' recipes, which are in memory twice meanwhile. The
/// host waits twice, and once more for few rows of which one stays.
template <class ExecutionSpace>
MergedLevels<typename ExecutionSpace::memory_space> merge_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order, int levels,
    std::int64_t num_values, int max_steps, WithinLevel within,
    Detail::WorkPool<ExecutionSpace>& pool, const int* unmerged = nullptr,
    bool some_stay = false) {
  return Detail::LevelMerger<ExecutionSpace>(exec, graph, order, levels,
                                             max_steps, pool, unmerged)
      .make(num_values, within, some_stay);
}

}  // namespace Strata

#endif
