// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_MEMORY_BUDGET_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_MEMORY_BUDGET_HPP

#include <cstddef>
#include <limits>

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

}  // namespace Detail
}  // namespace Strata

#endif
