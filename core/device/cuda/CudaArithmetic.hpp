// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_ARITHMETIC_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_ARITHMETIC_HPP

#include <core/device/Backend.hpp>

#if STRATA_IMPL_ON_DEVICE

namespace Strata {
namespace Detail {

namespace OnDevice {

/// 1 / x to within two units in the last place, or not a number.
__device__ __forceinline__ double fast_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r = fma(fma(-x, r, 1.0), r, r);
  return fma(fma(-x, r, 1.0), r, r);
}
__device__ __forceinline__ double reciprocal(double x) { return __drcp_rn(x); }
__device__ __forceinline__ float reciprocal(float x) { return __frcp_rn(x); }

#if __CUDA_ARCH__ >= 800
#define STRATA_IMPL_TENSOR_UNITS
__device__ __forceinline__ void warp_multiply_add(double& c00, double& c01,
                                                  double& c10, double& c11,
                                                  const double (&a)[4],
                                                  const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c00), "+d"(c01), "+d"(c10), "+d"(c11)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
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
#endif
}
#else
__device__ __forceinline__ int own_lane() {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
#endif

}  // namespace OnDevice

}  // namespace Detail
}  // namespace Strata

#endif  // STRATA_IMPL_ON_DEVICE

#endif
