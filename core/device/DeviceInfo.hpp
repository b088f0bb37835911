// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_DEVICE_INFO_HPP
#define STRATA_CORE_DEVICE_DEVICE_INFO_HPP

// The numbers of the device at hand: multiprocessors, scratch, caches, memory.

#include <core/device/Backend.hpp>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaDeviceInfo.hpp>
#elif defined(KOKKOS_ENABLE_HIP)
#include <core/device/hip/HipDevice.hpp>
#endif

namespace Strata {
namespace Detail {

/// Bytes of level-0 scratch that every device has for a team. Kokkos 5 gives a
/// host's team 32 KiB, those before it as much as is asked for.
template <class ExecutionSpace>
inline constexpr std::size_t sure_scratch_bytes =
    is_gpu<ExecutionSpace> ? 40000 : 32768;

/// Bytes of level-0 scratch that a team may ask for on this device.
template <class ExecutionSpace>
std::size_t team_scratch_bytes(const ExecutionSpace&) {
  // Host backends keep scratch in ordinary memory. Before Kokkos 5 they state
  // a limit and do not hold launches to it: stay within a typical second-level
  // cache there.
  if constexpr (!is_gpu<ExecutionSpace> && KOKKOS_VERSION < 50000) {
    return std::size_t{256} * 1024;
  }
  return static_cast<std::size_t>(
      Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0));
}

/// Bytes of scratch that a team of run_native_teams may ask for: on CUDA, where
/// Strata_ENABLE_CUDA_NATIVE is on, all that the chip has for a team; else what
/// Kokkos grants.
template <class ExecutionSpace>
std::size_t native_scratch_bytes(const ExecutionSpace& exec) {
  const std::size_t bytes = team_scratch_bytes(exec);
#if defined(KOKKOS_ENABLE_CUDA) && STRATA_ENABLE_CUDA_NATIVE
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
    return Cuda::scratch_bytes(exec, bytes);
  }
#endif
  return bytes;
}

/// Number of multiprocessors, which run teams independently of each other; of a
/// host, the number of its threads.
template <class ExecutionSpace>
int num_multiprocessors(const ExecutionSpace& exec) {
  return exec.concurrency() > 0 ? exec.concurrency() : 1;
}
/// Threads that share a loop of a host. Within a parallel region of the
/// caller's, and where OpenMP may start fewer than it is asked for
/// (OMP_DYNAMIC): one.
template <class ExecutionSpace>
int host_threads(const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_OPENMP)
  if (is_openmp<ExecutionSpace> && (omp_in_parallel() || omp_get_dynamic()))
    return 1;
#endif
  return num_multiprocessors(exec);
}

/// Bytes of the cache that all multiprocessors of a device share; of hosts not
/// asked for.
template <class ExecutionSpace>
std::size_t cache_bytes(const ExecutionSpace&) {
  return std::size_t{32} << 20;
}
#if defined(KOKKOS_ENABLE_CUDA)
inline int num_multiprocessors(const Kokkos::Cuda& exec) {
  return Cuda::multiprocessors(exec);
}
inline std::size_t cache_bytes(const Kokkos::Cuda& exec) {
  return Cuda::cache_bytes(exec, std::size_t{32} << 20);
}
#endif
/// Bytes of memory that a device has, and of those the free ones; 0 of hosts,
/// which are not asked, and where a device does not tell.
struct MemoryInfo {
  std::size_t free = 0, total = 0;
};
template <class MemorySpace>
MemoryInfo memory_info() {
  MemoryInfo info;
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<MemorySpace, Kokkos::CudaSpace>::value) {
    Cuda::ask_for_memory(info.free, info.total);
  }
#elif defined(KOKKOS_ENABLE_HIP)
  if constexpr (std::is_same<MemorySpace, Kokkos::HIPSpace>::value) {
    if (hipMemGetInfo(&info.free, &info.total) != hipSuccess) return {};
  }
#endif
  return info;
}

/// All the memory that a device or host has; 0 if that is not known.
template <class MemorySpace>
std::size_t memory_bytes() {
#if defined(_SC_PHYS_PAGES)
  if constexpr (std::is_same<MemorySpace, Kokkos::HostSpace>::value) {
    const auto pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
      return static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
  }
#endif
  static const std::size_t total = memory_info<MemorySpace>().total;
  return total;
}

}  // namespace Detail
}  // namespace Strata

#endif
