// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_PREDICTION_HPP

#include <algorithm>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// @param one  prediction of Picciau et al.'s model, for one right-hand side
inline double predict_subgraphs(const SolveFeatures& f, double one) {
  return one * std::max(1., f.columns / (4. * f.units)) + f.more_vectors(2);
}

/// No partition can do better than this: a slot a level set.
inline double subgraphs_at_least(const SolveFeatures& f) {
  return f.p.alpha + f.sizes.num_levels * f.p.tau + f.bytes_us;
}

}  // namespace Detail
}  // namespace Strata

#endif
