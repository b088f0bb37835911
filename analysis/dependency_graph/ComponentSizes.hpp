// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_DEPENDENCY_GRAPH_COMPONENT_SIZES_HPP
#define STRATA_ANALYSIS_DEPENDENCY_GRAPH_COMPONENT_SIZES_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/Backend.hpp>
#include <core/memory/WorkPool.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// How large the weakly connected components of a graph are.
struct ComponentSizes {
  /// Components of two vertices or more.
  int count = 0;
  /// Vertices of the largest component; where that is more than the limit,
  /// some number above the limit, and `count` means nothing.
  int largest = 0;
};

/// Sets of vertices, each with a representative, that one thread merges.
struct Representatives {
  std::vector<int> parent;

  explicit Representatives(int n) : parent(n) {
    for (int v = 0; v < n; ++v) parent[v] = v;
  }
  /// Halves the path on its way.
  int operator()(int v) {
    while (parent[v] != v) {
      parent[v] = parent[parent[v]];
      v = parent[v];
    }
    return v;
  }
};

/// By one thread, which merges the ends of every edge and stops at the first
/// component of more than `limit` vertices. O((n + edges) log n) at the most,
/// and near one step an edge where neighbours have close numbers.
inline ComponentSizes component_sizes_on_host(
    const DependencyGraph<Kokkos::HostSpace>& graph, int limit) {
  const int n = graph.num_vertices;
  Representatives representative(n);
  std::vector<int> size(n, 1);
  ComponentSizes found;
  found.largest = std::min(n, 1);
  for (int i = 0; i < n; ++i) {
    int a = i;
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      int b = representative(graph.entries(k));
      if (a == b) continue;
      if (a < b) std::swap(a, b);
      representative.parent[a] = b;
      // Two components of two or more become one, and two single vertices the
      // first of one.
      found.count +=
          (size[a] == 1 && size[b] == 1) - (size[a] > 1 && size[b] > 1);
      size[b] += size[a];
      found.largest = std::max(found.largest, size[b]);
      if (found.largest > limit) return found;
      a = b;
    }
  }
  return found;
}

/// Representatives of components, which many threads merge at once.
///
/// A parent has a smaller number than its children, so every path ends; and a
/// representative gets a parent by a compare-and-swap that succeeds once.
/// Shortened paths lead to the same end, whatever others do meanwhile.
struct SharedParents {
  int* parent;
  /// By representative: vertices of its component, some of which may be missed
  /// while others merge as well, but none is counted twice.
  int* size;
  int limit;
  int* beyond;  ///< not 0: there is a component of more vertices

  KOKKOS_INLINE_FUNCTION bool is_over() const {
    return load_relaxed(beyond) != 0;
  }
  KOKKOS_INLINE_FUNCTION int representative(int v) const {
    for (int up = load_relaxed(parent + v); up != v;) {
      const int further = load_relaxed(parent + up);
      if (further != up) store_relaxed(parent + v, further);
      v = up;
      up = further;
    }
    return v;
  }
  /// Unless there is a component beyond the limit.
  KOKKOS_INLINE_FUNCTION void merge(int a, int b) const {
    while (!is_over()) {
      a = representative(a);
      b = representative(b);
      if (a == b) return;
      const int high = a < b ? b : a, low = a < b ? a : b;
      if (Kokkos::atomic_compare_exchange(parent + high, high, low) != high)
        continue;
      const int added = load_relaxed(size + high);
      if (Kokkos::atomic_fetch_add(size + low, added) + added > limit)
        store_relaxed(beyond, 1);
      return;
    }
  }
};

