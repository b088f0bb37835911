// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_COPY_HPP
#define STRATA_PERF_COPY_HPP

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <detail/Strata_PerfTiming.hpp>

namespace Strata {
namespace PerfTest {

/// Bytes a second, read and written, of a copy between two arrays larger than
/// caches are (1 GiB each on a device, 128 MiB on a host): the median of seven.
template <class ExecutionSpace>
double copy_bandwidth(const ExecutionSpace& exec) {
  const std::size_t n = std::size_t{1}
                        << (Detail::is_gpu<ExecutionSpace> ? 27 : 24);
  using View = Kokkos::View<double*, ExecutionSpace>;
  const View from("from", n), to("to", n);
  const auto copy = [&] { Kokkos::deep_copy(exec, to, from); };
  seconds(exec, 2, copy);
  std::vector<double> samples;
  for (int i = 0; i < 7; ++i) samples.push_back(seconds(exec, 2, copy) / 2);
  return 2.0 * static_cast<double>(n) * sizeof(double) / median(samples);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
