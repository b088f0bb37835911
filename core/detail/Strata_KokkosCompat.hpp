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
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>
#endif

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

/// Orders this thread's accesses as seen by the threads of its team.
KOKKOS_INLINE_FUNCTION void team_fence() {
#if STRATA_IMPL_ON_CUDA_DEVICE
  __threadfence_block();
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
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

/// The value that lane `lane` holds. All lanes must call it.
KOKKOS_INLINE_FUNCTION unsigned lane_get(unsigned value, int lane) {
#if STRATA_IMPL_ON_CUDA_DEVICE
  return __shfl_sync(0xffffffffu, value, lane);
#else
  (void)lane;
  return value;
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
    static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8 ||
                      sizeof(T) == 16,
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
    static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8 ||
                      sizeof(T) == 16,
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

/// Sorts `count` keys by their lowest `bits` bits, the values along with them;
/// equal keys keep their order. Cost: on CUDA CUB's radix sort, a pass for
/// every eight bits, and one allocation; on hosts std::stable_sort. Fences
/// `exec` on hosts, and on CUDA by freeing what it allocated.
template <class ExecutionSpace>
void sort_by_key(const ExecutionSpace& exec, std::uint64_t* keys, int* values,
                 std::int64_t count, int bits) {
  if (count < 2) return;
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
  if constexpr (is_cuda<ExecutionSpace>) {
    const auto check = [](cudaError_t error) {
      if (error != cudaSuccess)
        Kokkos::abort("Strata: sorting on the device failed");
    };
    const auto stream = exec.cuda_stream();
    const std::size_t key_bytes = std::size_t(count) * sizeof(std::uint64_t);
    const std::size_t value_bytes =
        (std::size_t(count) * sizeof(int) + 255) / 256 * 256;
    std::size_t work_bytes = 0;
    cub::DoubleBuffer<std::uint64_t> key_buffer(keys, nullptr);
    cub::DoubleBuffer<int> value_buffer(values, nullptr);
    check(cub::DeviceRadixSort::SortPairs(nullptr, work_bytes, key_buffer,
                                          value_buffer, count, 0, bits,
                                          stream));
    const Kokkos::View<char*, typename ExecutionSpace::memory_space> work(
        Kokkos::view_alloc("Strata::sort_by_key::work",
                           Kokkos::WithoutInitializing),
        key_bytes + value_bytes + work_bytes + 512);
    char* const values_at = work.data() + (key_bytes + 255) / 256 * 256;
    key_buffer.d_buffers[1] = reinterpret_cast<std::uint64_t*>(work.data());
    value_buffer.d_buffers[1] = reinterpret_cast<int*>(values_at);
    check(cub::DeviceRadixSort::SortPairs(values_at + value_bytes, work_bytes,
                                          key_buffer, value_buffer, count, 0,
                                          bits, stream));
    if (key_buffer.Current() != keys)
      check(cudaMemcpyAsync(keys, key_buffer.Current(), key_bytes,
                            cudaMemcpyDeviceToDevice, stream));
    if (value_buffer.Current() != values)
      check(cudaMemcpyAsync(values, value_buffer.Current(),
                            std::size_t(count) * sizeof(int),
                            cudaMemcpyDeviceToDevice, stream));
    return;
  }
#endif
  exec.fence();
  const std::uint64_t mask =
      bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
  std::vector<std::pair<std::uint64_t, int>> pairs(count);
  for (std::int64_t i = 0; i < count; ++i) pairs[i] = {keys[i], values[i]};
  std::stable_sort(pairs.begin(), pairs.end(),
                   [mask](const auto& a, const auto& b) {
                     return (a.first & mask) < (b.first & mask);
                   });
  for (std::int64_t i = 0; i < count; ++i) {
    keys[i] = pairs[i].first;
    values[i] = pairs[i].second;
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
