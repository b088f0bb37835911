// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_LONGEST_ROW_HPP
#define STRATA_CORE_MATRIX_LONGEST_ROW_HPP

#include <core/matrix/IndexArray.hpp>

namespace Strata {
namespace Detail {

/// For longest_row: a reduction with Kokkos::Max.
struct LongestRow {
  IndexArray row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& most) const {
    const std::int64_t length = row_map(row + 1) - row_map(row);
    if (length > most) most = length;
  }
};

/// The entries of the longest row; 0 where there is no row. Waits for `exec`.
template <class ExecutionSpace>
std::int64_t longest_row(const ExecutionSpace& exec,
                         const IndexArray& row_map) {
  const auto offsets = static_cast<std::int64_t>(row_map.extent(0));
  if (offsets < 2) return 0;
  std::int64_t longest = 0;
  Kokkos::parallel_reduce(
      "Strata::longest_row", RangeOf<ExecutionSpace>(exec, 0, offsets - 1),
      LongestRow{row_map}, Kokkos::Max<std::int64_t>(longest));
  exec.fence();
  return longest;
}

}  // namespace Detail
}  // namespace Strata

#endif
