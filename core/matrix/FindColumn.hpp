// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_FIND_COLUMN_HPP
#define STRATA_CORE_MATRIX_FIND_COLUMN_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// The first entry of row `row` of a CRS matrix with sorted rows whose column
/// is not below `column`; the end of the row where there is none.
template <class Graph>
KOKKOS_INLINE_FUNCTION std::int64_t first_entry_from(const Graph& graph,
                                                     std::int64_t row,
                                                     std::int64_t column) {
  auto low = static_cast<std::int64_t>(graph.row_map(row));
  auto high = static_cast<std::int64_t>(graph.row_map(row + 1));
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(graph.entries(middle)) < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace Detail
}  // namespace Strata

#endif
