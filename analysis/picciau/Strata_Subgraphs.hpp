// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SUBGRAPHS_HPP
#define STRATA_SUBGRAPHS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace Strata {

/// A partition of a dependency graph into the sub-graphs G_1 ... G_s of Picciau
/// et al., each small enough for one team's scratch.
///
/// Sub-graphs are numbered from 0 so that an edge never leads to a smaller
/// number: running them one after the other in that order is a valid solve.
/// (Our copy of the paper lacks section IV-A, which says what a feasible
/// partition is: this is our reconstruction.)
/// Sub-graphs of one level do not depend on each other.
struct Subgraphs {
  int count = 0;
  int num_levels = 0;
  int num_vertices = 0;

  /// Sub-graph of each vertex, -1 for an isolated one.
  std::vector<int> subgraph_of;
  /// Index of each vertex within its sub-graph, -1 for an isolated one.
  std::vector<int> local_index;
  /// The vertices of sub-graph g, ascending (a topological order), are
  /// vertices[vertex_map[g]] to vertices[vertex_map[g + 1] - 1].
  std::vector<int> vertex_map, vertices;
  /// Picciau et al.'s V_0, ascending: vertices without edges, x = b / d.
  std::vector<int> isolated;

  /// Level of each sub-graph, from 0: the longest path to it.
  std::vector<int> level_of;
  /// The sub-graphs of level p, ascending, are order[level_map[p]] to
  /// order[level_map[p + 1] - 1].
  std::vector<int> level_map, order;

  std::int64_t internal_edges = 0, external_edges = 0;

  int size(int g) const { return vertex_map[g + 1] - vertex_map[g]; }
  /// Vertices of the largest sub-graph: what the scratch has to hold.
  int largest() const {
    int most = 0;
    for (int g = 0; g < count; ++g) most = std::max(most, size(g));
    return most;
  }
  /// Share of the edges that cross sub-graphs, 0 to 1 (0 without edges).
  double external_share() const {
    const auto all = internal_edges + external_edges;
    return all == 0 ? 0. : double(external_edges) / double(all);
  }
};

namespace Detail {

/// The levels of sub-graphs whose vertices are known, and how many edges lead
/// from one to another.
/// @throws PartitionError as subgraphs_from_map
inline void find_subgraph_levels(
    const DependencyGraph<Kokkos::HostSpace>& graph, Subgraphs& s) {
  for (int i : s.isolated)
    if (graph.row_map(i) != graph.row_map(i + 1))
      throw PartitionError(
          "subgraph_of",
          "vertex " + std::to_string(i) + " has edges but no sub-graph",
          "give it one");
  // Numbers never decrease along an edge, so one sweep over the sub-graphs in
  // their order sees every dependency before the vertices that need it.
  s.level_of.assign(s.count, 0);
  for (int g = 0; g < s.count; ++g) {
    int level = 0;
    for (int p = s.vertex_map[g]; p < s.vertex_map[g + 1]; ++p) {
      const int i = s.vertices[p];
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const int source = s.subgraph_of[graph.entries(k)];
        if (source < 0 || source > g)
          throw PartitionError(
              "subgraph_of",
              "the edge from vertex " + std::to_string(graph.entries(k)) +
                  " to vertex " + std::to_string(i) +
                  " comes from no earlier sub-graph",
              "number the sub-graphs so that no edge leads to a smaller one");
        if (source == g) {
          ++s.internal_edges;
        } else {
          ++s.external_edges;
          level = std::max(level, s.level_of[source] + 1);
        }
      }
    }
    s.level_of[g] = level;
    s.num_levels = std::max(s.num_levels, level + 1);
  }

  LevelSets sets = sort_by_level(s.level_of, s.num_levels);
  s.level_map = std::move(sets.level_map);
  s.order = std::move(sets.vertices);
}

}  // namespace Detail

/// Completes a partition from the sub-graph of each vertex: a number from 0,
/// or -1 for a vertex to be treated as isolated. Numbers without vertices are
/// closed up. Cost: O(n + edges).
///
/// Throws PartitionError where the map has another length than the graph, an
/// edge leads to a smaller number (the quotient graph could have a cycle), or
/// a vertex with edges is in no sub-graph.
inline Subgraphs subgraphs_from_map(
    const DependencyGraph<Kokkos::HostSpace>& graph,
    std::vector<int> subgraph_of) {
  const int n = graph.num_vertices;
  if (subgraph_of.size() != std::size_t(n))
    throw PartitionError("subgraph_of",
                         std::to_string(subgraph_of.size()) + " numbers for " +
                             std::to_string(n) + " vertices",
                         "give one number for every vertex");
  Subgraphs s;
  s.num_vertices = n;
  s.subgraph_of = std::move(subgraph_of);

  int numbers = 0;
  for (int g : s.subgraph_of) {
    if (g < -1 || g >= n)
      throw PartitionError("subgraph_of",
                           "number " + std::to_string(g) + " out of range",
                           "use -1, or 0 up to the number of vertices");
    numbers = std::max(numbers, g + 1);
  }
  std::vector<int> members(numbers, 0), renumbered(numbers, -1);
  for (int g : s.subgraph_of)
    if (g >= 0) ++members[g];
  s.vertex_map.push_back(0);
  for (int g = 0; g < numbers; ++g)
    if (members[g] > 0) {
      renumbered[g] = s.count++;
      s.vertex_map.push_back(s.vertex_map.back() + members[g]);
    }

  s.local_index.assign(n, -1);
  s.vertices.resize(s.vertex_map.back());
  s.isolated.reserve(n - s.vertex_map.back());
  std::vector<int> filled(s.count, 0);
  for (int v = 0; v < n; ++v) {
    int& g = s.subgraph_of[v];
    if (g < 0) {
      s.isolated.push_back(v);
      continue;
    }
    g = renumbered[g];
    s.local_index[v] = filled[g];
    s.vertices[s.vertex_map[g] + filled[g]++] = v;
  }

  Detail::find_subgraph_levels(graph, s);
  return s;
}

}  // namespace Strata

#endif
