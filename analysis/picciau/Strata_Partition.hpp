// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PARTITION_HPP
#define STRATA_PARTITION_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_PartitionMethod.hpp>
#include <Strata_PerformanceModel.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_SortCriterion.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <analysis/picciau/Components.hpp>
#include <analysis/picciau/PackComponents.hpp>
#include <analysis/picciau/PartitionStrategy.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace Strata {

/// How partition() may split a dependency graph.
struct PartitionOptions {
  /// Picciau et al.'s n_max: the most vertices a sub-graph may have.
  int max_rows = 6144;
  /// Sub-graphs that the device runs at once: the packing of small components
  /// makes as many, or a multiple of it, if it can, and the prediction counts
  /// with it.
  /// 0: take any number to run at once and pack as tightly as possible.
  int concurrency = 0;
  PartitionMethod method = PartitionMethod::automatic;
  /// Of the heuristic.
  SortCriterion criterion = SortCriterion::automatic;
  /// What the candidates are judged by.
  PerformanceParameters parameters;
  /// Number of vertices and edges that all candidates together may visit before
  /// no further candidate is begun; the first is always completed.
  std::int64_t work_limit = 200000000;
};

/// One partition that was tried.
struct PartitionCandidate {
  std::string name;
  int subgraphs = 0, levels = 0;
  double external_share = 0;
  double predicted_us = 0;
};

/// What partition() made of a graph: the best of the candidates.
struct Partition {
  Subgraphs subgraphs;
  SlotCounts slots;
  std::vector<PartitionCandidate> candidates;
  /// Index of the one that was taken.
  int chosen = 0;
};

/// Partitions a dependency graph into sub-graphs. Our copy of Picciau et al.
/// lacks Algorithm 2, which does this, and the definition of a feasible
/// partition: what is here is our reconstruction around Algorithm 3.
///
/// Components are handled apart. Vertices without edges are set aside; the
/// components that fit into a sub-graph are packed, several into one, all on
/// the first sub-graph level; larger ones are split by each of the candidate
/// strategies in turn, and the candidate with the smallest prediction of the
/// performance model wins. With PartitionMethod::picciau_2017, `concurrency`
/// and `tau_edge`, which are ours, count as zero.
///
/// Cost: O((n + edges) log n) a candidate; the number of candidates is bounded
/// by `work_limit`. Throws OptionError for an option out of range.
inline Partition partition(const DependencyGraph<Kokkos::HostSpace>& graph,
                           const LevelSets& levels,
                           const PartitionOptions& options) {
  Detail::require_enumerator("PartitionOptions::method", options.method);
  Detail::require_enumerator("PartitionOptions::criterion", options.criterion);
  const auto require = [](bool good, const char* name, std::int64_t value,
                          const char* remedy) {
    if (!good)
      throw OptionError(std::string("PartitionOptions::") + name,
                        std::to_string(value) + " is out of range", remedy);
  };
  require(options.max_rows >= 1, "max_rows", options.max_rows,
          "allow at least one vertex a sub-graph");
  require(options.concurrency >= 0, "concurrency", options.concurrency,
          "use 0 for no limit");
  require(options.work_limit >= 0, "work_limit", options.work_limit,
          "use 0 for a single candidate");
  check_parameters(options.parameters);
  const bool own_terms = options.method != PartitionMethod::picciau_2017;
  const int concurrency = own_terms ? options.concurrency : 0;
  PerformanceParameters parameters = options.parameters;
  if (!own_terms) parameters.tau_edge = 0;

  const int n = graph.num_vertices;
  const auto components = Detail::find_components(graph);
  const int num_components = int(components.size.size());

  // Large components are numbered from 0, small ones from 0 too, apart.
  std::vector<int> large_of(num_components, -1), small_of(num_components, -1);
  std::vector<int> large_sizes, small_sizes;
  int largest = 0, connected = 0;
  for (int c = 0; c < num_components; ++c) {
    const int size = components.size[c];
    if (size == 1) continue;
    ++connected;
    largest = std::max(largest, size);
    auto& sizes = size > options.max_rows ? large_sizes : small_sizes;
    (size > options.max_rows ? large_of : small_of)[c] = int(sizes.size());
    sizes.push_back(size);
  }

  std::vector<int> bin_of;
  if (!small_sizes.empty()) {
    std::vector<std::int64_t> work(small_sizes.begin(), small_sizes.end());
    for (int v = 0; v < n; ++v)
      if (const int s = small_of[components.of[v]]; s >= 0)
        work[s] += graph.row_map(v + 1) - graph.row_map(v);
    bin_of = Detail::pack_components(small_sizes, work, options.max_rows,
                                     concurrency);
  }

  std::vector<int> subgraph_of(n, -1), component_of(n, -1);
  for (int v = 0; v < n; ++v) component_of[v] = large_of[components.of[v]];
  const auto place_small = [&](int base) {
    for (int v = 0; v < n; ++v)
      if (const int s = small_of[components.of[v]]; s >= 0)
        subgraph_of[v] = base + bin_of[s];
  };

  Partition best;
  const auto consider = [&](const std::string& name, int numbers_used) {
    place_small(numbers_used);
    auto subgraphs = subgraphs_from_map(graph, subgraph_of);
    auto slots = count_slots(graph, subgraphs);
    const double predicted =
        predict_subgraphs(parameters, subgraphs, slots, concurrency);
    const bool better = best.candidates.empty() ||
                        predicted < best.candidates[best.chosen].predicted_us;
    best.candidates.push_back({name, subgraphs.count, subgraphs.num_levels,
                               subgraphs.external_share(), predicted});
    if (!better) return;
    best.chosen = int(best.candidates.size()) - 1;
    best.subgraphs = std::move(subgraphs);
    best.slots = std::move(slots);
  };

  if (large_sizes.empty()) {
    consider(own_terms ? "whole components" : "Picciau 2017, whole components",
             0);
  } else {
    Detail::SplitProblem problem{graph, levels, component_of, large_sizes,
                                 options.max_rows};
    auto work = options.work_limit;
    for (const auto& strategy :
         problem.strategies(options.method, options.criterion)) {
      const int used = problem.split(strategy, subgraph_of, work);
      consider(strategy.name(), used);
      work -= 2 * (n + graph.num_edges());
      if (work <= 0) break;
    }
  }
  best.subgraphs.num_components = connected;
  best.subgraphs.largest_component = largest;
  return best;
}

}  // namespace Strata

#endif
