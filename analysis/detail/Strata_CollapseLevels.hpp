// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLLAPSE_LEVELS_HPP
#define STRATA_COLLAPSE_LEVELS_HPP

#include <Strata_DependencyGraph.hpp>
#include <detail/Strata_CollapseRows.hpp>
#include <detail/Strata_EliminateRows.hpp>
#include <detail/Strata_PackValues.hpp>

namespace Strata {
namespace Detail {

/// What became of a vertex when level sets were taken together.
struct RowFate {
  enum : int {
    as_it_was,  // no source of its group that is replaced
    rewritten,
    stays  // it would grow too long: others wait for it
  };
};
/// Found over all rows: most terms and sources of a rewritten one, and the
/// longer of both lists of any.
struct CollapseLimits {
  enum : int { terms, sources, longest, size };
};

/// The edges of a graph as EliminateRow wants them: groups are of consecutive
/// level sets, and vertices that stay are not replaced.
template <class MemorySpace>
struct LevelGroups {
  DependencyGraph<MemorySpace> graph;
  const int *level, *fate;  // fate null: none is known yet
  int levels;

  KOKKOS_FUNCTION std::int64_t first(int v) const { return graph.row_map(v); }
  KOKKOS_FUNCTION std::int64_t end(int v) const { return graph.row_map(v + 1); }
  KOKKOS_FUNCTION int entry(std::int64_t k) const { return graph.entries(k); }
  KOKKOS_FUNCTION bool same_group(int a, int b) const {
    return level[a] / levels == level[b] / levels;
  }
  KOKKOS_FUNCTION bool inner(std::int64_t, int from, int to) const {
    return same_group(from, to) &&
           (fate == nullptr || fate[from] != RowFate::stays);
  }
  /// Whether a row of so many sources is worth its length.
  KOKKOS_FUNCTION bool worthwhile(int v, const EliminatedRow& row) const {
    return row.fits && row.sources <= 3 * (end(v) - first(v)) + 24;
  }
};

/// What a sample of rows says of the candidates; sums over the sample.
struct LevelsSample {
  enum : int { sources, terms, stay, size };
};
template <class MemorySpace>
struct SampleRewritten {
  LevelGroups<MemorySpace> edges;
  CollapseCandidates candidates;
  std::int64_t* sums;  // of all candidates
  std::int64_t samples;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    LevelGroups<MemorySpace> groups = edges;
    int v = -1, candidate = 0;
    if (number >= 0) {
      candidate = static_cast<int>(number / samples);
      v = static_cast<int>(
          sampled_row(number % samples, samples, edges.graph.num_vertices));
    }
    groups.levels = candidates.levels[candidate];
    const EliminatedRow row = eliminate.run(v, groups, NoNotes());
    if (v < 0 || lane != 0) return;
    const bool any = !row.fits || row.terms > 1;
    const bool stays = any && !groups.worthwhile(v, row);
    std::int64_t* const sum = sums + candidate * LevelsSample::size;
    Kokkos::atomic_fetch_add(
        sum + LevelsSample::sources,
        stays ? edges.end(v) - edges.first(v) : std::int64_t{row.sources});
    Kokkos::atomic_fetch_add(sum + LevelsSample::terms,
                             std::int64_t{stays ? 0 : row.terms - 1});
    Kokkos::atomic_fetch_add(sum + LevelsSample::stay,
                             std::int64_t{stays ? 1 : 0});
  }
};

KOKKOS_INLINE_FUNCTION void raise_limit(int* at, int value) {
  if (value > load_relaxed(at)) Kokkos::atomic_fetch_max(at, value);
}

/// Vertices by depth, and all that there is to know of those of depth 0.
template <class MemorySpace>
struct BeginCollapse {
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const int*, MemorySpace> vertex, level_of;
  Kokkos::View<const std::int64_t*, MemorySpace> level_map;
  Kokkos::View<const int*, MemorySpace> level_begin;
  int *by_depth, *fate, *length, *terms, *depth_in_group, *limits;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const int v = vertex(p), level = level_of(v);
    const auto own = static_cast<int>(graph.row_map(v + 1) - graph.row_map(v));
    by_depth[level_begin(level) + (p - level_map(level))] = v;
    fate[v] = RowFate::as_it_was;
    length[v] = own;
    terms[v] = 0;
    depth_in_group[v] = 0;
    raise_limit(limits + CollapseLimits::longest, own);
  }
};

struct ClearCollapse {
  int* used;
  std::int64_t count;
  int* limits;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < count) used[i] = 0;
    if (i < CollapseLimits::size) limits[i] = 0;
  }
};

