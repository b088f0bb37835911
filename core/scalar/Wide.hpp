// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_WIDE_HPP
#define STRATA_CORE_SCALAR_WIDE_HPP

#include <core/scalar/RealPart.hpp>
#include <limits>
#include <type_traits>

namespace Strata {
namespace Detail {

/// double, or the complex number of it, whichever a scalar fits in.
template <class Scalar>
struct Wide {
  using type = double;
  /// Numbers of double that it takes.
  static constexpr int parts = 1;
};
template <class R>
struct Wide<Kokkos::complex<R>> {
  using type = Kokkos::complex<double>;
  static constexpr int parts = 2;
};
template <class Scalar>
using WideOf = typename Wide<Scalar>::type;

/// The spacing of a scalar's real numbers above 1: a constant, as kernels can't
/// call what makes it.
template <class Scalar>
inline constexpr double spacing_of =
    static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon());

/// A number of either precision, rounded to a scalar.
template <class To, class From>
KOKKOS_INLINE_FUNCTION To narrow(const From& v) {
  if constexpr (std::is_same<To, From>::value) {
    return v;
  } else if constexpr (std::is_same<RealOf<To>, To>::value) {
    return static_cast<To>(v);
  } else {
    return To(static_cast<RealOf<To>>(v.real()),
              static_cast<RealOf<To>>(v.imag()));
  }
}

/// Adds conj(a) b, worked out in double, to the parts of a sum.
template <class R>
KOKKOS_INLINE_FUNCTION void add_product(const R& a, const R& b, double* sum) {
  sum[0] += static_cast<double>(a) * static_cast<double>(b);
}
template <class R>
KOKKOS_INLINE_FUNCTION void add_product(const Kokkos::complex<R>& a,
                                        const Kokkos::complex<R>& b,
                                        double* sum) {
  const double x = a.real(), y = a.imag(), u = b.real(), v = b.imag();
  sum[0] += x * u + y * v;
  sum[1] += x * v - y * u;
}
/// The number that the parts of a sum are.
template <class W>
KOKKOS_INLINE_FUNCTION W wide_of_parts(const double* part) {
  if constexpr (Wide<W>::parts == 2) {
    return W(part[0], part[1]);
  } else {
    return part[0];
  }
}

/// |v|^2.
template <class W>
KOKKOS_INLINE_FUNCTION double squared_modulus(const W& v) {
  return real_product(v, v);
}

}  // namespace Detail
}  // namespace Strata

#endif
