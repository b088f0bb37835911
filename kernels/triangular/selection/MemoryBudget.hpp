// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_MEMORY_BUDGET_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_MEMORY_BUDGET_HPP

#include <Strata_Error.hpp>
#include <Strata_TriangularOptions.hpp>
#include <cstddef>
#include <kernels/triangular/selection/PlanSizes.hpp>
#include <limits>
#include <string>

namespace Strata {
namespace Detail {

/// The memory that a plan may take.
class MemoryBudget {
 public:
  /// @param max_plan_bytes  0: there is no limit
  explicit MemoryBudget(std::size_t max_plan_bytes)
      : bytes_(max_plan_bytes > 0 ? max_plan_bytes : unlimited) {}
  bool limited() const { return bytes_ < unlimited; }
  bool allows(std::size_t bytes) const { return bytes <= bytes_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t unlimited =
      std::numeric_limits<std::size_t>::max();
  std::size_t bytes_;
};

/// @param made whether `bytes` are those of a plan, or a lower bound
inline std::string bytes_needed(std::size_t bytes, bool made) {
  return std::string(made ? "takes " : "takes at least ") +
         std::to_string(bytes) + " bytes";
}

/// @throws PlanMemoryError for an algorithm that was asked for
[[noreturn]] inline void refuse_named_plan(const MemoryBudget& budget,
                                           const PlanSizes& sizes,
                                           Algorithm named, std::size_t bytes,
                                           bool made) {
  const std::size_t smallest = sizes.of_substitution();
  throw PlanMemoryError(
      "max_plan_bytes",
      "allows " + std::to_string(budget.bytes()) + " bytes, " +
          to_string(named) + " " + bytes_needed(bytes, made),
      budget.allows(smallest)
          ? "allow as much, or set the option `algorithm` to automatic: "
            "substitution takes " +
                std::to_string(smallest) + " bytes"
          : "allow " + std::to_string(smallest) +
                " bytes or more, and leave the choice to automatic",
      bytes, budget.bytes());
}

}  // namespace Detail
}  // namespace Strata

#endif
