// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_MAKE_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_MAKE_ALGORITHM_HPP

#include <Strata_Partition.hpp>
#include <Strata_TriangularReport.hpp>
#include <analysis/level_sets/BlockedOrder.hpp>
#include <core/device/DeviceInfo.hpp>
#include <kernels/triangular/blocks/BlockSubstitution.hpp>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/subgraphs/SubgraphSolve.hpp>
#include <kernels/triangular/substitution/SubstitutionSolve.hpp>
#include <kernels/triangular/sync_free/SyncFreeSolve.hpp>
#include <kernels/triangular/sync_free_subgraphs/SyncFreeSubgraphs.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
using AlgorithmPointer =
    std::shared_ptr<TriangularAlgorithm<Scalar, ExecutionSpace>>;

/// Picciau et al.'s partition for this device: scratch gives n_max, the
/// multiprocessors the number of sub-graphs that run at once.
template <class Scalar, class ExecutionSpace>
PartitionOptions partition_options(const ExecutionSpace& exec,
                                   const TriangularOptions& options,
                                   const PerformanceParameters& parameters) {
  PartitionOptions result;
  result.max_rows = SubgraphSolve<Scalar, ExecutionSpace>::max_rows(exec);
  if (options.max_subgraph_rows > 0)
    result.max_rows = std::min(result.max_rows, options.max_subgraph_rows);
  result.concurrency = num_multiprocessors(exec);
  result.method = options.partition;
  result.criterion = options.criterion;
  result.parameters = parameters;
  return result;
}

template <class Scalar, class ExecutionSpace>
AlgorithmPointer<Scalar, ExecutionSpace> make_subgraphs(
    const ExecutionSpace& exec,
    const TriangularAnalysis<ExecutionSpace>& analysis,
    const TriangularOptions& options, const PerformanceParameters& parameters,
    TriangularReport& report) {
  const auto limits = partition_options<Scalar>(exec, options, parameters);
  const auto& host = analysis.host();
  const Partition best = partition(host.graph, host.levels, limits);
  const auto schedule = make_schedule(host.graph, best.subgraphs);
  report.subgraphs = best.subgraphs.count;
  report.subgraph_levels = best.subgraphs.num_levels;
  report.external_share = best.subgraphs.external_share();
  report.internal_slots = schedule.internal.num_slots();
  report.external_slots = schedule.external.num_slots();
  report.max_subgraph_rows = limits.max_rows;
  report.predicted_solve_us = best.candidates[best.chosen].predicted_us;
  report.reason += "; partition: " + best.candidates[best.chosen].name;
  const int team_size = !is_gpu<ExecutionSpace> ? 1
                        : options.team_size > 0 ? options.team_size
                                                : 256;
  return std::make_shared<SubgraphSolve<Scalar, ExecutionSpace>>(
      exec, analysis, best.subgraphs, schedule, team_size);
}

/// ELL blocks of a dependency graph, which has vertices. The host waits.
template <class ExecutionSpace>
using GraphBlocks = EllAnalysis<ExecutionSpace>;
template <class Scalar, class ExecutionSpace>
GraphBlocks<ExecutionSpace> find_graph_blocks(
    const ExecutionSpace& exec,
    const TriangularAnalysis<ExecutionSpace>& analysis) {
  GraphBlocks<ExecutionSpace> blocks(
      exec, analysis.graph.num_vertices, analysis.graph.num_edges(), false,
      BlockSubstitution<Scalar, ExecutionSpace>::limits());
  blocks.enqueue(exec, analysis.graph);
  blocks.fetch(exec);
  return blocks;
}
template <class Scalar, class ExecutionSpace>
AlgorithmPointer<Scalar, ExecutionSpace> make_blocks(
    const ExecutionSpace& exec,
    const TriangularAnalysis<ExecutionSpace>& analysis,
    const GraphBlocks<ExecutionSpace>& blocks, TriangularReport& report) {
  using Solve = BlockSubstitution<Scalar, ExecutionSpace>;
  const auto& graph = analysis.graph;
  const auto solve =
      std::make_shared<Solve>(exec, blocks,
                              DiagonalSource{graph.diagonal_value_index.data(),
                                             false, false, graph.reversed},
                              analysis.num_values, analysis.conjugated);
  exec.fence();
  solve->describe(report);
  return solve;
}

