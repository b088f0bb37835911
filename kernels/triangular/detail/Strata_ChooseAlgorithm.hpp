// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CHOOSE_ALGORITHM_HPP
#define STRATA_CHOOSE_ALGORITHM_HPP

#include <detail/Strata_MakeAlgorithm.hpp>
#include <detail/Strata_MeasureParameters.hpp>
#include <detail/Strata_PredictSolve.hpp>
#include <optional>

namespace Strata {
namespace Detail {

/// The shape of sub-graphs for a graph: chunks of rows in the order of
/// substitution keep a narrow graph's long paths together, bands of level sets
/// keep a wide one's teams busy.
inline StreamShape stream_shape(const TriangularOptions& options, int n,
                                int levels) {
  StreamShape shape;
  const bool narrow = double(n) < 150. * std::max(1, levels);
  shape.band_levels = narrow ? 0 : 64;
  shape.max_rows = options.max_subgraph_rows > 0 ? options.max_subgraph_rows
                   : narrow                      ? 1024
                                                 : 1536;
  return shape;
}

/// The algorithm of `options`, or the one with the smallest prediction.
/// Fills in what the report says of the choice.
template <class Scalar, class ExecutionSpace>
AlgorithmPointer<Scalar, ExecutionSpace> choose_algorithm(
    const ExecutionSpace& exec, TriangularAnalysis<ExecutionSpace>& analysis,
    const TriangularOptions& options, TriangularReport& report) {
  if (options.algorithm == Algorithm::blocks) {
    report.algorithm = options.algorithm;
    report.reason = "asked for";
    if (analysis.graph.num_vertices == 0)
      return std::make_shared<BlockSubstitution<Scalar, ExecutionSpace>>();
    return make_blocks<Scalar>(
        exec, analysis, find_graph_blocks<Scalar>(exec, analysis), report);
  }
  analysis.find_order(exec);
  report.levels = analysis.order.num_levels();
  // Nothing has to be predicted for the algorithms without a choice inside.
  const bool predicts = options.algorithm == Algorithm::automatic ||
                        options.algorithm == Algorithm::subgraphs ||
                        options.algorithm == Algorithm::pipelined_subgraphs;
  StreamBuilder<ExecutionSpace>* const no_stream = nullptr;
  if (!predicts) {
    report.algorithm = options.algorithm;
    report.reason = "asked for";
    return make_algorithm<Scalar>(exec, analysis, options.algorithm, options,
                                  PerformanceParameters{}, no_stream, report);
  }
  const auto parameters = performance_parameters<Scalar>(exec);
  const SolvePrediction predict(parameters, analysis.graph.num_edges(),
                                analysis.order.sizes, sizeof(Scalar),
                                device_units(exec), lane_width<ExecutionSpace>);
  const bool automatic = options.algorithm == Algorithm::automatic;
  std::optional<StreamBuilder<ExecutionSpace>> stream;
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
  // A host has no lanes that could fetch while others solve; and where level
  // sets are wide and few, or rows long, most values come from other
  // sub-graphs.
  const int n = analysis.graph.num_vertices,
            levels = analysis.order.num_levels();
  const auto& sizes = analysis.order.sizes;
  const std::int64_t longest_row =
      levels == 0 ? 0
                  : *std::max_element(sizes.longest_row.begin(),
                                      sizes.longest_row.end());
  const StreamShape shape = stream_shape(options, n, levels);
  const bool suits =
      shape.band_levels == 0 || (n < 1500. * levels && levels >= 64 &&
                                 double(analysis.graph.num_edges()) < 16. * n);
  if ((automatic && is_cuda<ExecutionSpace> && suits) ||
      options.algorithm == Algorithm::pipelined_subgraphs) {
    auto candidate = StreamAlgorithm<Scalar, ExecutionSpace>::make_builder(
        exec, analysis.graph, analysis.order.level_of.data(), levels,
        longest_row, shape);
    if (candidate.possible()) {
      consider(Algorithm::pipelined_subgraphs,
               predict.pipelined_subgraphs(candidate.critical_steps(),
                                           shape.hop, candidate.num_subgraphs(),
                                           candidate.num_imports()),
               std::to_string(candidate.num_subgraphs()) +
                   " sub-graphs of up to " +
                   std::to_string(candidate.max_rows()) + " rows in " +
                   (shape.band_levels > 0
                        ? "bands of " + std::to_string(shape.band_levels) +
                              " level sets"
                        : "the order of substitution"));
      stream = std::move(candidate);
    }
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

  // Blocks are at least as many as level sets.
  std::optional<GraphBlocks<ExecutionSpace>> blocks;
  if (automatic && n > 0) {
    double least = predict.blocks_at_least();
    for (const auto& candidate : report.candidates)
      if (candidate.predicted_us <= least) least = -1;
    if (least > 0) {
      blocks.emplace(find_graph_blocks<Scalar>(exec, analysis));
      const auto runs = make_block_runs(
          blocks->wide(), blocks->num_blocks(), n,
          BlockSubstitution<Scalar, ExecutionSpace>::is_irregular(*blocks));
      consider(Algorithm::blocks,
               predict.blocks(runs, blocks->found(EllHead::num_slots)),
               std::to_string(blocks->num_blocks()) + " blocks in " +
                   std::to_string(runs.size()) + " launches");
    }
  }

  const TriangularCandidate* chosen = nullptr;
  for (const auto& candidate : report.candidates)
    if (!chosen || candidate.predicted_us < chosen->predicted_us)
      chosen = &candidate;
  report.algorithm = chosen ? chosen->algorithm : options.algorithm;
  if (report.algorithm == Algorithm::pipelined_subgraphs && !stream) {
    report.algorithm = Algorithm::pipelined;
    report.reason =
        "asked for pipelined_subgraphs, but the matrix has no rows or too many "
        "entries, or a row needs more values from outside its sub-graph than a "
        "team's scratch holds";
    return make_algorithm<Scalar>(exec, analysis, report.algorithm, options,
                                  parameters, no_stream, report);
  }
  if (chosen) {
    report.predicted_solve_us = chosen->predicted_us;
    report.reason =
        automatic ? "the smallest prediction of those considered" : "asked for";
    if (!chosen->note.empty()) report.reason += "; " + chosen->note;
  } else {
    report.reason = "asked for";
  }
  if (report.algorithm == Algorithm::blocks)
    return make_blocks<Scalar>(exec, analysis, *blocks, report);
  return make_algorithm<Scalar>(exec, analysis, report.algorithm, options,
                                parameters, stream ? &*stream : nullptr,
                                report);
}

}  // namespace Detail
}  // namespace Strata

#endif
