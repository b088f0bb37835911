// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_OWN_HPP
#define STRATA_PERF_OWN_HPP

#include <Strata_TriangularSolver.hpp>
#include <algorithm>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfChanges.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <optional>
#include <ostream>

namespace Strata {
namespace PerfTest {

inline PlanFacts plan_facts(const TriangularReport& report) {
  return {report, to_string(report.algorithm), ""};
}

/// TriangularSolver with one of its algorithms.
template <class Scalar>
class OwnSolver : public Algorithm<Scalar> {
 public:
  OwnSolver(const Problem<Scalar>& problem, const TriangularOptions& options)
      : problem_(problem), options_(options) {}

  void analyse() override {
    // The earlier plan's memory is released before the next is made.
    solver_.reset();
    solver_.emplace(exec_, problem_.matrix, problem_.uplo, Diag::non_unit,
                    options_);
  }
  void update() override { solver_->update_values(exec_, problem_.matrix); }
  void solve() override {
    if (problem_.rhs() == 1)
      solver_->solve(exec_, Kokkos::subview(problem_.b, Kokkos::ALL(), 0),
                     Kokkos::subview(problem_.x, Kokkos::ALL(), 0));
    else
      solver_->solve(exec_, problem_.b, problem_.x);
  }

  PlanFacts plan() const override { return plan_facts(solver_->report()); }
  PatternTimes time_pattern_updates(double percent) override {
    const auto changed = changed_matrix(problem_, percent);
    PatternTimes times;
    // There and back: each call has another pattern than the one before.
    const auto between = [&](const auto& take) {
      return 1e6 / 2 * median_seconds(exec_, [&] {
               take(changed);
               take(problem_.matrix);
             });
    };
    times.update_us =
        between([&](const auto& A) { solver_->update_pattern(exec_, A); });
    times.analysis_us = between([&](const auto& A) {
      solver_.reset();
      solver_.emplace(exec_, A, problem_.uplo, Diag::non_unit, options_);
    });
    return times;
  }
  void explain(std::ostream& out) const override {
    out << to_string(solver_->report());
  }

 private:
  using Space = typename Algorithm<Scalar>::ExecutionSpace;

  const Problem<Scalar>& problem_;
  TriangularOptions options_;
  Space exec_;
  std::optional<TriangularSolver<Scalar, Space>> solver_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
