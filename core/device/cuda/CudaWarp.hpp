// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_WARP_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_WARP_HPP

#include <core/device/Backend.hpp>
#include <cstring>

#if STRATA_IMPL_ON_DEVICE

namespace Strata {
namespace Detail {

namespace OnDevice {

constexpr unsigned all_lanes = 0xffffffffu;

template <class T>
__device__ __forceinline__ T lane_xor(const T& value, int mask) {
  static_assert(sizeof(T) % 4 == 0, "lanes exchange whole 32-bit words");
  int words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  for (unsigned w = 0; w < sizeof(T) / 4; ++w)
    words[w] = __shfl_xor_sync(all_lanes, words[w], mask);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}
template <class T>
__device__ __forceinline__ T lane_read(const T& value, int from) {
  static_assert(sizeof(T) % 4 == 0, "lanes exchange whole 32-bit words");
  int words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  for (unsigned w = 0; w < sizeof(T) / 4; ++w)
    words[w] = __shfl_sync(all_lanes, words[w], from);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}
template <class T>
__device__ __forceinline__ T lane_broadcast(T value, int from) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(
        __shfl_sync(all_lanes, static_cast<long long>(value), from));
  } else {
    return static_cast<T>(
        __shfl_sync(all_lanes, static_cast<int>(value), from));
  }
}
__device__ __forceinline__ int lane_up(int value, int distance) {
  return __shfl_up_sync(all_lanes, value, distance);
}
__device__ __forceinline__ unsigned lane_ballot(bool condition) {
  return __ballot_sync(all_lanes, condition);
}
__device__ __forceinline__ bool lane_any(bool condition) {
  return __any_sync(all_lanes, condition);
}
__device__ __forceinline__ unsigned lane_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(all_lanes, value);
#else
  for (int mask = 16; mask > 0; mask >>= 1) {
    const unsigned other = __shfl_xor_sync(all_lanes, value, mask);
    value = other > value ? other : value;
  }
  return value;
#endif
}
__device__ __forceinline__ void lane_barrier() { __syncwarp(); }

}  // namespace OnDevice

}  // namespace Detail
}  // namespace Strata

#endif  // STRATA_IMPL_ON_DEVICE

#endif
