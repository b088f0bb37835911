// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DROP_IN_HPP
#define STRATA_PERF_DROP_IN_HPP

#include <Strata_Sptrsv.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfOwn.hpp>
#include <ostream>

namespace Strata {
namespace PerfTest {

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

}  // namespace PerfTest
}  // namespace Strata

#endif
