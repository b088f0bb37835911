// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_LISTS_RANK_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_LISTS_RANK_HPP

#include <core/device/Backend.hpp>

namespace Strata {
namespace Detail {

/// How rows of two lists, coefficients and dependencies (see MergedLevels),
/// follow each other within a level set, those of the highest rank first: by
/// the lanes that they take in a chunk (see RowChunk), by the steps of their
/// coefficients, by those of their dependencies. A chunk takes as many steps as
/// its longest lists do, so its rows should have lists of about one length.
///
/// A rank tells how long the row counts: as the longer of its lists, rounded up
/// to whole steps, which asks for the same lanes.
struct ListsRank {
  static constexpr int width = gpu_lane_width;
  /// Lists of more entries are long: such a row ranks above all others.
  static constexpr int long_list = 8 * width - 1;
  /// Steps of a list that is not long, with max_steps up to that.
  static constexpr int most_steps = (long_list + width) / width;
  /// Steps that a row should take before it gets more lanes.
  int max_steps;

  KOKKOS_INLINE_FUNCTION int log_lanes(int longer) const {
    int lanes = 0;
    while ((1 << lanes) < width && longer > max_steps << lanes) ++lanes;
    return lanes;
  }
  KOKKOS_INLINE_FUNCTION int operator()(int coefficients,
                                        int dependencies) const {
    const int longer =
        coefficients > dependencies ? coefficients : dependencies;
    if (longer > long_list) return first_long + steps(longer, log_width);
    const int lanes = log_lanes(longer);
    return lanes << 2 * step_bits | steps(coefficients, lanes) << step_bits |
           steps(dependencies, lanes);
  }
  /// At least the rank of any row whose lists are no longer than that.
  KOKKOS_INLINE_FUNCTION int at_most(int longer) const {
    if (longer > long_list) return (*this)(0, longer);
    return ((log_lanes(longer) + 1) << 2 * step_bits) - 1;
  }
  KOKKOS_INLINE_FUNCTION static int counted_length(int rank) {
    if (rank >= first_long) return (rank - first_long) << log_width;
    const int coefficients = rank >> step_bits & ((1 << step_bits) - 1);
    const int dependencies = rank & ((1 << step_bits) - 1);
    return (coefficients > dependencies ? coefficients : dependencies)
           << (rank >> 2 * step_bits);
  }

 private:
  static constexpr int step_bits = 4, log_width = gpu_log_lanes;
  static_assert(most_steps < 1 << step_bits, "room for them");
  static constexpr int first_long = (log_width + 1) << 2 * step_bits;

  KOKKOS_INLINE_FUNCTION static int steps(int entries, int lanes) {
    return (entries + (1 << lanes) - 1) >> lanes;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
