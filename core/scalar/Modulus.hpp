// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_MODULUS_HPP
#define STRATA_CORE_SCALAR_MODULUS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

namespace Strata {
namespace Detail {

/// |value|, of complex numbers too.
template <class Real>
KOKKOS_INLINE_FUNCTION Real modulus(const Real& value) {
  return value < Real(0) ? -value : value;
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real modulus(const Kokkos::complex<Real>& value) {
  return Kokkos::abs(value);
}

/// The moduli of the parts, added up: |value| at least, and at most sqrt(2)
/// times that. Cheaper than the modulus of a complex number.
template <class Real>
KOKKOS_INLINE_FUNCTION double one_norm(const Real& value) {
  return modulus(double(value));
}
template <class Real>
KOKKOS_INLINE_FUNCTION double one_norm(const Kokkos::complex<Real>& value) {
  return one_norm(value.real()) + one_norm(value.imag());
}

// For loops of hosts, where a complex number's modulus is a call of hypot.

/// As one_norm, of the scalar's own precision: |x|, or |Re x| + |Im x|, which
/// LAPACK chooses pivots by. Not less than the modulus.
template <class Real>
Real sum_of_parts(const Real& x) {
  return std::abs(x);
}
template <class Real>
Real sum_of_parts(const Kokkos::complex<Real>& x) {
  return std::abs(x.real()) + std::abs(x.imag());
}
/// |x|, or the larger of |Re x| and |Im x|: not more than the modulus.
template <class Real>
Real largest_part(const Real& x) {
  return std::abs(x);
}
template <class Real>
Real largest_part(const Kokkos::complex<Real>& x) {
  return std::max(std::abs(x.real()), std::abs(x.imag()));
}

/// |x|, within a few roundings, by one square root where no square leaves the
/// range of numbers by far.
template <class Real>
Real quick_modulus(const Real& x) {
  return std::abs(x);
}
template <class Real>
Real quick_modulus(const Kokkos::complex<Real>& x) {
  constexpr Real least = std::numeric_limits<Real>::min() /
                         std::numeric_limits<Real>::epsilon() /
                         std::numeric_limits<Real>::epsilon();
  const Real square = x.real() * x.real() + x.imag() * x.imag();
  const bool is_mid_range = square > least && square < Real(1) / least;
  return is_mid_range ? std::sqrt(square) : modulus(x);
}

}  // namespace Detail
}  // namespace Strata

#endif
