// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_FEATURES_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_DEVICE_FEATURES_HPP

#include <Strata_TriangularOptions.hpp>
#include <cstdint>
#include <string>

namespace Strata {
namespace Detail {

/// What a rule has chosen, and why: a sentence for the report.
struct RuleChoice {
  Algorithm algorithm;
  std::string reason;
};

/// What DeviceRule reads: sizes of a triangle, and what the device says of
/// itself.
struct DeviceFeatures {
  double rows, entries;      ///< entries beside the diagonal
  std::int64_t longest_row;  ///< entries of it, with the diagonal
  int levels;
  /// Level sets that `sync_free` would merge into one: 1 if it does not pay,
  /// and for several right-hand sides and componentwise accuracy.
  int merged_levels;
  std::int64_t columns;  ///< right-hand sides
  int lanes, multiprocessors;
  /// Whether `tiles` may use inverses: not for componentwise accuracy.
  bool may_invert;

  double rows_of_level() const { return rows / (levels > 1 ? levels : 1); }
  /// Steps of the longest chain of `sync_free`: level sets, or groups of merged
  /// ones.
  double steps() const { return double(levels) / merged_levels; }
  double entries_of_row() const { return rows > 0 ? entries / rows : 0; }
};

}  // namespace Detail
}  // namespace Strata

#endif
