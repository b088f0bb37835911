// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_TIMING_HPP
#define STRATA_PERF_TIMING_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <core/device/Backend.hpp>
#include <vector>

namespace Strata {
namespace PerfTest {

inline double median(std::vector<double> samples) {
  const std::size_t middle = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + middle, samples.end());
  if (samples.size() % 2 == 1) return samples[middle];
  const double upper = samples[middle];
  return 0.5 *
         (upper + *std::max_element(samples.begin(), samples.begin() + middle));
}

/// Seconds that `count` calls of `work` take on `exec` from idle to idle.
template <class ExecutionSpace, class Work>
double seconds(const ExecutionSpace& exec, int count, const Work& work) {
  exec.fence();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) work();
  exec.fence();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

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

/// Seconds of one `work` after a `prepare` that is not timed: the median of
/// five, and of up to 20 within a tenth of a second, after a first one that
/// warms up. Slow work is repeated less: no further repetition is begun after
/// one second, and after ten seconds of warming up that is the answer.
template <class ExecutionSpace, class Prepare, class Work>
double median_seconds_after(const ExecutionSpace& exec, const Prepare& prepare,
                            const Work& work) {
  prepare();
  const double first = seconds(exec, 1, work);
  if (first > 10) return first;
  std::vector<double> samples;
  double spent = 0;
  while (samples.empty() || (samples.size() < 5 && spent < 1) ||
         (samples.size() < 20 && spent < 0.1)) {
    prepare();
    samples.push_back(seconds(exec, 1, work));
    spent += samples.back();
  }
  return median(samples);
}
template <class ExecutionSpace, class Work>
double median_seconds(const ExecutionSpace& exec, const Work& work) {
  return median_seconds_after(
      exec, [] {}, work);
}

/// Calls of `work` that take at least a millisecond together, so that the
/// fence that ends a batch and the clock's resolution stay below a percent.
template <class ExecutionSpace, class Work>
int calls_per_batch(const ExecutionSpace& exec, const Work& work) {
  constexpr double wanted = 1e-3;
  seconds(exec, 1, work);
  int count = 1;
  while (count < 100000) {
    const double taken = seconds(exec, count, work);
    if (taken >= wanted) break;
    const double factor = 1.2 * wanted / std::max(taken, 1e-9);
    count = static_cast<int>(std::ceil(count * std::clamp(factor, 1.2, 100.0)));
  }
  return count;
}

/// Google Benchmark's loop around batches of `work`. Its manual time becomes
/// the median over the batches, at least 20 of them (fewer where 20 would
/// take more than two seconds, but never less than 5), so that the reported
/// time and the table's are one number. Returns that median in seconds.
template <class ExecutionSpace, class Work>
double timing_loop(benchmark::State& state, const ExecutionSpace& exec,
                   int batch, const Work& work) {
  std::vector<double> samples;
  double spent = 0;
  const auto sample = [&] {
    const double taken = seconds(exec, batch, work);
    spent += taken;
    samples.push_back(taken / batch);
  };
  while (state.KeepRunningBatch(batch)) sample();
  while (samples.size() < 5 || (samples.size() < 20 && spent < 2)) sample();
  const double middle = median(samples);
  state.SetIterationTime(middle * static_cast<double>(state.iterations()));
  return middle;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
