// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_PREDICTION_HPP

#include <algorithm>
#include <kernels/triangular/selection/HostRule.hpp>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

inline double predict_substitution(const SolveFeatures& f) {
  // A device has a thread for each; a host's threads share them.
  if (f.width > 1)
    return f.serial(f.rows, f.edges) *
           std::max(1., f.columns / (32. * f.processors));
  const int threads =
      HostRule::shares_columns(f.columns, f.processors, f.rows, f.edges)
          ? f.processors
          : 1;
  return HostRule::one_thread_us(f.rows, f.edges) *
         HostRule::side_by_side((f.columns + threads - 1) / threads);
}

}  // namespace Detail
}  // namespace Strata

#endif
