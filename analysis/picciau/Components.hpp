// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_COMPONENTS_HPP
#define STRATA_ANALYSIS_PICCIAU_COMPONENTS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

/// Finds the components by merging the ends of every edge. The root of a tree
/// of parents is always a component's smallest vertex; halving the paths that
/// are walked keeps the whole at O((n + edges) log n), and near one step an
/// edge if neighbours have close numbers.
inline Components find_components(
    const DependencyGraph<Kokkos::HostSpace>& graph) {
  const int n = graph.num_vertices;
  std::vector<int> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int v) {
    while (parent[v] != v) {
      parent[v] = parent[parent[v]];
      v = parent[v];
    }
    return v;
  };
  for (int i = 0; i < n; ++i)
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      int a = root(i), b = root(graph.entries(k));
      if (a < b) std::swap(a, b);
      parent[a] = b;
    }
  Components components;
  components.of.resize(n);
  for (int v = 0; v < n; ++v) {
    const int r = root(v);
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

/// Packs items into bins of `capacity`, each in the first bin that has room,
/// and returns every item's bin. No item may exceed the capacity.
///
/// No two bins end up at most half full, so 2 * sum / capacity + 1 bins are
/// enough; a tree over them that knows the most room below each node finds the
/// first fit in O(log bins).
inline std::vector<int> pack_first_fit(const std::vector<int>& sizes,
                                       int capacity) {
  std::int64_t sum = 0;
  for (int size : sizes) sum += size;
  const auto most = std::min<std::int64_t>(std::int64_t(sizes.size()),
                                           2 * sum / capacity + 1);
  std::size_t leaves = 1;
  while (std::int64_t(leaves) < most) leaves *= 2;
  std::vector<int> room(2 * leaves, capacity);

  std::vector<int> bin_of(sizes.size());
  for (std::size_t item = 0; item < sizes.size(); ++item) {
    std::size_t node = 1;
    while (node < leaves) node = 2 * node + (room[2 * node] < sizes[item]);
    bin_of[item] = int(node - leaves);
    room[node] -= sizes[item];
    while (node > 1) {
      node /= 2;
      room[node] = std::max(room[2 * node], room[2 * node + 1]);
    }
  }
  return bin_of;
}

}  // namespace Detail
}  // namespace Strata

#endif
