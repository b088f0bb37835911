// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_REGISTRATION_HPP

#include <algorithm>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/tiles/TilesAlgorithm.hpp>
#include <memory>
#include <string>

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
  Pointer make(Selection& selection, const Candidate& candidate) override {
    using Solve = TilesAlgorithm<Scalar, ExecutionSpace>;
    auto& report = selection.report;
    const auto& budget = selection.budget;
    constexpr std::size_t most_bytes = std::size_t{512} << 20;
    const std::size_t left =
        budget.limited() && budget.bytes() < candidate.bytes + most_bytes
            ? budget.bytes() - std::min(budget.bytes(), candidate.bytes)
            : most_bytes;
    const int columns = Solve::capacity(
        selection.sizes.rows, selection.options.max_right_hand_sides, left);
    const auto made = std::make_shared<Solve>(
        selection.exec, selection.analysis, columns,
        selection.analysis.longest_row(),
        selection.options.accuracy == Accuracy::rowwise);
    report.launch_right_hand_sides = columns;
    report.subgraphs = made->num_tiles();
    report.subgraph_levels = made->chain();
    return made;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