struct BeginComponents {
  SharedParents parents;
  KOKKOS_INLINE_FUNCTION void operator()(int v) const {
    parents.parent[v] = v;
    parents.size[v] = 1;
    if (v == 0) *parents.beyond = parents.limit < 1 ? 1 : 0;
  }
};
/// Which edges of a vertex are merged.
enum class MergedEdges { first, last, all };
template <class MemorySpace, MergedEdges edges>
struct MergeEnds {
  DependencyGraph<MemorySpace> graph;
  SharedParents parents;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    if (parents.is_over()) return;
    std::int64_t begin = graph.row_map(i), end = graph.row_map(i + 1);
    if (edges == MergedEdges::first && begin < end) end = begin + 1;
    if (edges == MergedEdges::last && begin < end) begin = end - 1;
    for (std::int64_t k = begin; k < end; ++k)
      parents.merge(i, graph.entries(k));
  }
};
struct ShortenPaths {
  SharedParents parents;
  bool resets;  // sizes, before members are counted
  KOKKOS_INLINE_FUNCTION void operator()(int v) const {
    if (parents.is_over()) return;
    store_relaxed(parents.parent + v, parents.representative(v));
    if (resets) parents.size[v] = 0;
  }
};
/// Up to a number above the limit: of a large component, all threads would add
/// to the same word.
struct CountMembers {
  SharedParents parents;
  KOKKOS_INLINE_FUNCTION void operator()(int v) const {
    if (parents.is_over()) return;
    int* const count = parents.size + parents.representative(v);
    if (load_relaxed(count) <= parents.limit)
      Kokkos::atomic_fetch_add(count, 1);
  }
};
struct LargestComponent {
  SharedParents parents;
  KOKKOS_INLINE_FUNCTION void operator()(int v, int& largest) const {
    const int size = parents.is_over() ? parents.limit + 1 : parents.size[v];
    if (size > largest) largest = size;
  }
};
struct CountComponents {
  const int* size;
  KOKKOS_INLINE_FUNCTION void operator()(int v, int& count) const {
    if (size[v] > 1) ++count;
  }
};

/// By all threads of `exec`: some launches, and a few numbers that the host
/// waits for. Two edges of each vertex make most of a large component, so that
/// the ends of the others mostly have one representative (Sutton, Ben-Nun and
/// Barak 2018). O(n + edges) steps but for long paths, which are shortened on
/// the way; they end with the first component beyond the limit.
template <class ExecutionSpace>
ComponentSizes component_sizes_in_parallel(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    int limit, WorkPool<ExecutionSpace>& pool) {
  using Memory = typename ExecutionSpace::memory_space;
  const int n = graph.num_vertices;
  const Kokkos::RangePolicy<ExecutionSpace, int> all(exec, 0, n);
  const auto mark = pool.mark();
  const SharedParents parents{pool.template take<int>(n),
                              pool.template take<int>(n), limit,
                              pool.template take<int>(1)};
  Kokkos::parallel_for("Strata::Analysis::components::begin", all,
                       BeginComponents{parents});
  const auto merge = [&](auto edges) {
    constexpr MergedEdges merged = decltype(edges)::value;
    Kokkos::parallel_for("Strata::Analysis::components::merge", all,
                         MergeEnds<Memory, merged>{graph, parents});
    Kokkos::parallel_for("Strata::Analysis::components::shorten", all,
                         ShortenPaths{parents, merged == MergedEdges::all});
  };
  using Edges = MergedEdges;
  merge(std::integral_constant<Edges, Edges::first>());
  merge(std::integral_constant<Edges, Edges::last>());
  merge(std::integral_constant<Edges, Edges::all>());
  Kokkos::parallel_for("Strata::Analysis::components::members", all,
                       CountMembers{parents});
  ComponentSizes found;
  Kokkos::parallel_reduce("Strata::Analysis::components::largest", all,
                          LargestComponent{parents},
                          Kokkos::Max<int>(found.largest));
  exec.fence();
  found.largest = std::max(found.largest, 0);
  if (found.largest <= limit) {
    Kokkos::parallel_reduce("Strata::Analysis::components::count", all,
                            CountComponents{parents.size}, found.count);
    exec.fence();
  }
  pool.give_back(mark);
  return found;
}

/// The sizes, found where the graph is.
/// @param limit  no component of more vertices is counted to its end
/// @param pool   for temporary arrays
template <class ExecutionSpace>
ComponentSizes find_component_sizes(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    int limit, WorkPool<ExecutionSpace>& pool) {
  if constexpr (is_gpu<ExecutionSpace>) {
    return component_sizes_in_parallel(exec, graph, limit, pool);
  } else {
    (void)exec;
    (void)pool;
    return component_sizes_on_host(graph, limit);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
