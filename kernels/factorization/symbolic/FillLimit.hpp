// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILL_LIMIT_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILL_LIMIT_HPP

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace Strata {
namespace Detail {

/// Entries of a pattern left and right of its diagonal.
struct FillCount {
  std::int64_t lower = 0, upper = 0;
  KOKKOS_INLINE_FUNCTION std::int64_t sum() const { return lower + upper; }
};

/// How much fill is of use. Rows are counted until there is more.
struct FillLimit {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  FillCount most{none, none};
  /// Bytes that the caller is going to hold for each entry of the pattern, of
  /// a device that may not have as many.
  std::size_t entry_bytes = 0;
  /// Throws if there is too much. Called with the counts of all rows, or with
  /// some that are above `most`.
  std::function<void(const FillCount&)> check;
};

}  // namespace Detail
}  // namespace Strata

#endif
