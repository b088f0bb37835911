// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MODULUS_HPP
#define STRATA_MODULUS_HPP

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

}  // namespace Detail
}  // namespace Strata

#endif
