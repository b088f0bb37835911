// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KOKKOS_COMPAT_HPP
#define STRATA_KOKKOS_COMPAT_HPP

// The one place for what differs between Kokkos releases and between backends.

#include <KokkosKernels_config.h>

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#if __has_include(<KokkosSparse_SortCrs.hpp>)
#include <KokkosSparse_SortCrs.hpp>
#define STRATA_IMPL_SORT_IN_KOKKOSSPARSE 1
#else
#include <KokkosKernels_SparseUtils.hpp>
#define STRATA_IMPL_SORT_IN_KOKKOSSPARSE 0
#endif
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>
#if defined(KOKKOS_ENABLE_CUDA)
#include <cub/device/device_radix_sort.cuh>
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

#if !defined(KOKKOS_VERSION) || KOKKOS_VERSION < 30400
#error "Strata needs Kokkos 3.4 or newer"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#error "Strata needs a CUDA architecture of 7.0 or newer"
#endif

// True while the compiler makes code for a GPU. Used inside functions of this
// header only.
#if defined(__CUDA_ARCH__)
#define STRATA_IMPL_ON_CUDA_DEVICE 1
#else
#define STRATA_IMPL_ON_CUDA_DEVICE 0
#endif

// For device functions off the usual path, which inlined would keep registers
// and instructions of the path from being few.
#if defined(__CUDACC__)
#define STRATA_IMPL_NOINLINE __noinline__
#else
#define STRATA_IMPL_NOINLINE
#endif

#if STRATA_IMPL_ON_CUDA_DEVICE
#define STRATA_IMPL_UNROLL _Pragma("unroll")
#else
#define STRATA_IMPL_UNROLL
#endif

// For loops of a host with few instructions and turns: written out twice they
// do not get slower, by a third even, where they happen to lie across two
// lines of the instruction cache.
#if defined(__clang__)
#define STRATA_IMPL_UNROLL_TWICE _Pragma("unroll 2")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define STRATA_IMPL_UNROLL_TWICE _Pragma("GCC unroll 2")
#else
#define STRATA_IMPL_UNROLL_TWICE
#endif

namespace Strata {
namespace Detail {

#if defined(KOKKOS_ENABLE_CUDA)
template <class ExecutionSpace>
inline constexpr bool is_cuda =
    std::is_same<ExecutionSpace, Kokkos::Cuda>::value;
#else
template <class ExecutionSpace>
inline constexpr bool is_cuda = false;
#endif

/// True if work is done when the call that dispatches it returns, so that the
/// calling thread may follow it up without a wait: OpenMP and Serial.
#if defined(KOKKOS_ENABLE_OPENMP)
template <class ExecutionSpace>
inline constexpr bool is_openmp =
    std::is_same<ExecutionSpace, Kokkos::OpenMP>::value;
#else
template <class ExecutionSpace>
inline constexpr bool is_openmp = false;
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
template <class ExecutionSpace>
inline constexpr bool runs_at_once =
    is_openmp<ExecutionSpace> ||
    std::is_same<ExecutionSpace, Kokkos::Serial>::value;
#else
template <class ExecutionSpace>
inline constexpr bool runs_at_once = is_openmp<ExecutionSpace>;
#endif

/// Threads that run in lock step and can exchange registers: a warp on CUDA,
/// one thread on a host.
template <class ExecutionSpace>
inline constexpr int lane_width = is_cuda<ExecutionSpace> ? 32 : 1;

/// The value that lane (own lane xor `mask`) holds. All lanes must call it.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_xor(const T& value, int mask) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  static_assert(sizeof(T) % 4 == 0, "lanes exchange whole 32-bit words");
  int words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  for (unsigned w = 0; w < sizeof(T) / 4; ++w)
    words[w] = __shfl_xor_sync(0xffffffffu, words[w], mask);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
#else
  (void)mask;
  return value;
#endif
}

/// The value that lane `from` holds. All lanes must call it.
KOKKOS_INLINE_FUNCTION int lane_broadcast(int value, int from) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __shfl_sync(0xffffffffu, value, from);
#else
  (void)from;
  return value;
#endif
}
KOKKOS_INLINE_FUNCTION unsigned lane_broadcast(unsigned value, int from) {
  return static_cast<unsigned>(lane_broadcast(static_cast<int>(value), from));
}
KOKKOS_INLINE_FUNCTION std::int64_t lane_broadcast(std::int64_t value,
                                                   int from) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __shfl_sync(0xffffffffu, static_cast<long long>(value), from);
#else
  (void)from;
  return value;
#endif
}

/// The value that lane (own lane - distance) holds; the own value in the first
/// lanes. All lanes must call it with the same `distance`.
KOKKOS_INLINE_FUNCTION int lane_up(int value, int distance) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __shfl_up_sync(0xffffffffu, value, distance);
#else
  (void)distance;
  return value;
#endif
}

/// One bit a lane: whether its `condition` holds. All lanes must call it.
KOKKOS_INLINE_FUNCTION unsigned lane_ballot(bool condition) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __ballot_sync(0xffffffffu, condition);
#else
  return condition ? 1u : 0u;
