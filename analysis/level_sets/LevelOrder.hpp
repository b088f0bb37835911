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
#include <core/device/Warp.hpp>
#include <core/interface/Enumerators.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstring>
#include <type_traits>
#include <vector>

namespace Strata {

/// Sizes of the level sets, in host memory.
struct LevelSizes {
  int num_levels = 0;
  /// Level l has the permuted rows level_map[l] to level_map[l + 1] - 1.
  std::vector<std::int64_t> level_map{0};
  /// No fewer diagonal blocks without edges does the graph have in the order of
  /// its vertices; there may be many more.
  int least_blocks = 0;
  /// Edges into each level set, and into the vertex of it that has most.
  std::vector<std::int64_t> edges, longest_row;

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

/// The levels of a graph's vertices, if they are known already, what FindLevels
/// has counted, and the order by levels and longest rows, if that is known.
template <class MemorySpace>
struct GraphLevels {
  Kokkos::View<int*, MemorySpace> level_of;
  int found[LevelCounters::size] = {};
  bool known = false, wants_order = true, ordered = false;
  LevelOrder<MemorySpace> order;
};

template <class MemorySpace>
struct ResetLevels {
  Kokkos::View<int*, MemorySpace> level, counters;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < static_cast<std::int64_t>(level.extent(0))) level(i) = -1;
    if (i < LevelCounters::size) counters(i) = 0;
  }
};

