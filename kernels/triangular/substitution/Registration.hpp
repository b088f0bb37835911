// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_REGISTRATION_HPP

#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/substitution/SubstitutionSolve.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
class SubstitutionRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::substitution;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_substitution();
  }

  Pointer make(Selection& selection, const Candidate&) override {
    return std::make_shared<SubstitutionSolve<Scalar, ExecutionSpace>>(
        selection.exec, selection.analysis);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
