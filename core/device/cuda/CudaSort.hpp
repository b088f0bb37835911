// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_SORT_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_SORT_HPP

#include <core/device/Backend.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <core/device/cuda/CudaDeviceInfo.hpp>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <stdexcept>
#include <string>

namespace Strata {
namespace Detail {

namespace Cuda {

inline std::size_t to_256(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

inline std::size_t sort_by_key_bytes(const Kokkos::Cuda& exec,
                                     std::int64_t count) {
  cub::DoubleBuffer<std::uint64_t> keys(nullptr, nullptr);
  cub::DoubleBuffer<int> values(nullptr, nullptr);
  std::size_t bytes = 0;
  if (cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count, 0,
                                      64, exec.cuda_stream()) != cudaSuccess)
    throw std::runtime_error("Strata: the device cannot sort");
  return to_256(count * sizeof(std::uint64_t)) + to_256(count * sizeof(int)) +
         to_256(bytes);
}

inline void sort_by_key_within(const Kokkos::Cuda& exec, std::uint64_t*& keys,
                               int*& values, std::int64_t count, int bits,
                               char* work) {
  char* const other_values = work + to_256(count * sizeof(std::uint64_t));
  char* const temporary = other_values + to_256(count * sizeof(int));
  std::size_t bytes = sort_by_key_bytes(exec, count) - (temporary - work);
  cub::DoubleBuffer<std::uint64_t> key_buffers(
      keys, reinterpret_cast<std::uint64_t*>(work));
  cub::DoubleBuffer<int> value_buffers(values,
                                       reinterpret_cast<int*>(other_values));
  const cudaError_t error = cub::DeviceRadixSort::SortPairs(
      temporary, bytes, key_buffers, value_buffers, count, 0, bits,
      exec.cuda_stream());
  raise_lack_of_memory(error);
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("Strata: sorting on the device: ") +
                             cudaGetErrorString(error));
  keys = key_buffers.Current();
  values = value_buffers.Current();
}

}  // namespace Cuda

}  // namespace Detail
}  // namespace Strata

#endif  // KOKKOS_ENABLE_CUDA

#endif
