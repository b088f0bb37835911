// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_WARP_HPP
#define STRATA_CORE_DEVICE_WARP_HPP

// What the lanes of a warp do together: lane_width threads in lock step. Where
// lane_width is 1 a lane is alone. All lanes of a warp have to call a function,
// which waits for no other warp, even if that shares a wave of the hardware.

#include <core/device/Backend.hpp>
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaWarp.hpp>
#elif defined(KOKKOS_ENABLE_HIP)
#include <core/device/hip/HipDevice.hpp>
#endif

namespace Strata {
namespace Detail {

/// The value that lane (own lane xor `mask`) holds.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_xor(const T& value, int mask) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_xor(value, mask);
#else
  (void)mask;
  return value;
#endif
}

/// The value that lane `from` holds, which may differ from lane to lane.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_read(const T& value, int from) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_read(value, from);
#else
  (void)from;
  return value;
#endif
}

/// The value that lane `from` holds.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_broadcast(T value, int from) {
  static_assert(std::is_integral<T>::value, "of integers");
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_broadcast(value, from);
#else
  (void)from;
  return value;
#endif
}

/// The value that lane (own lane - distance) holds; the own value in the first
/// lanes. All lanes call it with the same `distance`.
KOKKOS_INLINE_FUNCTION int lane_up(int value, int distance) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_up(value, distance);
#else
  (void)distance;
  return value;
#endif
}

/// A bit for each lane of a warp.
using LaneMask = unsigned;

/// One bit a lane: whether its `condition` holds.
KOKKOS_INLINE_FUNCTION LaneMask lane_ballot(bool condition) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_ballot(condition);
#else
  return condition ? 1u : 0u;
#endif
}

/// True if `condition` holds for any lane of the warp.
KOKKOS_INLINE_FUNCTION bool lane_any(bool condition) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_any(condition);
#else
  return condition;
#endif
}

/// The largest `value` of the warp's lanes.
KOKKOS_INLINE_FUNCTION unsigned lane_max(unsigned value) {
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::lane_max(value);
#else
  return value;
#endif
}

/// Orders the shared and global memory accesses of the lanes of one warp.
KOKKOS_INLINE_FUNCTION void lane_barrier() {
#if STRATA_IMPL_ON_DEVICE
  OnDevice::lane_barrier();
#endif
}

/// Sum of `value` over groups of `group` neighbouring lanes (a power of two,
/// at most lane_width); every lane of a group gets the same bits. All lanes of
/// the warp must call it with the same `group`.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_group_sum(T value, int group) {
  for (int mask = group >> 1; mask > 0; mask >>= 1)
    value += lane_xor(value, mask);
  return value;
}

/// Place of the lowest bit set in `bits`, which must not be 0. Of one thread.
KOKKOS_INLINE_FUNCTION int lowest_bit(LaneMask bits) {
#if STRATA_IMPL_ON_DEVICE
  return __ffs(static_cast<int>(bits)) - 1;
#else
  int place = 0;
  for (; !(bits & 1u); bits >>= 1) ++place;
  return place;
#endif
}

/// Number of bits set in `bits`. Of one thread.
KOKKOS_INLINE_FUNCTION int count_bits(LaneMask bits) {
#if STRATA_IMPL_ON_DEVICE
  return __popc(bits);
#else
  int count = 0;
  for (; bits; bits &= bits - 1) ++count;
  return count;
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
