// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_LEVELSETS_HPP
#define STRATA_LEVELSETS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// Finds the level sets. Cost: one pass over the edges, O(n + edges).
inline LevelSets find_level_sets(
    const DependencyGraph<Kokkos::HostSpace>& graph) {
  const int n = graph.num_vertices;
  LevelSets sets;
  sets.level_of.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    int level = 0;
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
      level = std::max(level, sets.level_of[graph.entries(k)] + 1);
    sets.level_of[i] = level;
    sets.num_levels = std::max(sets.num_levels, level + 1);
  }
  sets.level_map.assign(std::size_t(sets.num_levels) + 1, 0);
  for (int level : sets.level_of) ++sets.level_map[level + 1];
  for (int l = 0; l < sets.num_levels; ++l)
    sets.level_map[l + 1] += sets.level_map[l];
  std::vector<int> next(sets.level_map.begin(), sets.level_map.end());
  sets.vertices.resize(n);
  for (int i = 0; i < n; ++i) sets.vertices[next[sets.level_of[i]]++] = i;
  return sets;
}

}  // namespace Strata

#endif
