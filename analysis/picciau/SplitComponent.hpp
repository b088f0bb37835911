// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_SPLIT_COMPONENT_HPP
#define STRATA_ANALYSIS_PICCIAU_SPLIT_COMPONENT_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// A component in the order of split_order.
struct OrderedComponent {
  const int* vertices = nullptr;
  int size = 0;
  /// How many of them, at the front, have no dependencies.
  int num_roots = 0;
};

/// What we have in place of Picciau et al.'s ASSOCIATE_SUBG, whose definition
/// our copy of the paper lacks: sub-graph p, or the first later one with room.
class SubgraphRoom {
 public:
  SubgraphRoom(int num_subgraphs, int capacity)
      : sizes_(num_subgraphs, 0),
        next_(std::size_t(num_subgraphs) + 1),
        capacity_(capacity) {
    std::iota(next_.begin(), next_.end(), 0);
  }
  /// Takes a place in the sub-graph that it returns, -1 where all are full.
  /// Full sub-graphs are stepped over for good, so a sequence of calls costs
  /// about one step each.
  int take(int p) {
    while (next_[p] != p) {
      next_[p] = next_[next_[p]];
      p = next_[p];
    }
    if (p == int(sizes_.size())) return -1;
    if (++sizes_[p] == capacity_) next_[p] = p + 1;
    return p;
  }

 private:
  std::vector<int> sizes_, next_;
  int capacity_;
};

/// One try of Picciau et al.'s Algorithm 3 from `num_init` starting sub-graphs:
/// gives the component's vertices the numbers base to base + num_split - 1.
/// Starting vertices are dealt out in turn, as in line 9 of Algorithm 3. As
/// printed, that line deals to one sub-graph more than line 4 allows; we take
/// the number of line 4. False if some vertex found no room. O(size + edges).
inline bool try_split(const DependencyGraph<Kokkos::HostSpace>& graph,
                      const OrderedComponent& component, int num_split,
                      int num_init, int max_rows, int base,
                      std::vector<int>& subgraph_of) {
  SubgraphRoom room(num_split, max_rows);
  for (int t = 0; t < component.size; ++t) {
    const int v = component.vertices[t];
    int p = 0;
    if (t < component.num_roots) {
      p = t % num_init;
    } else {
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
        p = std::max(p, subgraph_of[graph.entries(k)] - base);
    }
    p = room.take(p);
    if (p < 0) return false;
    subgraph_of[v] = base + p;
  }
  return true;
}

/// Picciau et al.'s Algorithm 3, with SubgraphRoom for ASSOCIATE_SUBG: splits a
/// component into at most `num_split` sub-graphs of at most `max_rows`
/// vertices, halving the number of starting sub-graphs until a try succeeds,
/// and returns that number. O((size + edges) log num_split).
///
/// One starting sub-graph always succeeds. That rests on SubgraphRoom: were a
/// full sub-graph p an error instead, all vertices would be meant for the one
/// starting sub-graph, and no component larger than it could be split. With
/// SubgraphRoom, at every moment all sub-graphs
/// before the last one in use are full: a vertex is meant for one in use, so it
/// goes to the last one, or opens the next when that is full. So no sub-graph
/// is refused before num_split * max_rows >= size vertices have been placed.
///
/// Throws PartitionError where num_split * max_rows < size.
inline int split_component(const DependencyGraph<Kokkos::HostSpace>& graph,
                           const OrderedComponent& component, int num_split,
                           int max_rows, int base,
                           std::vector<int>& subgraph_of) {
  if (std::int64_t(num_split) * max_rows < component.size)
    throw PartitionError("num_split",
                         std::to_string(num_split) + " sub-graphs of " +
                             std::to_string(max_rows) +
                             " vertices can't hold " +
                             std::to_string(component.size),
                         "allow more sub-graphs or larger ones");
  int num_init = std::min(num_split, component.num_roots);
  while (!try_split(graph, component, num_split, num_init, max_rows, base,
                    subgraph_of))
    num_init /= 2;
  return num_init;
}

}  // namespace Detail
}  // namespace Strata

#endif