#endif
}

/// The largest `value` of the warp's lanes. All lanes must call it.
KOKKOS_INLINE_FUNCTION unsigned lane_max(unsigned value) {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#elif STRATA_IMPL_ON_CUDA_DEVICE
  for (int mask = 16; mask > 0; mask >>= 1) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, value, mask);
    value = other > value ? other : value;
  }
  return value;
#else
  return value;
#endif
}

/// Place of the lowest bit set in `bits`, which must not be 0.
KOKKOS_INLINE_FUNCTION int lowest_bit(unsigned bits) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __ffs(static_cast<int>(bits)) - 1;
#else
  int place = 0;
  for (; !(bits & 1u); bits >>= 1) ++place;
  return place;
#endif
}

/// Number of bits set in `bits`.
KOKKOS_INLINE_FUNCTION int count_bits(unsigned bits) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __popc(bits);
#else
  int count = 0;
  for (; bits; bits &= bits - 1) ++count;
  return count;
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

/// Waits for the first `threads` threads of the team (whole warps), which all
/// have to call it; the others must not.
KOKKOS_INLINE_FUNCTION void partial_team_barrier(int threads) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
#else
  (void)threads;
#endif
}

/// Load of data that no thread writes during the kernel and that is read once:
/// it leaves the first-level cache to what is read again.
template <class T>
KOKKOS_INLINE_FUNCTION T load_once(const T* p) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "4, 8 or 16 bytes");
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
#else
  return *p;
#endif
}

/// Has the line of `p`, which need not be valid to read, brought into the
/// second-level cache.
template <class T>
KOKKOS_INLINE_FUNCTION void prefetch_line(const T* p) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#else
  (void)p;
#endif
}

/// Orders the shared and global memory accesses of the lanes of one warp.
KOKKOS_INLINE_FUNCTION void lane_barrier() {
#if STRATA_IMPL_ON_CUDA_DEVICE
  __syncwarp();
#endif
}

/// Atomic loads and stores of a 4- or 8-byte word without ordering of other
/// accesses, at device scope (through the L2 cache on CUDA, never a stale
/// first-level line).
template <class Word>
KOKKOS_INLINE_FUNCTION Word load_relaxed(const Word* p) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "4 or 8 bytes");
#if STRATA_IMPL_ON_CUDA_DEVICE
  Word w;
  if constexpr (sizeof(Word) == 8) {
    unsigned long long u;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(u)
                 : "l"(p)
                 : "memory");
    memcpy(&w, &u, 8);
  } else {
    unsigned u;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(u)
                 : "l"(p)
                 : "memory");
    memcpy(&w, &u, 4);
  }
  return w;
#else
  Word w;
  __atomic_load(const_cast<Word*>(p), &w, __ATOMIC_RELAXED);
  return w;
#endif
}

template <class Word>
KOKKOS_INLINE_FUNCTION void store_relaxed(Word* p, Word w) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "4 or 8 bytes");
#if STRATA_IMPL_ON_CUDA_DEVICE
  if constexpr (sizeof(Word) == 8) {
    unsigned long long u;
    memcpy(&u, &w, 8);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(u)
                 : "memory");
  } else {
    unsigned u;
    memcpy(&u, &w, 4);
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(u)
                 : "memory");
  }
#else
  __atomic_store(p, &w, __ATOMIC_RELAXED);
#endif
}

/// 16 bytes that one instruction moves.
struct alignas(16) Packet {
  unsigned long long word[2];
};

/// Two relaxed loads, or stores, of neighbouring 8-byte words in one
/// instruction. Each word is atomic by itself; nothing is said of their order.
KOKKOS_INLINE_FUNCTION Packet load_relaxed_packet(const Packet* p) {
  Packet packet;
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(packet.word[0]), "=l"(packet.word[1])
               : "l"(p)
               : "memory");
#else
  for (int i = 0; i < 2; ++i) packet.word[i] = load_relaxed(p->word + i);
#endif
  return packet;
}
KOKKOS_INLINE_FUNCTION void store_relaxed_packet(Packet* p,
                                                 const Packet& packet) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p),
               "l"(packet.word[0]), "l"(packet.word[1])
               : "memory");
#else
  for (int i = 0; i < 2; ++i) store_relaxed(p->word + i, packet.word[i]);
#endif
}

/// Adds 1 to a counter that starts again at 0 when it reaches `limit`, and
/// returns what it was. Orders no other accesses.
KOKKOS_INLINE_FUNCTION unsigned fetch_increment_modulo(unsigned* counter,
                                                       unsigned limit) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return atomicInc(counter, limit - 1);
#else
  unsigned now = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(counter, &now,
                                      now + 1 == limit ? 0 : now + 1, true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return now;
#endif
}

/// Load that later accesses of this thread cannot overtake.
KOKKOS_INLINE_FUNCTION unsigned load_acquire(const unsigned* p) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  unsigned u;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(u)
               : "l"(p)
               : "memory");
  return u;
#else
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

/// Store that earlier accesses of this thread cannot be moved behind.
KOKKOS_INLINE_FUNCTION void store_release(unsigned* p, unsigned u) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(u)
               : "memory");
