// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_LONGEST_ROW_HPP
#define STRATA_CORE_MATRIX_LONGEST_ROW_HPP

#include <core/matrix/IndexArray.hpp>

namespace Strata {
namespace Detail {

/// The entries of the longest row, for a reduction with Kokkos::Max.
struct LongestRow {
  IndexArray row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& most) const {
    const std::int64_t length = row_map(row + 1) - row_map(row);
    if (length > most) most = length;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
