// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGE_SUBGRAPHS_HPP
#define STRATA_ANALYSIS_MERGING_MERGE_SUBGRAPHS_HPP

#include <analysis/merging/MergeSubgraphRows.hpp>
#include <analysis/merging/ReplaceBySets.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Sums over merged rows, by vertex: what all have together, and where the
/// dependencies of each begin.
struct MergedRowSums {
  enum : int { coefficients, words, dependencies, size };
  const int* counts[size];  // by vertex
  std::int64_t* row_map;    // of the dependencies
  std::int64_t* totals;
  std::int64_t num_rows;

  template <int what>
  struct Sum {};
  template <int what>
  KOKKOS_INLINE_FUNCTION void operator()(Sum<what>, std::int64_t v,
                                         std::int64_t& sum, bool final) const {
    if (what == dependencies && final) row_map[v] = sum;
    sum += counts[what][v];
    if (!final || v + 1 < num_rows) return;
    totals[what] = sum;
    if (what == dependencies) row_map[num_rows] = sum;
  }
};

/// Level sets merged within sub-graphs, in two steps: the merged rows, as a
/// graph for the packing of records, and what new values need, once all rows
/// and records have their places. merge_levels does the same for the whole
/// graph.
template <class ExecutionSpace>
class SubgraphMerger {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Graph = DependencyGraph<Memory>;
  using Groups = SubgraphGroups<Memory>;

  explicit SubgraphMerger(const ExecutionSpace& exec) : exec_(exec) {}

  /// Puts merged rows in the place of `graph`, which is the one of `groups`, or
  /// leaves it as it is where there is nothing to merge, or too much.
  /// @param unmerged  by vertex, RowStatus::stays: has to stay; or null
  /// @param shape     without arrays
  /// @param record_packets, max_rows  see PackedRecord, and of a sub-graph
  /// @param pool  for the merged rows, until `keep` has been called
  /// @returns whether rows are merged
  /// Cost: two eliminations of each row, or three where a row stays; the host
  /// waits several times.
  bool merge(const Groups& groups, const int* unmerged,
             const MergedSubgraphRows<Memory>& shape, int record_packets,
             int max_rows, Graph& graph, WorkPool<ExecutionSpace>& pool) {
    groups_ = groups;
    shape_ = shape;
    const Graph& given = groups_.graph;
    const std::int64_t n = given.num_vertices;
    // Coefficients are numbered with 31 bits.
    if (n > std::numeric_limits<int>::max() / max_coefficients ||
        max_rows > MergedSubgraphRows<Memory>::max_subgraph_rows)
      return false;
    int* const dependencies = pool.template take<int>(n);
    pool.take(row_status_, n);
    pool.take(coefficients_, n);
    pool.take(words_, n);
    int limits[MergeLimits::size];
    count(unmerged, dependencies, limits, pool);
    Graph merged;
    merged.num_vertices = given.num_vertices;
    merged.reversed = given.reversed;
    merged.diagonal_value_index = given.diagonal_value_index;
    merged.row_map = pool.template view<std::int64_t>(n + 1);
    const auto words = pool.template view<std::int64_t>(MergedRowSums::size);
    using Sums = MergedRowSums;
    const HostWords<ExecutionSpace> told(Sums::size);
    FusedStages<ExecutionSpace>(exec_, pool)
        .run("Strata::SubgraphPacker::offsets",
             Sums{{coefficients_, words_, dependencies},
                  merged.row_map.data(),
                  words.data(),
                  n},
             SumsStage<Sums::Sum<Sums::coefficients>, Sums::Sum<Sums::words>,
                       Sums::Sum<Sums::dependencies>>{n},
             ReportStage{std::int64_t{Sums::size}, words.data(), told.data()});
    exec_.fence();
    const std::int64_t* const totals = told.data();
    num_coefficients_ = totals[Sums::coefficients];
    num_words_ = totals[Sums::words];
    const std::int64_t num_dependencies = totals[Sums::dependencies];
    // Records begin at multiples of 16 bytes, counted with 28 bits. Fewer than
    // two of three lanes are idle, see ChooseLanes.
    const std::int64_t most_records =
        num_dependencies + 3 * n * shape.row_lanes;
    if (most_records * record_packets >= 1 << 28 ||
        num_words_ > std::numeric_limits<int>::max())
      return false;
    lists_ = {(limits[MergeLimits::coefficients] + 3) / 4 * 4,
              (limits[MergeLimits::dependencies] + 3) / 4 * 4};
    shape_.max_coefficients = lists_.coefficients;
    shape_.max_slots = limits[MergeLimits::longest];
    if (lists_.coefficients == 0) return false;  // nothing to rewrite
    merged.entries = pool.template view<int>(num_dependencies);
    groups_.row_status = row_status_;
    replace_rows("Strata::SubgraphPacker::fill_merged_in_subgraph", exec_, n,
                 mean_length(),
                 FillMergedInSubgraph<Memory>{groups_, coefficients_,
                                              merged.row_map.data(),
                                              merged.entries.data()},
                 lists_, lists_, most_rows_to_replace(lists_));
    graph = merged;
    return true;
  }

