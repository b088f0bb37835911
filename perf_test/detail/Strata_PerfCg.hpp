// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CG_HPP
#define STRATA_PERF_CG_HPP

#include <Strata_SellOptions.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// A solve of the Poisson cube. Times in microseconds; the relative error is
/// ||b - A x|| / ||b||, worked out apart.
struct CgPerfResult : PerfResult {
  int size = 0;  ///< points along an edge of the cube
  std::string status;
  int iterations = 0;
  /// Host to device of the CRS matrix and b, and back of x.
  double to_device_us = NAN, from_device_us = NAN;
  /// From the CRS matrix to the solver: SELL-C-sigma and preconditioner.
  double setup_us = 0;
  double solve_us = NAN;
  double iteration_us = NAN;  ///< between solves of 20 and of 60 iterations

  /// From a system in the host's memory to x there.
  double total_us() const {
    return to_device_us + setup_us + solve_us + from_device_us;
  }
};

enum class RightHandSide { random, ones };

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::RightHandSide> {
  static constexpr const char* list[] = {"random", "ones"};
};
namespace PerfTest {

struct CgSettings {
  double tolerance = 0;  ///< of the residual, relative to b; 0: by the scalar
  int max_iterations = 100000;
  int solves =
      3;  ///< timed at least; 1: the first one, with nothing to warm up
  SellOptions sell;  ///< the form of A
  RightHandSide b = RightHandSide::random;
};

using CgRunners = RunnersOf<PerfRunner<CgPerfResult>, const CgSettings&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
