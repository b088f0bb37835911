// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_REAL_PART_HPP
#define STRATA_CORE_SCALAR_REAL_PART_HPP

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <limits>

namespace Strata {
namespace Detail {

template <class Scalar>
struct RealPart {
  using type = Scalar;
  KOKKOS_INLINE_FUNCTION static double real(const Scalar& v) { return v; }
  KOKKOS_INLINE_FUNCTION static double imaginary(const Scalar&) { return 0; }
};
template <class R>
struct RealPart<Kokkos::complex<R>> {
  using type = R;
  KOKKOS_INLINE_FUNCTION static double real(const Kokkos::complex<R>& v) {
    return v.real();
  }
  KOKKOS_INLINE_FUNCTION static double imaginary(const Kokkos::complex<R>& v) {
    return v.imag();
  }
};
template <class Scalar>
using RealOf = typename RealPart<Scalar>::type;

/// The larger modulus of the parts: squares may leave the range of numbers.
template <class Scalar>
KOKKOS_INLINE_FUNCTION double larger_part(const Scalar& v) {
  const double real = RealPart<Scalar>::real(v),
               imaginary = RealPart<Scalar>::imaginary(v);
  const double x = real < 0 ? -real : real,
               y = imaginary < 0 ? -imaginary : imaginary;
  return x > y ? x : y;
}

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar conjugate(const Scalar& v) {
  return v;
}
template <class R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> conjugate(
    const Kokkos::complex<R>& v) {
  return Kokkos::complex<R>(v.real(), -v.imag());
}

/// The real part of conj(a) b, in double.
template <class Scalar>
KOKKOS_INLINE_FUNCTION double real_product(const Scalar& a, const Scalar& b) {
  return RealPart<Scalar>::real(a) * RealPart<Scalar>::real(b) +
         RealPart<Scalar>::imaginary(a) * RealPart<Scalar>::imaginary(b);
}

KOKKOS_INLINE_FUNCTION bool is_finite(double v) { return v - v == 0; }
KOKKOS_INLINE_FUNCTION bool is_finite(float v) { return v - v == 0; }
template <class R>
KOKKOS_INLINE_FUNCTION bool is_finite(const Kokkos::complex<R>& v) {
  return v - v == Kokkos::complex<R>(0);
}

/// NaN in all parts.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar not_a_number() {
  using Real = RealOf<Scalar>;
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  if constexpr (std::is_same<Real, Scalar>::value) {
    return nan;
  } else {
    return Scalar(nan, nan);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
