// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CHOOSE_ALGORITHM_HPP
#define STRATA_CHOOSE_ALGORITHM_HPP

#include <Strata_TriangularOptions.hpp>
#include <detail/Strata_LevelSetSolve.hpp>
#include <detail/Strata_PipelinedSolve.hpp>
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
      int rows = Solve::max_rows(exec);
      if (options.max_subgraph_rows)
        rows = std::min(rows, options.max_subgraph_rows);
      std::vector<int> map(analysis.host_graph.num_vertices);
      for (std::size_t i = 0; i < map.size(); ++i) map[i] = i / rows;
      const auto subgraphs = subgraphs_from_map(analysis.host_graph, map);
      const auto schedule = make_schedule(analysis.host_graph, subgraphs);
      return std::make_shared<Solve>(exec, analysis, subgraphs, schedule,
                                     is_cuda<ExecutionSpace> ? 256 : 1);
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
