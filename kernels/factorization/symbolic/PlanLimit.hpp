// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_PLAN_LIMIT_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_PLAN_LIMIT_HPP

#include <Strata_Error.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <algorithm>
#include <kernels/factorization/solve/SingleFactors.hpp>
#include <kernels/factorization/symbolic/FillLimit.hpp>
#include <kernels/triangular/selection/PlanSizes.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Refuses factors that are too large for the triangular solvers' limits on
/// memory, before their values are computed.
template <class Scalar, class ExecutionSpace>
class PlanLimit {
 public:
  PlanLimit(const IncompleteFactorizationOptions& options, std::int64_t rows)
      : max_plan_bytes_(options.triangular.max_plan_bytes),
        level_(options.fill_level),
        rows_(rows),
        is_single_(options.precision == FactorPrecision::single) {}

  /// While fill is counted. Refers to this.
  FillLimit of_fill() const {
    FillLimit limit;
    const PlanSizes one = sizes(1);
    const std::size_t each = at_least(one) - one.of_rows();
    if (max_plan_bytes_ > 0) {
      const std::size_t most =
          (std::max(max_plan_bytes_, one.of_rows()) - one.of_rows()) / each;
      limit.most.lower = limit.most.upper = static_cast<std::int64_t>(
          std::min<std::size_t>(most, FillLimit::none));
    }
    // The filled matrix, the factors and the plans.
    limit.entry_bytes = 2 * (sizeof(int) + sizeof(Scalar)) + each;
    limit.check = [this](const FillCount& counted) { check(counted); };
    return limit;
  }

  /// @throws PlanMemoryError
  void check(const FillCount& counted) const {
    check_factor("L", counted.lower);
    check_factor("U", counted.upper);
  }

 private:
  PlanSizes sizes(std::int64_t edges) const {
    return is_single_
               ? plan_sizes<SingleOf<Scalar>, ExecutionSpace>(rows_, edges, 0,
                                                              edges)
               : plan_sizes<Scalar, ExecutionSpace>(rows_, edges, 0, edges);
  }
  /// No plan takes less: columns have two bytes at least.
  static std::size_t at_least(const PlanSizes& sizes) {
    return sizes.of_rows() +
           static_cast<std::size_t>(sizes.edges) *
               (2 + sizes.scalar_bytes + sizes.value_index_bytes);
  }
  void check_factor(const std::string& name, std::int64_t edges) const {
    const MemoryBudget budget(max_plan_bytes_);
    const std::size_t needed = at_least(sizes(edges));
    if (budget.allows(needed)) return;
    const std::int64_t most = of_fill().most.lower;
    throw PlanMemoryError(
        "max_plan_bytes",
        "allows " + std::to_string(budget.bytes()) + " bytes, and " + name +
            (level_ > 0 ? " with fill of level " + std::to_string(level_)
                        : "") +
            " takes at least " + std::to_string(needed) + " for the " +
            std::to_string(edges) + " entries beside its diagonal" +
            (level_ > 0 ? " that were counted" : "") +
            (most < edges
                 ? ", of which at most " + std::to_string(most) + " are allowed"
                 : ""),
        level_ > 0 ? "allow more, or choose a lower fill_level"
                   : "allow more, or leave the limit out",
        needed, budget.bytes());
  }

  std::size_t max_plan_bytes_;
  int level_;
  std::int64_t rows_;
  bool is_single_;
};

}  // namespace Detail
}  // namespace Strata

#endif
