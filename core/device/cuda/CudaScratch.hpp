// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_SCRATCH_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_SCRATCH_HPP

#include <core/device/Backend.hpp>
#include <cstring>

#if STRATA_IMPL_ON_DEVICE

namespace Strata {
namespace Detail {

namespace OnDevice {

/// Shared memory by its 32-bit addresses.
__device__ __forceinline__ unsigned shared_address(void* begin) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(begin));
  // Otherwise the compiler works it out anew at each use.
  asm volatile("mov.b32 %0, %0;" : "+r"(address));
  return address;
}

// Words and pairs of words: volatile accesses, which reach memory each time and
// in program order.
template <class T>
__device__ __forceinline__ T load_shared(unsigned at) {
  T value;
  if constexpr (sizeof(T) == 4) {
    unsigned word;
    asm volatile("ld.volatile.shared.u32 %0, [%1];"
                 : "=r"(word)
                 : "r"(at)
                 : "memory");
    memcpy(&value, &word, 4);
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long word;
    asm volatile("ld.volatile.shared.u64 %0, [%1];"
                 : "=l"(word)
                 : "r"(at)
                 : "memory");
    memcpy(&value, &word, 8);
  } else {
    unsigned long long word[2];
    asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
                 : "=l"(word[0]), "=l"(word[1])
                 : "r"(at)
                 : "memory");
    memcpy(&value, word, 16);
  }
  return value;
}
template <class T>
__device__ __forceinline__ void store_shared(unsigned at, const T& value) {
  if constexpr (sizeof(T) == 4) {
    unsigned word;
    memcpy(&word, &value, 4);
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(word)
                 : "memory");
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long word;
    memcpy(&word, &value, 8);
    asm volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(at), "l"(word)
                 : "memory");
  } else {
    unsigned long long word[2];
    memcpy(word, &value, 16);
    asm volatile("st.volatile.shared.v2.u64 [%0], {%1, %2};" ::"r"(at),
                 "l"(word[0]), "l"(word[1])
                 : "memory");
  }
}

#if STRATA_ENABLE_CUDA_NATIVE && __CUDA_ARCH__ >= 800
#define STRATA_IMPL_COPIES_ASYNC
__device__ __forceinline__ void copy_async_16(unsigned at, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
               "l"(global)
               : "memory");
}
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int groups>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
#endif

}  // namespace OnDevice

}  // namespace Detail
}  // namespace Strata

#endif  // STRATA_IMPL_ON_DEVICE

#endif
