// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACKING_ARRAYS_HPP
#define STRATA_ANALYSIS_PACKING_PACKING_ARRAYS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/packing/PackedSubgraphs.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// The arrays that the steps of PackingStages work on, and what several of them
/// ask.
template <class MemorySpace>
struct PackingArrays {
  using Index = std::int64_t;
  using Key = std::uint64_t;

  DependencyGraph<MemorySpace> graph;
  PackedSubgraphs<MemorySpace> packed;
  PackedRecord record{8};
  /// Level of each vertex; level sets in a band; rows of a sub-graph.
  const int* level = nullptr;
  int band_levels = 1, bands = 1, max_rows = 1;
  /// Rows of a sub-graph before that was cut in halves, and how often it was.
  int whole_rows = 1, halvings = 0;
  /// Steps that a value from another sub-graph is expected to take.
  int latency = 0;
  int num_subgraphs = 0, time_bits = 0;
  int dependency_bits = 31;  // of a vertex number in external_key
  Index num_tasks = 0, num_steps = 0, num_externals = 0, num_uniques = 0;

  enum : int {
    count_subgraphs,
    count_externals,
    count_uniques,
    count_local,
    count_exports,
    count_tasks,
    count_time,
    count_steps,
    count_stages,  // steps of all warps
    count_records,
    count_most_steps,
    num_counts
  };
  Index* count = nullptr;

  // Vertices, in the order of sub-graphs (p) or by number (i).
  Key* band_key = nullptr;
  int *order = nullptr, *subgraph_of = nullptr, *export_before = nullptr;
  int *permuted_row_of = nullptr, *time = nullptr, *first_task = nullptr;
  int* exported = nullptr;
  int *band_first = nullptr, *band_chunk = nullptr;
  // Sub-graphs.
  int *first_vertex = nullptr, *import_count = nullptr, *step_first = nullptr;
  int *run_count = nullptr, *lanes_of = nullptr;
  PackedSubgraph* subgraph = nullptr;
  // Edges.
  int* unique_of = nullptr;
  Index* slot_of = nullptr;
  // Edges between sub-graphs by row: how many there are, then where the next
  // one's place is.
  Index* external_at = nullptr;
  // Edges between sub-graphs, sorted, and the distinct dependencies among them.
  Key* external_key = nullptr;
  int *external_edge = nullptr, *unique_dependency = nullptr;
  int *unique_subgraph = nullptr, *unique_local = nullptr;
  Key* need_key = nullptr;
  int* need_unique = nullptr;
  /// Where each edge's value stands in the packed bytes, in words of four, its
  /// rank among its row's edges, and where a task's records begin, as
  /// MergedSubgraphRows has it; null where `packed.value_index` says it.
  unsigned *value_place = nullptr, *value_rank = nullptr;
  unsigned* task_place = nullptr;
  // Tasks: a record for each lane that shares the row.
  Key* task_key = nullptr;
  int *task = nullptr, *task_row = nullptr, *run_of = nullptr;
  int* run_first = nullptr;
  Index* place_of = nullptr;
  // Steps.
  int *step_records = nullptr, *step_subgraph = nullptr;
  int* record_of = nullptr;  // first record of (warp, step)

  KOKKOS_INLINE_FUNCTION int team() const {
    return packed.width * packed.warps;
  }
  /// Records of a step of sub-graph g at most.
  KOKKOS_INLINE_FUNCTION int step_capacity(Key g) const {
    return lanes_of[g] * packed.warps;
  }
  /// Entries of a row that a step takes: those of a record for each of the
  /// lanes that share the row.
  KOKKOS_INLINE_FUNCTION int entries_a_step() const {
    return record.entries * packed.row_lanes;
  }
  KOKKOS_INLINE_FUNCTION Index first_edge(Index i) const {
    return graph.row_map(i);
  }
  KOKKOS_INLINE_FUNCTION Index end_edge(Index i) const {
    return graph.row_map(i + 1);
  }
  /// Steps in which row i has work; each is a task.
  KOKKOS_INLINE_FUNCTION int tasks_of(Index i) const {
    const Index m = end_edge(i) - first_edge(i), a_step = entries_a_step();
    return m == 0 ? 1 : static_cast<int>((m + a_step - 1) / a_step);
  }
  /// Rows of sub-graph g that others need.
  KOKKOS_INLINE_FUNCTION int exports_of(int g) const {
    return export_before[first_vertex[g + 1]] - export_before[first_vertex[g]];
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
