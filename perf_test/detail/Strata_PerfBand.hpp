// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_HPP
#define STRATA_PERF_BAND_HPP

#include <cmath>
#include <detail/Strata_PerfBandOptions.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>

namespace Strata {
namespace PerfTest {

/// One algorithm on one system. Times in microseconds; the relative error is
/// the distance from the all-ones solution.
struct BandResult : PerfResult {
  BandCase sizes;
  int rhs = 0;
  double factor_us = NAN, solve_us = NAN;
  double total_us = NAN;  ///< of both
};

template <class Scalar>
std::unique_ptr<PerfRunner<BandResult>> make_band_runner(
    const BandPerfOptions& options);

}  // namespace PerfTest
}  // namespace Strata

#endif