/// The algorithm of that name (not `automatic`) for an analysed matrix, with
/// workspace for `columns` right-hand sides at once. `packed` is used by
/// `sync_free_subgraphs`, which takes as many columns as `max_bytes` has room
/// for, and one in any case; `blocks` by `blocks`, which looks for them where
/// there are none yet; `levels` are taken at a time by `sync_free`.
template <class Scalar, class ExecutionSpace>
AlgorithmPointer<Scalar, ExecutionSpace> make_algorithm(
    const ExecutionSpace& exec,
    const TriangularAnalysis<ExecutionSpace>& analysis, Algorithm algorithm,
    const TriangularOptions& options, int columns, std::size_t max_bytes,
    const PerformanceParameters& parameters,
    SubgraphPacker<ExecutionSpace>* packed,
    const GraphBlocks<ExecutionSpace>* blocks, int levels,
    TriangularReport& report) {
  switch (algorithm) {
    case Algorithm::substitution:
      return std::make_shared<SubstitutionSolve<Scalar, ExecutionSpace>>(
          exec, analysis);
    case Algorithm::level_sets:
      return std::make_shared<LevelSetSolve<Scalar, ExecutionSpace>>(exec,
                                                                     analysis);
    case Algorithm::subgraphs:
      return make_subgraphs<Scalar>(exec, analysis, options, parameters,
                                    report);
    case Algorithm::sync_free:
      report.launch_right_hand_sides =
          columns == 1 ? 1
                       : SyncFreeTiles<Scalar, ExecutionSpace>::capacity_for(
                             analysis.graph.num_vertices, columns);
      if (levels > 1 && columns == 1) {
        const auto merged = merge_levels(
            exec, analysis.graph, analysis.order, levels, analysis.num_values,
            SyncFreeAlgorithm<Scalar, ExecutionSpace>::max_steps,
            TriangularAnalysis<ExecutionSpace>::within_level,
            analysis.work(exec), analysis.unmerged_rows());
        report.merged_levels = merged.levels;
        if (merged.exist())
          return std::make_shared<SyncFreeAlgorithm<Scalar, ExecutionSpace>>(
              exec, analysis, merged);
      }
      if (columns == 1 &&
          gains_by_blocks(exec, analysis.order.sizes, sizeof(Scalar))) {
        auto in_blocks = analysis;
        in_blocks.order = order_by_blocks(
            exec, analysis.graph, analysis.order, vertices_of_block,
            TriangularAnalysis<ExecutionSpace>::within_level,
            analysis.work(exec));
        return std::make_shared<SyncFreeAlgorithm<Scalar, ExecutionSpace>>(
            exec, in_blocks, columns);
      }
      return std::make_shared<SyncFreeAlgorithm<Scalar, ExecutionSpace>>(
          exec, analysis, columns);
    case Algorithm::blocks:
      if (analysis.graph.num_vertices == 0)
        return std::make_shared<BlockSubstitution<Scalar, ExecutionSpace>>();
      if (blocks) return make_blocks<Scalar>(exec, analysis, *blocks, report);
      return make_blocks<Scalar>(
          exec, analysis, find_graph_blocks<Scalar>(exec, analysis), report);
    default: {
      auto solve = std::make_shared<SyncFreeSubgraphs<Scalar, ExecutionSpace>>(
          exec, analysis, *packed, columns, max_bytes);
      report.launch_right_hand_sides = solve->capacity();
      report.subgraphs = solve->num_subgraphs();
      report.external_share = packed->external_share();
      report.merged_levels = packed->merged_levels();
      return solve;
    }
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
