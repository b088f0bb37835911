// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_DEPENDENCY_GRAPH_HPP
#define STRATA_DEPENDENCY_GRAPH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {

/// The dependencies between the unknowns of a triangular system: Picciau et
/// al.'s graph G = (V, E) without its diagonal, in gather form.
///
/// Vertices are numbered in the order of substitution, so that every edge
/// (j, i), "x_i needs x_j", has j < i: vertex v is row v of a forward solve
/// and row num_vertices - 1 - v of a backward one (`reversed`). The edges into
/// vertex i are row_map(i) <= k < row_map(i + 1), from entries(k), ascending
/// and without duplicates.
template <class MemorySpace>
struct DependencyGraph {
  using memory_space = MemorySpace;

  int num_vertices = 0;
  bool reversed = false;
  /// num_vertices + 1 offsets; none at all is allowed for the empty graph.
  Kokkos::View<std::int64_t*, MemorySpace> row_map;
  /// Source vertex of each edge: the dependency.
  Kokkos::View<int*, MemorySpace> entries;
  /// Where each edge's value stands in the user's values.
  Kokkos::View<std::int64_t*, MemorySpace> value_index;
  /// Where each vertex's diagonal value stands there, -1 where it is one.
  Kokkos::View<std::int64_t*, MemorySpace> diagonal_value_index;
  /// Whether the user's values are those of the edges and of the diagonal
  /// (unless that is one) and no others, row by row in the matrix's order: both
  /// value_indices then follow from row_map alone.
  bool values_in_order = false;

  std::int64_t num_edges() const {
    return static_cast<std::int64_t>(entries.extent(0));
  }
  /// Row of the matrix that vertex v stands for, and the reverse.
  KOKKOS_FUNCTION int row_of(int v) const {
    return reversed ? num_vertices - 1 - v : v;
  }
};

/// The same graph as seen from `ToSpace`: shares the views where that space
/// can hold them as they are, copies (and waits) otherwise.
template <class ToSpace, class FromSpace>
DependencyGraph<typename ToSpace::memory_space> mirror_graph(
    const ToSpace&, const DependencyGraph<FromSpace>& graph) {
  using memory_space = typename ToSpace::memory_space;
  DependencyGraph<memory_space> copy;
  copy.num_vertices = graph.num_vertices;
  copy.reversed = graph.reversed;
  copy.values_in_order = graph.values_in_order;
  const memory_space target{};
  copy.row_map = Kokkos::create_mirror_view_and_copy(target, graph.row_map);
  copy.entries = Kokkos::create_mirror_view_and_copy(target, graph.entries);
  copy.value_index =
      Kokkos::create_mirror_view_and_copy(target, graph.value_index);
  copy.diagonal_value_index =
      Kokkos::create_mirror_view_and_copy(target, graph.diagonal_value_index);
  return copy;
}

}  // namespace Strata

#endif
