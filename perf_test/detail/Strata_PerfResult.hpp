// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_RESULT_HPP
#define STRATA_PERF_RESULT_HPP

#include <Strata_TriangularReport.hpp>
#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfOptions.hpp>
#include <string>

namespace Strata {
namespace PerfTest {

enum class Outcome {
  not_run,
  bad_input,  ///< no system to solve
  left_out,   ///< the algorithm is not for this system or build
  failed,     ///< the algorithm raised an error
  wrong,      ///< timed, but its relative error is beyond the tolerance
  right
};

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::Outcome> {
  static constexpr const char* list[] = {"not_run", "bad_input", "left_out",
                                         "failed",  "wrong",     "right"};
};
namespace PerfTest {

/// One algorithm on one system: what the results of all programs have.
struct PerfResult {
  std::string matrix, algorithm, scalar;
  /// What tells systems of one matrix apart, such as numbers of vectors.
  std::string variant;
  const MatrixSource* source = nullptr;  ///< of the matrix, if it has one
  bool own = false;
  bool reference = false;  ///< not ours, but has to be right as ours have
  std::int64_t rows = 0, entries = 0;
  double relative_error = NAN;
  Outcome outcome = Outcome::not_run;
  std::string message;  ///< what went wrong

  bool timed() const {
    return outcome == Outcome::wrong || outcome == Outcome::right;
  }
};

/// What an algorithm's plan looks like; only ours have a report. Peers may have
/// parameters.
struct PlanFacts : TriangularReport {
  std::string chosen;      ///< the algorithm that runs
  std::string parameters;  ///< of Kokkos Kernels' handle, the fastest ones
};

/// Of TriangularSolver::update_pattern, in microseconds.
struct PatternTimes {
  double update_us = NAN, analysis_us = NAN;
};

/// A triangular solve. Times in microseconds; the relative error is
/// |x - x_ref|_inf / |x_ref|_inf.
struct SptrsvResult : PerfResult {
  int rhs = 1;
  bool transfers = false;  ///< the copies of b and x are timed
  int solves = 0;          ///< SolveTiming::solves
  std::int64_t levels = 0;
  PlanFacts plan;
  double analysis_us = NAN, update_us = NAN, solve_us = NAN;
  double changed = 0;    ///< SolveTiming::changed
  PatternTimes pattern;  ///< with so many entries changed
  /// In units of eps, see BackwardErrors.
  double rowwise_error = NAN, normwise_error = NAN, componentwise_error = NAN;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
