// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_REGISTRATION_HPP

#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
class LevelSetsRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = LevelSetSolve<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::level_sets;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() + sizes.of_chunks() +
           (sizes.levels + 1) * 4;
  }

  Pointer make(Selection& selection, const Candidate&) override {
    return std::make_shared<Solve>(selection.exec, selection.analysis,
                                   selection.analysis.order,
                                   "Strata::Triangular::solve::level_sets");
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
