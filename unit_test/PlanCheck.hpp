// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_UNIT_TEST_PLAN_CHECK_HPP
#define STRATA_UNIT_TEST_PLAN_CHECK_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace Strata {

/// Whether `sets` is what find_level_sets promises of `graph`: every vertex
/// listed once, under its own level, ascending, and every level just one above
/// the highest of the vertex's dependencies. O(n + edges).
inline bool are_level_sets(const DependencyGraph<Kokkos::HostSpace>& graph,
                           const LevelSets& sets) {
  const int n = graph.num_vertices;
  if (sets.level_of.size() != std::size_t(n) ||
      sets.vertices.size() != std::size_t(n) ||
      sets.level_map.size() != std::size_t(sets.num_levels) + 1 ||
      sets.level_map.front() != 0 || sets.level_map.back() != n)
    return false;
  for (int l = 0; l < sets.num_levels; ++l) {
    if (sets.level_map[l] >= sets.level_map[l + 1]) return false;
    for (int p = sets.level_map[l]; p < sets.level_map[l + 1]; ++p) {
      const int v = sets.vertices[p];
      if (v < 0 || v >= n || sets.level_of[v] != l) return false;
      if (p > sets.level_map[l] && sets.vertices[p - 1] >= v) return false;
    }
  }
  for (int i = 0; i < n; ++i) {
    int level = 0;
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
      level = std::max(level, sets.level_of[graph.entries(k)] + 1);
    if (sets.level_of[i] != level) return false;
  }
  return true;
}

/// Whether the partition is feasible: every vertex in exactly one sub-graph (or
/// isolated, and then without edges), none with more than `max_rows` vertices,
/// and p <= q for every edge from V_p to V_q. Also checks that every array says
/// the same. O(n + edges).
///
/// Our copy of Picciau et al. lacks the section that defines feasible (IV-A).
/// These conditions are our reconstruction: they are enough for Algorithm 1,
/// and give what the paper says of a feasible partition, that the graph of
/// sub-graphs has no cycle.
inline bool is_feasible(const DependencyGraph<Kokkos::HostSpace>& graph,
                        const Subgraphs& s, int max_rows) {
  const auto n = std::size_t(graph.num_vertices);
  if (s.subgraph_of.size() != n || s.local_index.size() != n ||
      s.vertices.size() + s.isolated.size() != n ||
      s.vertex_map.size() != std::size_t(s.count) + 1 ||
      s.vertex_map.front() != 0 ||
      std::size_t(s.vertex_map.back()) != s.vertices.size())
    return false;
  std::vector<char> seen(n, 0);
  for (int g = 0; g < s.count; ++g) {
    if (s.size(g) < 1 || s.size(g) > max_rows) return false;
    for (int p = s.vertex_map[g]; p < s.vertex_map[g + 1]; ++p) {
      const int v = s.vertices[p];
      if (v < 0 || std::size_t(v) >= n || seen[v] || s.subgraph_of[v] != g ||
          s.local_index[v] != p - s.vertex_map[g] ||
          (p > s.vertex_map[g] && s.vertices[p - 1] >= v))
        return false;
      seen[v] = 1;
    }
  }
  for (int v : s.isolated) {
    if (v < 0 || std::size_t(v) >= n || seen[v] || s.subgraph_of[v] != -1 ||
        graph.row_map(v) != graph.row_map(v + 1))
      return false;
    seen[v] = 1;
  }

  std::vector<int> level(s.count, 0);
  std::int64_t internal = 0, external = 0;
  for (int g = 0; g < s.count; ++g)
    for (int p = s.vertex_map[g]; p < s.vertex_map[g + 1]; ++p) {
      const int i = s.vertices[p];
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const int source = s.subgraph_of[graph.entries(k)];
        if (source < 0 || source > g) return false;
        ++(source == g ? internal : external);
        if (source < g) level[g] = std::max(level[g], level[source] + 1);
      }
    }
  if (level != s.level_of || internal != s.internal_edges ||
      external != s.external_edges ||
      s.level_map.size() != std::size_t(s.num_levels) + 1 ||
      s.level_map.front() != 0 || s.level_map.back() != s.count ||
      s.order.size() != std::size_t(s.count))
    return false;
  for (int p = 0; p < s.num_levels; ++p) {
    if (s.level_map[p] >= s.level_map[p + 1]) return false;
    for (int q = s.level_map[p]; q < s.level_map[p + 1]; ++q) {
      const int g = s.order[q];
      if (g < 0 || g >= s.count || level[g] != p ||
          (q > s.level_map[p] && s.order[q - 1] >= g))
        return false;
    }
  }
  return true;
}

/// Whether the schedule keeps its promises: every edge exactly once and in the
/// right list, ends of edges right, targets ascending in a slot and so never
/// two edges into one vertex, and every internal edge (j, i) in a later slot
/// than all internal edges into j. O(n + edges).
inline bool check_schedule(const DependencyGraph<Kokkos::HostSpace>& graph,
                           const Subgraphs& subgraphs,
                           const Schedule& schedule) {
  const auto total = graph.num_edges();
  if (schedule.external.num_edges() != subgraphs.external_edges ||
      schedule.internal.num_edges() != subgraphs.internal_edges ||
      subgraphs.external_edges + subgraphs.internal_edges != total)
    return false;
  std::vector<char> seen(total, 0);
  std::vector<std::int64_t> ready(subgraphs.num_vertices, 0);
  for (const bool internal : {false, true}) {
    const SlotList& list = internal ? schedule.internal : schedule.external;
    if (list.slot_map.size() != std::size_t(subgraphs.count) + 1 ||
        list.slot_map.front() != 0 ||
        list.edge_map.size() != std::size_t(list.num_slots()) + 1 ||
        list.edge_map.front() != 0 ||
        list.edge_map.back() != list.num_edges() ||
        list.source.size() != list.target.size() ||
        list.entry.size() != list.target.size())
      return false;
    for (int g = 0; g < subgraphs.count; ++g) {
      const int* const vertices =
          subgraphs.vertices.data() + subgraphs.vertex_map[g];
      const int size = subgraphs.size(g);
      if (list.slot_map[g] > list.slot_map[g + 1]) return false;
      for (auto q = list.slot_map[g]; q < list.slot_map[g + 1]; ++q) {
        if (list.edge_map[q] >= list.edge_map[q + 1]) return false;
        for (auto e = list.edge_map[q]; e < list.edge_map[q + 1]; ++e) {
          const int target = list.target[e], source = list.source[e];
          const auto k = list.entry[e];
          if (target < 0 || target >= size || k < 0 || k >= total || seen[k] ||
              (e > list.edge_map[q] && list.target[e - 1] >= target) ||
              (internal && (source < 0 || source >= size)))
            return false;
          seen[k] = 1;
          const int i = vertices[target];
          const int j = internal ? vertices[source] : source;
          if (k < graph.row_map(i) || k >= graph.row_map(i + 1) ||
              graph.entries(k) != j ||
              (subgraphs.subgraph_of[j] == g) != internal)
            return false;
          if (internal) ready[i] = std::max(ready[i], q + 1);
        }
      }
      if (!internal) continue;
      for (auto q = list.slot_map[g]; q < list.slot_map[g + 1]; ++q)
        for (auto e = list.edge_map[q]; e < list.edge_map[q + 1]; ++e)
          if (ready[vertices[list.source[e]]] > q) return false;
    }
  }
  return true;
}

}  // namespace Strata

#endif
