// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our algorithms for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_Sptrsv.hpp>
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

/// sptrsv_symbolic and sptrsv_solve as a program calls them that was written
/// for Kokkos Kernels: the analysis gets the pattern alone, each solve gets the
/// values and one right-hand side.
template <class Scalar>
class DropIn : public Algorithm<Scalar> {
 public:
  DropIn(const Problem<Scalar>& problem, const TriangularOptions& options,
         bool values_fixed)
      : problem_(problem), options_(options), values_fixed_(values_fixed) {}

  void analyse() override {
    const auto& graph = problem_.matrix.graph;
    handle_.create_sptrsv_handle(Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1,
                                 problem_.rows(), problem_.uplo == Uplo::lower);
    handle().options() = options_;
    handle().set_values_fixed(values_fixed_);
    Experimental::sptrsv_symbolic(&handle_, graph.row_map, graph.entries);
  }
  /// Values that stay cost a solve where they change after all.
  void update() override {
    if (!values_fixed_) return;
    handle().set_values_fixed(false);
    solve_column(0);
    handle().set_values_fixed(true);
  }
  void solve() override {
    for (int column = 0; column < problem_.rhs(); ++column)
      solve_column(column);
  }
  PlanFacts plan() const override {
    return plan_facts(handle().solver().report());
  }
  void explain(std::ostream& out) const override {
    out << to_string(handle().solver().report());
  }

 private:
  using Space = typename Algorithm<Scalar>::ExecutionSpace;
  using Handle = Experimental::KokkosKernelsHandle<int, int, Scalar, Space>;

  typename Handle::SPTRSVHandleType& handle() const {
    return *handle_.get_sptrsv_handle();
  }
  void solve_column(int column) {
    const auto& graph = problem_.matrix.graph;
    Experimental::sptrsv_solve(
        &handle_, graph.row_map, graph.entries, problem_.matrix.values,
        Kokkos::subview(problem_.b, Kokkos::ALL(), column),
        Kokkos::subview(problem_.x, Kokkos::ALL(), column));
  }

  const Problem<Scalar>& problem_;
  TriangularOptions options_;
  bool values_fixed_;
  Handle handle_;
};

template <class Scalar>
std::unique_ptr<Algorithm<Scalar>> make_own(const std::string& name,
                                            const Problem<Scalar>& problem,
                                            const TriangularOptions& wishes) {
  TriangularOptions options = wishes;
  const bool drops_in = name == drop_in || name == drop_in_fixed;
  options.algorithm =
      drops_in ? Strata::Algorithm::automatic : algorithm_from_string(name);
  // The drop-in functions get one after the other.
  options.max_right_hand_sides = drops_in ? 1 : problem.rhs();
  if (drops_in)
    return std::make_unique<DropIn<Scalar>>(problem, options,
                                            name == drop_in_fixed);
  return std::make_unique<OwnSolver<Scalar>>(problem, options);
}

template std::unique_ptr<Algorithm<STRATA_PERF_SCALAR>> make_own(
    const std::string&, const Problem<STRATA_PERF_SCALAR>&,
    const TriangularOptions&);

}  // namespace PerfTest
}  // namespace Strata