  /// What new values need, once the records are laid out.
  /// @param places  where rows and records are: the arrays of
  ///                WriteMergedInSubgraph, but for `groups` and `rows`
  MergedSubgraphRows<Memory> keep(
      std::int64_t num_values, const Kokkos::View<const unsigned*, Memory>& row,
      WriteMergedInSubgraph<Memory> places) const {
    const Graph& given = groups_.graph;
    const std::int64_t n = given.num_vertices;
    MergedSubgraphRows<Memory> kept = shape_;
    kept.num_entries = given.num_edges();
    kept.reversed = given.reversed;
    // A diagonal that is one stands nowhere.
    kept.has_value_indices =
        !given.values_in_order || num_values == given.num_edges();
    kept.storage = make_plan_storage<Memory>(
        exec_, "Strata::MergedSubgraphRows", [&](PlanStorage<Memory>& storage) {
          storage.take(kept.value_index,
                       kept.has_value_indices ? kept.num_entries : 0,
                       num_values);
          storage.take(kept.row_map, n + 1);
          storage.take(kept.coefficient_map, n + 1);
          storage.take(kept.word_map, n + 1);
          storage.take(kept.word, num_words_);
          storage.take(kept.coefficient, num_coefficients_);
        });
    Kokkos::parallel_scan(
        "Strata::SubgraphPacker::merged_maps",
        RangeOf<ExecutionSpace>(exec_, 0, 3 * n),
        MergedMaps<Memory>{groups_, row, kept, coefficients_, words_,
                           given.num_edges(), num_coefficients_});
    places.groups = groups_;
    places.rows = kept;
    eliminate_rows("Strata::SubgraphPacker::write_merged_in_subgraph", exec_, n,
                   mean_length(), places, lists_);
    return kept;
  }

  /// Dependencies of a merged row at most, once `merge` has returned true.
  int most_dependencies() const { return lists_.dependencies; }

 private:
  double mean_length() const {
    return double(groups_.graph.num_edges()) / groups_.graph.num_vertices;
  }
  /// Lengths of the merged rows: of all depths in the groups at once, then,
  /// from the first row on that stays, of one depth after the other. The host
  /// waits.
  void count(const int* unmerged, int* dependencies,
             int (&limits)[MergeLimits::size],
             WorkPool<ExecutionSpace>& pool) const {
    using Lengths = SubgraphRowLengths<Memory>;
    const Kokkos::View<int*, Memory> found(
        reinterpret_cast<int*>(pool.zeros((MergeLimits::size + 1) / 2)),
        MergeLimits::size);
    const auto count_depth = [&](int depth, const int* row_status) {
      Groups known = groups_;
      known.row_status = row_status;
      replace_rows("Strata::SubgraphPacker::count_merged_in_subgraph", exec_,
                   known.graph.num_vertices, mean_length(),
                   CountMergedRows<Groups, Lengths>{
                       known, unmerged, row_status_,
                       Lengths{depth, unmerged, coefficients_, dependencies,
                               words_, shape_},
                       found.data()});
    };
    count_depth(Lengths::all_depths, unmerged);
    copy_to_host(exec_, found, limits);
    const int left = limits[MergeLimits::stays];
    if (left < 2) return;
    for (int depth = groups_.levels - left + 1; depth < groups_.levels; ++depth)
      count_depth(depth, row_status_);
    copy_to_host(exec_, found, limits);
  }

  ExecutionSpace exec_;
  Groups groups_{};
  MergedSubgraphRows<Memory> shape_;
  std::int64_t num_coefficients_ = 0, num_words_ = 0;
  ListLengths lists_{0, 0};
  // By vertex.
  int *row_status_ = nullptr, *coefficients_ = nullptr, *words_ = nullptr;
};

}  // namespace Detail
}  // namespace Strata

#endif
