// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_RUNNER_HPP
#define STRATA_PERF_RUNNER_HPP

#include <benchmark/benchmark.h>

#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfResult.hpp>
#include <iosfwd>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// Runs the benchmarks of one scalar type. It keeps the matrix and the
/// algorithm of its latest benchmark, and only those: Google Benchmark calls
/// one benchmark several times in a row, and large matrices come one by one.
class SptrsvRunner {
 public:
  virtual ~SptrsvRunner() = default;
  virtual void run(benchmark::State& state, const MatrixSource& source,
                   const std::string& algorithm, SptrsvResult& result) = 0;
};

/// `explanations`: where --explain prints.
template <class Scalar>
std::unique_ptr<SptrsvRunner> make_runner(const SptrsvOptions& options,
                                          std::ostream& explanations);

}  // namespace PerfTest
}  // namespace Strata

#endif
