// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_LEVEL_ORDER_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_LEVEL_ORDER_HPP

#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <analysis/level_sets/FindLevels.hpp>
#include <analysis/level_sets/ListsRank.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Sort.hpp>
#include <core/interface/Enumerators.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <type_traits>
#include <vector>

namespace Strata {

/// Sizes of the level sets, in host memory.
struct LevelSizes {
  int num_levels = 0;
  /// Level l has the permuted rows level_map[l] to level_map[l + 1] - 1.
  std::vector<std::int64_t> level_map{0};
  /// Edges into the vertex of each level set that has most.
  std::vector<std::int64_t> longest_row;

  /// Edges into the vertex that has most; 0 if there is none.
  std::int64_t longest_row_of_all() const {
    std::int64_t longest = 0;
    for (const std::int64_t edges : longest_row)
      longest = std::max(longest, edges);
    return longest;
  }
  int rows(int level) const {
    return static_cast<int>(level_map[level + 1] - level_map[level]);
  }
};

/// The vertices of a dependency graph in the order of their levels. A permuted
/// row is the number of a vertex in this order.
template <class MemorySpace>
struct LevelOrder {
  LevelSizes sizes;
  Kokkos::View<int*, MemorySpace> level_of;      // vertex -> level
  Kokkos::View<int*, MemorySpace> vertex;        // permuted row -> vertex
  Kokkos::View<int*, MemorySpace> permuted_row;  // vertex -> permuted row
  Kokkos::View<int*, MemorySpace> length;  // permuted row -> edges into it
  Kokkos::View<std::int64_t*, MemorySpace> level_map;  // as sizes.level_map

  int num_levels() const { return sizes.num_levels; }
  int num_vertices() const { return static_cast<int>(vertex.extent(0)); }
};

/// How the vertices of a level set follow each other.
enum class WithinLevel { ascending, longest_rows_first };

namespace Detail {

template <>
struct EnumeratorNames<WithinLevel> {
  static constexpr const char* list[] = {"ascending", "longest_rows_first"};
};

/// The levels of a graph's vertices, if they are known already.
template <class MemorySpace>
struct GraphLevels {
  Kokkos::View<int*, MemorySpace> level_of;
  int num_levels = 0;
  std::int64_t longest_row = 0;
  bool known = false;

  /// @param found  what FindLevels has counted
  void take(const int* found) {
    num_levels = found[LevelCounters::num_levels];
    longest_row = found[LevelCounters::longest_row];
    known = true;
  }
};

/// The graph of a triangle and its levels, in the memory of a pool, which an
/// analysis of that triangle can begin with. Without a pool there is none.
template <class ExecutionSpace>
struct GraphWithLevels {
  using Memory = typename ExecutionSpace::memory_space;

  typename WorkPool<ExecutionSpace>::Pointer pool;
  DependencyGraph<Memory> graph;
  GraphLevels<Memory> levels;
};

template <class MemorySpace>
struct ResetLevels {
  Kokkos::View<int*, MemorySpace> level, counters;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < static_cast<std::int64_t>(level.extent(0))) level(i) = -1;
    if (i < LevelCounters::size) counters(i) = 0;
  }
};

/// Sizes of the level sets in device memory: level_map, longest_row.
struct LevelSizesArray {
  std::int64_t* all;  // `size`
  int num_levels;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    return 2 * static_cast<std::int64_t>(num_levels) + 1;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t& first(std::int64_t level) const {
    return all[level];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t& longest_row(std::int64_t level) const {
    return all[num_levels + 1 + level];
  }
};

/// What rows are sorted by, the largest first: their numbers of entries, or
/// ranks that are given (see ListsRank).
template <class MemorySpace>
struct CountedLengths {
  Kokkos::View<const std::int64_t*, MemorySpace> row_map;
  const int* rank;  // by vertex, or null
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t v) const {
    return rank ? rank[v] : row_map(v + 1) - row_map(v);
  }
  /// How long a row counts of which that is said.
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t said) const {
    return rank ? ListsRank::counted_length(static_cast<int>(said)) : said;
  }
};

/// The key by which vertices are sorted: level, then how much shorter the row
/// is than the longest (`length_bits` bits; 0: rows are not looked at).
template <class MemorySpace>
struct LevelKey {
  CountedLengths<MemorySpace> row_length;
  int length_bits;
  std::int64_t longest_row;

