// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_LEVEL_SETS_HPP
#define STRATA_LEVEL_SETS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace Strata {

/// The vertices of a dependency graph by the length of the longest path that
/// leads to them: those of one level do not depend on each other.
struct LevelSets {
  int num_levels = 0;
  /// Level of each vertex, from 0.
  std::vector<int> level_of;
  /// The vertices of level l, ascending, are vertices[level_map[l]] to
  /// vertices[level_map[l + 1] - 1].
  std::vector<int> level_map, vertices;
};

namespace Detail {

/// Level sets of vertices whose levels are known.
inline LevelSets sort_by_level(std::vector<int> level_of, int num_levels) {
  LevelSets sets;
  sets.num_levels = num_levels;
  sets.level_map.assign(std::size_t(num_levels) + 1, 0);
  for (int level : level_of) ++sets.level_map[level + 1];
  for (int l = 0; l < num_levels; ++l)
    sets.level_map[l + 1] += sets.level_map[l];
  sets.vertices.resize(level_of.size());
  auto next = sets.level_map;
  for (std::size_t v = 0; v < level_of.size(); ++v)
    sets.vertices[next[level_of[v]]++] = static_cast<int>(v);
  sets.level_of = std::move(level_of);
  return sets;
}

}  // namespace Detail

/// Finds the level sets. Cost: one pass over the edges, O(n + edges).
inline LevelSets find_level_sets(
    const DependencyGraph<Kokkos::HostSpace>& graph) {
  const int n = graph.num_vertices;
  std::vector<int> level_of(n, 0);
  int num_levels = 0;
  for (int i = 0; i < n; ++i) {
    int level = 0;
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
      level = std::max(level, level_of[graph.entries(k)] + 1);
    level_of[i] = level;
    num_levels = std::max(num_levels, level + 1);
  }
  return Detail::sort_by_level(std::move(level_of), num_levels);
}

}  // namespace Strata

#endif