#else
  __atomic_store_n(p, u, __ATOMIC_RELEASE);
#endif
}

/// Adds 1; earlier accesses of this thread, and of those it has met at a
/// barrier, cannot be moved behind.
KOKKOS_INLINE_FUNCTION void increment_release(unsigned* p) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
#else
  __atomic_fetch_add(p, 1u, __ATOMIC_RELEASE);
#endif
}

/// Asynchronous copies to scratch (ScratchBytes::copy_async_16): those begun up
/// to a commit form a group; `copy_async_wait<n>` waits until at most n groups
/// of this thread are under way.
KOKKOS_INLINE_FUNCTION void copy_async_commit() {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int groups>
KOKKOS_INLINE_FUNCTION void copy_async_wait() {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

/// 1 / value, correctly rounded, by the shortest way of the device.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar reciprocal(const Scalar& value) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  if constexpr (std::is_same<Scalar, double>::value) {
    return __drcp_rn(value);
  }
  if constexpr (std::is_same<Scalar, float>::value) {
    return __frcp_rn(value);
  }
#endif
  return Scalar(1) / value;
}

/// c += a b of doubles, a 16 x 8, b 8 x 8 and c 16 x 8, by the 32 lanes of a
/// warp, in its tensor units where it has them. Lane 4 g + t holds
/// a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g);
/// c(g, 2 t), c(g, 2 t + 1) in c00 and c01, c(g + 8, 2 t), c(g + 8, 2 t + 1) in
/// c10 and c11. All lanes must call it; nothing on a host.
KOKKOS_INLINE_FUNCTION void warp_multiply_add(double& c00, double& c01,
                                              double& c10, double& c11,
                                              const double (&a)[4],
                                              const double (&b)[2]) {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c00), "+d"(c01), "+d"(c10), "+d"(c11)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 800
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
#elif STRATA_IMPL_ON_CUDA_DEVICE
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
#else
  (void)c00, (void)c01, (void)c10, (void)c11, (void)a, (void)b;
#endif
}

/// True if `condition` holds for any lane of the warp. All lanes must call it.
KOKKOS_INLINE_FUNCTION bool lane_any(bool condition) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __any_sync(0xffffffffu, condition);
#else
  return condition;
#endif
}

/// Has `value` computed by here: compilers like to leave work for later, even
/// if there is time to spare now and none then.
KOKKOS_INLINE_FUNCTION void compute_now(unsigned& value) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  asm volatile("" : "+r"(value));
#else
  (void)value;
#endif
}

/// Team scratch addressed by byte offsets. Loads and stores reach memory each
/// time, in program order, and move 1, 4, 8 or 16 bytes with one instruction.
class ScratchBytes {
 public:
  KOKKOS_INLINE_FUNCTION explicit ScratchBytes(void* begin) {
#if STRATA_IMPL_ON_CUDA_DEVICE
    begin_ = static_cast<unsigned>(__cvta_generic_to_shared(begin));
    // Otherwise the compiler works it out anew at each use.
    asm volatile("mov.b32 %0, %0;" : "+r"(begin_));
#else
    begin_ = static_cast<unsigned char*>(begin);
#endif
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T load(unsigned offset) const {
    static_assert(
        sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
        "1, 4, 8 or 16 bytes");
    T value;
#if STRATA_IMPL_ON_CUDA_DEVICE
    if constexpr (sizeof(T) == 1) {
      unsigned byte;
      asm volatile("ld.volatile.shared.u8 %0, [%1];"
                   : "=r"(byte)
                   : "r"(begin_ + offset)
                   : "memory");
      value = static_cast<T>(byte);
    } else if constexpr (sizeof(T) == 4) {
      unsigned word;
      asm volatile("ld.volatile.shared.u32 %0, [%1];"
                   : "=r"(word)
                   : "r"(begin_ + offset)
                   : "memory");
      memcpy(&value, &word, 4);
    } else if constexpr (sizeof(T) == 8) {
      unsigned long long word;
      asm volatile("ld.volatile.shared.u64 %0, [%1];"
                   : "=l"(word)
                   : "r"(begin_ + offset)
                   : "memory");
      memcpy(&value, &word, 8);
    } else {
      unsigned long long word[2];
      asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
                   : "=l"(word[0]), "=l"(word[1])
                   : "r"(begin_ + offset)
                   : "memory");
      memcpy(&value, word, 16);
    }
#else
    memcpy(&value, begin_ + offset, sizeof(T));
#endif
    return value;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void store(unsigned offset, const T& value) const {
    static_assert(
        sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
        "1, 4, 8 or 16 bytes");
#if STRATA_IMPL_ON_CUDA_DEVICE
    if constexpr (sizeof(T) == 1) {
      asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(begin_ + offset),
                   "r"(static_cast<unsigned>(value))
                   : "memory");
    } else if constexpr (sizeof(T) == 4) {
      unsigned word;
      memcpy(&word, &value, 4);
      asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(begin_ + offset),
                   "r"(word)
                   : "memory");
    } else if constexpr (sizeof(T) == 8) {
      unsigned long long word;
      memcpy(&word, &value, 8);
      asm volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(begin_ + offset),
                   "l"(word)
                   : "memory");
    } else {
      unsigned long long word[2];
      memcpy(word, &value, 16);
      asm volatile(
          "st.volatile.shared.v2.u64 [%0], {%1, %2};" ::"r"(begin_ + offset),
          "l"(word[0]), "l"(word[1])
          : "memory");
    }
