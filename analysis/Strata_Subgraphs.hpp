// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SUBGRAPHS_HPP
#define STRATA_SUBGRAPHS_HPP

#include <cstdint>
#include <vector>

namespace Strata {

/// A partition of a dependency graph into the sub-graphs G_1 ... G_s of 004,
/// each small enough for one team's scratch.
///
/// Sub-graphs are numbered from 0 so that an edge never leads to a smaller
/// number: running them one after the other in that order is a valid solve.
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
  /// 004's V_0, ascending: vertices without edges, x = b / d.
  std::vector<int> isolated;

  /// Level of each sub-graph, from 0: the longest path to it.
  std::vector<int> level_of;
  /// The sub-graphs of level p, ascending, are order[level_map[p]] to
  /// order[level_map[p + 1] - 1].
  std::vector<int> level_map, order;

  std::int64_t internal_edges = 0, external_edges = 0;

  /// Weakly connected components of two vertices or more, and the number of
  /// vertices of the largest.
  int num_components = 0, largest_component = 0;

  /// Vertices of the largest sub-graph: what the scratch has to hold.
  int largest() const {
    int size = 0;
    for (int g = 0; g < count; ++g)
      size = size < vertex_map[g + 1] - vertex_map[g]
                 ? vertex_map[g + 1] - vertex_map[g]
                 : size;
    return size;
  }
  /// Share of the edges that cross sub-graphs, 0 to 1 (0 without edges).
  double external_share() const {
    const auto all = internal_edges + external_edges;
    return all == 0 ? 0. : static_cast<double>(external_edges) / all;
  }
};

}  // namespace Strata

#endif
