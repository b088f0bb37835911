// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_MODULUS_HPP
#define STRATA_CORE_SCALAR_MODULUS_HPP

#include <Kokkos_Core.hpp>

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

}  // namespace Detail
}  // namespace Strata

#endif
