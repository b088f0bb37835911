// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_SPLIT_COMPONENT_HPP
#define STRATA_ANALYSIS_PICCIAU_SPLIT_COMPONENT_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <core/interface/Enumerators.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// The order in which Picciau et al.'s Algorithm 3 takes the vertices that are
/// ready (its kappa, which the paper does not name); ties go by number.
enum class SortCriterion {
  natural,       ///< by number
  longest_path,  ///< longest path to a vertex without children first
  most_children,
  most_parents,
  fewest_children
};
template <>
struct EnumeratorNames<SortCriterion> {
  static constexpr const char* list[] = {"natural", "longest_path",
                                         "most_children", "most_parents",
                                         "fewest_children"};
};

/// Sorts `items` by keys[item], 0 to range - 1, keeping the order of equals.
/// O(items + range).
inline void sort_by_key(std::vector<int>& items, const std::vector<int>& keys,
                        int range) {
  std::vector<int> next(std::size_t(range) + 1, 0);
  for (int item : items) ++next[keys[item] + 1];
  for (int key = 0; key < range; ++key) next[key + 1] += next[key];
  std::vector<int> sorted(items.size());
  for (int item : items) sorted[next[keys[item]]++] = item;
  items = std::move(sorted);
}

/// A number for every vertex, from 0, that rises in the criterion's order, and
/// one more than the largest. O(n + edges).
inline std::pair<std::vector<int>, int> criterion_keys(
    const DependencyGraph<Kokkos::HostSpace>& graph, SortCriterion criterion) {
  const int n = graph.num_vertices;
  std::vector<int> keys(n, 0);
  for (int i = n - 1; i >= 0; --i)
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      int& key = keys[graph.entries(k)];
      if (criterion == SortCriterion::most_parents)
        ++keys[i];
      else if (criterion == SortCriterion::longest_path)
        key = std::max(key, keys[i] + 1);
      else
        ++key;
    }
  int largest = 0;
  for (int key : keys) largest = std::max(largest, key);
  if (criterion != SortCriterion::fewest_children)
    for (int& key : keys) key = largest - key;
  return {std::move(keys), largest + 1};
}

/// The order in which Algorithm 3 meets the vertices of `component_of` >= 0:
/// by component, generation, criterion, number.
///
/// A vertex is put in V_next when the last of its dependencies has been given
/// its sub-graph. That happens one generation after the last one's own, so the
/// generations are the level sets, whatever the sub-graphs: neither the
/// containers nor the tests for missing dependencies need be carried out, and
/// one order serves every try. O(n + edges).
inline std::vector<int> split_order(
    const DependencyGraph<Kokkos::HostSpace>& graph, const LevelSets& levels,
    const std::vector<int>& component_of, int num_components,
    SortCriterion criterion) {
  std::vector<int> order;
  for (int v = 0; v < graph.num_vertices; ++v)
    if (component_of[v] >= 0) order.push_back(v);
  if (criterion != SortCriterion::natural) {
    const auto [keys, range] = criterion_keys(graph, criterion);
    sort_by_key(order, keys, range);
  }
  sort_by_key(order, levels.level_of, levels.num_levels);
  sort_by_key(order, component_of, num_components);
  return order;
}

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
