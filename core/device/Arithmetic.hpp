// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_ARITHMETIC_HPP
#define STRATA_CORE_DEVICE_ARITHMETIC_HPP

#include <core/device/Warp.hpp>
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaArithmetic.hpp>
#elif defined(KOKKOS_ENABLE_HIP)
#include <core/device/hip/HipDevice.hpp>
#endif

namespace Strata {
namespace Detail {

/// 1 / value, correctly rounded, by the shortest way of the device.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar reciprocal(const Scalar& value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_floating_point<Scalar>::value) {
    return OnDevice::reciprocal(value);
  }
#endif
  return Scalar(1) / value;
}

/// 1 / x to within two units in the last place; infinite, zero or not a number
/// where x or 1 / x is not a normal number. On CUDA without the branch that a
/// division has for these.
KOKKOS_INLINE_FUNCTION double fast_reciprocal(double x) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::fast_reciprocal(x);
#else
  return 1 / x;
#endif
}
KOKKOS_INLINE_FUNCTION float fast_reciprocal(float x) { return 1 / x; }
template <class R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> fast_reciprocal(
    const Kokkos::complex<R>& x) {
  return R(1) / x;
}

/// c += a b of doubles, a 16 x 8, b 8 x 8 and c 16 x 8, by the 32 lanes of a
/// warp, in its tensor units where it has them. Lane 4 g + t holds
/// a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g);
/// c(g, 2 t), c(g, 2 t + 1) in c00 and c01, c(g + 8, 2 t), c(g + 8, 2 t + 1) in
/// c10 and c11. All lanes must call it; nothing on a host.
KOKKOS_INLINE_FUNCTION void warp_multiply_add(double& c00, double& c01,
                                              double& c10, double& c11,
                                              const double (&a)[4],
                                              const double (&b)[2]) {
#if defined(STRATA_IMPL_TENSOR_UNITS)
  OnDevice::warp_multiply_add(c00, c01, c10, c11, a, b);
#elif STRATA_IMPL_ON_DEVICE
  const int lane = OnDevice::own_lane(), g = lane >> 2, t = lane & 3;
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < 4; ++k) {
      const double upper = lane_read(a[2 * half], 4 * g + k);
      const double lower = lane_read(a[2 * half + 1], 4 * g + k);
      const double left = lane_read(b[half], 8 * t + k);
      const double right = lane_read(b[half], 8 * t + 4 + k);
      c00 += upper * left, c01 += upper * right;
      c10 += lower * left, c11 += lower * right;
    }
#else
  (void)c00, (void)c01, (void)c10, (void)c11, (void)a, (void)b;
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
