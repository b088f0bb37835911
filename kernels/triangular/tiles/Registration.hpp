// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_REGISTRATION_HPP

#include <core/memory/MemoryPool.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/tiles/TilesAlgorithm.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
class TilesRegistration : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::tiles;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() +
           2 * static_cast<std::size_t>(sizes.rows) * sizes.scalar_bytes;
  }
  Pointer make(Selection& selection, const Candidate&) override {
    auto& report = selection.report;
    using Solver = TilesAlgorithm<Scalar, ExecutionSpace>;
    using Sizes = TileSizes<Scalar, ExecutionSpace>;
    const bool may_invert = selection.options.accuracy == Accuracy::rowwise;
    const auto make = [&](const auto& partition) {
      return std::make_shared<Solver>(
          selection.exec, selection.analysis, partition,
          selection.analysis.longest_row(), may_invert);
    };
    auto made = make(selection.tiles());
    // Weights are what a plan can do without.
    if (made->has_runs() && !selection.budget.allows(made->bytes())) {
      made.reset();
      // The next plan must not be made in that one's memory.
      MemoryPool<typename ExecutionSpace::memory_space,
                 PersistentUse>::release();
      made = make(partition_tiles(selection.exec, selection.analysis.graph,
                                  Sizes::teams(may_invert, 1)));
      report.reason += "; without runs, whose weights take too much memory";
    }
    report.launch_right_hand_sides = made->make_workspace(
        selection.exec, selection.options.max_right_hand_sides,
        selection.budget.bytes());
    report.subgraphs = made->num_tiles();
    report.subgraph_levels = made->chain();
    return made;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
