// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_ARITHMETIC_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_ARITHMETIC_HPP

#include <core/device/Backend.hpp>

#if STRATA_IMPL_ON_CUDA_DEVICE

namespace Strata {
namespace Detail {

namespace Cuda {

/// 1 / x to within two units in the last place, or not a number.
__device__ __forceinline__ double fast_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r = fma(fma(-x, r, 1.0), r, r);
  return fma(fma(-x, r, 1.0), r, r);
}
__device__ __forceinline__ double reciprocal(double x) { return __drcp_rn(x); }
__device__ __forceinline__ float reciprocal(float x) { return __frcp_rn(x); }

/// c += a b of doubles, a 16 x 8, b 8 x 8 and c 16 x 8, by the 32 lanes of a
/// warp, in its tensor units where it has them. Lane 4 g + t holds
/// a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g);
/// c(g, 2 t), c(g, 2 t + 1) in c00 and c01, c(g + 8, 2 t), c(g + 8, 2 t + 1) in
/// c10 and c11. All lanes must call it; nothing on a host.
__device__ __forceinline__ void warp_multiply_add(double& c00, double& c01,
                                                  double& c10, double& c11,
                                                  const double (&a)[4],
                                                  const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c00), "+d"(c01), "+d"(c10), "+d"(c11)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c00), "+d"(c01)
        : "d"(a[2 * half]), "d"(b[half]));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c10), "+d"(c11)
        : "d"(a[2 * half + 1]), "d"(b[half]));
  }
#else
  unsigned lane_id;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane_id));
  const int lane = static_cast<int>(lane_id);
  const int g = lane >> 2, t = lane & 3;
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < 4; ++k) {
      const double upper = __shfl_sync(0xffffffffu, a[2 * half], 4 * g + k);
      const double lower = __shfl_sync(0xffffffffu, a[2 * half + 1], 4 * g + k);
      const double left = __shfl_sync(0xffffffffu, b[half], 8 * t + k);
      const double right = __shfl_sync(0xffffffffu, b[half], 8 * t + 4 + k);
      c00 += upper * left, c01 += upper * right;
      c10 += lower * left, c11 += lower * right;
    }
#endif
}

}  // namespace Cuda

}  // namespace Detail
}  // namespace Strata

#endif  // STRATA_IMPL_ON_CUDA_DEVICE

#endif
