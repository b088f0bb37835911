// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLLAPSED_LEVELS_HPP
#define STRATA_COLLAPSED_LEVELS_HPP

#include <Strata_LevelOrder.hpp>
#include <detail/Strata_CollapseLevels.hpp>
#include <limits>

namespace Strata {

/// A graph whose level sets are taken several at a time, all over the graph.
///
/// Vertices of `levels` consecutive level sets, the first of which is a
/// multiple of that, are a group. Within a group x_j is replaced by its own
/// equation:
///
///     x_i = (b_i - sum over terms j of m_j b_j - sum over sources k of c_k x_k)
///           / l_ii
///
/// where terms are other vertices of the group and sources are not of it. Rows
/// that would grow too long stay as they are, and those that need them wait for
/// them as for any other source.
template <class MemorySpace>
struct CollapsedLevels {
  int levels = 1;
  /// The rewritten rows' sources, without origins.
  DependencyGraph<MemorySpace> graph;
  /// The terms of vertex v are term_map(v) <= t < term_map(v + 1), ascending.
  Kokkos::View<std::int64_t*, MemorySpace> term_map;
  Kokkos::View<int*, MemorySpace> term;
  /// Of the rewritten graph; a row counts as long as the longer of its lists.
  LevelOrder<MemorySpace> order;
  /// The graph as it was, for new values; vertices by how many level sets they
  /// are behind the first of their group: those of depth d begin at
  /// depth_map[d].
  DependencyGraph<MemorySpace> given;
  Kokkos::View<const int*, MemorySpace> given_level;  // vertex -> level
  Kokkos::View<const int*, MemorySpace> by_depth;
  std::vector<std::int64_t> depth_map;
  /// What became of a vertex.
  Kokkos::View<const int*, MemorySpace> fate;

  bool exist() const { return levels > 1; }
};

/// How many level sets might be taken at a time, and what would come of it.
struct LevelsCandidate {
  int levels = 1;
  /// Means over a sample of rows: sources and other rows' terms of a rewritten
  /// row, and the share of rows that stay as they are.
  double sources = 0, terms = 0, stay = 0;
};

/// What a sample of the rows says of the candidates. Cost: 1,024 eliminations
/// for each at most; the host waits once.
template <class ExecutionSpace>
std::vector<LevelsCandidate> sample_collapsed_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    const Detail::CollapseCandidates& candidates,
    Detail::WorkPool<ExecutionSpace>& pool) {
  using namespace Detail;
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const std::int64_t samples = std::min<std::int64_t>(n, 1024);
  const int size = LevelsSample::size * candidates.count;
  const Kokkos::View<std::int64_t*, Memory> sums(pool.zeros(size), size);
  eliminate_rows(
      "Strata::CollapsedLevels::sample", exec, samples * candidates.count,
      double(graph.num_edges()) / double(n),
      SampleRewritten<Memory>{
          LevelGroups<Memory>{graph, order.level_of.data(), nullptr, 1},
          candidates, sums.data(), samples},
      lists_for_many_terms());
  std::vector<std::int64_t> found(sums.extent(0));
  copy_to_host(exec, sums, found.data());
  std::vector<LevelsCandidate> made;
  for (int c = 0; c < candidates.count; ++c) {
    const auto mean = [&](int what) {
      return double(found[c * LevelsSample::size + what]) / double(samples);
    };
    made.push_back({candidates.levels[c], mean(LevelsSample::sources),
                    mean(LevelsSample::terms), mean(LevelsSample::stay)});
  }
  return made;
}