#else
    memcpy(begin_ + offset, &value, sizeof(T));
#endif
  }
  /// Copies 16 bytes from global memory, both ends aligned to 16: see
  /// copy_async_commit and copy_async_wait.
  KOKKOS_INLINE_FUNCTION void copy_async_16(unsigned offset,
                                            const void* global) const {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(begin_ + offset),
        "l"(global)
        : "memory");
#elif STRATA_IMPL_ON_CUDA_DEVICE
    struct alignas(16) Unit {
      unsigned word[4];
    };
    store(offset, *static_cast<const Unit*>(global));
#else
    memcpy(begin_ + offset, global, 16);
#endif
  }

 private:
#if STRATA_IMPL_ON_CUDA_DEVICE
  unsigned begin_;
#else
  unsigned char* begin_;
#endif
};

/// Memory that kernels of ExecutionSpace write and the host reads meanwhile.
#if defined(KOKKOS_ENABLE_CUDA)
template <class ExecutionSpace>
using HostVisibleSpace =
    std::conditional_t<is_cuda<ExecutionSpace>, Kokkos::CudaHostPinnedSpace,
                       Kokkos::HostSpace>;
#else
template <class ExecutionSpace>
using HostVisibleSpace = Kokkos::HostSpace;
#endif

/// Store of one 8-byte word to HostVisibleSpace. Nothing is said of its order
/// with other accesses.
KOKKOS_INLINE_FUNCTION void store_for_host(double* p, double value) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  unsigned long long word;
  memcpy(&word, &value, 8);
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(word)
               : "memory");
#else
  __atomic_store(p, &value, __ATOMIC_RELAXED);
#endif
}

/// Lets another thread have this one's core. To yield is the quickest way to a
/// thread of the same team; but where the core is shared with another program,
/// it hands that a whole time slice, milliseconds, while who sleeps is given
/// the core back as soon as it wakes. A yield that took long tells which it is.
inline void leave_core() {
  using Clock = std::chrono::steady_clock;
  static thread_local int sleeps_left = 0;
  if (sleeps_left > 0) {
    --sleeps_left;
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    return;
  }
  const auto begin = Clock::now();
  std::this_thread::yield();
  if (Clock::now() - begin > std::chrono::microseconds(500)) sleeps_left = 1000;
}

/// One turn of a waiting loop: leaves the execution units to others.
KOKKOS_INLINE_FUNCTION void pause_while_waiting(int turn) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  if (turn > 8) __nanosleep(turn < 64 ? 20 : 100);
#else
  // A thread that is not running can't be waited for by spinning: where there
  // are more threads than cores, let it run.
  if (turn > 64) leave_core();
#endif
}

#if STRATA_IMPL_ON_CUDA_DEVICE
#define STRATA_IMPL_BLOCK_SHARED __shared__
#else
/// A variable of a functor that the threads of a ThreadBlock share.
#define STRATA_IMPL_BLOCK_SHARED
#endif

/// One of the blocks of threads of run_blocks; a single thread on a host. All
/// threads of a block have to call sum(), broadcast() and barrier() together.
class ThreadBlock {
 public:
#if defined(__CUDACC__)
  /// Of a kernel on CUDA.
  KOKKOS_INLINE_FUNCTION ThreadBlock() {
#if STRATA_IMPL_ON_CUDA_DEVICE
    number_ = static_cast<int>(blockIdx.x);
    count_ = static_cast<int>(gridDim.x);
#endif
  }
#endif
  KOKKOS_INLINE_FUNCTION ThreadBlock(int number, int count)
      : number_(number), count_(count) {}

  KOKKOS_INLINE_FUNCTION int number() const { return number_; }
  KOKKOS_INLINE_FUNCTION int count() const { return count_; }
  KOKKOS_INLINE_FUNCTION int rank() const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
  }
  KOKKOS_INLINE_FUNCTION int size() const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    return static_cast<int>(blockDim.x);
#else
    return 1;
#endif
  }

  /// Sum over the block's threads, the same bits in all of them and each time:
  /// lanes by exchanges, then warps in their order.
  KOKKOS_INLINE_FUNCTION double sum(double value) const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    __shared__ double part[32];
    value = lane_group_sum(value, 32);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += part[warp];
    // The next sum's parts must not come before this one's are read.
    __syncthreads();
    return total;
#else
    return value;
#endif
  }
  KOKKOS_INLINE_FUNCTION void barrier() const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    __syncthreads();
#endif
  }
  /// The bytes that run_blocks was asked for, on CUDA.
  KOKKOS_INLINE_FUNCTION void* scratch() const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    extern __shared__ unsigned char strata_block_scratch[];
    return strata_block_scratch;
#else
    return nullptr;
