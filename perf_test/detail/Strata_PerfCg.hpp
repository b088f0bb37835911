// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CG_HPP
#define STRATA_PERF_CG_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <Strata_SellOptions.hpp>
#include <cstdint>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// Names of types in one word, for STRATA_PERF_SCALAR.
using complex_float = Kokkos::complex<float>;
using complex_double = Kokkos::complex<double>;

/// One solve of the Poisson cube, measured.
struct CgPerfResult {
  int size = 0;  ///< points along an edge of the cube
  std::string algorithm, status, message;
  std::int64_t rows = 0;
  int iterations = 0;
  /// Host to device of the CRS matrix and b, and back of x.
  double to_device_us = 0, from_device_us = 0;
  /// From the CRS matrix to the solver: SELL-C-sigma and preconditioner.
  double setup_us = 0;
  double solve_us = 0;
  double iteration_us = 0;  ///< between solves of 20 and of 60 iterations
  double floor_us = 0;      ///< its bytes at the copy bandwidth; 0: not counted
  double residual = 0;      ///< ||b - A x|| / ||b|| worked out apart
  bool measured = false, right = false;

  /// From a system in the host's memory to x there.
  double total_us() const {
    return to_device_us + setup_us + solve_us + from_device_us;
  }
};

inline bool is_own_cg(const std::string& algorithm) {
  return algorithm.compare(0, 6, "strata") == 0;
}

struct CgSettings {
  double tolerance = 0;  ///< of the residual, relative to b; 0: by the scalar
  int max_iterations = 100000;
  int solves =
      3;  ///< timed at least; 1: the first one, with nothing to warm up
  SellOptions sell;   ///< the form of A
  bool ones = false;  ///< b is all ones, else random
  int launches = 0;   ///< of CgOptions
};

class CgRunner {
 public:
  virtual ~CgRunner() = default;
  virtual void run(benchmark::State& state, int size,
                   const std::string& algorithm, CgPerfResult& result) = 0;
};
/// @param bandwidth of copies, bytes a second
template <class Scalar>
std::unique_ptr<CgRunner> make_cg_runner(const CgSettings& settings,
                                         double bandwidth);

}  // namespace PerfTest
}  // namespace Strata

#endif
