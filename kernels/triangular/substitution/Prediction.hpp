// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_PREDICTION_HPP

#include <algorithm>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

inline double predict_substitution(const SolveFeatures& f) {
  // A device has a thread for each; a host's threads share them.
  if (f.width > 1)
    return f.serial(f.rows, f.edges) *
           std::max(1., f.columns / (32. * f.processors));
  return f.substitution_on_host() *
         SolveFeatures::side_by_side((f.columns + f.processors - 1) /
                                     f.processors);
}

}  // namespace Detail
}  // namespace Strata

#endif
