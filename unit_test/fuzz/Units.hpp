// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_UNITS_HPP
#define STRATA_FUZZ_UNITS_HPP

#include <type_traits>

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

/// Whether this build has the files of that scalar and of these index types:
/// without the CMake option Strata_ENABLE_ALL_FUZZING it has those of two.
#ifdef STRATA_FUZZ_ALL_UNITS
template <class Scalar, class Ordinal = int, class Offset = int>
constexpr bool has_unit = true;
#else
template <class Scalar, class Ordinal = int, class Offset = int>
constexpr bool has_unit =
    (std::is_same<Scalar, double>::value ||
     std::is_same<Scalar, Kokkos::complex<float> >::value) &&
    std::is_same<Ordinal, int>::value&& std::is_same<Offset, int>::value;
#endif
/// A seed whose case this build does not have.
inline void leave_out(Context& context) {
  context.describe("needs Strata_ENABLE_ALL_FUZZING");
  context.count("seeds", "left out");
}

template <int number, class F>
void with_scalar(Context& context, const F& f) {
  using Scalar = std::tuple_element_t<number, Scalars>;
  if constexpr (has_unit<Scalar>) {
    f(Scalar());
  } else {
    leave_out(context);
  }
}
/// Calls f with a number of the scalar type that is the seed's.
template <class F>
void with_scalar_of_seed(Context& context, const F& f) {
  switch (Random(context.seed, 1).whole(0, num_scalars - 1)) {
    case 0:
      return with_scalar<0>(context, f);
    case 1:
      return with_scalar<1>(context, f);
    case 2:
      return with_scalar<2>(context, f);
    default:
      return with_scalar<3>(context, f);
  }
}

}  // namespace Fuzz
}  // namespace Strata

#endif