#endif
  }

  /// For functors that say `awaits_previous`: returns when the kernels before
  /// this one in the stream have ended. Threads that have not called this leave
  /// alone what those may write, and write nothing that those use; what was
  /// written before publish_writes() may be read.
  KOKKOS_INLINE_FUNCTION void await_previous() const {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
  /// For functors that say `awaits_previous`: once a thread of every block has
  /// called this, or the block has ended, blocks of the next kernel may begin.
  KOKKOS_INLINE_FUNCTION void release_next() const {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  }

  /// The value of the thread of rank 0.
  KOKKOS_INLINE_FUNCTION int broadcast(int value) const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    __shared__ int shared;
    if (threadIdx.x == 0) shared = value;
    __syncthreads();
    value = shared;
    __syncthreads();
#endif
    return value;
  }

 private:
  int number_ = 0, count_ = 1;
};

/// Whether a functor of run_blocks calls await_previous and release_next itself
/// and says so with a member `awaits_previous`.
template <class Functor, class = void>
struct AwaitsPrevious : std::false_type {};
template <class Functor>
struct AwaitsPrevious<Functor, std::enable_if_t<Functor::awaits_previous>>
    : std::true_type {};

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template <int threads, int blocks_at_once, class Functor>
__global__ void __launch_bounds__(threads, blocks_at_once)
    block_kernel(const Functor functor) {
  const ThreadBlock block;
  // See overlaps_launches. This kernel waits for all that the ones before it
  // have written; from then on the next one's blocks may take places as its own
  // end. Not sooner: blocks of several kernels would fill the device, and those
  // of one would come to lie on few multiprocessors.
  if constexpr (!AwaitsPrevious<Functor>::value) {
    block.await_previous();
    block.release_next();
  }
  functor(block);
}

/// Whether a launch of this kernel may be begun while the kernel before it in
/// the stream still runs (programmatic dependent launch): on devices of compute
/// capability 9.0 and up, and where the code was made for these, as other code
/// lacks the wait.
///
/// Why nobody is kept from running: a kernel is begun once all blocks of the
/// one before have been, so blocks that wait hold no place that these need.
inline bool overlaps_launches(int device, const void* kernel) {
  int major = 0;
  cudaFuncAttributes attributes;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                                device) == cudaSuccess &&
         major >= 9 &&
         cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess &&
         attributes.ptxVersion >= 90;
}

/// Lets blocks of a kernel have all the scratch that a device has for one,
/// whatever a launch asks for: without it 48 KiB, of which the kernel's own
/// shared variables are a part. (What a launch does not use is first-level
/// cache: the driver decides.) One of these belongs to a kernel, and asks once
/// for each device.
class ScratchPermission {
 public:
  static constexpr std::size_t granted_bytes = 32 * 1024;

  void require(int device, const void* kernel) {
    const std::uint64_t bit = std::uint64_t{1} << (device % 64);
    const bool counts = device < 64;
    if (counts && (asked_.load(std::memory_order_acquire) & bit)) return;
    int most = 0;
    cudaFuncAttributes attributes;
    if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               device) != cudaSuccess ||
        cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess ||
        cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
            most - static_cast<int>(attributes.sharedSizeBytes)) != cudaSuccess)
      return;  // the launch tells what is wrong
    if (counts) asked_.fetch_or(bit, std::memory_order_release);
  }

 private:
  std::atomic<std::uint64_t> asked_{0};
};
#endif

/// Blocks of one thread each.
template <class Functor>
struct BlocksOfHost {
  Functor functor;
  int blocks;
  KOKKOS_INLINE_FUNCTION void operator()(int number) const {
    functor(ThreadBlock(number, blocks));
  }
};

/// Calls functor(ThreadBlock) with `blocks` blocks: of `threads` on CUDA, in
/// registers so few that a multiprocessor has room for `blocks_at_once` of
/// them; of one thread on a host, several blocks of which share a thread.
///
/// This is what parallel_for does, told to Kokkos's tools as such, less what it
/// spends on the host for each launch of teams: enqueuing takes about half the
/// time, which is all the time that products with small matrices take.
///
/// @param scratch_bytes for each block, on CUDA
/// @param overlap       whether it may begin while the kernel before it ends
template <int blocks_at_once, int threads = 256, class ExecutionSpace,
          class Functor>
