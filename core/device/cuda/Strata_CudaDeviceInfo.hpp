// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CUDA_DEVICE_INFO_HPP
#define STRATA_CUDA_DEVICE_INFO_HPP

#include <device/Strata_Backend.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <string>

namespace Strata {
namespace Detail {

namespace Cuda {

/// An attribute of the instance's device, or `otherwise`.
inline int attribute(const Kokkos::Cuda& exec, cudaDeviceAttr which,
                     int otherwise) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, exec.cuda_device()) ==
                     cudaSuccess &&
                 value > 0
             ? value
             : otherwise;
}
inline int multiprocessors(const Kokkos::Cuda& exec) {
  return attribute(exec, cudaDevAttrMultiProcessorCount, 1);
}
inline std::size_t cache_bytes(const Kokkos::Cuda& exec,
                               std::size_t otherwise) {
  const int bytes = attribute(exec, cudaDevAttrL2CacheSize, 0);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}
/// Of the current device; 0 where it does not tell.
inline std::size_t memory_bytes() {
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? total : 0;
}
/// What Kokkos asked for when it began: asking the driver anew takes long.
inline std::string name(const Kokkos::Cuda& exec) {
  return exec.cuda_device_prop().name;
}

}  // namespace Cuda

}  // namespace Detail
}  // namespace Strata

#endif  // KOKKOS_ENABLE_CUDA

#endif
