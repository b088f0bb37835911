// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_IN_ORDER_HPP
#define STRATA_TEST_IN_ORDER_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <optional>

namespace Strata {

/// Options of a factorisation in that order of rows.
inline IncompleteFactorizationOptions in_order(
    FactorOrder order, std::optional<double> symmetry_tolerance = {}) {
  IncompleteFactorizationOptions options;
  options.order = order;
  options.symmetry_tolerance = symmetry_tolerance;
  return options;
}

}  // namespace Strata

#endif
