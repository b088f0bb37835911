// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGE_SUBGRAPH_ROWS_HPP
#define STRATA_ANALYSIS_MERGING_MERGE_SUBGRAPH_ROWS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/merging/EliminateRows.hpp>
#include <analysis/merging/MergedSubgraphRows.hpp>
#include <core/device/Warp.hpp>
#include <core/scalar/CounterRandom.hpp>

namespace Strata {
namespace Detail {

/// What became of a vertex when level sets were merged.
struct RowStatus {
  enum : int {
    as_it_was,  // no source of its group that is replaced
    merged,
    stays  // it would grow too long or too inaccurate: others wait for it
  };
};

/// The edges of a graph as EliminateRow wants them: a group is a sub-graph's
/// rows in `levels` consecutive level sets, and rows that stay are not
/// replaced.
template <class MemorySpace>
struct GroupedEdges {
  DependencyGraph<MemorySpace> graph;
  const int *subgraph_of, *level;
  int levels;
  const int* row_status;  // by vertex; null: none is known yet

  KOKKOS_FUNCTION std::int64_t first(int v) const { return graph.row_map(v); }
  KOKKOS_FUNCTION std::int64_t end(int v) const { return graph.row_map(v + 1); }
  KOKKOS_FUNCTION int entry(std::int64_t k) const { return graph.entries(k); }
  KOKKOS_FUNCTION bool inner(std::int64_t, int from, int to) const {
    return subgraph_of[from] == subgraph_of[to] &&
           level[from] / levels == level[to] / levels && !stays(from);
  }
  KOKKOS_FUNCTION bool stays(int v) const {
    return row_status && row_status[v] == RowStatus::stays;
  }
  /// Whether a row of so many sources is worth its length.
  KOKKOS_FUNCTION bool worthwhile(int v, const EliminatedRow& row) const {
    return row.fits && row.terms > 1 &&
           row.sources <= 3 * (end(v) - first(v)) + 8;
  }
};

/// Lengths of the merged rows, and which rows stay: of one depth in the
/// groups, those before it known, or of all depths at once. What is found of
/// all at once holds up to the first depth with a row that stays but is not one
/// of those known before.
template <class MemorySpace>
struct CountMergedInSubgraph {
  static constexpr int all_depths = -1;
  GroupedEdges<MemorySpace> edges;
  int depth;
  const int* unmerged;  // by vertex, RowStatus::stays: has to stay; or null
  int *row_status, *terms, *sources;
  int* words;  // see MergedSubgraphRows
  MergedSubgraphRows<MemorySpace> shape;
  // Of the merged rows: most terms, most sources, most of both together; and
  // how many depths there are from the first row on that stays, but was not
  // known to.
  int* longest;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const bool counted =
        number >= 0 &&
        (depth == all_depths || edges.level[number] % edges.levels == depth);
    const int v = counted ? static_cast<int>(number) : -1;
    const EliminatedRow row = eliminate.run(v, edges, NoNotes());
    if (v < 0 || lane != 0) return;
    const bool known = unmerged && unmerged[v] == RowStatus::stays;
    const bool merged = !known && edges.worthwhile(v, row);
    const bool stays = known || (!merged && (!row.fits || row.terms > 1));
    row_status[v] = stays    ? RowStatus::stays
                    : merged ? RowStatus::merged
                             : RowStatus::as_it_was;
    if (stays && !known)
      raise_limit(longest + 3, edges.levels - edges.level[v] % edges.levels);
    if (merged) {
      raise_limit(longest, row.terms);
      raise_limit(longest + 1, row.sources);
      raise_limit(longest + 2, row.terms + row.sources);
    }
    terms[v] = merged ? row.terms : 1;
    sources[v] =
        merged ? row.sources : static_cast<int>(edges.end(v) - edges.first(v));
    const int tasks = shape.tasks_of(sources[v]);
    words[v] = merged ? 1 + tasks + (row.operations + 3) / 4
               : sources[v] > shape.max_ranks ? sources[v]
                                              : tasks + (sources[v] + 3) / 4;
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

/// The merged rows' sources, ascending.
template <class MemorySpace>
struct FillMergedInSubgraph {
  GroupedEdges<MemorySpace> edges;
  const int* terms;
  const std::int64_t* source_map;
  int* source;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    const int v = static_cast<int>(number);
    const bool merged = v >= 0 && terms[v] > 1;
    const EliminatedRow row = eliminate.run(merged ? v : -1, edges, NoNotes());
    if (v < 0) return;
    const std::int64_t first = source_map[v];
    if (merged) {
      for (int s = lane; s < row.sources; s += Eliminate::num_lanes)
        source[first + eliminate.rank_of_source(s, row.sources)] =
            eliminate.source(s);
    } else {
      for (std::int64_t k = lane; k < edges.end(v) - edges.first(v);
           k += Eliminate::num_lanes)
        source[first + k] = edges.entry(edges.first(v) + k);
    }
  }
};

/// What a sample of rows says of a number of level sets taken at a time; sums
/// over the sample.
struct MergeSample {
  enum : int {
    sources,
    terms,
    operations,  // of the merged rows' recipes
    tasks,
    tasks_wide,
    late,
    late_wide,
    size
  };
  /// Steps for a group of level sets, in units of 1 / `unit`.
  static constexpr int unit = 64;
};
/// Numbers of level sets to choose from.
struct MergeCandidates {
  int levels[10] = {1, 2, 3, 4, 6, 8, 12, 16};
  int count = 8;
};

/// The i-th of a sample of rows: anywhere in its part of them, as rows at equal
/// distances are all alike on a grid.
KOKKOS_INLINE_FUNCTION std::int64_t sampled_row(std::int64_t i,
                                                std::int64_t samples,
                                                std::int64_t rows) {
  const std::int64_t first = i * rows / samples;
  const std::int64_t end = (i + 1) * rows / samples;
  return first + below(mix64(static_cast<std::uint64_t>(i)), end - first);
}

/// Rewrites a sample of the rows with every candidate. With `d` groups from a
/// row down to its source of rank r, newest first, and e sources a step, a
/// group takes (1 + r / e) / d steps at least; a row that stays as it is takes
/// a step for each of its level sets.
template <class MemorySpace>
struct SampleMergedInSubgraph {
  GroupedEdges<MemorySpace> edges;
  std::int64_t* sums;  // of all candidates
  std::int64_t samples;
  MergeCandidates candidates;
  int entries, entries_wide;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    GroupedEdges<MemorySpace> groups = edges;
    int v = -1, candidate = 0;
    if (number >= 0) {
      candidate = static_cast<int>(number / samples);
      v = static_cast<int>(
          sampled_row(number % samples, samples, edges.graph.num_vertices));
    }
    groups.levels = candidates.levels[candidate];
    const EliminatedRow row = eliminate.run(v, groups, NoNotes());
    const bool stays = v >= 0 && !groups.worthwhile(v, row);
    int late = MergeSample::unit, late_wide = MergeSample::unit;
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
        const int steps = (1 + rank / entries) * MergeSample::unit / d;
        const int wide = (1 + rank / entries_wide) * MergeSample::unit / d;
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
    std::int64_t* const sum = sums + candidate * MergeSample::size;
    // A row without sources in its group is none the worse for staying.
    if (stays && !(row.fits && row.terms == 1)) {
      constexpr int most = 1 << 24;
      const int all =
          (groups.levels < most ? groups.levels : most) * MergeSample::unit;
      late = all > late ? all : late;
      late_wide = all > late_wide ? all : late_wide;
    }
    using Sample = MergeSample;
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
    if (!stays)
      Kokkos::atomic_fetch_add(sum + Sample::operations,
                               std::int64_t{row.operations});
    Kokkos::atomic_fetch_add(sum + Sample::late, std::int64_t{late});
    Kokkos::atomic_fetch_add(sum + Sample::late_wide, std::int64_t{late_wide});
  }
};

/// The maps of MergedSubgraphRows, all in one scan: index i stands for position
/// i % n of map i / n.
template <class MemorySpace>
struct MergedMaps {
  GroupedEdges<MemorySpace> edges;
  Kokkos::View<const unsigned*, MemorySpace> row;
  MergedSubgraphRows<MemorySpace> rows;
  const int *terms, *words;             // by vertex
  std::int64_t num_entries, num_terms;  // sums over all rows

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                  bool final) const {
    const std::int64_t n = edges.graph.num_vertices, p = i % n;
    const int v = edges.graph.row_of(static_cast<int>(row(p)));
    const int which = static_cast<int>(i / n);
    const auto& map = which == 0   ? rows.row_map
                      : which == 1 ? rows.term_map
                                   : rows.word_map;
    const std::int64_t before = which == 0   ? 0
                                : which == 1 ? num_entries
                                             : num_entries + num_terms;
    if (final) map(p) = static_cast<int>(sum - before);
    sum += which == 0   ? edges.end(v) - edges.first(v)
           : which == 1 ? std::int64_t{terms[v]}
                        : std::int64_t{words[v]};
    if (final && p + 1 == n) map(n) = static_cast<int>(sum - before);
  }
};

