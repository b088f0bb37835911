// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_HIP_HIP_WARP_HPP
#define STRATA_CORE_DEVICE_HIP_HIP_WARP_HPP

// Warps on HIP. Two of them are the halves of a wave of 64; or each has a wave
// to itself, the even threads, as Kokkos' vector length is two (waiting_kernel
// in core/device/Launch.hpp). unit_test/half_warps runs this on CUDA.

#include <core/device/Backend.hpp>
#include <cstring>
#include <type_traits>

#if STRATA_IMPL_ON_DEVICE && \
    (defined(KOKKOS_ENABLE_HIP) || defined(STRATA_IMPL_HALF_WARPS))

namespace Strata {
namespace Detail {
namespace OnDevice {
/// Threads of the wave from one lane of a warp to the next.
__device__ __forceinline__ unsigned lane_distance() { return blockDim.x; }
__device__ __forceinline__ int own_lane() {
  return static_cast<int>(__lane_id() / lane_distance() % gpu_lane_width);
}
template <class T>
__device__ __forceinline__ T lane_read(const T& value, int from) {
  static_assert(sizeof(T) % 4 == 0, "lanes exchange whole 32-bit words");
  const unsigned of_warp = gpu_lane_width * lane_distance() - 1;
  const unsigned thread =
      (__lane_id() & ~of_warp) |
      (static_cast<unsigned>(from) * lane_distance() & of_warp);
  int words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  for (unsigned w = 0; w < sizeof(T) / 4; ++w)
    words[w] =
        __builtin_amdgcn_ds_bpermute(static_cast<int>(4 * thread), words[w]);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}
template <class T>
__device__ __forceinline__ T lane_xor(const T& value, int mask) {
  return OnDevice::lane_read(value, own_lane() ^ mask);
}
template <class T>
__device__ __forceinline__ T lane_broadcast(T value, int from) {
  using Word = std::conditional_t<sizeof(T) == 8, T, int>;
  return static_cast<T>(OnDevice::lane_read(static_cast<Word>(value), from));
}
__device__ __forceinline__ int lane_up(int value, int distance) {
  const int lane = own_lane();
  return OnDevice::lane_read(value, lane < distance ? lane : lane - distance);
}
__device__ __forceinline__ unsigned lane_ballot(bool condition) {
  unsigned long long bits = __ballot(condition);
  if (lane_distance() == 1)
    return static_cast<unsigned>(bits >> (__lane_id() & gpu_lane_width));
  // The even bits, closed up.
  bits &= 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return static_cast<unsigned>(bits | bits >> 16);
}
__device__ __forceinline__ bool lane_any(bool condition) {
  return lane_ballot(condition) != 0;
}
__device__ __forceinline__ unsigned lane_max(unsigned value) {
  for (int mask = gpu_lane_width / 2; mask > 0; mask >>= 1) {
    const unsigned other = OnDevice::lane_xor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}
__device__ __forceinline__ void lane_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  __builtin_amdgcn_wave_barrier();
}

}  // namespace OnDevice
}  // namespace Detail
}  // namespace Strata

#endif
#endif