void run_blocks(const char* label, const ExecutionSpace& exec, int blocks,
                const Functor& functor, std::size_t scratch_bytes = 0,
                bool overlap = true) {
  if (blocks == 0) return;
  if constexpr (!is_cuda<ExecutionSpace>) {
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<ExecutionSpace>(exec, 0, blocks),
                         BlocksOfHost<Functor>{functor, blocks});
    (void)scratch_bytes;
    (void)overlap;
  } else {
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
    std::uint64_t id = 0;
    const bool watched = Kokkos::Profiling::profileLibraryLoaded();
    if (watched) Kokkos::Profiling::beginParallelFor(label, 0, &id);
    // Tells of this launch alone: what an earlier call has left behind in
    // cudaGetLastError is not taken for its failure.
    void* arguments[] = {const_cast<Functor*>(&functor)};
    const auto kernel = reinterpret_cast<const void*>(
        &block_kernel<threads, blocks_at_once, Functor>);
    if (scratch_bytes > ScratchPermission::granted_bytes) {
      static ScratchPermission permission;
      permission.require(exec.cuda_device(), kernel);
    }
    static const bool overlaps = overlaps_launches(exec.cuda_device(), kernel);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = scratch_bytes;
    config.stream = exec.cuda_stream();
    config.attrs = &attribute;
    config.numAttrs = overlaps && overlap ? 1 : 0;
    const cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
    if (watched) Kokkos::Profiling::endParallelFor(id);
    if (error != cudaSuccess)
      throw std::runtime_error(std::string("Strata: launch of ") + label +
                               ": " + cudaGetErrorString(error));
#endif
  }
}

/// The work of publish_writes.
struct NoBlockWork {
  KOKKOS_INLINE_FUNCTION void operator()(const ThreadBlock&) const {}
};

/// Enqueues on `exec` what makes all that was written before it known to
/// threads of later kernels that have not called await_previous yet. (A kernel
/// that may overlap the one before it begins when that one's blocks have ended,
/// which is not to say that what they wrote has arrived; a kernel in between
/// waits for that.)
template <class ExecutionSpace>
void publish_writes(const ExecutionSpace& exec) {
  if constexpr (is_cuda<ExecutionSpace>) {
    run_blocks<1, 32>("Strata::publish_writes", exec, 1, NoBlockWork());
  }
  (void)exec;
}

/// Bytes of level-0 scratch that every device has for a team. Kokkos 5 gives a
/// host's team 32 KiB, those before it as much as is asked for.
template <class ExecutionSpace>
inline constexpr std::size_t sure_scratch_bytes =
    is_cuda<ExecutionSpace> ? 40000 : 32768;

/// Bytes of level-0 scratch that a team may ask for on this device.
template <class ExecutionSpace>
std::size_t team_scratch_bytes(const ExecutionSpace&) {
  // Host backends keep scratch in ordinary memory. Before Kokkos 5 they state
  // a limit and do not hold launches to it: stay within a typical second-level
  // cache there.
  if constexpr (!is_cuda<ExecutionSpace> && KOKKOS_VERSION < 50000) {
    return std::size_t{256} * 1024;
  }
  return static_cast<std::size_t>(
      Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0));
}

/// Work of a team that does nothing.
template <class ExecutionSpace>
struct NoTeamWork {
  KOKKOS_INLINE_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type&) const {}
};

/// Has a host's Kokkos allocate what it would else allocate in the first launch
/// of teams of so many threads, with so many bytes of scratch. It keeps what it
/// has.
template <class ExecutionSpace>
void reserve_team(const ExecutionSpace& exec, int threads,
                  std::size_t scratch_bytes) {
  if constexpr (!is_cuda<ExecutionSpace>) {
    Kokkos::TeamPolicy<ExecutionSpace> policy(exec, 1, threads);
    policy.set_scratch_size(0,
                            Kokkos::PerTeam(static_cast<int>(scratch_bytes)));
    Kokkos::parallel_for("Strata::reserve_team", policy,
                         NoTeamWork<ExecutionSpace>{});
  }
}

/// Threads of a host that one team may have. Within a parallel region of the
/// caller's, where Kokkos speaks of the threads of that, and where OpenMP may
/// start fewer than it is asked for (OMP_DYNAMIC): one.
template <class ExecutionSpace>
int max_host_team(const ExecutionSpace& exec) {
  static_assert(!is_cuda<ExecutionSpace>, "of hosts");
#if defined(KOKKOS_ENABLE_OPENMP)
  if (is_openmp<ExecutionSpace> && (omp_in_parallel() || omp_get_dynamic()))
    return 1;
#endif
  const int most = Kokkos::TeamPolicy<ExecutionSpace>(exec, 1, 1)
                       .team_size_max(NoTeamWork<ExecutionSpace>{},
                                      Kokkos::ParallelForTag());
  return std::max(1, std::min(most, static_cast<int>(exec.concurrency())));
}

/// Number of units that run teams independently (multiprocessors, or threads
/// of a host).
template <class ExecutionSpace>
int device_units(const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    int device = exec.cuda_device(), units = 0;
    if (cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount,
                               device) != cudaSuccess ||
        units < 1)
      units = 1;
    return units;
  }
#endif
  (void)exec;
  return exec.concurrency() > 0 ? exec.concurrency() : 1;
}

/// Bytes of the cache that all units of a device share; of hosts not asked for.
template <class ExecutionSpace>
std::size_t cache_bytes(const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    int bytes = 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize,
                               exec.cuda_device()) == cudaSuccess &&
        bytes > 0)
      return static_cast<std::size_t>(bytes);
  }
#endif
  (void)exec;
  return std::size_t{32} << 20;
}

/// Bytes of memory that a device has; of hosts not asked for.
template <class MemorySpace>
std::size_t memory_of_device() {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<MemorySpace, Kokkos::CudaSpace>::value) {
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) return total;
  }
#endif
  return 0;
}

