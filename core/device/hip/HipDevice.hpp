// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_HIP_HIP_DEVICE_HPP
#define STRATA_CORE_DEVICE_HIP_HIP_DEVICE_HPP

// What core/device needs of HIP, in the order of the guide to a new backend:
// docs/developer/add_a_backend.md. Compiled for gfx90a, and never run.

#include <core/device/hip/HipWarp.hpp>

#if defined(KOKKOS_ENABLE_HIP)

#include <cstdint>
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
