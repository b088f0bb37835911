// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_UNITS_HPP
#define STRATA_FUZZ_UNITS_HPP

#include "Context.hpp"
#include "Scalar.hpp"

namespace Strata {
namespace Fuzz {

// Each draws the case of the context's seed and runs it on all backends. They
// are defined and instantiated in the files WHAT_case.cpp, which are compiled
// once for each scalar.
template <class Scalar, class Ordinal, class Offset>
void check_triangular(Context& context);
template <class Scalar>
void check_band(Context& context);
template <class Scalar>
void check_dense(Context& context);
template <class Scalar>
void check_sell(Context& context);
template <class Scalar>
void check_cg(Context& context);

/// The scalar that a file is compiled for.
#ifdef STRATA_FUZZ_SCALAR
using UnitScalar = std::tuple_element_t<STRATA_FUZZ_SCALAR, Scalars>;
#endif

/// Calls f with a number of the scalar type that is the seed's.
template <class F>
void with_scalar_of_seed(Context& context, const F& f) {
  switch (Random(context.seed, 1).whole(0, num_scalars - 1)) {
    case 0:
      return f(std::tuple_element_t<0, Scalars>());
    case 1:
      return f(std::tuple_element_t<1, Scalars>());
    case 2:
      return f(std::tuple_element_t<2, Scalars>());
    default:
      return f(std::tuple_element_t<3, Scalars>());
  }
}

}  // namespace Fuzz
}  // namespace Strata

#endif
