// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_DEPENDENCY_GRAPH_TRIANGLE_KERNELS_HPP
#define STRATA_ANALYSIS_DEPENDENCY_GRAPH_TRIANGLE_KERNELS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/level_sets/FindLevels.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Writes the strict entries of one sorted row and where its diagonal stands.
/// Vertices count from the other end in a reversed graph, so a row's entries
/// are written back to front there and dependencies ascend in either case.
template <class MemorySpace>
struct GatherRows {
  IndexArray row_map, entries;
  Kokkos::View<const std::int64_t*, MemorySpace> permutation;  // may be empty
  Kokkos::View<const std::int64_t*, MemorySpace> diagonal;     // per row
  DependencyGraph<MemorySpace> graph;
  bool lower, unit;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t n = graph.num_vertices;
    const std::int64_t vertex = lower ? row : n - 1 - row;
    if (lane == 0) {
      const std::int64_t k = diagonal(row);
      graph.diagonal_value_index(vertex) =
          unit ? -1 : (permutation.extent(0) ? permutation(k) : k);
    }
    const std::int64_t begin = row_map(row), end = row_map(row + 1);
    const std::int64_t first = graph.row_map(vertex);
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column == row || (column < row) != lower) continue;
      const std::int64_t at = first + (lower ? k - begin : end - 1 - k);
      graph.entries(at) = static_cast<int>(lower ? column : n - 1 - column);
      graph.value_index(at) = permutation.extent(0) ? permutation(k) : k;
    }
  }
};

template <class MemorySpace>
struct CountColumns {
  IndexArray row_map, entries;
  Kokkos::View<int*, MemorySpace> count;  // per column
  bool lower;
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t end = row_map(row + 1);
    for (std::int64_t k = row_map(row) + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column != row && (column < row) == lower)
        Kokkos::atomic_fetch_add(&count(column), 1);
    }
  }
};

/// The transposed pattern: entry (row, column) becomes an edge from row's
/// vertex into column's. Rows arrive in no fixed order and are sorted later.
template <class MemorySpace>
struct ScatterColumns {
  IndexArray row_map, entries;
  Kokkos::View<const std::int64_t*, MemorySpace> permutation;  // may be empty
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<int*, MemorySpace> count;  // per column, counts down to 0
  bool lower;
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t n = graph.num_vertices;
    const std::int64_t end = row_map(row + 1);
    for (std::int64_t k = row_map(row) + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column == row || (column < row) != lower) continue;
      // op(lower) is upper: the solve runs backward.
      const std::int64_t vertex = lower ? n - 1 - column : column;
      const std::int64_t at = graph.row_map(vertex) +
                              Kokkos::atomic_fetch_add(&count(column), -1) - 1;
      graph.entries(at) = static_cast<int>(lower ? n - 1 - row : row);
      graph.value_index(at) = permutation.extent(0) ? permutation(k) : k;
    }
  }
};

/// Row map of the graph. Along the way, a non-unit triangle is seen to have a
/// diagonal entry in every row (see DiagonalPresence); the last thread leaves
/// the number of edges in status(2).
template <class MemorySpace>
struct ScanCounts {
  Kokkos::View<const int*, MemorySpace> count;  // per row
  Kokkos::View<std::int64_t*, MemorySpace> row_map;
  DiagonalPresence<MemorySpace> presence;
  bool reversed, check_presence;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t vertex, std::int64_t& sum,
                                         bool final) const {
    const std::int64_t n = static_cast<std::int64_t>(count.extent(0));
    const std::int64_t row = reversed ? n - 1 - vertex : vertex;
    sum += count(row);
    if (!final) return;
    row_map(vertex + 1) = sum;
    if (check_presence) presence(row);
    if (vertex == n - 1) presence.status(2) = sum;
  }
};

template <class MemorySpace>
struct ResetCheck {
  Kokkos::View<int*, MemorySpace> strict;
  Kokkos::View<std::int64_t*, MemorySpace> diagonal, status, row_map;
  Kokkos::View<int*, MemorySpace> counters;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    strict(row) = 0;
    diagonal(row) = -1;
    if (row > 0) return;
    status(0) = no_fault;
    status(1) = no_fault;
    status(2) = 0;
    row_map(0) = 0;
    for (int c = 0; c < LevelCounters::size; ++c) counters(c) = 0;
  }
};

template <class MemorySpace>
struct PlaceDiagonal {
  Kokkos::View<const std::int64_t*, MemorySpace> diagonal;     // per row
  Kokkos::View<const std::int64_t*, MemorySpace> permutation;  // may be empty
  Kokkos::View<std::int64_t*, MemorySpace> value_index;        // per vertex
  bool reversed, unit;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t n = static_cast<std::int64_t>(value_index.extent(0));
    const std::int64_t k = diagonal(row);
    value_index(reversed ? n - 1 - row : row) =
        unit ? -1 : (permutation.extent(0) ? permutation(k) : k);
  }
};

/// A pattern whose offsets and columns are sound, copied to be sorted, and the
/// places of its entries.
template <class MemorySpace>
struct CopyPattern {
  IndexArray row_map, entries;
  Kokkos::View<std::int64_t*, MemorySpace> offsets;
  Kokkos::View<int*, MemorySpace> columns;
  Kokkos::View<std::int64_t*, MemorySpace> permutation;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    if (k < static_cast<std::int64_t>(offsets.extent(0)))
      offsets(k) = row_map(k);
    if (k >= static_cast<std::int64_t>(columns.extent(0))) return;
    columns(k) = static_cast<int>(entries(k));
    permutation(k) = k;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
