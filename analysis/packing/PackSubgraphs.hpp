// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACK_SUBGRAPHS_HPP
#define STRATA_ANALYSIS_PACKING_PACK_SUBGRAPHS_HPP

#include <algorithm>
#include <analysis/packing/CutSubgraphs.hpp>
#include <analysis/packing/RankEdges.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/PlanStorage.hpp>

namespace Strata {
namespace Detail {

/// Makes packed sub-graphs in two halves, so that a caller can look at their
/// number and decide: the constructor (of SubgraphCutter) finds where every row
/// goes and when, and `finish` writes the records. `finish` is called once, if
/// possible() is true, before the memory of the pool is given back.
template <class ExecutionSpace>
class SubgraphPacker : public SubgraphCutter<ExecutionSpace> {
 public:
  using Base = SubgraphCutter<ExecutionSpace>;
  using Base::Base;
  using typename Base::Memory;

  /// The packed sub-graphs, without values. Cost: two sorts and a few launches
  /// over rows, edges and records, and a wait of the host.
  PackedSubgraphs<Memory> finish(std::int64_t num_values) {
    auto& p = stages_;
    auto& packed = p.packed;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    const std::int64_t tasks = p.num_tasks;
    packed.num_exports = static_cast<int>(counts_[Stages::count_exports]);
    packed.max_local = max_local_;

    take_arrays();
    find_places();
    p.num_steps = packed.num_steps = counts_[Stages::count_steps];
    packed.max_steps = static_cast<int>(counts_[Stages::count_most_steps]);
    packed.num_records = counts_[Stages::count_records];

    if (merged_levels_ > 1) {
      pool_->take(p.value_place, edges);
      pool_->take(p.value_rank, edges);
      pool_->take(p.task_place, tasks);
    }
    allocate_packed(num_values);
    run("begin", EachStage<typename Stages::BeginPacking>{
                     std::max({n, p.num_steps * packed.warps,
                               packed.value_index.size(), p.num_uniques})});
    rank_edges();
    sort(p.need_key, p.need_unique, p.num_uniques, bits_for(p.num_steps));
    run("fill_rows",
        EachStage<typename Stages::FillRows>{std::max(p.num_uniques, tasks)});
    for_each_row("Strata::SubgraphPacker::fill_edges", exec_, n, edges,
                 typename Stages::FillEdges{p});
    if (merged_levels_ > 1) {
      run("task_places", EachStage<typename Stages::TaskPlaces>{tasks});
      packed.merged = merger_.keep(num_values, packed.row,
                                   {{},
                                    {},
                                    p.permuted_row_of,
                                    p.graph.row_map.data(),
                                    p.value_rank,
                                    p.value_place,
                                    p.first_task,
                                    p.task_place});
    }
    // A caller that gave the pool waits before the pool ends.
    if (owns_pool_) exec_.fence();
    return packed;
  }

 private:
  using Base::exec_, Base::stages_, Base::merger_, Base::pool_,
      Base::owns_pool_, Base::merged_levels_, Base::max_local_, Base::counts_,
      Base::run, Base::run_and_fetch, Base::sort;
  using typename Base::Stages;

  void take_arrays() {
    auto& p = stages_;
    const std::int64_t edges = p.graph.num_edges(), tasks = p.num_tasks;
    pool_->take(p.task_key, tasks);
    pool_->take(p.task, tasks);
    pool_->take(p.task_row, tasks);
    pool_->take(p.run_of, tasks);
    pool_->take(p.run_first, tasks);
    pool_->take(p.place_of, tasks);
    // There are no more steps than tasks.
    pool_->take(p.step_records, tasks);
    pool_->take(p.step_subgraph, tasks);
    pool_->take(p.record_of, tasks * p.packed.warps + 1);
    pool_->take(p.step_first, p.num_subgraphs + 1);
    pool_->take(p.run_count, p.num_subgraphs);
    pool_->take(p.lanes_of, p.num_subgraphs);
    pool_->take(p.subgraph, p.num_subgraphs);
    pool_->take(p.slot_of, edges);
    pool_->take(p.need_key, p.num_uniques);
    pool_->take(p.need_unique, p.num_uniques);
    pool_->take(p.unique_local, p.num_uniques);
  }
  /// Sorts the tasks by sub-graph and step and finds a place for each. Waits
  /// for the counts.
  void find_places() {
    auto& p = stages_;
    const std::int64_t tasks = p.num_tasks;
    run("prepare_tasks",
        EachStage<typename Stages::PrepareTasks>{p.graph.num_vertices});
    sort(p.task_key, p.task, tasks, p.time_bits + bits_for(p.num_subgraphs));
    run_and_fetch(
        "places", SumStage<typename Stages::RunScan>{tasks},
        EachStage<typename Stages::ChooseLanes>{p.num_subgraphs},
        SumStage<typename Stages::StepScan>{tasks},
        SumStage<typename Stages::StageScan>{
            {tasks * p.packed.warps, p.count + Stages::count_stages}},
        SumStage<typename Stages::ImportScan>{p.num_subgraphs},
        EachStage<typename Stages::DescribeSubgraphs>{p.num_subgraphs});
  }

  /// The arrays of the packed sub-graphs, in one allocation.
  void allocate_packed(std::int64_t num_values) {
    auto& p = stages_;
    auto& packed = p.packed;
    const std::int64_t n = p.graph.num_vertices, records = packed.num_records;
    packed.storage = make_plan_storage<Memory>(
        exec_, "Strata::PackedSubgraphs", [&](PlanStorage<Memory>& storage) {
          const bool value_indices = merged_levels_ <= 1;
          storage.take(packed.bytes, records * p.record.bytes);
          storage.take(packed.subgraph, p.num_subgraphs);
          if (value_indices)
            storage.take(packed.value_index, records * p.record.entries,
                         num_values);
          storage.take(packed.diagonal_value_index, n, num_values);
          storage.take(packed.row, n);
          storage.take(packed.import, p.num_uniques);
          if (value_indices) {
            storage.take(packed.record_row, records);
            storage.take(packed.record_lane, records);
          }
          storage.take(packed.step_warps, p.num_steps);
        });
  }

  void rank_edges() {
    using Rank = RankEdges<ExecutionSpace>;
    const std::int64_t n = stages_.graph.num_vertices;
    Rank rank{stages_, 1};
    while (rank.lanes < Rank::width &&
           stages_.graph.num_edges() > 4 * n * rank.lanes)
      rank.lanes *= 2;
    LargeFunctorTeams<ExecutionSpace> policy(
        exec_,
        static_cast<int>((n + rank.rows_per_team() - 1) / rank.rows_per_team()),
        Rank::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Rank::scratch_bytes));
    Kokkos::parallel_for("Strata::SubgraphPacker::place_edges", policy, rank);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
