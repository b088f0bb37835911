// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_SPLIT_ORDER_HPP
#define STRATA_ANALYSIS_PICCIAU_SPLIT_ORDER_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <core/interface/Enumerators.hpp>
#include <cstddef>
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

}  // namespace Detail
}  // namespace Strata

#endif
