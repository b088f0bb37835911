// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_REGISTRATION_HPP

#include <Strata_Partition.hpp>
#include <Strata_SubgraphAnalysis.hpp>
#include <algorithm>
#include <analysis/dependency_graph/ComponentSizes.hpp>
#include <core/device/DeviceInfo.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/subgraphs/KeepPartition.hpp>
#include <kernels/triangular/subgraphs/Prediction.hpp>
#include <kernels/triangular/subgraphs/SubgraphSolve.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

  /// Where each component fits a sub-graph, there is one sub-graph level: the
  /// algorithm is at its best, and its partition is cheap. The tests are in the
  /// order of their cost, and each is made only where the algorithm may still
  /// be the fastest: whether components can fit, by the number of starting
  /// vertices, of which each component has one at least; the least time that
  /// any partition takes, and its making as the share of each of a thousand
  /// solves; the components, with which the least time is longer; the
  /// partition, on the host.
  void consider(Selection& selection) override {
    const auto& sizes = selection.analysis.order.sizes;
    const PartitionOptions allowed = limits(selection);
    const std::int64_t rows = selection.analysis.graph.num_vertices;
    if (rows == 0 || sizes.level_map[1] * allowed.max_rows < rows) return;
    const bool in_one = rows <= allowed.max_rows &&
                        !selection.best_of(Algorithm::sync_free_subgraphs);
    if (!in_one && sizes.level_map[1] < 2) return;
    // Several right-hand sides are teams of their own, which read all edges
    // again.
    if (!in_one && selection.features().columns > 1) return;
    const double best = selection.best()->predicted_us;
    const double of_partition = in_one ? 0. : partition_us_a_solve(rows);
    if (!(subgraphs_at_least(selection.features()) + of_partition < best) ||
        !selection.may_fit(*this))
      return;
    std::string note;
    if (!in_one) {
      const ComponentSizes components = find_component_sizes(
          selection.exec, selection.analysis.graph, allowed.max_rows,
          selection.analysis.work(selection.exec));
      if (components.count < 2 || components.largest > allowed.max_rows ||
          !(subgraphs_at_least(selection.features(), components.largest) +
                of_partition <
            best))
        return;
      note = std::to_string(components.count) + " components";
    }
    found_ = find_partition(selection, allowed);
    selection.consider(*this, predict(selection, *found_), note);
  }
  void forget(Selection&) override { found_.reset(); }

  Pointer make(Selection& selection, const Candidate&) override {
    const auto& options = selection.options;
    auto& report = selection.report;
    const auto& graph = selection.analysis.host().graph;
    const PartitionOptions allowed = limits(selection);
    const Partition best =
        found_ ? *std::move(found_) : find_partition(selection, allowed);
    found_.reset();
    const auto schedule = make_schedule(graph, best.subgraphs);
    if (options.inspect_subgraphs)
      options.inspect_subgraphs({graph, best, schedule});
    const auto& chosen = best.candidates[best.chosen];
    report.subgraphs = best.subgraphs.count;
    report.subgraph_levels = best.subgraphs.num_levels;
    report.external_share = best.subgraphs.external_share();
    report.internal_slots = schedule.internal.num_slots();
    report.external_slots = schedule.external.num_slots();
    report.max_subgraph_rows = allowed.max_rows;
    if (is_gpu<ExecutionSpace> && chosen.predicted_us > 0)
      report.predicted_solve_us = predict(selection, best);
    report.partition = chosen.name;
    const int team_size = !is_gpu<ExecutionSpace> ? 1
                          : options.team_size > 0 ? options.team_size
                                                  : 256;
    return std::make_shared<Solve>(selection.exec, selection.analysis,
                                   best.subgraphs, schedule, team_size);
  }

 private:
  /// Picciau et al.'s partition for this device: scratch gives n_max, the
  /// multiprocessors the number of sub-graphs that run at once. More scratch
  /// than Kokkos grants, where the chip has it, takes an option: fewer teams
  /// run at once with it.
  static PartitionOptions limits(const Selection& selection) {
    const auto& options = selection.options;
    PartitionOptions result;
    result.max_rows = Solve::max_rows(selection.exec);
    if (options.max_subgraph_rows > 0)
      result.max_rows =
          std::min(Solve::most_rows(selection.exec), options.max_subgraph_rows);
    result.concurrency = num_multiprocessors(selection.exec);
    result.method = options.partition;
    result.criterion = options.criterion;
    result.parameters = selection.parameters;
    return result;
  }
  static double predict(const Selection& selection, const Partition& made) {
    return predict_subgraphs(selection.features(),
                             made.candidates[made.chosen].predicted_us);
  }
  static Partition find_partition(const Selection& selection,
                                  const PartitionOptions& allowed) {
    const auto& host = selection.analysis.host();
    if (auto kept = keep_partition(
            host.graph, selection.analysis.kept_partition, allowed.max_rows)) {
      Partition found;
      found.candidates.push_back({"that of the pattern before", kept->count,
                                  kept->num_levels, kept->external_share(), 0});
      found.subgraphs = *std::move(kept);
      return found;
    }
    return partition(host.graph, host.levels, allowed);
  }

  /// The partition of the candidate, until its plan is made.
  std::optional<Partition> found_;
};

}  // namespace Detail
}  // namespace Strata

#endif