/// Rewrites a graph's rows.
///
/// @param order   of `graph`, which has vertices
/// @param levels  that are to become one, at least two
/// @param pool    for all arrays: it has to outlive them
/// @returns with `levels` 1 where there is nothing to rewrite, or too much:
///          2^30 terms and sources
/// Cost on a device: two eliminations of each row, a launch for each depth, a
/// sort as for a LevelOrder; the host waits twice.
template <class ExecutionSpace>
CollapsedLevels<typename ExecutionSpace::memory_space> collapse_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order, int levels,
    WithinLevel within, Detail::WorkPool<ExecutionSpace>& pool) {
  using namespace Detail;
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const int num_levels = order.num_levels();
  CollapsedLevels<Memory> made;
  const int groups = (num_levels + levels - 1) / levels;
  const double mean_length = double(graph.num_edges()) / double(n);
  const RangeOf<ExecutionSpace> each(exec, 0, n);

  // Vertices by depth; where each level set begins there.
  made.depth_map.assign(std::size_t(levels) + 1, 0);
  std::vector<int> begin(num_levels);
  std::int64_t placed = 0;
  for (int depth = 0; depth < levels; ++depth) {
    made.depth_map[depth] = placed;
    for (int l = depth; l < num_levels; l += levels) {
      begin[l] = static_cast<int>(placed);
      placed += order.sizes.rows(l);
    }
  }
  made.depth_map[levels] = placed;
  const auto level_begin = pool.template view<int>(num_levels);
  Kokkos::deep_copy(
      exec, level_begin,
      Kokkos::View<const int*, Kokkos::HostSpace,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(begin.data(),
                                                            num_levels));
  const auto fresh_levels = pool.template view<int>(n);
  int* const by_depth = pool.template take<int>(n);
  int* const fate = pool.template take<int>(n);
  int* const length = pool.template take<int>(n);
  int* const terms = pool.template take<int>(n);
  int* const width = pool.template take<int>(n);
  int* const depth_in_group = pool.template take<int>(n);
  int* const new_level = fresh_levels.data();
  int* const used = pool.template take<int>(std::int64_t{groups} * levels + 1);
  const auto limits = pool.template view<int>(CollapseLimits::size);
  const LevelGroups<Memory> edges{graph, order.level_of.data(), fate, levels};

  Kokkos::parallel_for(
      "Strata::CollapsedLevels::clear",
      RangeOf<ExecutionSpace>(
          exec, 0,
          std::max<std::int64_t>(std::int64_t{groups} * levels + 1,
                                 CollapseLimits::size)),
      ClearCollapse{used, std::int64_t{groups} * levels + 1, limits.data()});
  Kokkos::parallel_for("Strata::CollapsedLevels::begin", each,
                       BeginCollapse<Memory>{graph, order.vertex,
                                             order.level_of, order.level_map,
                                             level_begin, by_depth, fate,
                                             length, terms, depth_in_group,
                                             limits.data()});
  for (int depth = 1; depth < levels; ++depth)
    eliminate_rows(
        "Strata::CollapsedLevels::count", exec,
        made.depth_map[depth + 1] - made.depth_map[depth], mean_length,
        CountRewritten<Memory>{edges, by_depth + made.depth_map[depth], fate,
                               length, terms, depth_in_group, limits.data()},
        levels > 8 ? lists_for_many_terms() : ListLengths{0, 0});

  // The rewritten rows.
  auto& rewritten = made.graph;
  rewritten.num_vertices = graph.num_vertices;
  rewritten.reversed = graph.reversed;
  rewritten.diagonal_origin = graph.diagonal_origin;
  rewritten.row_map = pool.template view<std::int64_t>(n + 1);
  made.term_map = pool.template view<std::int64_t>(n + 1);
  Kokkos::parallel_scan("Strata::CollapsedLevels::offsets", each,
                        OffsetsOf{length, rewritten.row_map.data(), n});
  Kokkos::parallel_scan("Strata::CollapsedLevels::offsets", each,
                        OffsetsOf{terms, made.term_map.data(), n});
  // Numbers of the levels that there are.
  Kokkos::parallel_for("Strata::CollapsedLevels::mark", each,
                       MarkLevels{order.level_of.data(), depth_in_group, used,
                                  levels});
  const auto sums = pool.template view<std::int64_t>(CollapseSums::size);
  Kokkos::parallel_scan(
      "Strata::CollapsedLevels::number",
      RangeOf<ExecutionSpace>(exec, 0, std::int64_t{groups} * levels),
      NumberLevels<Memory>{used, std::int64_t{groups} * levels,
                           rewritten.row_map, made.term_map, limits, sums});
  std::int64_t found[CollapseSums::size];
  copy_to_host(exec, sums, found);
  const std::int64_t total = found[CollapseSums::sources];
  const std::int64_t total_terms = found[CollapseSums::terms];
  if (found[CollapseSums::most_terms] < 2 ||
      total + total_terms >= (std::int64_t{1} << 30))
    return made;
  const ListLengths lists{
      static_cast<int>(found[CollapseSums::most_terms] + 3) / 4 * 4,
      static_cast<int>(found[CollapseSums::most_sources] + 3) / 4 * 4};
  rewritten.entries = pool.template view<int>(total);
  made.term = pool.template view<int>(total_terms);
  eliminate_rows(
      "Strata::CollapsedLevels::fill", exec, n, mean_length,
      FillRewritten<Memory>{edges, fate, rewritten.row_map.data(),
                            made.term_map.data(), rewritten.entries.data(),
                            made.term.data()},
      lists);
  Kokkos::parallel_for(
      "Strata::CollapsedLevels::levels", each,
      NewLevels{order.level_of.data(), depth_in_group, used, new_level, levels,
                length, terms, width});
  made.order = order_by_known_levels(
      exec, rewritten, fresh_levels,
      static_cast<int>(found[CollapseSums::levels]), width,
      static_cast<int>(found[CollapseSums::longest]), within, pool);
  made.levels = levels;
  made.given = graph;
  made.given_level = order.level_of;
  made.by_depth = Kokkos::View<const int*, Memory>(by_depth, n);
  made.fate = Kokkos::View<const int*, Memory>(fate, n);
  return made;
}

}  // namespace Strata

#endif
