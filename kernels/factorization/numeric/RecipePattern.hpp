// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_PATTERN_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_PATTERN_HPP

#include <core/matrix/FindColumn.hpp>
#include <core/matrix/IndexArray.hpp>

namespace Strata {
namespace Detail {

/// The patterns that a plan is made from.
struct RecipePattern {
  IndexArray a_row_map, a_entries, l_row_map, u_row_map;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return a_row_map(row + 1) - a_row_map(row);
  }
  /// Entries left of the diagonal.
  KOKKOS_INLINE_FUNCTION std::int64_t lower(std::int64_t row) const {
    return l_row_map(row + 1) - l_row_map(row) - 1;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t upper(std::int64_t row) const {
    return u_row_map(row + 1) - u_row_map(row);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t diagonal(std::int64_t row) const {
    return a_row_map(row) + lower(row);
  }
  /// Of A's entries from `low` to `high`, which are of one row: the one in that
  /// column, -1 if there is none.
  KOKKOS_INLINE_FUNCTION std::int64_t find(std::int64_t low, std::int64_t high,
                                           std::int64_t column) const {
    const std::int64_t at = first_from(low, high, a_entries, column);
    return at < high && a_entries(at) == column ? at : -1;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
