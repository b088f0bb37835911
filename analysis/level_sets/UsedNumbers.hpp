// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_USED_NUMBERS_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_USED_NUMBERS_HPP

#include <core/device/Atomics.hpp>

namespace Strata {
namespace Detail {

// Numbers of which some are used are numbered anew without gaps: an array with
// a place for each, all 0, is marked, and then its sums take the marks' places.

/// Threads mark the same few places: stores to one wait for each other, loads
/// do not.
KOKKOS_INLINE_FUNCTION void mark_used(int* place) {
  if (load_relaxed(place) == 0) store_relaxed(place, 1);
}
/// A step of the sum over the marks, see SumStage.
KOKKOS_INLINE_FUNCTION void number_used(int* place, std::int64_t& sum,
                                        bool final) {
  const int own = *place;
  if (final) *place = static_cast<int>(sum);
  sum += own;
}

}  // namespace Detail
}  // namespace Strata

#endif
