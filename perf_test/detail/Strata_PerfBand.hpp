// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_HPP
#define STRATA_PERF_BAND_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <detail/Strata_PerfBandOptions.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// One algorithm on one system, or batch. Times in microseconds; the relative
/// error is the distance from the all-ones solution.
struct BandResult : PerfResult {
  BandCase sizes;
  int rhs = 0;
  double factor_us = NAN, solve_us = NAN;
  double total_us = NAN;  ///< of both
};

/// Makes the systems of one scalar type and runs the algorithms on them.
class BandRunner : public PerfRunner<BandResult> {
 public:
  /// The library of the LAPACK that was found.
  virtual std::string lapack() const = 0;
};
/// @throws OptionError
template <class Scalar>
std::unique_ptr<BandRunner> make_band_runner(const BandPerfOptions& options);

}  // namespace PerfTest
}  // namespace Strata

#endif
