// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLLAPSE_ROWS_HPP
#define STRATA_COLLAPSE_ROWS_HPP

#include <Strata_CollapsedRows.hpp>
#include <Strata_DependencyGraph.hpp>
#include <detail/Strata_EliminateRows.hpp>

namespace Strata {
namespace Detail {

/// The edges of a graph as EliminateRow wants them: a group is a sub-graph's
/// rows in `levels` consecutive level sets.
template <class MemorySpace>
struct GroupedEdges {
  DependencyGraph<MemorySpace> graph;
  const int *subgraph_of, *level;
  int levels;

  KOKKOS_FUNCTION std::int64_t first(int v) const { return graph.row_map(v); }
  KOKKOS_FUNCTION std::int64_t end(int v) const { return graph.row_map(v + 1); }
  KOKKOS_FUNCTION int entry(std::int64_t k) const { return graph.entries(k); }
  KOKKOS_FUNCTION bool inner(std::int64_t, int from, int to) const {
    return subgraph_of[from] == subgraph_of[to] &&
           level[from] / levels == level[to] / levels;
  }
  /// Whether a row of so many sources is worth its length.
  KOKKOS_FUNCTION bool worthwhile(int v, const EliminatedRow& row) const {
    return row.fits && row.terms > 1 &&
           row.sources <= 3 * (end(v) - first(v)) + 8;
  }
};

/// Lengths of the rewritten rows.
template <class MemorySpace>
struct CountCollapsed {
  GroupedEdges<MemorySpace> edges;
  int *terms, *sources;
  int* longest;  // of the rewritten rows' lists of terms, and of sources

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = static_cast<int>(number);
    const EliminatedRow row = eliminate.run(v, edges, NoNumbers());
    if (v < 0 || lane != 0) return;
    const bool collapsed = edges.worthwhile(v, row);
    if (collapsed) {
      raise(longest, row.terms);
      raise(longest + 1, row.sources);
    }
    terms[v] = collapsed ? row.terms : 1;
    sources[v] = collapsed ? row.sources
                           : static_cast<int>(edges.end(v) - edges.first(v));
  }

 private:
  KOKKOS_FUNCTION static void raise(int* at, int value) {
    if (value > load_relaxed(at)) Kokkos::atomic_fetch_max(at, value);
  }
};

/// map[i]: the sum of the first i lengths.
struct OffsetsOf {
  const int* length;
  std::int64_t* map;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                         bool final) const {
    if (final) map[i] = sum;
    sum += length[i];
    if (final && i + 1 == count) map[count] = sum;
  }
};

/// The rewritten rows: sources and terms, both ascending.
template <class MemorySpace>
struct FillCollapsed {
  GroupedEdges<MemorySpace> edges;
  const std::int64_t* source_map;
  int* source;
  const std::int64_t* term_map;
  int* term;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = static_cast<int>(number);
    const bool collapsed = v >= 0 && term_map[v + 1] - term_map[v] > 1;
    const EliminatedRow row =
        eliminate.run(collapsed ? v : -1, edges, NoNumbers());
    if (v < 0) return;
    const std::int64_t first = source_map[v];
    if (collapsed) {
      for (int s = lane; s < row.sources; s += Eliminate::num_lanes)
        source[first + eliminate.rank_of_source(s, row.sources)] =
            eliminate.source(s);
      for (int t = lane; t < row.terms; t += Eliminate::num_lanes)
        term[term_map[v] + eliminate.rank_of_term(t, row.terms)] =
            eliminate.term(t);
    } else {
      for (std::int64_t k = lane; k < edges.end(v) - edges.first(v);
           k += Eliminate::num_lanes)
        source[first + k] = edges.entry(edges.first(v) + k);
      if (lane == 0) term[term_map[v]] = v;
    }
  }
};

