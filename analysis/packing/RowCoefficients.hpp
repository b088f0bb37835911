// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_ROW_COEFFICIENTS_HPP
#define STRATA_ANALYSIS_PACKING_ROW_COEFFICIENTS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {

/// The vertices whose b a merged row has coefficients of, see MergedLevels;
/// without elements: none.
template <class MemorySpace>
struct RowCoefficients {
  Kokkos::View<const std::int64_t*, MemorySpace> map;  // by vertex
  Kokkos::View<const int*, MemorySpace> vertex;
  /// How much memory the recipes of the rows take: a number in device memory
  /// that the host gets along with what it waits for anyway; or null.
  const std::int64_t* recipe_bytes = nullptr;
  KOKKOS_INLINE_FUNCTION bool exist() const { return map.extent(0) > 0; }
};

}  // namespace Strata

#endif
