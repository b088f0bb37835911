// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KOKKOS_COMPAT_HPP
#define STRATA_KOKKOS_COMPAT_HPP

// The one place for what differs between Kokkos releases and between backends.

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#if __has_include(<KokkosSparse_SortCrs.hpp>)
#include <KokkosSparse_SortCrs.hpp>
#define STRATA_IMPL_SORT_IN_KOKKOSSPARSE 1
#else
#include <KokkosKernels_SparseUtils.hpp>
#define STRATA_IMPL_SORT_IN_KOKKOSSPARSE 0
#endif
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>

#if !defined(KOKKOS_VERSION) || KOKKOS_VERSION < 30400
#error "Strata needs Kokkos 3.4 or newer"
#endif

// True while the compiler makes code for a GPU. Used inside functions of this
// header only.
#if defined(__CUDA_ARCH__)
#define STRATA_IMPL_ON_CUDA_DEVICE 1
#else
#define STRATA_IMPL_ON_CUDA_DEVICE 0
#endif

#if STRATA_IMPL_ON_CUDA_DEVICE
#define STRATA_IMPL_UNROLL _Pragma("unroll")
#else
#define STRATA_IMPL_UNROLL
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

/// The value of lane `from`. All lanes must call it with the same `from`.
KOKKOS_INLINE_FUNCTION unsigned lane_broadcast(unsigned value, int from) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __shfl_sync(0xffffffffu, value, from);
#else
  (void)from;
  return value;
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

/// The same for groups of 1, 4 or 16 lanes: fewer branches, which cost about
/// as much as an exchange each.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_group_sum_by_four(T value, int group) {
  if (group > 1) {
    if (group > 4) {
      value += lane_xor(value, 8);
      value += lane_xor(value, 4);
    }
    value += lane_xor(value, 2);
    value += lane_xor(value, 1);
  }
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

/// Smallest of the lanes' values.
KOKKOS_INLINE_FUNCTION unsigned lane_min(unsigned value) {
#if STRATA_IMPL_ON_CUDA_DEVICE
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, value);
#else
  for (int offset = 16; offset > 0; offset >>= 1) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other < value ? other : value;
  }
  return value;
#endif
#else
  return value;
#endif
}

/// Orders this thread's accesses as seen by the threads of its team.
KOKKOS_INLINE_FUNCTION void team_fence() {
#if STRATA_IMPL_ON_CUDA_DEVICE
  __threadfence_block();
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// Copies 16 bytes from global memory to scratch, both aligned to 16, without
/// waiting where the device can. The copies begun up to a commit form a group;
/// `copy_async_wait<n>` waits until at most n groups of this thread are under
/// way.
KOKKOS_INLINE_FUNCTION void copy_async_16(void* scratch, const void* global) {
#if STRATA_IMPL_ON_CUDA_DEVICE && __CUDA_ARCH__ >= 800
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(scratch));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(global)
               : "memory");
#else
  memcpy(scratch, global, 16);
#endif
}
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

/// The same pointer, which is known to point to team scratch: lets the compiler
/// use the shorter instructions for it.
template <class T>
KOKKOS_INLINE_FUNCTION T* in_scratch(T* p) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  __builtin_assume(__isShared(p));
#endif
  return p;
}

/// One turn of a waiting loop: leaves the execution units to others.
KOKKOS_INLINE_FUNCTION void pause_while_waiting(int turn) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  if (turn > 8) __nanosleep(turn < 64 ? 20 : 100);
#else
  // A thread that is not running can't be waited for by spinning: where there
  // are more threads than cores, let it run.
  if (turn > 64) std::this_thread::yield();
#endif
}

/// Bytes of level-0 scratch that a team may ask for on this device.
template <class ExecutionSpace>
std::size_t team_scratch_bytes(const ExecutionSpace&) {
  // Host backends keep scratch in ordinary memory and state no useful limit:
  // stay within a typical second-level cache.
  if constexpr (!is_cuda<ExecutionSpace>) return std::size_t{256} * 1024;
  return static_cast<std::size_t>(
      Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0));
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

/// A profiling region that ends with its scope, exceptions included.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(const char* name) {
    Kokkos::Profiling::pushRegion(name);
  }
  ~ProfilingRegion() { Kokkos::Profiling::popRegion(); }
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;
};

/// The host processor's model, where the system tells it.
inline std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) {
      const auto colon = line.find(':');
      if (colon != std::string::npos) return line.substr(colon + 1);
    }
  return "host";
}

/// Name of the device, as a key for what was measured on it.
template <class ExecutionSpace>
std::string device_name(const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<ExecutionSpace>) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, exec.cuda_device()) == cudaSuccess)
      return properties.name;
    return "cuda";
  }
#endif
  return std::string(ExecutionSpace::name()) + processor_name() + "-" +
         std::to_string(device_units(exec));
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
