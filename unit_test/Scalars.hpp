// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_SCALARS_HPP
#define STRATA_TEST_SCALARS_HPP

#include <Kokkos_Core.hpp>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// What tests ask of scalars and execution spaces.

template <class Scalar>
struct RealPartOf {
  using type = Scalar;
};
template <class Real>
struct RealPartOf<Kokkos::complex<Real>> {
  using type = Real;
};
/// Type of the real part.
template <class Scalar>
using RealOf = typename RealPartOf<Scalar>::type;

template <class Scalar>
constexpr double epsilon_of = std::numeric_limits<RealOf<Scalar>>::epsilon();

template <class Real>
std::complex<double> wide(Real v) {
  return v;
}
template <class Real>
std::complex<double> wide(const Kokkos::complex<Real>& v) {
  return {v.real(), v.imag()};
}

template <class Real>
Real conjugate(Real v) {
  return v;
}
template <class Real>
Kokkos::complex<Real> conjugate(const Kokkos::complex<Real>& v) {
  return {v.real(), -v.imag()};
}

/// A scalar of NaNs with the bits by which kernels know what has not been
/// computed yet. tstNotReady compares them with the library's.
template <class Scalar>
Scalar reserved_nan() {
  using Real = RealOf<Scalar>;
  const std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>
      bits = sizeof(Real) == 4 ? 0xffc5d3b7u : 0xfff85742d1b3a96eull;
  static_assert(sizeof bits == sizeof(Real));
  Scalar value;
  for (std::size_t at = 0; at < sizeof value; at += sizeof bits)
    std::memcpy(reinterpret_cast<char*>(&value) + at, &bits, sizeof bits);
  return value;
}

/// Whether a space has memory of its own, which the host can't reach.
template <class ExecutionSpace>
constexpr bool on_gpu =
    !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

#endif
