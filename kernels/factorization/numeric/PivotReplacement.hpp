// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_PIVOT_REPLACEMENT_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_PIVOT_REPLACEMENT_HPP

#include <cstdint>

namespace Strata {
namespace Detail {

/// Which pivots an elimination replaces: see
/// IncompleteFactorizationOptions::small_pivot_threshold.
struct PivotReplacement {
  double threshold = 0;      // 0: none
  bool positive = false;     // pivots have to be real and positive
  bool real = false;         // what replaces a pivot has to be real
  bool takes_zeros = false;  // on the diagonal of A, with any threshold
};
/// What came of it.
struct ReplacedPivots {
  std::int64_t count = 0;
  double largest_change = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
