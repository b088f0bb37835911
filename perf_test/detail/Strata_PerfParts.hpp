// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_PARTS_HPP
#define STRATA_PERF_PARTS_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace Strata {
namespace PerfTest {

/// Of real scalars the real part alone counts.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar from_parts(double real, double imaginary) {
  if constexpr (std::is_floating_point<Scalar>::value) {
    return static_cast<Scalar>(real);
  } else {
    using Real = typename Scalar::value_type;
    return Scalar(static_cast<Real>(real), static_cast<Real>(imaginary));
  }
}

/// What checks add up: products of float are exact in it.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Kokkos::complex<double> in_double(const Scalar& v) {
  if constexpr (std::is_floating_point<Scalar>::value) {
    return {static_cast<double>(v), 0};
  } else {
    return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
  }
}
KOKKOS_INLINE_FUNCTION double sum_of_parts(const Kokkos::complex<double>& v) {
  return (v.real() < 0 ? -v.real() : v.real()) +
         (v.imag() < 0 ? -v.imag() : v.imag());
}

}  // namespace PerfTest
}  // namespace Strata

#endif