/// 1 / x to within two units in the last place; infinite, zero or not a number
/// where x or 1 / x is not a normal number. On CUDA without the branch that a
/// division has for these.
KOKKOS_INLINE_FUNCTION double fast_reciprocal(double x) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r = fma(fma(-x, r, 1.0), r, r);
  return fma(fma(-x, r, 1.0), r, r);
#else
  return 1 / x;
#endif
}
KOKKOS_INLINE_FUNCTION float fast_reciprocal(float x) { return 1 / x; }
template <class R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> fast_reciprocal(
    const Kokkos::complex<R>& x) {
  return R(1) / x;
}

/// What a thread sees of a launch by launch_resident.
struct ResidentTeam {
  int league_rank, league_size;
  int team_rank, team_size;
  /// Of the team, aligned to 16 bytes.
  char* scratch;

  KOKKOS_INLINE_FUNCTION void barrier() const {
#if STRATA_IMPL_ON_CUDA_DEVICE
    __syncthreads();
#endif
  }
};

#if defined(KOKKOS_ENABLE_CUDA)
template <class Functor>
__global__ void __launch_bounds__(Functor::max_team_size)
    resident_kernel(const Functor functor) {
  extern __shared__ __align__(16) char strata_resident_scratch[];
  functor(ResidentTeam{static_cast<int>(blockIdx.x),
                       static_cast<int>(gridDim.x),
                       static_cast<int>(threadIdx.x),
                       static_cast<int>(blockDim.x), strata_resident_scratch});
}
#endif

/// Most teams of `team_size` threads, one a multiprocessor, that
/// launch_resident can have run at the same time; 0 where the backend promises
/// no such thing.
template <class Functor, class ExecutionSpace>
int max_resident_teams(const ExecutionSpace& exec, int team_size,
                       std::size_t scratch_bytes) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    int cooperative = 0, teams = 0;
    if (cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch,
                               exec.cuda_device()) == cudaSuccess &&
        cooperative &&
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &teams, resident_kernel<Functor>, team_size, scratch_bytes) ==
            cudaSuccess &&
        teams > 0)
      return device_units(exec);
    return 0;
  }
#endif
  (void)exec;
  (void)team_size;
  (void)scratch_bytes;
  return 0;
}

/// Runs `functor` by `league_size` teams that all run at the same time, so that
/// they may wait for each other; asynchronous. At most max_resident_teams.
///
/// The driver schedules a cooperative launch as a whole or not at all. What is
/// running beside it ends by itself, and a second cooperative launch waits for
/// the first, so teams never wait for one that has no place to run.
template <class Functor, class ExecutionSpace>
void launch_resident(const ExecutionSpace& exec, const Functor& functor,
                     int league_size, int team_size,
                     std::size_t scratch_bytes) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    Functor argument = functor;
    void* arguments[] = {&argument};
    const cudaError_t error = cudaLaunchCooperativeKernel(
        reinterpret_cast<const void*>(&resident_kernel<Functor>),
        dim3(static_cast<unsigned>(league_size)),
        dim3(static_cast<unsigned>(team_size)), arguments, scratch_bytes,
        exec.cuda_stream());
    if (error != cudaSuccess)
      throw std::runtime_error(
          std::string("Strata: launching teams that wait for each other: ") +
          cudaGetErrorString(error));
    return;
  }
#endif
  (void)exec;
  (void)functor;
  (void)league_size;
  (void)team_size;
  (void)scratch_bytes;
  throw std::runtime_error(
      "Strata: this backend does not run teams at the same time");
}

/// Whether KokkosBlas::gemm calls cuBLAS on CUDA.
#if defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
inline constexpr bool kernels_have_cublas = true;
#else
inline constexpr bool kernels_have_cublas = false;
#endif

/// A profiling region that ends with its scope, exceptions included. Where
/// nobody listens it costs nothing: the name would be copied to the heap.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(const char* name)
      : open_(Kokkos::Profiling::profileLibraryLoaded()) {
    if (open_) Kokkos::Profiling::pushRegion(name);
  }
  ~ProfilingRegion() {
    if (open_) Kokkos::Profiling::popRegion();
  }
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;

 private:
  bool open_;
};

/// The host processor's model, where the system tells it.
inline const std::string& processor_name() {
  static const std::string name = [] {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
      if (line.rfind("model name", 0) == 0) {
        const auto colon = line.find(':');
        if (colon != std::string::npos) return line.substr(colon + 1);
      }
    return std::string("host");
  }();
  return name;
}

/// Name of the device, as a key for what was measured on it.
template <class ExecutionSpace>
std::string device_name(const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  // What Kokkos asked for when it began: asking the driver anew takes long.
  if constexpr (is_cuda<ExecutionSpace>) {
    return exec.cuda_device_prop().name;
  }
#endif
  return std::string(ExecutionSpace::name()) + processor_name() + "-" +
         std::to_string(device_units(exec));
}

/// Bits that the numbers 0 to `largest` take.
inline int bits_for(std::uint64_t largest) {
  int bits = 0;
  for (; largest > 0; largest >>= 1) ++bits;
  return bits;
}

