// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_DEVICE_INFO_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_DEVICE_INFO_HPP

#include <core/device/Backend.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <algorithm>
#include <atomic>
#include <new>

namespace Strata {
namespace Detail {

namespace Cuda {

/// An attribute of the instance's device, or `otherwise`. The driver is asked
/// once for each of 64 devices: an analysis asks dozens of times.
template <cudaDeviceAttr which>
int attribute(const Kokkos::Cuda& exec, int otherwise) {
  static std::atomic<int> known[64] = {};
  const int device = exec.cuda_device();
  const bool is_kept = device >= 0 && device < 64;
  int value = is_kept ? known[device].load(std::memory_order_relaxed) : 0;
  if (value > 0) return value;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess ||
      value <= 0)
    return otherwise;
  if (is_kept) known[device].store(value, std::memory_order_relaxed);
  return value;
}
inline int multiprocessors(const Kokkos::Cuda& exec) {
  return attribute<cudaDevAttrMultiProcessorCount>(exec, 1);
}
inline std::size_t cache_bytes(const Kokkos::Cuda& exec,
                               std::size_t otherwise) {
  const int bytes = attribute<cudaDevAttrL2CacheSize>(exec, 0);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}
/// Bytes of shared memory that a block may have once its kernel asks for it
/// (see ScratchPermission), and no fewer than `otherwise`.
inline std::size_t scratch_bytes(const Kokkos::Cuda& exec,
                                 std::size_t otherwise) {
  const int bytes = attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(exec, 0);
  // A kernel's own shared variables come out of it: a kilobyte is for these.
  const auto left = static_cast<std::size_t>(std::max(0, bytes - 1024));
  return std::max(left, otherwise);
}
/// Bytes of the current device's memory; 0 where it does not tell.
inline void ask_for_memory(std::size_t& free, std::size_t& total) {
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) free = total = 0;
}
/// Errors of calls that may take memory of the device's own, to load a kernel
/// or for its stacks. The error is cleared, so that no later call reports it
/// as its own.
inline void raise_lack_of_memory(cudaError_t error) {
  if (error != cudaErrorMemoryAllocation) return;
  (void)cudaGetLastError();
  throw std::bad_alloc();
}

}  // namespace Cuda

}  // namespace Detail
}  // namespace Strata

#endif  // KOKKOS_ENABLE_CUDA

#endif
