// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_PLAN_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_PLAN_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/ToDevice.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// Sub-graphs and schedule as the kernel reads them: marks instead of tests.
template <class MemorySpace>
struct SubgraphPlan {
  /// In an edge's target: the vertex is final after this edge.
  static constexpr unsigned last_mark = 0x80000000u;
  /// In a row: no edges lead into this vertex.
  static constexpr unsigned root_mark = 0x80000000u;

  struct Edges {
    Kokkos::View<std::int64_t*, MemorySpace> slot_map, edge_map;
    Kokkos::View<unsigned*, MemorySpace> target;  // local index and last_mark
    Kokkos::View<int*, MemorySpace> source;  // local index, or the user's row
    ValueIndex<MemorySpace> value_index;

    std::size_t bytes() const {
      return (slot_map.extent(0) + edge_map.extent(0)) * sizeof(std::int64_t) +
             target.extent(0) * sizeof(unsigned) +
             source.extent(0) * sizeof(int) + value_index.bytes();
    }
  };
  Edges external, internal;
  Kokkos::View<int*, MemorySpace> order, vertex_map;
  /// Permuted row (sub-graph by sub-graph, isolated vertices last) -> user's
  /// row and root_mark.
  Kokkos::View<unsigned*, MemorySpace> row;
  ValueIndex<MemorySpace> diagonal_value_index;  // per permuted row

  std::size_t bytes() const {
    return external.bytes() + internal.bytes() +
           (order.extent(0) + vertex_map.extent(0) + row.extent(0)) *
               sizeof(int) +
           diagonal_value_index.bytes();
  }
};

/// Builds the plan from the host's analysis and copies it to the device.
/// Cost: O(rows + entries) on the host.
template <class MemorySpace>
SubgraphPlan<MemorySpace> make_subgraph_plan(
    const DependencyGraph<Kokkos::HostSpace>& graph, const Subgraphs& subgraphs,
    const Schedule& schedule, std::int64_t num_values) {
  using Plan = SubgraphPlan<MemorySpace>;
  Plan plan;
  const int n = graph.num_vertices;
  std::vector<int> vertex_order(subgraphs.vertices);
  vertex_order.insert(vertex_order.end(), subgraphs.isolated.begin(),
                      subgraphs.isolated.end());
  std::vector<unsigned> row(n);
  std::vector<std::int64_t> diagonal(n);
  // Where the mark of each vertex goes: its last internal edge, else its last
  // external one.
  std::vector<char> marked(n, 0);
  for (int p = 0; p < n; ++p) {
    const int v = vertex_order[p];
    const bool root = graph.row_map(v) == graph.row_map(v + 1);
    row[p] =
        static_cast<unsigned>(graph.row_of(v)) | (root ? Plan::root_mark : 0u);
    diagonal[p] = graph.diagonal_value_index(v);
  }

  auto convert = [&](const SlotList& list, bool external) {
    typename Plan::Edges edges;
    std::vector<unsigned> target(list.target.begin(), list.target.end());
    std::vector<int> source(list.source);
    std::vector<std::int64_t> value_index(list.entry.size());
    for (int g = 0; g < subgraphs.count; ++g) {
      const int first = subgraphs.vertex_map[g];
      for (std::int64_t e = list.edge_map[list.slot_map[g + 1]] - 1;
           e >= list.edge_map[list.slot_map[g]]; --e) {
        char& done = marked[subgraphs.vertices[first + list.target[e]]];
        if (!done) target[e] |= Plan::last_mark;
        done = 1;
      }
    }
    for (std::size_t e = 0; e < value_index.size(); ++e) {
      value_index[e] = graph.value_index(list.entry[e]);
      if (external) source[e] = graph.row_of(source[e]);
    }
    edges.slot_map = to_device<std::int64_t, MemorySpace>(
        "Strata::SubgraphPlan::slot_map", list.slot_map);
    edges.edge_map = to_device<std::int64_t, MemorySpace>(
        "Strata::SubgraphPlan::edge_map", list.edge_map);
    edges.target = to_device<unsigned, MemorySpace>(
        "Strata::SubgraphPlan::target", target);
    edges.source =
        to_device<int, MemorySpace>("Strata::SubgraphPlan::source", source);
    edges.value_index = ValueIndex<MemorySpace>(
        "Strata::SubgraphPlan::value_index", value_index, num_values);
    return edges;
  };
  plan.internal = convert(schedule.internal, false);
  plan.external = convert(schedule.external, true);
  plan.order = to_device<int, MemorySpace>("Strata::SubgraphPlan::order",
                                           subgraphs.order);
  plan.vertex_map = to_device<int, MemorySpace>(
      "Strata::SubgraphPlan::vertex_map", subgraphs.vertex_map);
  plan.row = to_device<unsigned, MemorySpace>("Strata::SubgraphPlan::row", row);
  plan.diagonal_value_index = ValueIndex<MemorySpace>(
      "Strata::SubgraphPlan::diagonal_value_index", diagonal, num_values);
  return plan;
}

}  // namespace Detail
}  // namespace Strata

#endif