/// Bytes of workspace that `sort_by_key` needs for `count` elements: none on
/// hosts.
template <class ExecutionSpace>
std::size_t sort_by_key_bytes(const ExecutionSpace& exec, std::int64_t count) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    cub::DoubleBuffer<std::uint64_t> keys(nullptr, nullptr);
    cub::DoubleBuffer<int> values(nullptr, nullptr);
    std::size_t bytes = 0;
    if (cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count, 0,
                                        64, exec.cuda_stream()) != cudaSuccess)
      throw std::runtime_error("Strata: the device cannot sort");
    const auto rounded = [](std::size_t b) { return (b + 255) / 256 * 256; };
    return rounded(count * sizeof(std::uint64_t)) +
           rounded(count * sizeof(int)) + rounded(bytes);
  }
#endif
  (void)exec;
  (void)count;
  return 0;
}

/// Sorts `values` by the low `bits` bits of their `keys`, ascending and stable,
/// and the keys with them. Bits above are to be 0. Afterwards `keys` and
/// `values` point to what is sorted: to where they did, or into `work`.
///
/// @param work sort_by_key_bytes of device memory, aligned to 16 bytes
/// Cost on CUDA: a pass over keys and values for every eight bits; enqueued on
/// `exec` without a wait. O(n log n) on hosts.
template <class ExecutionSpace>
void sort_by_key_within(const ExecutionSpace& exec, std::uint64_t*& keys,
                        int*& values, std::int64_t count, int bits,
                        char* work) {
  if (count < 2 || bits == 0) return;
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    const auto rounded = [](std::size_t b) { return (b + 255) / 256 * 256; };
    char* const other_values = work + rounded(count * sizeof(std::uint64_t));
    char* const temporary = other_values + rounded(count * sizeof(int));
    std::size_t bytes = sort_by_key_bytes(exec, count) - (temporary - work);
    cub::DoubleBuffer<std::uint64_t> key_buffers(
        keys, reinterpret_cast<std::uint64_t*>(work));
    cub::DoubleBuffer<int> value_buffers(values,
                                         reinterpret_cast<int*>(other_values));
    const cudaError_t error = cub::DeviceRadixSort::SortPairs(
        temporary, bytes, key_buffers, value_buffers, count, 0, bits,
        exec.cuda_stream());
    if (error != cudaSuccess)
      throw std::runtime_error(std::string("Strata: sorting on the device: ") +
                               cudaGetErrorString(error));
    keys = key_buffers.Current();
    values = value_buffers.Current();
    return;
  }
#endif
  (void)work;
  exec.fence();
  const std::uint64_t mask =
      bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::vector<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::vector<std::uint64_t> old_keys(keys, keys + count);
  const std::vector<int> old_values(values, values + count);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) {
                     return (old_keys[a] & mask) < (old_keys[b] & mask);
                   });
  for (std::int64_t i = 0; i < count; ++i) {
    keys[i] = old_keys[order[i]];
    values[i] = old_values[order[i]];
  }
}

/// The same in place. Without `work` memory is allocated, and `exec` waited
/// for.
template <class ExecutionSpace>
void sort_by_key(
    const ExecutionSpace& exec,
    const Kokkos::View<std::uint64_t*, typename ExecutionSpace::memory_space>&
        keys,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& values,
    int bits,
    Kokkos::View<char*, typename ExecutionSpace::memory_space> work = {}) {
  using Memory = typename ExecutionSpace::memory_space;
  const auto count = static_cast<std::int64_t>(keys.extent(0));
  if (count < 2 || bits == 0) return;
  const std::size_t needed = sort_by_key_bytes(exec, count);
  const bool own_work = work.extent(0) < needed;
  if (own_work)
    work = decltype(work)(Kokkos::view_alloc(exec, "Strata::sort_by_key",
                                             Kokkos::WithoutInitializing),
                          needed);
  std::uint64_t* sorted_keys = keys.data();
  int* sorted_values = values.data();
  sort_by_key_within(exec, sorted_keys, sorted_values, count, bits,
                     work.data());
  if (sorted_keys != keys.data())
    Kokkos::deep_copy(exec, keys,
                      Kokkos::View<std::uint64_t*, Memory>(sorted_keys, count));
  if (sorted_values != values.data())
    Kokkos::deep_copy(exec, values,
                      Kokkos::View<int*, Memory>(sorted_values, count));
  if (own_work) exec.fence();
}

/// Sorts every row of a CRS matrix by column, values along with the columns.
/// Cost: Kokkos Kernels' sort_crs_matrix. Fences `exec`.
template <class ExecutionSpace, class RowMap, class Entries, class Values>
void sort_crs_rows(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values) {
  exec.fence();
#if STRATA_IMPL_SORT_IN_KOKKOSSPARSE
  KokkosSparse::sort_crs_matrix<ExecutionSpace, RowMap, Entries, Values>(
      row_map, entries, values);
#else
  KokkosKernels::Impl::sort_crs_matrix<ExecutionSpace, RowMap, Entries, Values>(
      row_map, entries, values);
#endif
  ExecutionSpace().fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
