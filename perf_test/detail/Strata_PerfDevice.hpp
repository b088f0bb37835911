// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DEVICE_HPP
#define STRATA_PERF_DEVICE_HPP

#include <core/device/DeviceInfo.hpp>
#include <fstream>
#include <string>

namespace Strata {
namespace PerfTest {

/// The host processor's model, where the system tells it.
inline std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 1);
  return "host";
}

/// Name of the device.
template <class ExecutionSpace>
std::string device_name(const ExecutionSpace& exec) {
  return std::string(ExecutionSpace::name()) + processor_name() + "-" +
         std::to_string(Detail::num_multiprocessors(exec));
}
#if defined(KOKKOS_ENABLE_CUDA)
inline std::string device_name(const Kokkos::Cuda& exec) {
  return exec.cuda_device_prop().name;
}
#elif defined(KOKKOS_ENABLE_HIP)
inline std::string device_name(const Kokkos::HIP& exec) {
  return exec.hip_device_prop().name;
}
#endif

}  // namespace PerfTest
}  // namespace Strata

#endif