  KOKKOS_INLINE_FUNCTION std::uint64_t operator()(int level,
                                                  std::int64_t v) const {
    std::uint64_t key = static_cast<std::uint64_t>(level) << length_bits;
    if (length_bits > 0)
      key |= static_cast<std::uint64_t>(longest_row - row_length(v));
    return key;
  }
  KOKKOS_INLINE_FUNCTION int level(std::uint64_t key) const {
    return static_cast<int>(key >> length_bits);
  }
  /// How long row v counts, which has that key.
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::uint64_t key, int v) const {
    if (length_bits == 0) return row_length.length(row_length(v));
    const auto less = key & ((std::uint64_t{1} << length_bits) - 1);
    return row_length.length(longest_row - static_cast<std::int64_t>(less));
  }
};

template <class MemorySpace>
struct LevelKeys {
  LevelKey<MemorySpace> key_of;
  Kokkos::View<const int*, MemorySpace> level_of;
  Kokkos::View<int*, MemorySpace> vertex;
  Kokkos::View<std::uint64_t*, MemorySpace> key;
  LevelSizesArray sizes;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < sizes.size()) sizes.all[i] = 0;
    if (i >= static_cast<std::int64_t>(key.extent(0))) return;
    key(i) = key_of(level_of(i), i);
    vertex(i) = static_cast<int>(i);
  }
};

/// What follows from the sorted order, for each permuted row.
template <class MemorySpace>
struct LevelBounds {
  LevelKey<MemorySpace> key_of;
  Kokkos::View<const int*, MemorySpace> vertex;
  Kokkos::View<const std::uint64_t*, MemorySpace> key;
  Kokkos::View<int*, MemorySpace> permuted_row, length;
  LevelSizesArray sizes;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t n = static_cast<std::int64_t>(length.extent(0));
    const int v = vertex(p), level = key_of.level(key(p));
    const std::int64_t row_length = key_of.length(key(p), v);
    length(p) = static_cast<int>(row_length);
    permuted_row(v) = static_cast<int>(p);
    if (p == 0 || key_of.level(key(p - 1)) != level) {
      sizes.first(level) = p;
      // The longest row is the level set's first; by ranks, that is one of as
      // many lanes as the longest.
      if (key_of.length_bits > 0) sizes.longest_row(level) = row_length;
    }
    if (p + 1 == n) sizes.first(sizes.num_levels) = n;
    // Few rows are longer than those that have been here.
    if (key_of.length_bits == 0 &&
        load_relaxed(&sizes.longest_row(level)) < row_length)
      Kokkos::atomic_fetch_max(&sizes.longest_row(level), row_length);
  }
};

/// As many warps as run at once: the vertices under way are neighbours, which
/// may have long paths among them.
template <class ExecutionSpace>
struct LevelStages {
  ResetLevels<typename ExecutionSpace::memory_space> reset;
  FindLevels<ExecutionSpace> find;
  struct Reset {};
  KOKKOS_INLINE_FUNCTION void operator()(Reset, std::int64_t i) const {
    reset(i);
  }
  struct Find {};
  KOKKOS_INLINE_FUNCTION void operator()(Find, int rank) const {
    find.run(rank);
  }
};

/// The levels of a graph that has vertices. The host waits once.
template <class ExecutionSpace>
GraphLevels<typename ExecutionSpace::memory_space> find_levels_on_device(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WorkPool<ExecutionSpace>& pool) {
  using Stages = LevelStages<ExecutionSpace>;
  const std::int64_t n = graph.num_vertices;
  GraphLevels<typename ExecutionSpace::memory_space> levels;
  levels.level_of = pool.template view<int>(n);
  const auto counters = pool.template view<int>(LevelCounters::size);
  FusedStages<ExecutionSpace>(exec, pool)
      .run("Strata::LevelOrder::find_levels",
           Stages{{levels.level_of, counters},
                  {graph, levels.level_of, counters}},
           EachStage<typename Stages::Reset>{
               std::max<std::int64_t>(n, LevelCounters::size)},
           TeamStage<typename Stages::Find>{n});
  int found[LevelCounters::size];
  copy_to_host(exec, counters, found);
  levels.take(found);
  return levels;
}

/// The same on a host: one thread, a pass over the edges.
template <class ExecutionSpace>
GraphLevels<Kokkos::HostSpace> find_levels_on_host(
    const ExecutionSpace& exec, const DependencyGraph<Kokkos::HostSpace>& graph,
    WorkPool<ExecutionSpace>& pool) {
  exec.fence();
  const std::int64_t n = graph.num_vertices;
  const auto sets = find_level_sets(graph);
  GraphLevels<Kokkos::HostSpace> levels;
  levels.level_of = pool.template view<int>(n);
  std::copy(sets.level_of.begin(), sets.level_of.end(), levels.level_of.data());
  levels.num_levels = sets.num_levels;
  for (std::int64_t v = 0; v < n; ++v)
    levels.longest_row =
        std::max(levels.longest_row, graph.row_map(v + 1) - graph.row_map(v));
  levels.known = true;
  return levels;
}