/// Fate and length of the vertices of one depth, those before it known.
template <class MemorySpace>
struct CountRewritten {
  LevelGroups<MemorySpace> edges;
  const int* vertex;
  int *fate, *length, *terms, *depth_in_group, *limits;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = number < 0 ? -1 : vertex[number];
    const EliminatedRow row = eliminate.run(v, edges, NoNotes());
    if (v < 0) return;
    const bool any = !row.fits || row.terms > 1;
    const bool rewrites = any && edges.worthwhile(v, row);
    int depth = 0;
    const auto behind = [&](int from) {
      if (edges.same_group(from, v) && depth_in_group[from] >= depth)
        depth = depth_in_group[from] + 1;
    };
    if (rewrites)
      for (int s = lane; s < row.sources; s += Eliminate::num_lanes)
        behind(eliminate.source(s));
    else
      for (std::int64_t k = edges.first(v) + lane; k < edges.end(v);
           k += Eliminate::num_lanes)
        behind(edges.entry(k));
    for (int mask = Eliminate::num_lanes / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(depth, mask);
      depth = other > depth ? other : depth;
    }
    if (lane != 0) return;
    depth_in_group[v] = depth;
    if (any) fate[v] = rewrites ? RowFate::rewritten : RowFate::stays;
    if (!rewrites) return;
    length[v] = row.sources;
    terms[v] = row.terms - 1;
    raise_limit(limits + CollapseLimits::terms, row.terms);
    raise_limit(limits + CollapseLimits::sources, row.sources);
    raise_limit(limits + CollapseLimits::longest,
                length[v] > terms[v] ? length[v] : terms[v]);
  }
};

/// The rewritten rows' sources and terms, both ascending.
template <class MemorySpace>
struct FillRewritten {
  LevelGroups<MemorySpace> edges;
  const int* fate;
  const std::int64_t *row_map, *term_map;
  int *entries, *terms;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = static_cast<int>(number);
    const bool rewrites = v >= 0 && fate[v] == RowFate::rewritten;
    const EliminatedRow row =
        eliminate.run(rewrites ? v : -1, edges, NoNotes());
    if (v < 0) return;
    int* const source = entries + row_map[v];
    if (!rewrites) {
      for (std::int64_t k = lane; k < edges.end(v) - edges.first(v);
           k += Eliminate::num_lanes)
        source[k] = edges.entry(edges.first(v) + k);
      return;
    }
    // The last of the terms is the row itself.
    for (int t = lane; t < row.terms; t += Eliminate::num_lanes) {
      const int rank = eliminate.rank_of_term(t, row.terms);
      if (rank + 1 < row.terms) terms[term_map[v] + rank] = eliminate.term(t);
    }
    for (int s = lane; s < row.sources; s += Eliminate::num_lanes)
      source[eliminate.rank_of_source(s, row.sources)] = eliminate.source(s);
  }
};

/// Level sets anew: of a group those that its vertices' depths make, numbered
/// without gaps.
struct MarkLevels {
  const int *level, *depth_in_group;
  int* used;
  int levels;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    used[level[v] / levels * levels + depth_in_group[v]] = 1;
  }
};
/// What the host wants to know of all that.
struct CollapseSums {
  enum : int {
    sources,
    terms,
    levels,
    most_terms,
    most_sources,
    longest,
    size
  };
};
template <class MemorySpace>
struct NumberLevels {
  int* used;
  std::int64_t count;
  Kokkos::View<const std::int64_t*, MemorySpace> row_map, term_map;
  Kokkos::View<const int*, MemorySpace> limits;
  Kokkos::View<std::int64_t*, MemorySpace> sums;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, int& sum,
                                         bool final) const {
    const int own = used[i];
    if (final) used[i] = sum;
    sum += own;
    if (!final || i + 1 < count) return;
    sums(CollapseSums::sources) = row_map(row_map.extent(0) - 1);
    sums(CollapseSums::terms) = term_map(term_map.extent(0) - 1);
    sums(CollapseSums::levels) = sum;
    sums(CollapseSums::most_terms) = limits(CollapseLimits::terms);
    sums(CollapseSums::most_sources) = limits(CollapseLimits::sources);
    sums(CollapseSums::longest) = limits(CollapseLimits::longest);
  }
};
struct NewLevels {
  const int *level, *depth_in_group, *number;
  int* made;
  int levels;
  const int *length, *terms;
  int* longer;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    longer[v] = length[v] > terms[v] ? length[v] : terms[v];
    made[v] = number[level[v] / levels * levels + depth_in_group[v]];
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
