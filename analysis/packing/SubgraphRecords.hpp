// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_SUBGRAPH_RECORDS_HPP
#define STRATA_ANALYSIS_PACKING_SUBGRAPH_RECORDS_HPP

#include <analysis/packing/StepsOfRows.hpp>

namespace Strata {
namespace Detail {

/// Which lane of which step gets each record, and what each warp of a sub-graph
/// has then.
template <class MemorySpace>
struct SubgraphRecords : StepsOfRows<MemorySpace> {
  using Base = StepsOfRows<MemorySpace>;
  using Base::graph, Base::packed, Base::num_subgraphs, Base::time_bits,
      Base::num_tasks, Base::count, Base::order, Base::subgraph_of,
      Base::export_before, Base::time, Base::first_task, Base::first_vertex,
      Base::import_count, Base::step_first, Base::run_count, Base::lanes_of,
      Base::subgraph, Base::task_key, Base::task, Base::task_row, Base::run_of,
      Base::run_first, Base::place_of, Base::step_records, Base::step_subgraph,
      Base::record_of, Base::count_tasks, Base::count_steps, Base::count_stages,
      Base::count_records, Base::count_most_steps, Base::team,
      Base::step_capacity, Base::tasks_of, Base::exports_of, Base::operator();
  using typename Base::Index, typename Base::Key, typename Base::PermutedRows;

  struct TaskScan {};
  KOKKOS_INLINE_FUNCTION void operator()(TaskScan, Index p, Index& sum,
                                         bool final) const {
    const int i = order[p];
    if (final) first_task[i] = static_cast<int>(sum);
    sum += tasks_of(i);
    if (final && p + 1 == graph.num_vertices) count[count_tasks] = sum;
  }
  /// Tasks of all sub-graphs before g: they are numbered in that order.
  KOKKOS_INLINE_FUNCTION Index tasks_before(Index g) const {
    return g < num_subgraphs ? first_task[order[first_vertex[g]]] : num_tasks;
  }
  struct TaskKeys {};
  KOKKOS_INLINE_FUNCTION void operator()(TaskKeys, Index i) const {
    const int tasks = tasks_of(i);
    const Key group = static_cast<Key>(subgraph_of[i]) << time_bits;
    for (int q = 0; q < tasks; ++q) {
      const int t = first_task[i] + q;
      task_key[t] = group | static_cast<Key>(time[i] - q);
      task[t] = t;
      task_row[t] = static_cast<int>(i);
    }
  }
  /// The permuted row and the keys of each row; no runs yet.
  struct PrepareTasks {};
  KOKKOS_INLINE_FUNCTION void operator()(PrepareTasks, Index i) const {
    (*this)(PermutedRows(), i);
    (*this)(TaskKeys(), i);
    if (i < num_subgraphs) run_count[i] = 0;
  }
  struct RunScan {};
  KOKKOS_INLINE_FUNCTION void operator()(RunScan, Index p, Index& sum,
                                         bool final) const {
    const bool fresh = p == 0 || task_key[p] != task_key[p - 1];
    sum += fresh;
    if (!final) return;
    run_of[p] = static_cast<int>(sum - 1);
    if (fresh) {
      run_first[sum - 1] = static_cast<int>(p);
      Kokkos::atomic_fetch_add(&run_count[task_key[p] >> time_bits], 1);
    }
  }
  /// Few lanes a warp where steps have few records: idle lanes take memory.
  struct ChooseLanes {};
  KOKKOS_INLINE_FUNCTION void operator()(ChooseLanes, Index g) const {
    const Index records =
        (tasks_before(g + 1) - tasks_before(g)) * packed.row_lanes;
    int lanes = packed.row_lanes;
    while (lanes < packed.width &&
           Index{lanes} * packed.warps * run_count[g] * 2 < records * 3)
      lanes *= 2;
    lanes_of[g] = lanes;
  }
  /// First lane of a task among those of its step.
  KOKKOS_INLINE_FUNCTION int lane_at(Index p) const {
    return static_cast<int>((p - run_first[run_of[p]]) * packed.row_lanes %
                            step_capacity(task_key[p] >> time_bits));
  }
  struct StepScan {};
  KOKKOS_INLINE_FUNCTION void operator()(StepScan, Index p, Index& sum,
                                         bool final) const {
    const int lane = lane_at(p);
    sum += lane == 0;
    if (!final) return;
    const Index step = sum - 1;
    const Key g = task_key[p] >> time_bits;
    place_of[task[p]] =
        step * team() + lane / lanes_of[g] * packed.width + lane % lanes_of[g];
    if (lane == 0) {
      if (p == 0 || task_key[p - 1] >> time_bits != g)
        step_first[g] = static_cast<int>(step);
      step_subgraph[step] = static_cast<int>(g);
    }
    const bool last = p + 1 == num_tasks;
    if (last || lane_at(p + 1) == 0)
      step_records[step] = lane + packed.row_lanes;
    if (last) {
      count[count_steps] = sum;
      count[count_stages] = sum * packed.warps;
      step_first[num_subgraphs] = static_cast<int>(sum);
    }
  }

  // --- Stages: the steps in which a warp works -------------------------------

  KOKKOS_INLINE_FUNCTION int warps_of(Index step) const {
    const int lanes = lanes_of[step_subgraph[step]];
    return (step_records[step] + lanes - 1) / lanes;
  }
  struct StageScan {};
  KOKKOS_INLINE_FUNCTION void operator()(StageScan, Index at, Index& sum,
                                         bool final) const {
    const Index steps = count[count_steps];
    const Index warp = at / steps, step = at % steps;
    if (final) record_of[at] = static_cast<int>(sum);
    if (warps_of(step) > warp) sum += lanes_of[step_subgraph[step]];
    if (final && at + 1 == steps * packed.warps) {
      record_of[at + 1] = static_cast<int>(sum);
      count[count_records] = sum;
    }
  }
  struct ImportScan {};
  KOKKOS_INLINE_FUNCTION void operator()(ImportScan, Index g, Index& sum,
                                         bool final) const {
    if (final) subgraph[g].first_import = sum;
    sum += import_count[g];
  }
  struct DescribeSubgraphs {};
  KOKKOS_INLINE_FUNCTION void operator()(DescribeSubgraphs, Index at) const {
    const int g = static_cast<int>(at);
    PackedSubgraph& s = subgraph[g];
    const int first = first_vertex[g];
    const Index num_steps = count[count_steps];
    s.first_step = step_first[g];
    s.steps = step_first[g + 1] - step_first[g];
    s.lanes = lanes_of[g];
    for (int w = 0; w < max_solving_warps; ++w) {
      const bool used = w < packed.warps;
      const int begin = used ? record_of[w * num_steps + step_first[g]] : 0;
      s.first_record[w] = begin;
      s.stages[w] =
          used
              ? (record_of[w * num_steps + step_first[g + 1]] - begin) / s.lanes
              : 0;
    }
    Kokkos::atomic_fetch_max(&count[count_most_steps], Index{s.steps});
    s.first_permuted_row = first;
    s.rows = first_vertex[g + 1] - first;
    s.first_export = export_before[first];
    s.exports = exports_of(g);
    s.imports = import_count[g];
    s.padding = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
