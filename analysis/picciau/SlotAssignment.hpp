// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_SLOT_ASSIGNMENT_HPP
#define STRATA_ANALYSIS_PICCIAU_SLOT_ASSIGNMENT_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace Strata {
namespace Detail {

/// Calls visit(g) for every sub-graph, in parallel on the host, or one after
/// the other where there is so little to do that waking the threads, several
/// times while sorting criteria are compared, would take longer.
template <class Visit>
void for_each_subgraph(const char* label, int count, std::int64_t edges,
                       const Visit& visit) {
  if (count < 2 || edges < 100000) {
    for (int g = 0; g < count; ++g) visit(g);
    return;
  }
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace,
                          Kokkos::Schedule<Kokkos::Dynamic>>(0, count),
      [&](const int g) { visit(g); });
}

/// Gives every edge into the vertices of sub-graph g its time slot: Picciau et
/// al.'s Algorithms 4 and 5, mended (docs/algorithms/subgraphs.md). Calls
/// external(local, k, slot) and internal(local, k, slot) once an edge, k its
/// index in entries, slots from 0; vertices ascending.
///
/// An internal edge (j, i) can start in the slot after the last one into j.
/// FIX_CONFLICTS moves an edge whose slot is taken, by another edge into i, to
/// the first free one after it; which slots end up taken does not depend on
/// the order in which edges are moved, so the edges are taken by ascending
/// earliest slot and each gets max(earliest, the previous one's + 1).
/// A sub-graph of m vertices needs fewer than m internal slots: the edges that
/// make up the run before the last slot come from different vertices, none of
/// them final before the run begins.
///
/// `ready[v]` (one int a vertex of the whole graph, shared by all sub-graphs)
/// receives the number of slots after which x_v is final. `earliest` is
/// scratch. Cost: O(d log d) a vertex of d edges.
template <class External, class Internal>
void assign_slots(const DependencyGraph<Kokkos::HostSpace>& graph,
                  const Subgraphs& subgraphs, int g, int* ready,
                  std::vector<std::uint64_t>& earliest,
                  const External& external, const Internal& internal) {
  const int first = subgraphs.vertex_map[g];
  for (int p = first; p < subgraphs.vertex_map[g + 1]; ++p) {
    const int i = subgraphs.vertices[p];
    const auto begin = graph.row_map(i), end = graph.row_map(i + 1);
    int slot = 0;
    earliest.clear();
    for (auto k = begin; k < end; ++k) {
      const int j = graph.entries(k);
      if (subgraphs.subgraph_of[j] == g)
        earliest.push_back(std::uint64_t(ready[j]) << 32 |
                           std::uint64_t(k - begin));
      else
        external(p - first, k, slot++);
    }
    std::sort(earliest.begin(), earliest.end());
    slot = 0;
    for (const auto edge : earliest) {
      slot = std::max(slot, int(edge >> 32));
      internal(p - first, begin + std::int64_t(edge & 0xffffffffu), slot++);
    }
    ready[i] = slot;
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
