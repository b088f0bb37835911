// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KRYLOV_HPP
#define STRATA_PERF_KRYLOV_HPP

#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfFactorizer.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

enum class KrylovMethodName { cg, bicgstab, gmres };

/// What values the matrix has before the time steps change them.
enum class BaseValues {
  dominant,  ///< the diagonal: the sum of the other moduli of a row, plus one
  as_is,
  laplacian  ///< -1 beside the diagonal, on it the number of these entries
};

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::KrylovMethodName> {
  static constexpr const char* list[] = {"cg", "bicgstab", "gmres"};
};
template <>
struct Detail::EnumeratorNames<PerfTest::BaseValues> {
  static constexpr const char* list[] = {"dominant", "as_is", "laplacian"};
};
namespace PerfTest {

struct KrylovSettings {
  KrylovMethodName method = KrylovMethodName::bicgstab;
  FactorizationKind kind = FactorizationKind::ilu0;
  BaseValues values = BaseValues::dominant;
  /// Added to the diagonal, relative to it, at the first time step; twice that
  /// at the last one.
  double shift = 0.01;
  double tolerance = 0;  ///< of the true residual; 0: that of the scalar
  int steps = 20, runs = 3, restart = 30, max_iterations = 10000;
  double max_seconds = INFINITY;  ///< see MatrixRunner
};

/// One preconditioner on one matrix, all time steps together. Times in
/// microseconds, NaN where there is none; the relative error is the largest
/// ||b - A x|| / ||b||.
struct KrylovPerfResult : PerfResult {
  int steps = 0;
  std::int64_t iterations = 0;
  /// Times that a solve was begun anew as the true residual was not there yet.
  std::int64_t restarts = 0;
  /// New values of preconditioner and product, and solves.
  double total_us = NAN;
  double ready_us = NAN;  ///< from the first matrix to being ready to apply
};

/// Every preconditioner of any build, ours first.
inline const std::vector<std::string>& krylov_preconditioners() {
  static const std::vector<std::string> names{
      "strata", "kokkos_kernels", "cusparse_no_level", "cusparse_use_level"};
  return names;
}

using KrylovRunners =
    RunnersOf<PerfRunner<KrylovPerfResult>, const KrylovSettings&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