/// The order of a graph that has vertices by levels that are known: a sort by
/// key. Shares `level_of`. The host waits.
/// @param pool  for the order's arrays as well
/// @param rank  of rows, by vertex, see CountedLengths; null: their entries
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> order_by_known_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const GraphLevels<typename ExecutionSpace::memory_space>& levels,
    const int* rank, WithinLevel within, WorkPool<ExecutionSpace>& pool) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  LevelOrder<Memory> order;
  order.level_of = levels.level_of;
  order.vertex = pool.template view<int>(n);
  order.permuted_row = pool.template view<int>(n);
  order.length = pool.template view<int>(n);
  LevelSizesArray sizes{nullptr, levels.num_levels};
  pool.take(sizes.all, sizes.size());
  auto key = pool.template view<std::uint64_t>(n);
  const LevelKey<Memory> key_of{{graph.row_map, rank},
                                within == WithinLevel::longest_rows_first
                                    ? bits_for(levels.longest_row)
                                    : 0,
                                levels.longest_row};
  for_each_index(
      "Strata::LevelOrder::keys", exec, std::max(n, sizes.size()),
      LevelKeys<Memory>{key_of, order.level_of, order.vertex, key, sizes});
  std::uint64_t* sorted_key = key.data();
  int* sorted_vertex = order.vertex.data();
  sort_by_key_within(exec, sorted_key, sorted_vertex, n,
                     bits_for(levels.num_levels - 1) + key_of.length_bits,
                     pool.template take<char>(static_cast<std::int64_t>(
                         sort_by_key_bytes(exec, n))));
  key = Kokkos::View<std::uint64_t*, Memory>(sorted_key, n);
  order.vertex = Kokkos::View<int*, Memory>(sorted_vertex, n);
  for_each_index("Strata::LevelOrder::bounds", exec, n,
                 LevelBounds<Memory>{key_of, order.vertex, key,
                                     order.permuted_row, order.length, sizes});
  const auto map_end = std::int64_t{levels.num_levels} + 1;
  order.level_map = Kokkos::View<std::int64_t*, Memory>(sizes.all, map_end);
  std::vector<std::int64_t> all(sizes.size());
  copy_to_host(exec, Kokkos::View<std::int64_t*, Memory>(sizes.all, all.size()),
               all.data());
  order.sizes.num_levels = levels.num_levels;
  order.sizes.level_map.assign(all.begin(), all.begin() + map_end);
  order.sizes.longest_row.assign(all.begin() + map_end, all.end());
  return order;
}

/// See order_by_level. The order's arrays must not outlive the pool; levels
/// that are known are not looked for.
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> make_level_order(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WithinLevel within, WorkPool<ExecutionSpace>& pool,
    GraphLevels<typename ExecutionSpace::memory_space> levels = {}) {
  if (graph.num_vertices == 0) return {};
  if (!levels.known) {
    if constexpr (is_gpu<ExecutionSpace>) {
      levels = find_levels_on_device(exec, graph, pool);
    } else {
      levels = find_levels_on_host(exec, graph, pool);
    }
  }
  return order_by_known_levels(exec, graph, levels, nullptr, within, pool);
}

}  // namespace Detail

/// Orders the vertices by their level and, within a level set, as `within`
/// says, then by number: the same order on every backend.
///
/// Cost on a device: a pass over the edges, a memory round trip for every few
/// dozen vertices on the longest path, a sort of n keys of as many bits as
/// levels and rows' lengths take; 16 bytes a vertex are kept and up to 40 more
/// needed meanwhile. The host waits twice at most.
/// On a host: a pass over the edges by one thread, and the sort.
/// @throws OptionError for a `within` that there is not
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> order_by_level(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WithinLevel within) {
  Detail::require_enumerator("within", within);
  Detail::WorkPool<ExecutionSpace> pool(exec,
                                        std::size_t(graph.num_vertices) * 64);
  auto order = Detail::make_level_order(exec, graph, within, pool);
  // Out of the pool.
  const auto own = [&exec](auto& view) {
    using View = std::decay_t<decltype(view)>;
    const auto copy =
        Detail::make_unfilled<View>(exec, "Strata::LevelOrder", view.extent(0));
    Kokkos::deep_copy(exec, copy, view);
    view = copy;
  };
  own(order.level_of);
  own(order.vertex);
  own(order.permuted_row);
  own(order.length);
  own(order.level_map);
  exec.fence();
  return order;
}

}  // namespace Strata

#endif
