// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_WARP_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_WARP_HPP

// Stands for the library's core/device/cuda/CudaWarp.hpp: HIP's warps on CUDA,
// as halves of a warp of 32, which stands for a wave of 64. HIP's instructions
// are CUDA's here, which name the threads that take part: those of one half, as
// CUDA lets the other go its own way; or the even threads of a warp, as the
// others have ended (FirstVectorLane in core/device/Launch.hpp).

#include <core/device/Backend.hpp>

#if STRATA_IMPL_ON_DEVICE

namespace Strata {
namespace Detail {
namespace OnDevice {

__device__ __forceinline__ unsigned __lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
/// Threads of the hardware's warp that are this one's lanes.
__device__ __forceinline__ unsigned threads_of_warp() {
  return blockDim.x == 2 ? 0x55555555u : 0xffffu << (__lane_id() & 16u);
}
__device__ __forceinline__ int __builtin_amdgcn_ds_bpermute(int bytes,
                                                            int word) {
  return __shfl_sync(threads_of_warp(), word, bytes / 4);
}
__device__ __forceinline__ unsigned long long __ballot(bool condition) {
  return __ballot_sync(threads_of_warp(), condition);
}
__device__ __forceinline__ void __builtin_amdgcn_fence(int, const char*) {}
__device__ __forceinline__ void __builtin_amdgcn_wave_barrier() {
  __syncwarp(threads_of_warp());
}

}  // namespace OnDevice
}  // namespace Detail
}  // namespace Strata

#include <core/device/hip/HipWarp.hpp>

#endif  // STRATA_IMPL_ON_DEVICE

#endif
