// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our eliminations for one scalar type, STRATA_PERF_SCALAR.
#include <Strata_GaussJordan.hpp>
#include <detail/Strata_PerfDenseProblem.hpp>

namespace Strata {
namespace PerfTest {

template <class Scalar>
class OwnElimination : public DenseAlgorithm<Scalar> {
 public:
  OwnElimination(const DenseProblem<Scalar>& problem,
                 const GaussJordanOptions& options)
      : problem_(problem), elimination_(options) {
    if (problem.system().task == DenseTask::reduce)
      augmented_ =
          Matrix(Kokkos::view_alloc("[A | B]", Kokkos::WithoutInitializing),
                 problem.n(), 2 * problem.n());
  }

  void run() override {
    const auto n = static_cast<std::size_t>(problem_.n());
    const std::pair<std::size_t, std::size_t> left(0, n), right(n, 2 * n);
    switch (problem_.system().task) {
      case DenseTask::solve:
        elimination_.solve(exec_, problem_.A, problem_.B, problem_.X);
        break;
      case DenseTask::inverse:
        elimination_.invert(exec_, problem_.A, problem_.X);
        break;
      case DenseTask::reduce:
        Kokkos::deep_copy(exec_, Kokkos::subview(augmented_, Kokkos::ALL, left),
                          problem_.A);
        Kokkos::deep_copy(
            exec_, Kokkos::subview(augmented_, Kokkos::ALL, right), problem_.B);
        elimination_.reduce(exec_, augmented_);
    }
  }
  void publish() override {
    if (problem_.system().task != DenseTask::reduce) return;
    const auto n = static_cast<std::size_t>(problem_.n());
    Kokkos::deep_copy(problem_.X, Kokkos::subview(augmented_, Kokkos::ALL,
                                                  std::make_pair(n, 2 * n)));
  }

 private:
  using Matrix = typename DenseProblem<Scalar>::Matrix;
  const DenseProblem<Scalar>& problem_;
  typename DenseProblem<Scalar>::ExecutionSpace exec_;
  GaussJordan<Scalar, typename DenseProblem<Scalar>::ExecutionSpace>
      elimination_;
  Matrix augmented_;
};

template <class Scalar>
std::unique_ptr<DenseAlgorithm<Scalar>> make_dense_own(
    const DenseOptions& options, const DenseProblem<Scalar>& problem) {
  GaussJordanOptions own;
  own.stripe = options.stripe;
  // As the peers', which have no notion of rank.
  own.tolerance = 0;
  return std::make_unique<OwnElimination<Scalar>>(problem, own);
}

template std::unique_ptr<DenseAlgorithm<STRATA_PERF_SCALAR>> make_dense_own(
    const DenseOptions&, const DenseProblem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
