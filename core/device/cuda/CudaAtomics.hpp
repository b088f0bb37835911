// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_ATOMICS_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_ATOMICS_HPP

#include <core/device/Backend.hpp>
#include <cstring>

#if STRATA_IMPL_ON_DEVICE

namespace Strata {
namespace Detail {

namespace OnDevice {

// Words of 4 or 8 bytes. Without ".global", addresses are generic: of global or
// of shared memory.
#define STRATA_IMPL_LOAD(name, kind)                                           \
  template <class Word>                                                        \
  __device__ __forceinline__ Word name(const Word* p) {                        \
    Word w;                                                                    \
    if constexpr (sizeof(Word) == 8) {                                         \
      unsigned long long u;                                                    \
      asm volatile("ld." kind ".u64 %0, [%1];" : "=l"(u) : "l"(p) : "memory"); \
      memcpy(&w, &u, 8);                                                       \
    } else {                                                                   \
      unsigned u;                                                              \
      asm volatile("ld." kind ".u32 %0, [%1];" : "=r"(u) : "l"(p) : "memory"); \
      memcpy(&w, &u, 4);                                                       \
    }                                                                          \
    return w;                                                                  \
  }
#define STRATA_IMPL_STORE(name, kind)                                        \
  template <class Word>                                                      \
  __device__ __forceinline__ void name(Word* p, Word w) {                    \
    if constexpr (sizeof(Word) == 8) {                                       \
      unsigned long long u;                                                  \
      memcpy(&u, &w, 8);                                                     \
      asm volatile("st." kind ".u64 [%0], %1;" ::"l"(p), "l"(u) : "memory"); \
    } else {                                                                 \
      unsigned u;                                                            \
      memcpy(&u, &w, 4);                                                     \
      asm volatile("st." kind ".u32 [%0], %1;" ::"l"(p), "r"(u) : "memory"); \
    }                                                                        \
  }
STRATA_IMPL_LOAD(load_relaxed, "relaxed.gpu.global")
STRATA_IMPL_LOAD(load_relaxed_anywhere, "relaxed.gpu")
STRATA_IMPL_LOAD(load_acquire, "acquire.gpu.global")
STRATA_IMPL_STORE(store_relaxed, "relaxed.gpu.global")
STRATA_IMPL_STORE(store_relaxed_anywhere, "relaxed.gpu")
STRATA_IMPL_STORE(store_release, "release.gpu.global")
STRATA_IMPL_STORE(store_for_host, "relaxed.sys.global")
#undef STRATA_IMPL_LOAD
#undef STRATA_IMPL_STORE

__device__ __forceinline__ void load_relaxed_two(const unsigned long long* p,
                                                 unsigned long long* word) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(word[0]), "=l"(word[1])
               : "l"(p)
               : "memory");
}
__device__ __forceinline__ void store_relaxed_two(
    unsigned long long* p, const unsigned long long* word) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p),
               "l"(word[0]), "l"(word[1])
               : "memory");
}
__device__ __forceinline__ void increment_release(unsigned* p) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
}
__device__ __forceinline__ void pause_while_waiting(int turn) {
  if (turn > 8) __nanosleep(turn < 64 ? 20 : 100);
}
template <class T>
__device__ __forceinline__ T load_once(const T* p) {
  T value;
  if constexpr (sizeof(T) == 4) {
    unsigned word;
    asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(word) : "l"(p));
    memcpy(&value, &word, 4);
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long word;
    asm("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(word) : "l"(p));
    memcpy(&value, &word, 8);
  } else {
    unsigned long long word[2];
    asm("ld.global.nc.L1::no_allocate.v2.b64 {%0, %1}, [%2];"
        : "=l"(word[0]), "=l"(word[1])
        : "l"(p));
    memcpy(&value, word, 16);
  }
  return value;
}
__device__ __forceinline__ void prefetch_line(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

}  // namespace OnDevice

}  // namespace Detail
}  // namespace Strata

#endif  // STRATA_IMPL_ON_DEVICE

#endif