/// What new values need of each row, once it has its place in the stream.
template <class MemorySpace>
struct WriteMergedInSubgraph {
  GroupedEdges<MemorySpace> edges;
  MergedSubgraphRows<MemorySpace> rows;
  const int* position_of;
  // Of the merged graph: by vertex, by edge, by vertex, and by task.
  const std::int64_t* source_map;
  const unsigned *rank, *place;
  const int* first_task;
  const unsigned* task_place;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    constexpr int lanes = Eliminate::num_lanes;
    using Rows = MergedSubgraphRows<MemorySpace>;
    const int v = static_cast<int>(number);
    const int p = v < 0 ? 0 : position_of[v];
    const int first_term = rows.term_map(p);
    const bool merged = v >= 0 && rows.term_map(p + 1) - first_term > 1;
    unsigned* const word = rows.word.data() + rows.word_map(p);
    const std::int64_t first_source = v < 0 ? 0 : source_map[v];
    const int sources =
        v < 0 ? 0 : static_cast<int>(source_map[v + 1] - first_source);
    const int tasks = rows.tasks_of(sources);
    unsigned char* const recipe =
        reinterpret_cast<unsigned char*>(word + 1 + tasks);
    const EliminatedRow row =
        eliminate.run(merged ? v : -1, edges, RecipeNotes{recipe});
    if (v < 0) return;
    const std::int64_t first = edges.first(v), end = edges.end(v);
    if (rows.has_value_indices)
      for (std::int64_t k = first + lane; k < end; k += lanes)
        rows.value_index.set(rows.row_map(p) + (k - first),
                             edges.graph.value_index(k));
    if (!merged && lane == 0) rows.term(first_term) = 0;
    if (!merged && sources > Rows::max_ranks) {
      for (std::int64_t k = first + lane; k < end; k += lanes)
        word[k - first] = place[first_source + (k - first)];
      return;
    }
    for (int q = lane; q < tasks; q += lanes)
      word[merged + q] = task_place[first_task[v] + q];
    if (!merged) {
      auto* const ranks = reinterpret_cast<unsigned char*>(word + tasks);
      for (std::int64_t k = first + lane; k < end; k += lanes)
        ranks[k - first] =
            static_cast<unsigned char>(rank[first_source + (k - first)]);
      return;
    }
    if (lane == 0) word[0] = static_cast<unsigned>(row.sources);
    for (int t = lane; t < row.terms; t += lanes)
      rows.term(first_term + row.terms - 1 -
                eliminate.rank_of_term(t, row.terms)) =
          static_cast<std::int16_t>(p - position_of[eliminate.term(t)]);
    for (int o = lane; o < row.operations; o += lanes) {
      const int noted = recipe[o];
      recipe[o] = static_cast<unsigned char>(
          noted < max_terms
              ? row.terms - 1 - eliminate.rank_of_term(noted, row.terms)
              : row.terms +
                    rank[first_source + eliminate.rank_of_source(
                                            noted - max_terms, row.sources)]);
    }
    if (lane == 0)
      for (int o = row.operations; o % 4 != 0; ++o) recipe[o] = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
