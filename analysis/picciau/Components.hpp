// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_COMPONENTS_HPP
#define STRATA_ANALYSIS_PICCIAU_COMPONENTS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/dependency_graph/ComponentSizes.hpp>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// Weakly connected components, numbered from 0 by their smallest vertex.
struct Components {
  /// Component of each vertex.
  std::vector<int> of;
  /// Number of vertices of each component.
  std::vector<int> size;
};

/// Finds the components by merging the ends of every edge. The representative
/// is always a component's smallest vertex; halving the paths that are walked
/// keeps the whole at O((n + edges) log n), and near one step an edge where
/// neighbours have close numbers.
inline Components find_components(
    const DependencyGraph<Kokkos::HostSpace>& graph) {
  const int n = graph.num_vertices;
  Representatives representative(n);
  for (int i = 0; i < n; ++i)
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      int a = representative(i), b = representative(graph.entries(k));
      if (a < b) std::swap(a, b);
      representative.parent[a] = b;
    }
  Components components;
  components.of.resize(n);
  for (int v = 0; v < n; ++v) {
    const int r = representative(v);
    if (r == v) {
      components.of[v] = int(components.size.size());
      components.size.push_back(0);
    } else {
      components.of[v] = components.of[r];
    }
    ++components.size[components.of[v]];
  }
  return components;
}

}  // namespace Detail
}  // namespace Strata

#endif
