// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_FACTORIZATION_CASE_HPP
#define STRATA_TEST_FACTORIZATION_CASE_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>

namespace Strata {

/// The options of a factorisation with its kind.
struct FactorizationCase : IncompleteFactorizationOptions {
  Factorization kind = Factorization::incomplete_lu;
};

}  // namespace Strata

#endif
