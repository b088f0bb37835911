// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_QUICK_MODULUS_HPP
#define STRATA_CORE_SCALAR_QUICK_MODULUS_HPP

// Bounds of moduli, and moduli by few operations, for loops of hosts: a complex
// number's modulus is a call of hypot.

#include <algorithm>
#include <cmath>
#include <core/scalar/Modulus.hpp>
#include <limits>

namespace Strata {
namespace Detail {

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
