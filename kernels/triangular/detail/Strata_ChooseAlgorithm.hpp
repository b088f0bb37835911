// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CHOOSE_ALGORITHM_HPP
#define STRATA_CHOOSE_ALGORITHM_HPP

#include <detail/Strata_BandChunks.hpp>
#include <detail/Strata_MakeAlgorithm.hpp>
#include <detail/Strata_MeasureParameters.hpp>
#include <detail/Strata_PredictSolve.hpp>

namespace Strata {
namespace Detail {

/// The shapes of chunks worth a look: small ones keep many teams busy, long
/// bands keep a narrow graph in one team's scratch, wide ones keep grids
/// together. Each look costs a pass over the graph.
template <class Scalar, class ExecutionSpace>
std::vector<ChunkShape> chunk_shapes(const ExecutionSpace& exec,
                                     const TriangularOptions& options, int n) {
  const int max_local =
      StreamAlgorithm<Scalar, ExecutionSpace>::max_local(exec);
  std::vector<ChunkShape> shapes;
  const auto add = [&](int rows, int band_levels) {
    ChunkShape shape;
    shape.max_rows = options.max_subgraph_rows > 0
                         ? std::min(options.max_subgraph_rows, max_local / 2)
                         : std::min(rows, max_local / 2);
    shape.band_levels = band_levels;
    shape.max_local = max_local;
    shape.max_row_externals = std::min(256, max_local / 4);
    shapes.push_back(shape);
  };
  add(512, 32);
  if (n < 4000000) add(2048, 16);
  if (n < 1000000) add(1024, 1000);
  if (n < 200000) add(32, 16);
  return shapes;
}

/// The algorithm of `options`, or the one with the smallest prediction.
/// Fills in what the report says of the choice.
template <class Scalar, class ExecutionSpace>
AlgorithmPointer<Scalar, ExecutionSpace> choose_algorithm(
    const ExecutionSpace& exec, TriangularAnalysis<ExecutionSpace>& analysis,
    const TriangularOptions& options, TriangularReport& report) {
  analysis.find_order(exec);
  report.levels = analysis.order.num_levels();
  // Nothing has to be predicted for the algorithms without a choice inside.
  const bool predicts = options.algorithm == Algorithm::automatic ||
                        options.algorithm == Algorithm::subgraphs ||
                        options.algorithm == Algorithm::pipelined_subgraphs;
  if (!predicts) {
    report.algorithm = options.algorithm;
    report.reason = "asked for";
    return make_algorithm<Scalar>(exec, analysis, options.algorithm, options,
                                  PerformanceParameters{}, {}, report);
  }
  const auto parameters = performance_parameters<Scalar>(exec);
  const SolvePrediction predict(parameters, analysis.graph.num_edges(),
                                analysis.order.sizes, sizeof(Scalar),
                                device_units(exec), lane_width<ExecutionSpace>);
  const bool automatic = options.algorithm == Algorithm::automatic;
  std::vector<int> chunks;
  const auto consider = [&](Algorithm a, double us, const std::string& note) {
    report.candidates.push_back({a, us, note});
  };
  if (automatic) {
    consider(Algorithm::substitution, predict.substitution(), "");
    using Solve = LevelSetSolve<Scalar, ExecutionSpace>;
    consider(Algorithm::level_sets,
             predict.level_sets(Solve::narrow_chunks, Solve::warps), "");
    consider(Algorithm::pipelined, predict.pipelined(), "");
  }
  // A host has no lanes that could fetch while others solve.
  if ((automatic && is_cuda<ExecutionSpace>) ||
      options.algorithm == Algorithm::pipelined_subgraphs) {
    double best = 0;
    std::string note;
    const auto& host = analysis.host();
    for (const ChunkShape& shape :
         chunk_shapes<Scalar>(exec, options, host.graph.num_vertices)) {
      auto candidate = band_chunks(host.graph, host.levels, shape);
      const double us = predict.pipelined_subgraphs(
          host.graph, host.levels, candidate, shape.max_row_externals);
      if (!chunks.empty() && us >= best) continue;
      best = us;
      chunks = std::move(candidate);
      note = "chunks of up to " + std::to_string(shape.max_rows) +
             " rows in bands of " + std::to_string(shape.band_levels) +
             " level sets";
    }
    consider(Algorithm::pipelined_subgraphs, best, note);
  }

  // 004's own algorithm where one sub-graph holds everything, unless even a
  // slot a level set is too much: elsewhere its partition costs more than all
  // the rest of the analysis.
  if (automatic && is_cuda<ExecutionSpace> &&
      analysis.graph.num_vertices <=
          SubgraphSolve<Scalar, ExecutionSpace>::max_rows(exec)) {
    double least = predict.subgraphs_at_least();
    for (const auto& candidate : report.candidates)
      if (candidate.predicted_us < least) least = -1;
    if (least > 0) {
      const auto& host = analysis.host();
      const Partition best =
          partition(host.graph, host.levels,
                    partition_options<Scalar>(exec, options, parameters));
      consider(Algorithm::subgraphs, best.candidates[best.chosen].predicted_us,
               "");
    }
  }

  const TriangularCandidate* chosen = nullptr;
  for (const auto& candidate : report.candidates)
    if (!chosen || candidate.predicted_us < chosen->predicted_us)
      chosen = &candidate;
  report.algorithm = chosen ? chosen->algorithm : options.algorithm;
  if (chosen) {
    report.predicted_solve_us = chosen->predicted_us;
    report.reason =
        automatic ? "the smallest prediction of those considered" : "asked for";
    if (!chosen->note.empty()) report.reason += "; " + chosen->note;
  } else {
    report.reason = "asked for";
  }
  return make_algorithm<Scalar>(exec, analysis, report.algorithm, options,
                                parameters, chunks, report);
}

}  // namespace Detail
}  // namespace Strata

#endif
