// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_FIND_COLUMN_HPP
#define STRATA_CORE_MATRIX_FIND_COLUMN_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// The first i from `low` to `high` - 1 with at(i) not below `wanted`, `high`
/// where there is none. `at` ascends.
template <class Index, class At, class Wanted>
KOKKOS_INLINE_FUNCTION Index first_from(Index low, Index high, const At& at,
                                        const Wanted& wanted) {
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (static_cast<Wanted>(at(middle)) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The first entry of row `row` of a CRS matrix with sorted rows whose column
/// is not below `column`; the end of the row where there is none.
template <class Graph>
KOKKOS_INLINE_FUNCTION std::int64_t first_entry_from(const Graph& graph,
                                                     std::int64_t row,
                                                     std::int64_t column) {
  return first_from(static_cast<std::int64_t>(graph.row_map(row)),
                    static_cast<std::int64_t>(graph.row_map(row + 1)),
                    graph.entries, column);
}

}  // namespace Detail
}  // namespace Strata

#endif
