// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CHOOSE_ALGORITHM_HPP
#define STRATA_CHOOSE_ALGORITHM_HPP

#include <Strata_Partition.hpp>
#include <Strata_TriangularReport.hpp>
#include <detail/Strata_LevelSetSolve.hpp>
#include <detail/Strata_PipelinedSolve.hpp>
#include <detail/Strata_StreamAlgorithm.hpp>
#include <detail/Strata_SubgraphSolve.hpp>
#include <detail/Strata_SubstitutionSolve.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
std::shared_ptr<TriangularAlgorithm<Scalar, ExecutionSpace>> choose_algorithm(
    const ExecutionSpace& exec, TriangularAnalysis<ExecutionSpace>& analysis,
    const TriangularOptions& options, TriangularReport& report) {
  analysis.host_graph = mirror_graph(Kokkos::HostSpace(), analysis.graph);
  analysis.levels = find_level_sets(analysis.host_graph);
  report.levels = analysis.levels.num_levels;
  report.algorithm = options.algorithm;
  switch (options.algorithm) {
    case Algorithm::substitution:
      return std::make_shared<SubstitutionSolve<Scalar, ExecutionSpace>>(
          exec, analysis);
    case Algorithm::level_sets:
      return std::make_shared<LevelSetSolve<Scalar, ExecutionSpace>>(exec,
                                                                     analysis);
    case Algorithm::subgraphs: {
      using Solve = SubgraphSolve<Scalar, ExecutionSpace>;
      PartitionOptions partition_options;
      partition_options.max_rows = Solve::max_rows(exec);
      if (options.max_subgraph_rows > 0)
        partition_options.max_rows =
            std::min(partition_options.max_rows, options.max_subgraph_rows);
      partition_options.concurrency = device_units(exec);
      partition_options.method = options.partition;
      partition_options.criterion = options.criterion;
      const Partition best =
          partition(analysis.host_graph, analysis.levels, partition_options);
      const auto schedule = make_schedule(analysis.host_graph, best.subgraphs);
      report.subgraphs = best.subgraphs.count;
      report.subgraph_levels = best.subgraphs.num_levels;
      report.external_share = best.subgraphs.external_share();
      report.internal_slots = schedule.internal.num_slots();
      report.external_slots = schedule.external.num_slots();
      report.max_subgraph_rows = partition_options.max_rows;
      report.predicted_solve_us = best.candidates[best.chosen].predicted_us;
      report.reason = best.candidates[best.chosen].name;
      return std::make_shared<Solve>(
          exec, analysis, best.subgraphs, schedule,
          is_cuda<ExecutionSpace> ? options.team_size ? options.team_size : 256
                                  : 1);
    }
    case Algorithm::pipelined_subgraphs: {
      using Solve = StreamAlgorithm<Scalar, ExecutionSpace>;
      ChunkShape shape;
      shape.max_local = Solve::max_local(exec);
      shape.max_rows =
          options.max_subgraph_rows ? options.max_subgraph_rows : 1024;
      shape.max_rows = std::min(shape.max_rows, shape.max_local / 2);
      shape.band_levels = options.team_size ? options.team_size : 32;
      return std::make_shared<Solve>(exec, analysis, shape);
    }
    default:
      report.algorithm = Algorithm::pipelined;
      return std::make_shared<PipelinedAlgorithm<Scalar, ExecutionSpace>>(
          exec, analysis, options.max_right_hand_sides);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
