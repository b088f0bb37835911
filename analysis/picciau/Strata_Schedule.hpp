// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SCHEDULE_HPP
#define STRATA_SCHEDULE_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <analysis/picciau/SlotAssignment.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace Strata {

/// The time slots of one kind of edge, of all sub-graphs one after the other.
struct SlotList {
  /// Sub-graph g has the slots slot_map[g] <= q < slot_map[g + 1].
  std::vector<std::int64_t> slot_map;
  /// Slot q has the edges edge_map[q] <= e < edge_map[q + 1], by ascending
  /// target. No slot is empty.
  std::vector<std::int64_t> edge_map;
  /// Target of each edge: its index within the sub-graph.
  std::vector<int> target;
  /// Source of each edge: index within the sub-graph for an internal edge,
  /// vertex of the whole graph for an external one.
  std::vector<int> source;
  /// Index of each edge in DependencyGraph::entries.
  std::vector<std::int64_t> entry;

  std::int64_t num_slots() const {
    return slot_map.empty() ? 0 : slot_map.back();
  }
  std::int64_t num_edges() const { return std::int64_t(target.size()); }
};

/// When every multiply-and-add x_i -= l_ij x_j of Picciau et al.'s Algorithm 1
/// happens: the sets T'_gq (external) and T_gq (internal).
///
/// No slot has two edges into one vertex, so the edges of a slot can run at
/// once; an internal edge (j, i) comes in a later slot than every internal
/// edge into j, and all external slots of a sub-graph come before its internal
/// ones, so x_j is final when it is read.
struct Schedule {
  SlotList external, internal;
};

/// What the performance model needs to know of a schedule, for each sub-graph.
struct SlotCounts {
  std::vector<int> external, internal;
};

/// Counts the slots of every sub-graph without making the schedule. Runs over
/// the sub-graphs in parallel on the host; O(edges log(longest row)) in all.
inline SlotCounts count_slots(const DependencyGraph<Kokkos::HostSpace>& graph,
                              const Subgraphs& subgraphs) {
  const int count = subgraphs.count;
  SlotCounts counts{std::vector<int>(count), std::vector<int>(count)};
  std::vector<int> ready(subgraphs.num_vertices, 0);
  Detail::for_each_subgraph("Strata::Analysis::count_slots", count,
                            graph.num_edges(), [&](const int g) {
                              std::vector<std::uint64_t> earliest;
                              int external = 0, internal = 0;
                              Detail::assign_slots(
                                  graph, subgraphs, g, ready.data(), earliest,
                                  [&](int, std::int64_t, int slot) {
                                    external = std::max(external, slot + 1);
                                  },
                                  [&](int, std::int64_t, int slot) {
                                    internal = std::max(internal, slot + 1);
                                  });
                              counts.external[g] = external;
                              counts.internal[g] = internal;
                            });
  return counts;
}

namespace Detail {

/// Has room for the slots and edges of all sub-graphs, one after the other.
/// @param edges  of sub-graph g at g + 1, as list.slot_map has its slots; both
///               become sums
inline void place_slots(SlotList& list, std::vector<std::int64_t>& edges) {
  for (std::size_t g = 0; g + 1 < edges.size(); ++g) {
    list.slot_map[g + 1] += list.slot_map[g];
    edges[g + 1] += edges[g];
  }
  list.edge_map.resize(std::size_t(list.num_slots()) + 1);
  list.edge_map.back() = edges.back();
  list.target.resize(edges.back());
  list.source.resize(edges.back());
  list.entry.resize(edges.back());
}

}  // namespace Detail

/// Makes the schedule of every sub-graph (Picciau et al.'s Algorithms 4 and 5),
/// in parallel over the sub-graphs on the host. Cost: O(edges log(longest row))
/// time, 20 bytes an edge of which 4 are given back.
inline Schedule make_schedule(const DependencyGraph<Kokkos::HostSpace>& graph,
                              const Subgraphs& subgraphs) {
  const int count = subgraphs.count;
  Schedule schedule;
  SlotList* const lists[2] = {&schedule.external, &schedule.internal};
  std::vector<std::int64_t> edges_before[2];
  for (int kind = 0; kind < 2; ++kind) {
    lists[kind]->slot_map.assign(std::size_t(count) + 1, 0);
    edges_before[kind].assign(std::size_t(count) + 1, 0);
  }

  std::vector<int> slot_of(graph.num_edges());
  std::vector<int> ready(subgraphs.num_vertices, 0);
  Detail::for_each_subgraph(
      "Strata::Analysis::make_schedule::assign", count, graph.num_edges(),
      [&](const int g) {
        std::vector<std::uint64_t> earliest;
        std::int64_t slots[2] = {0, 0}, edges[2] = {0, 0};
        const auto note = [&](int kind, std::int64_t k, int slot) {
          slot_of[k] = slot;
          slots[kind] = std::max(slots[kind], std::int64_t(slot) + 1);
          ++edges[kind];
        };
        Detail::assign_slots(
            graph, subgraphs, g, ready.data(), earliest,
            [&](int, std::int64_t k, int slot) { note(0, k, slot); },
            [&](int, std::int64_t k, int slot) { note(1, k, slot); });
        for (int kind = 0; kind < 2; ++kind) {
          lists[kind]->slot_map[g + 1] = slots[kind];
          edges_before[kind][g + 1] = edges[kind];
        }
      });

  for (int kind = 0; kind < 2; ++kind)
    Detail::place_slots(*lists[kind], edges_before[kind]);

  Detail::for_each_subgraph(
      "Strata::Analysis::make_schedule::place", count, graph.num_edges(),
      [&](const int g) {
        const int first = subgraphs.vertex_map[g];
        const int last = subgraphs.vertex_map[g + 1];
        std::vector<std::int64_t> next[2];
        for (int kind = 0; kind < 2; ++kind)
          next[kind].assign(
              lists[kind]->slot_map[g + 1] - lists[kind]->slot_map[g] + 1, 0);
        const auto for_each_edge = [&](const auto& visit) {
          for (int p = first; p < last; ++p) {
            const int i = subgraphs.vertices[p];
            for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
              const int j = graph.entries(k);
              visit(p - first, j, k, subgraphs.subgraph_of[j] == g ? 1 : 0);
            }
          }
        };
        for_each_edge([&](int, int, std::int64_t k, int kind) {
          ++next[kind][slot_of[k] + 1];
        });
        for (int kind = 0; kind < 2; ++kind) {
          next[kind][0] = edges_before[kind][g];
          const auto slot = lists[kind]->slot_map[g];
          for (std::size_t q = 0; q + 1 < next[kind].size(); ++q) {
            lists[kind]->edge_map[slot + std::int64_t(q)] = next[kind][q];
            next[kind][q + 1] += next[kind][q];
          }
        }
        for_each_edge([&](int target, int j, std::int64_t k, int kind) {
          SlotList& list = *lists[kind];
          const auto e = next[kind][slot_of[k]]++;
          list.target[e] = target;
          list.source[e] = kind == 1 ? subgraphs.local_index[j] : j;
          list.entry[e] = k;
        });
      });
  return schedule;
}

}  // namespace Strata

#endif
