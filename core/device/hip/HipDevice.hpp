// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_HIP_HIP_DEVICE_HPP
#define STRATA_CORE_DEVICE_HIP_HIP_DEVICE_HPP

// What core/device needs of HIP, in the order of the guide to a new backend:
// docs/developer/add_a_backend.md. Compiled for gfx90a, and never run.

#include <core/device/Backend.hpp>

#if defined(KOKKOS_ENABLE_HIP)

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace Strata {
namespace Detail {

inline int num_multiprocessors(const Kokkos::HIP& exec) {
  return exec.hip_device_prop().multiProcessorCount;
}
inline std::size_t cache_bytes(const Kokkos::HIP& exec) {
  return static_cast<std::size_t>(exec.hip_device_prop().l2CacheSize);
}

#if STRATA_IMPL_ON_DEVICE
namespace OnDevice {

// Warps. Two of them are the halves of a wave of 64; or each has a wave to
// itself, the even threads, as Kokkos' vector length is two (waiting_kernel in
// core/device/Launch.hpp).

/// Threads of the wave from one lane of a warp to the next.
__device__ __forceinline__ unsigned lane_distance() { return blockDim.x; }
__device__ __forceinline__ int own_lane() {
  return static_cast<int>(__lane_id() / lane_distance() % 32);
}
template <class T>
__device__ __forceinline__ T lane_read(const T& value, int from) {
  static_assert(sizeof(T) % 4 == 0, "lanes exchange whole 32-bit words");
  const unsigned of_warp = 32 * lane_distance() - 1;
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
  return lane_read(value, own_lane() ^ mask);
}
template <class T>
__device__ __forceinline__ T lane_broadcast(T value, int from) {
  using Word = std::conditional_t<sizeof(T) == 8, T, int>;
  return static_cast<T>(lane_read(static_cast<Word>(value), from));
}
__device__ __forceinline__ int lane_up(int value, int distance) {
  const int lane = own_lane();
  return lane_read(value, lane < distance ? lane : lane - distance);
}
__device__ __forceinline__ unsigned lane_ballot(bool condition) {
  unsigned long long bits = __ballot(condition);
  if (lane_distance() == 1)
    return static_cast<unsigned>(bits >> (__lane_id() & 32));
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
  for (int mask = 16; mask > 0; mask >>= 1) {
    const unsigned other = lane_xor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}
__device__ __forceinline__ void lane_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  __builtin_amdgcn_wave_barrier();
}

// Loads and stores between threads, by the memory model of LLVM's AMDGPU
// backend: that of C++, with scopes. An agent is a device.

/// An integer, or a pair of them, of the size of T.
using TwoWords = unsigned long long __attribute__((ext_vector_type(2)));
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 16, TwoWords,
    std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>>;
template <class To, class From>
__device__ __forceinline__ To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
template <class Word>
__device__ __forceinline__ Word load_relaxed(const Word* p) {
  return bits_as<Word>(
      __hip_atomic_load(reinterpret_cast<const BitsOf<Word>*>(p),
                        __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
}
template <class Word>
__device__ __forceinline__ void store_relaxed(Word* p, Word w) {
  __hip_atomic_store(reinterpret_cast<BitsOf<Word>*>(p),
                     bits_as<BitsOf<Word>>(w), __ATOMIC_RELAXED,
                     __HIP_MEMORY_SCOPE_AGENT);
}
template <class Word>
__device__ __forceinline__ Word load_acquire(const Word* p) {
  return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
template <class Word>
__device__ __forceinline__ void store_release(Word* p, Word w) {
  __hip_atomic_store(p, w, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ __forceinline__ void increment_release(unsigned* p) {
  __hip_atomic_fetch_add(p, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ __forceinline__ void store_for_host(double* p, double value) {
  __hip_atomic_store(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ void pause_while_waiting(int turn) {
  if (turn > 8) __builtin_amdgcn_s_sleep(1);
}
template <class T>
__device__ __forceinline__ T load_once(const T* p) {
  return bits_as<T>(
      __builtin_nontemporal_load(reinterpret_cast<const BitsOf<T>*>(p)));
}
__device__ __forceinline__ void prefetch_line(const void*) {}

// A team's scratch, by its 32-bit addresses. A volatile access of up to 16
// bytes is one instruction.
template <class T>
using InScratch = __attribute__((address_space(3))) volatile T*;
__device__ __forceinline__ unsigned shared_address(void* begin) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(
      (__attribute__((address_space(3))) char*)begin));
}
template <class T>
__device__ __forceinline__ T load_shared(unsigned at) {
  const BitsOf<T> bits = *(InScratch<BitsOf<T>>)at;
  return bits_as<T>(bits);
}
template <class T>
__device__ __forceinline__ void store_shared(unsigned at, const T& value) {
  *(InScratch<BitsOf<T>>)at = bits_as<BitsOf<T>>(value);
}

// Arithmetic.
__device__ __forceinline__ double fast_reciprocal(double x) {
  double r = __builtin_amdgcn_rcp(x);
  r = fma(fma(-x, r, 1.0), r, r);
  return fma(fma(-x, r, 1.0), r, r);
}

}  // namespace OnDevice
#endif  // STRATA_IMPL_ON_DEVICE

}  // namespace Detail
}  // namespace Strata

#endif  // KOKKOS_ENABLE_HIP

#endif
