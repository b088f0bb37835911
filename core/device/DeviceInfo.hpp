// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_DEVICE_INFO_HPP
#define STRATA_CORE_DEVICE_DEVICE_INFO_HPP

// The numbers of the device at hand: multiprocessors, scratch, caches, memory,
// name.

#include <algorithm>
#include <core/device/Backend.hpp>
#include <fstream>
#include <string>
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

/// Bytes of scratch that a team of run_teams may ask for: on CUDA, where
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
  if constexpr (!is_gpu<ExecutionSpace>) {
    Kokkos::TeamPolicy<ExecutionSpace> policy(exec, 1, threads);
    policy.set_scratch_size(0,
                            Kokkos::PerTeam(static_cast<int>(scratch_bytes)));
    Kokkos::parallel_for("Strata::reserve_team", policy,
                         NoTeamWork<ExecutionSpace>{});
  }
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
  return std::string(ExecutionSpace::name()) + processor_name() + "-" +
         std::to_string(num_multiprocessors(exec));
}
#if defined(KOKKOS_ENABLE_CUDA)
inline std::string device_name(const Kokkos::Cuda& exec) {
  return Cuda::name(exec);
}
#endif

}  // namespace Detail
}  // namespace Strata

#endif
