// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PARTITION_HPP
#define STRATA_PARTITION_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_PerformanceModel.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <analysis/picciau/Components.hpp>
#include <analysis/picciau/SplitComponent.hpp>
#include <string>
#include <utility>
#include <vector>

namespace Strata {

/// What partition() made of a graph.
struct Partition {
  Subgraphs subgraphs;
  /// What made it, for people: "whole components", or the sorting criterion of
  /// Algorithm 3.
  std::string criterion;
  /// By equation (5), in microseconds.
  double predicted_us = 0;
};

namespace Detail {

/// The sub-graph of each vertex, -1 for one without edges, but for the
/// components that are too large for one.
struct WholeComponents {
  std::vector<int> subgraph_of;
  int num_subgraphs = 0;
  /// Number of each vertex's large component, -1 outside of these.
  std::vector<int> large_of;
  /// Vertices of each large component, and how many have no dependencies.
  std::vector<int> sizes, roots;
};

/// Packs the components that fit, several into a sub-graph, and finds the
/// larger ones. O((n + edges) log n).
inline WholeComponents pack_whole_components(
    const DependencyGraph<Kokkos::HostSpace>& graph, int max_rows) {
  const int n = graph.num_vertices;
  const auto components = find_components(graph);
  WholeComponents whole;
  std::vector<int> large(components.size.size(), -1), small(large), fitting;
  for (std::size_t c = 0; c < large.size(); ++c) {
    const int size = components.size[c];
    if (size == 1) continue;
    auto& sizes = size > max_rows ? whole.sizes : fitting;
    (size > max_rows ? large : small)[c] = int(sizes.size());
    sizes.push_back(size);
  }
  const auto bin_of = pack_first_fit(fitting, max_rows);
  for (const int bin : bin_of)
    whole.num_subgraphs = std::max(whole.num_subgraphs, bin + 1);
  whole.roots.assign(whole.sizes.size(), 0);
  whole.large_of.resize(n);
  whole.subgraph_of.resize(n);
  for (int v = 0; v < n; ++v) {
    const int c = components.of[v];
    whole.large_of[v] = large[c];
    whole.subgraph_of[v] = small[c] < 0 ? -1 : bin_of[small[c]];
    if (large[c] >= 0 && graph.row_map(v) == graph.row_map(v + 1))
      ++whole.roots[large[c]];
  }
  return whole;
}

/// The sub-graph of each vertex, with the large components split into the
/// fewest sub-graphs by Algorithm 3.
inline std::vector<int> split_large_components(
    const DependencyGraph<Kokkos::HostSpace>& graph, const LevelSets& levels,
    const WholeComponents& whole, int max_rows, SortCriterion criterion) {
  std::vector<int> subgraph_of = whole.subgraph_of;
  const auto order = split_order(graph, levels, whole.large_of,
                                 int(whole.sizes.size()), criterion);
  const int* vertices = order.data();
  int base = whole.num_subgraphs;
  for (std::size_t c = 0; c < whole.sizes.size(); ++c) {
    const int size = whole.sizes[c];
    const int num_split = (size - 1) / max_rows + 1;
    split_component(graph, {vertices, size, whole.roots[c]}, num_split,
                    max_rows, base, subgraph_of);
    base += num_split;
    vertices += size;
  }
  return subgraph_of;
}

}  // namespace Detail

/// Partitions a dependency graph into sub-graphs. Our copy of Picciau et al.
/// lacks Algorithm 2, which does this, and the definition of a feasible
/// partition: what is here is our reconstruction around Algorithm 3.
///
/// Components are handled apart. Vertices without edges are set aside; the
/// components that fit into a sub-graph are packed, several into one, all on
/// the first sub-graph level; larger ones are split by Algorithm 3 with each
/// sorting criterion in turn, and the partition with the smallest prediction of
/// the performance model is kept.
///
/// Cost: O((n + edges) log n).
/// @param max_rows    Picciau et al.'s n_max: the most vertices a sub-graph may
///   have
/// @param parameters  of the performance model
/// @throws OptionError for an argument out of range
inline Partition partition(const DependencyGraph<Kokkos::HostSpace>& graph,
                           const LevelSets& levels, int max_rows,
                           const PerformanceParameters& parameters = {}) {
  if (max_rows < 1)
    throw OptionError("max_rows", std::to_string(max_rows) + " is out of range",
                      "allow at least one vertex a sub-graph");
  check_parameters(parameters);
  const auto whole = Detail::pack_whole_components(graph, max_rows);
  Partition best;
  const auto consider = [&](std::vector<int> subgraph_of, const char* name) {
    auto subgraphs = subgraphs_from_map(graph, std::move(subgraph_of));
    const double predicted =
        predict_subgraphs(parameters, subgraphs, count_slots(graph, subgraphs));
    if (best.criterion.empty() || predicted < best.predicted_us)
      best = {std::move(subgraphs), name, predicted};
  };
  if (whole.sizes.empty()) {
    consider(whole.subgraph_of, "whole components");
    return best;
  }
  for (const auto criterion : Detail::enumerators<Detail::SortCriterion>())
    consider(Detail::split_large_components(graph, levels, whole, max_rows,
                                            criterion),
             Detail::enumerator_name(criterion));
  return best;
}

}  // namespace Strata

#endif