/// What a sample of rows says of a number of level sets taken at a time; sums
/// over the sample.
struct CollapseSample {
  enum : int { sources, terms, tasks, tasks_wide, late, late_wide, size };
  /// Steps for a group of level sets, in units of 1 / `unit`.
  static constexpr int unit = 64;
};
/// The candidates.
constexpr int collapse_candidates[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr int num_collapse_candidates = 8;
KOKKOS_INLINE_FUNCTION int collapse_candidate(int c) {
  constexpr int value[] = {1, 2, 3, 4, 6, 8, 12, 16};
  return value[c];
}

/// Rewrites a sample of the rows with every candidate. With `d` groups from a
/// row down to its source of rank r, newest first, and e sources a step, a
/// group takes (1 + r / e) / d steps at least; a row that stays as it is takes
/// a step for each of its level sets.
template <class MemorySpace>
struct SampleCollapsed {
  GroupedEdges<MemorySpace> edges;
  std::int64_t* sums;  // of all candidates
  std::int64_t samples;
  int entries, entries_wide;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    GroupedEdges<MemorySpace> groups = edges;
    int v = -1, candidate = 0;
    if (number >= 0) {
      candidate = static_cast<int>(number / samples);
      v = static_cast<int>(number % samples * edges.graph.num_vertices /
                           samples);
    }
    groups.levels = collapse_candidate(candidate);
    const EliminatedRow row = eliminate.run(v, groups, NoNumbers());
    const bool stays = v >= 0 && !groups.worthwhile(v, row);
    int late = CollapseSample::unit, late_wide = CollapseSample::unit;
    if (v >= 0 && row.fits) {
      const int own = edges.level[v] / groups.levels;
      for (int s = lane; s < row.sources; s += Eliminate::num_lanes) {
        const int group = edges.level[eliminate.source(s)] / groups.levels;
        int rank = 0;
        for (int other = 0; other < row.sources; ++other) {
          const int its = edges.level[eliminate.source(other)] / groups.levels;
          rank += its > group || (its == group && other < s);
        }
        const int d = own > group ? own - group : 1;
        const int steps = (1 + rank / entries) * CollapseSample::unit / d;
        const int wide = (1 + rank / entries_wide) * CollapseSample::unit / d;
        late = steps > late ? steps : late;
        late_wide = wide > late_wide ? wide : late_wide;
      }
    }
    for (int mask = Eliminate::num_lanes / 2; mask > 0; mask /= 2) {
      const int a = lane_xor(late, mask), b = lane_xor(late_wide, mask);
      late = a > late ? a : late;
      late_wide = b > late_wide ? b : late_wide;
    }
    if (v < 0 || lane != 0) return;
    std::int64_t* const sum = sums + candidate * CollapseSample::size;
    if (stays && groups.levels > 1) {
      const int all = groups.levels * CollapseSample::unit;
      late = all > late ? all : late;
      late_wide = all > late_wide ? all : late_wide;
    }
    using Sample = CollapseSample;
    const std::int64_t m =
        stays ? edges.end(v) - edges.first(v) : std::int64_t{row.sources};
    const auto tasks = [&](int entries_a_step) {
      return m == 0 ? std::int64_t{1}
                    : (m + entries_a_step - 1) / entries_a_step;
    };
    Kokkos::atomic_fetch_add(sum + Sample::sources, m);
    Kokkos::atomic_fetch_add(sum + Sample::tasks, tasks(entries));
    Kokkos::atomic_fetch_add(sum + Sample::tasks_wide, tasks(entries_wide));
    Kokkos::atomic_fetch_add(sum + Sample::terms,
                             std::int64_t{stays ? 1 : row.terms});
    Kokkos::atomic_fetch_add(sum + Sample::late, std::int64_t{late});
    Kokkos::atomic_fetch_add(sum + Sample::late_wide, std::int64_t{late_wide});
  }
};

/// Keeps of the graph what new values need.
template <class MemorySpace>
struct KeepGraph {
  GroupedEdges<MemorySpace> edges;
  CollapsedRows<MemorySpace> rows;
  const std::int64_t* source_map;
  const int* position_of;

  KOKKOS_FUNCTION void operator()(std::int64_t i, int lane, int lanes) const {
    const int v = static_cast<int>(i);
    if (lane == 0) {
      rows.row_map(v) = static_cast<int>(edges.first(v));
      rows.source_map(v) = static_cast<int>(source_map[v]);
      rows.position(v) = position_of[v];
      if (v + 1 == edges.graph.num_vertices) {
        rows.row_map(v + 1) = static_cast<int>(edges.end(v));
        rows.source_map(v + 1) = static_cast<int>(source_map[v + 1]);
      }
    }
    for (std::int64_t k = edges.first(v) + lane; k < edges.end(v); k += lanes) {
      const int from = edges.entry(k);
      rows.entries(k) =
          static_cast<unsigned>(from) |
          (edges.inner(k, from, v) ? CollapsedRows<MemorySpace>::inner_edge
                                   : 0u);
      rows.origin.set(k, edges.graph.origin(k));
    }
  }
};

/// Lengths of the lists of terms by position, as a sum.
template <class MemorySpace>
struct TermScan {
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const unsigned*, MemorySpace> row;
  CollapsedRows<MemorySpace> rows;
  const std::int64_t* term_map;  // by vertex

  KOKKOS_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                  bool final) const {
    const int v = graph.row_of(static_cast<int>(row(p)));
    if (final) rows.term_map(p) = static_cast<int>(sum);
    sum += term_map[v + 1] - term_map[v];
    if (final && p + 1 == graph.num_vertices)
      rows.term_map(p + 1) = static_cast<int>(sum);
  }
};
template <class MemorySpace>
struct CopyTerms {
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const unsigned*, MemorySpace> row;
  CollapsedRows<MemorySpace> rows;
  const std::int64_t* term_map;
  const int* term;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    const int v = graph.row_of(static_cast<int>(row(p)));
    for (int t = rows.term_map(p); t < rows.term_map(p + 1); ++t)
      rows.term_row(t) = static_cast<unsigned>(
          graph.row_of(term[term_map[v] + t - rows.term_map(p)]));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
