// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_REGISTRATION_HPP

#include <Strata_Partition.hpp>
#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/subgraphs/Prediction.hpp>
#include <kernels/triangular/subgraphs/SubgraphSolve.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
class SubgraphsRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = SubgraphSolve<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::subgraphs;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() +
           static_cast<std::size_t>(sizes.edges) * 4;
  }
  bool needs_parameters(const Selection&) const override { return true; }

  /// Picciau et al.'s own algorithm where one sub-graph holds everything,
  /// unless even a slot a level set is too much: elsewhere its partition, on
  /// the host, costs more than all the rest of the analysis. It does where
  /// `sync_free_subgraphs` are to be had, too, which it is hardly ever ahead
  /// of.
  void consider(Selection& selection) override {
    const auto& analysis = selection.analysis;
    if (!is_gpu<ExecutionSpace> ||
        selection.best_of(Algorithm::sync_free_subgraphs) ||
        analysis.graph.num_vertices > Solve::max_rows(selection.exec) ||
        !(subgraphs_at_least(selection.features()) <
          selection.best()->predicted_us) ||
        !selection.may_fit(*this))
      return;
    const Partition found = find_partition(selection, limits(selection));
    selection.consider(
        *this, predict_subgraphs(selection.features(),
                                 found.candidates[found.chosen].predicted_us));
  }

  Pointer make(Selection& selection, const Candidate&) override {
    const auto& options = selection.options;
    auto& report = selection.report;
    const auto& graph = selection.analysis.host().graph;
    const PartitionOptions allowed = limits(selection);
    const Partition best = find_partition(selection, allowed);
    const auto schedule = make_schedule(graph, best.subgraphs);
    const auto& chosen = best.candidates[best.chosen];
    report.subgraphs = best.subgraphs.count;
    report.subgraph_levels = best.subgraphs.num_levels;
    report.external_share = best.subgraphs.external_share();
    report.internal_slots = schedule.internal.num_slots();
    report.external_slots = schedule.external.num_slots();
    report.max_subgraph_rows = allowed.max_rows;
    if (chosen.predicted_us > 0)
      report.predicted_solve_us =
          predict_subgraphs(selection.features(), chosen.predicted_us);
    report.partition = chosen.name;
    const int team_size = !is_gpu<ExecutionSpace> ? 1
                          : options.team_size > 0 ? options.team_size
                                                  : 256;
    return std::make_shared<Solve>(selection.exec, selection.analysis,
                                   best.subgraphs, schedule, team_size);
  }

 private:
  /// Picciau et al.'s partition for this device: scratch gives n_max, the
  /// multiprocessors the number of sub-graphs that run at once.
  static PartitionOptions limits(const Selection& selection) {
    const auto& options = selection.options;
    PartitionOptions result;
    result.max_rows = Solve::max_rows(selection.exec);
    if (options.max_subgraph_rows > 0)
      result.max_rows = std::min(result.max_rows, options.max_subgraph_rows);
    result.concurrency = num_multiprocessors(selection.exec);
    result.method = options.partition;
    result.criterion = options.criterion;
    result.parameters = selection.parameters;
    return result;
  }
  static Partition find_partition(const Selection& selection,
                                  const PartitionOptions& allowed) {
    const auto& host = selection.analysis.host();
    return partition(host.graph, host.levels, allowed);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
