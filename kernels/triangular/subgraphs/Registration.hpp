// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_REGISTRATION_HPP

#include <Strata_Partition.hpp>
#include <algorithm>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/subgraphs/KeepPartition.hpp>
#include <kernels/triangular/subgraphs/SubgraphSolve.hpp>
#include <memory>
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

  Pointer make(Selection& selection, const Candidate&) override {
    auto& report = selection.report;
    const auto& graph = selection.analysis.host().graph;
    const int max_rows = rows_allowed(selection);
    const Partition best = find_partition(selection, max_rows);
    const auto schedule = make_schedule(graph, best.subgraphs);
    report.subgraphs = best.subgraphs.count;
    report.subgraph_levels = best.subgraphs.num_levels;
    report.external_share = best.subgraphs.external_share();
    report.internal_slots = schedule.internal.num_slots();
    report.external_slots = schedule.external.num_slots();
    report.max_subgraph_rows = max_rows;
    report.partition = best.criterion;
    const int asked = selection.options.experimental.team_size;
    const int team_size = !is_gpu<ExecutionSpace> ? 1 : asked > 0 ? asked : 256;
    return std::make_shared<Solve>(selection.exec, selection.analysis,
                                   best.subgraphs, schedule, team_size);
  }

 private:
  /// Picciau et al.'s n_max: what the scratch of this device holds. More
  /// scratch than Kokkos grants, if the chip has it, is used only if the
  /// options ask for it: fewer teams run at once with it.
  static int rows_allowed(const Selection& selection) {
    const int asked = selection.options.experimental.max_subgraph_rows;
    return asked > 0 ? std::min(Solve::most_rows(selection.exec), asked)
                     : Solve::max_rows(selection.exec);
  }
  static Partition find_partition(const Selection& selection, int max_rows) {
    const auto& host = selection.analysis.host();
    if (auto kept = keep_partition(host.graph,
                                   selection.analysis.kept_partition, max_rows))
      return {*std::move(kept), "that of the pattern before", 0};
    return partition(host.graph, host.levels, max_rows);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