/// Sizes of the level sets in device memory: level_map, edges, longest_row.
struct LevelSizesArray {
  std::int64_t* all;  // `size`
  int num_levels;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    return 3 * static_cast<std::int64_t>(num_levels) + 1;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t& first(std::int64_t level) const {
    return all[level];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t& edges(std::int64_t level) const {
    return all[num_levels + 1 + level];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t& longest_row(std::int64_t level) const {
    return all[2 * static_cast<std::int64_t>(num_levels) + 1 + level];
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

/// Vertices and keys that are sorted, in arrays of their own.
template <class MemorySpace>
struct SortedVertices {
  Kokkos::View<const int*, MemorySpace> vertices;
  Kokkos::View<const std::uint64_t*, MemorySpace> keys;
  KOKKOS_INLINE_FUNCTION int vertex(std::int64_t p) const {
    return vertices(p);
  }
  KOKKOS_INLINE_FUNCTION std::uint64_t key(std::int64_t p) const {
    return keys(p);
  }
};

/// What follows from the sorted order, by whole warps: a thread for each
/// permuted row, and idle ones at the end of the last warp.
/// @tparam Sorted  vertex(p) and key(p) of permuted row p
template <class ExecutionSpace, class Sorted>
struct LevelBounds {
  using MemorySpace = typename ExecutionSpace::memory_space;
  static constexpr int width = lane_width<ExecutionSpace>;
  LevelKey<MemorySpace> key_of;
  Sorted sorted;
  Kokkos::View<int*, MemorySpace> permuted_row, length;
  LevelSizesArray sizes;

  KOKKOS_INLINE_FUNCTION int level_at(std::int64_t p) const {
    return key_of.level(sorted.key(p));
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t n = static_cast<std::int64_t>(length.extent(0));
    const bool any = p < n;
    const int level = any ? level_at(p) : -1;
    std::int64_t row_length = 0;
    if (any) {
      const int v = sorted.vertex(p);
      row_length = key_of.length(sorted.key(p), v);
      length(p) = static_cast<int>(row_length);
      permuted_row(v) = static_cast<int>(p);
      if (p == 0 || level_at(p - 1) != level) {
        sizes.first(level) = p;
        // The longest row is the level set's first; by ranks, that is one of
        // as many lanes as the longest.
        if (key_of.length_bits > 0) sizes.longest_row(level) = row_length;
      }
      if (p + 1 == n) sizes.first(sizes.num_levels) = n;
    }
    // Most warps have rows of one level set.
    const int first = lane_broadcast(level, 0);
    const bool together = lane_ballot(level != first) == 0;
    const double edges =
        together ? lane_group_sum(double(row_length), width) : 0.;
    if (!any) return;
    if (!together)
      Kokkos::atomic_fetch_add(&sizes.edges(level), row_length);
    else if (p % width == 0)
      Kokkos::atomic_fetch_add(&sizes.edges(level),
                               static_cast<std::int64_t>(edges));
    // Few rows are longer than those that have been here.
    if (key_of.length_bits == 0 &&
        load_relaxed(&sizes.longest_row(level)) < row_length)
      Kokkos::atomic_fetch_max(&sizes.longest_row(level), row_length);
  }
};

/// The order of vertices as stages of a launch (FusedStages::run_in_one): what
/// they need may be in device memory once the stages before have run.
template <class ExecutionSpace>
struct OrderStages {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// With so many vertices the launches of a sort of its own count little.
  static constexpr std::int64_t most_vertices = std::int64_t{1} << 18;

  CountedLengths<Memory> row_length;
  Kokkos::View<const int*, Memory> level_of;
  WithinLevel within = WithinLevel::longest_rows_first;
  /// The number of levels and the longest row, or highest rank: in device
  /// memory or, with null, known.
  const int *levels_found = nullptr, *longest_found = nullptr;
  int known_levels = 0, known_longest = 0;
  Kokkos::View<int*, Memory> vertex, permuted_row, length;
  std::int64_t* sizes = nullptr;
  SortJob words;  // but for its bits

  /// @param sizes  3 * levels + 1 words, of the most levels that there may be
  void take(WorkPool<ExecutionSpace>& pool, std::int64_t n,
            std::int64_t* to_sizes) {
    vertex = pool.template view<int>(n);
    permuted_row = pool.template view<int>(n);
    length = pool.template view<int>(n);
    words.take(pool, n);
    words.first_bit = bits_for(static_cast<std::uint64_t>(n - 1));
    sizes = to_sizes;
  }
  /// The number of lanes that Bounds takes.
  KOKKOS_INLINE_FUNCTION std::int64_t lanes_of_whole_warps() const {
    return (static_cast<std::int64_t>(vertex.extent(0)) + width - 1) / width *
           width;
  }

  struct Keys {};
  KOKKOS_INLINE_FUNCTION void operator()(Keys, std::int64_t v) const {
    const std::int64_t n = static_cast<std::int64_t>(vertex.extent(0));
    const LevelSizesArray all = sizes_of();
    for (std::int64_t i = v; i < all.size(); i += n) all.all[i] = 0;
    words.words[v] = key_of()(level_of(v), v) << words.first_bit |
                     static_cast<std::uint64_t>(v);
  }
  struct Sort {};
  KOKKOS_INLINE_FUNCTION SortJob job(Sort) const {
    SortJob found = words;
    found.bits = bits_for(static_cast<std::uint64_t>(num_levels() - 1)) +
                 key_of().length_bits;
    return found;
  }
  struct Bounds {};
  KOKKOS_INLINE_FUNCTION void operator()(Bounds, std::int64_t p) const {
    const SortedWords sorted{job(Sort()).sorted(), words.first_bit};
    if (p < static_cast<std::int64_t>(vertex.extent(0)))
      vertex(p) = sorted.vertex(p);
    LevelBounds<ExecutionSpace, SortedWords>{key_of(), sorted, permuted_row,
                                             length, sizes_of()}(p);
  }

 private:
  struct SortedWords {
    const std::uint64_t* words;
    int vertex_bits;
    KOKKOS_INLINE_FUNCTION int vertex(std::int64_t p) const {
      return static_cast<int>(words[p] &
                              ((std::uint64_t{1} << vertex_bits) - 1));
    }
    KOKKOS_INLINE_FUNCTION std::uint64_t key(std::int64_t p) const {
      return words[p] >> vertex_bits;
    }
  };
  KOKKOS_INLINE_FUNCTION LevelKey<Memory> key_of() const {
    const int longest = longest_found ? *longest_found : known_longest;
    return {row_length,
            within == WithinLevel::longest_rows_first
                ? bits_for(static_cast<std::uint64_t>(longest))
                : 0,
            longest};
  }
  KOKKOS_INLINE_FUNCTION int num_levels() const {
    return levels_found ? *levels_found : known_levels;
  }
  KOKKOS_INLINE_FUNCTION LevelSizesArray sizes_of() const {
    return {sizes, num_levels()};
  }
};

/// Has `heads` words and, behind them, the sizes of level sets told to the
/// host.
template <class ExecutionSpace>
class WordsWithSizes {
  using Memory = typename ExecutionSpace::memory_space;

 public:
  /// @param from  in device memory
  WordsWithSizes(const std::int64_t* from, std::int64_t heads,
                 std::int64_t most_levels)
      : from_(from),
        heads_(heads),
        told_(std::min(heads + 3 * most_levels + 1, heads + most_told)),
        host_(told_) {}
  /// The stage after all others.
  /// @param levels  their number, in device memory; null: the most that there
  ///                may be
  ReportStage report(const int* levels) const {
    return {told_, from_, host_.data(), levels, heads_ + 1, 3};
  }
  /// The heads alone.
  ReportStage report_heads() const { return {heads_, from_, host_.data()}; }
  /// Waits, and once more where there are many level sets.
  /// @param levels  their number, from the words; 0: the heads alone are wanted
  template <class Levels>
  std::vector<std::int64_t> take(const ExecutionSpace& exec,
                                 const Levels& levels) const {
    exec.fence();
    const std::int64_t* const words = host_.data();
    const std::int64_t found = levels(words);
    const std::int64_t all = heads_ + (found > 0 ? 3 * found + 1 : 0);
    std::vector<std::int64_t> taken(words, words + std::min(all, told_));
    if (all > told_) {
      taken.resize(all);
      copy_to_host(
          exec,
          Kokkos::View<const std::int64_t*, Memory>(from_ + told_, all - told_),
          taken.data() + told_);
    }
    return taken;
  }

 private:
  static constexpr std::int64_t most_told = 2048;
  const std::int64_t* from_;
  std::int64_t heads_, told_;
  HostWords<ExecutionSpace> host_;
};

/// Sizes of level sets from LevelSizesArray.
inline void assign_sizes(LevelSizes& sizes, int levels, int inner_runs,
                         const std::int64_t* all) {
  sizes.num_levels = levels;
  sizes.least_blocks = std::max(levels, inner_runs + 1);
  sizes.level_map.assign(all, all + levels + 1);
  all += levels + 1;
  sizes.edges.assign(all, all + levels);
  sizes.longest_row.assign(all + levels, all + 2 * std::ptrdiff_t{levels});
}

/// The order that stages have made.
/// @param sizes  on the host
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> order_of_stages(
    const OrderStages<ExecutionSpace>& stages,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& level_of,
    int levels, int inner_runs, const std::int64_t* sizes) {
  using Memory = typename ExecutionSpace::memory_space;
  LevelOrder<Memory> order;
  order.level_of = level_of;
  order.vertex = stages.vertex;
  order.permuted_row = stages.permuted_row;
  order.length = stages.length;
  order.level_map = Kokkos::View<std::int64_t*, Memory>(
      stages.sizes, std::size_t(levels) + 1);
  assign_sizes(order.sizes, levels, inner_runs, sizes);
  return order;
}

/// As many warps as run at once: the vertices under way are neighbours, which
/// may have long paths among them.
template <class ExecutionSpace>
struct LevelStages {
  ResetLevels<typename ExecutionSpace::memory_space> reset;
  FindLevels<ExecutionSpace> find;
  OrderStages<ExecutionSpace> order;
  struct Reset {};
  KOKKOS_INLINE_FUNCTION void operator()(Reset, std::int64_t i) const {
    reset(i);
  }
  struct Find {};
  KOKKOS_INLINE_FUNCTION void operator()(Find, int rank) const {
    find.run(rank);
  }
  using Order = OrderStages<ExecutionSpace>;
  struct Keys {};
  KOKKOS_INLINE_FUNCTION void operator()(Keys, std::int64_t v) const {
    order(typename Order::Keys(), v);
  }
  struct Sort {};
  KOKKOS_INLINE_FUNCTION SortJob job(Sort) const {
    return order.job(typename Order::Sort());
  }
  struct Bounds {};
  KOKKOS_INLINE_FUNCTION void operator()(Bounds, std::int64_t p) const {
    order(typename Order::Bounds(), p);
  }
};

/// The order of few vertices on a device whose teams can wait for each other:
/// in one launch, with the levels where they are not known.
/// @returns whether it has been made
template <class ExecutionSpace>
bool order_in_one(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WithinLevel within, WorkPool<ExecutionSpace>& pool,
    const GraphLevels<typename ExecutionSpace::memory_space>& known,
    const int* rank, LevelOrder<typename ExecutionSpace::memory_space>& order) {
  using Memory = typename ExecutionSpace::memory_space;
  using Stages = LevelStages<ExecutionSpace>;
  const std::int64_t n = graph.num_vertices;
  if (!has_resident_teams<ExecutionSpace> || n > Stages::Order::most_vertices)
    return false;
  // Nothing counts where the levels are known.
  const int heads = known.known ? 0 : (LevelCounters::size + 1) / 2;
  const int levels = known.found[LevelCounters::num_levels];
  const std::int64_t most_levels = known.known ? levels : n;
  auto* const head =
      pool.template take<std::int64_t>(heads + 3 * most_levels + 1);
  const Kokkos::View<int*, Memory> counters(
      reinterpret_cast<int*>(head), known.known ? 0 : LevelCounters::size);
  const auto level_of =
      known.known ? known.level_of : pool.template view<int>(n);
  Stages stages{{level_of, counters}, {graph, level_of, counters}, {}};
  stages.order.row_length = {graph.row_map, rank};
  stages.order.level_of = level_of;
  stages.order.within = within;
  stages.order.take(pool, n, head + heads);
  const EachStage<typename Stages::Keys> keys{n};
  const SortStage<typename Stages::Sort> sort{n};
  const EachStage<typename Stages::Bounds> bounds{
      stages.order.lanes_of_whole_warps()};
  FusedStages<ExecutionSpace> sequence(exec, pool);
  const char* const label = "Strata::LevelOrder";
  const WordsWithSizes<ExecutionSpace> words(head, heads, most_levels);
  if (known.known) {
    stages.order.known_levels = levels;
    stages.order.known_longest = known.found[LevelCounters::longest_row];
    if (!sequence.run_in_one(label, stages, keys, sort, bounds,
                             words.report(nullptr)))
      return false;
  } else {
    stages.order.levels_found = counters.data() + LevelCounters::num_levels;
    stages.order.longest_found = counters.data() + LevelCounters::longest_row;
    if (!sequence.run_in_one(
            label, stages,
            EachStage<typename Stages::Reset>{
                std::max<std::int64_t>(n, LevelCounters::size)},
            TeamStage<typename Stages::Find>{n}, keys, sort, bounds,
            words.report(stages.order.levels_found)))
      return false;
  }
  int found[LevelCounters::size];
  const auto told = words.take(exec, [&](const std::int64_t* from) {
    if (known.known)
      std::copy(known.found, known.found + LevelCounters::size, found);
    else
      std::memcpy(found, from, sizeof(found));
    return found[LevelCounters::num_levels];
  });
  order =
      order_of_stages(stages.order, level_of, found[LevelCounters::num_levels],
                      found[LevelCounters::inner_runs], told.data() + heads);
  return true;
}

/// A device: see FindLevels; then a sort by key. Not for graphs without
/// vertices.
/// @param pool  for the order's arrays as well
/// @param known the levels, where they are known
/// @param rank  of rows, by vertex, see CountedLengths; null: their entries
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> level_order_on_device(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WithinLevel within, WorkPool<ExecutionSpace>& pool,
    const GraphLevels<typename ExecutionSpace::memory_space>& known,
    const int* rank = nullptr) {
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  const std::int64_t n = graph.num_vertices;
  LevelOrder<Memory> order;
  if constexpr (has_resident_teams<ExecutionSpace>) {
    if (order_in_one(exec, graph, within, pool, known, rank, order))
      return order;
  }
  order.vertex = pool.template view<int>(n);
  order.permuted_row = pool.template view<int>(n);
  order.length = pool.template view<int>(n);
  int found[LevelCounters::size];
  if (known.known) {
    order.level_of = known.level_of;
    std::copy(known.found, known.found + LevelCounters::size, found);
  } else {
    order.level_of = pool.template view<int>(n);
    const Kokkos::View<int*, Memory> counters =
        pool.template view<int>(LevelCounters::size);
    using Stages = LevelStages<ExecutionSpace>;
    FusedStages<ExecutionSpace>(exec, pool)
        .run("Strata::LevelOrder::find_levels",
             Stages{{order.level_of, counters},
                    {graph, order.level_of, counters},
                    {}},
             EachStage<typename Stages::Reset>{
                 std::max<std::int64_t>(n, LevelCounters::size)},
             TeamStage<typename Stages::Find>{n});
    copy_to_host(exec, counters, found);
  }

  const int levels = found[LevelCounters::num_levels];
  const LevelSizesArray sizes{pool.template take<std::int64_t>(
                                  3 * static_cast<std::int64_t>(levels) + 1),
                              levels};
  auto key = pool.template view<std::uint64_t>(n);
  const int longest = found[LevelCounters::longest_row];
  const LevelKey<Memory> key_of{
      {graph.row_map, rank},
      within == WithinLevel::longest_rows_first ? bits_for(longest) : 0,
      longest};
  Kokkos::parallel_for(
      "Strata::LevelOrder::keys", Range(exec, 0, std::max(n, sizes.size())),
      LevelKeys<Memory>{key_of, order.level_of, order.vertex, key, sizes});
  std::uint64_t* sorted_key = key.data();
  int* sorted_vertex = order.vertex.data();
  sort_by_key_within(exec, sorted_key, sorted_vertex, n,
                     bits_for(levels - 1) + key_of.length_bits,
                     pool.template take<char>(static_cast<std::int64_t>(
                         sort_by_key_bytes(exec, n))));
  key = Kokkos::View<std::uint64_t*, Memory>(sorted_key, n);
  order.vertex = Kokkos::View<int*, Memory>(sorted_vertex, n);
  using Bounds = LevelBounds<ExecutionSpace, SortedVertices<Memory>>;
  constexpr std::int64_t width = Bounds::width;
  Kokkos::parallel_for("Strata::LevelOrder::bounds",
                       Range(exec, 0, (n + width - 1) / width * width),
                       Bounds{key_of,
                              {order.vertex, key},
                              order.permuted_row,
                              order.length,
                              sizes});
  order.level_map =
      Kokkos::View<std::int64_t*, Memory>(sizes.all, std::size_t(levels) + 1);
  std::vector<std::int64_t> all(sizes.size());
  copy_to_host(exec, Kokkos::View<std::int64_t*, Memory>(sizes.all, all.size()),
               all.data());
  assign_sizes(order.sizes, levels, found[LevelCounters::inner_runs],
               all.data());
  return order;
}

/// A host: one thread, a pass over the edges.
template <class Memory>
LevelOrder<Memory> level_order_on_host(const DependencyGraph<Memory>& graph,
                                       WithinLevel within, LevelSets sets,
                                       const int* rank = nullptr) {
  const int n = graph.num_vertices;
  const CountedLengths<Memory> said{graph.row_map, rank};
  LevelOrder<Memory> order;
  const int levels = order.sizes.num_levels = sets.num_levels;
  order.sizes.least_blocks = levels;
  order.sizes.level_map.assign(sets.level_map.begin(), sets.level_map.end());
  order.sizes.edges.assign(levels, 0);
  order.sizes.longest_row.assign(levels, 0);
  if (within == WithinLevel::longest_rows_first)
    for (int l = 0; l < levels; ++l)
      std::stable_sort(sets.vertices.begin() + sets.level_map[l],
                       sets.vertices.begin() + sets.level_map[l + 1],
                       [&](int a, int b) { return said(a) > said(b); });
  using Ints = Kokkos::View<int*, Memory>;
  const auto make = [n](const char* label) {
    return make_unfilled<Ints>(label, n);
  };
  order.level_of = make("Strata::LevelOrder::level_of");
  order.vertex = make("Strata::LevelOrder::vertex");
  order.permuted_row = make("Strata::LevelOrder::permuted_row");
  order.length = make("Strata::LevelOrder::length");
  order.level_map = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
      "Strata::LevelOrder::level_map", std::size_t(levels) + 1);
  for (int l = 0; l <= levels; ++l)
    order.level_map(l) = order.sizes.level_map[l];
  for (int p = 0; p < n; ++p) {
    const int v = sets.vertices[p], level = sets.level_of[v];
    const std::int64_t edges = said.length(said(v));
    order.level_of(v) = level;
    order.vertex(p) = v;
    order.permuted_row(v) = p;
    order.length(p) = static_cast<int>(edges);
    order.sizes.edges[level] += edges;
    order.sizes.longest_row[level] =
        std::max(order.sizes.longest_row[level], edges);
  }
  return order;
}

/// See order_by_level. The order's arrays must not outlive the pool; levels
/// that are known are not looked for, and an order that is known is not made.
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> make_level_order(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    WithinLevel within, WorkPool<ExecutionSpace>& pool,
    const GraphLevels<typename ExecutionSpace::memory_space>& known = {}) {
  if constexpr (is_gpu<ExecutionSpace>) {
    if (graph.num_vertices == 0)
      return LevelOrder<typename ExecutionSpace::memory_space>{};
    if (known.ordered && within == WithinLevel::longest_rows_first)
      return known.order;
    return level_order_on_device(exec, graph, within, pool, known);
  } else {
    exec.fence();
    return level_order_on_host(graph, within, find_level_sets(graph));
  }
}

/// The order of the vertices by levels that are known, and by the ranks of
/// their rows, `highest` at most. Shares `level_of`. The host waits.
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> order_by_known_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& level_of,
    int levels, const int* rank, int highest, WithinLevel within,
    WorkPool<ExecutionSpace>& pool) {
  if constexpr (is_gpu<ExecutionSpace>) {
    GraphLevels<typename ExecutionSpace::memory_space> known;
    known.level_of = level_of;
    known.found[LevelCounters::num_levels] = levels;
    known.found[LevelCounters::longest_row] = highest;
    known.known = true;
    return level_order_on_device(exec, graph, within, pool, known, rank);
  } else {
    exec.fence();
    return level_order_on_host(
        graph, within,
        sort_by_level({level_of.data(), level_of.data() + graph.num_vertices},
                      levels),
        rank);
  }
}

}  // namespace Detail

/// Orders the vertices by their level and, within a level set, as `within`
/// says, then by number: the same order on every backend.
///
/// Cost on a device: a pass over the edges, a memory round trip for every few
/// dozen vertices on the longest path, a sort of n keys of as many bits as
/// levels and rows' lengths take; 16 bytes a vertex are kept and up to 40 more
/// needed meanwhile. The host waits twice at most.
/// On a host: a pass over the edges by one thread.
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
  if constexpr (Detail::is_gpu<ExecutionSpace>) {
    // Out of the pool.
    const auto own = [&exec](auto& view) {
      using View = std::decay_t<decltype(view)>;
      const auto copy = Detail::make_unfilled<View>(exec, "Strata::LevelOrder",
                                                    view.extent(0));
      Kokkos::deep_copy(exec, copy, view);
      view = copy;
    };
    own(order.level_of);
    own(order.vertex);
    own(order.permuted_row);
    own(order.length);
    own(order.level_map);
    exec.fence();
  }
  return order;
}

}  // namespace Strata

#endif
