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
    if (reduces(problem.system().task))
      augmented_ =
          Matrix(Kokkos::view_alloc("[A | B]", Kokkos::WithoutInitializing),
                 problem.n(), problem.n() + problem.columns());
  }

  void run() override {
    switch (problem_.system().task) {
      case DenseTask::solve:
        elimination_.solve(exec_, problem_.A, problem_.B, problem_.X);
        break;
      case DenseTask::inverse:
        elimination_.invert(exec_, problem_.A, problem_.X);
        break;
      case DenseTask::reduce:
      case DenseTask::augmented:
        Kokkos::deep_copy(exec_, problem_.left_of(augmented_), problem_.A);
        Kokkos::deep_copy(exec_, problem_.right_of(augmented_), problem_.B);
        elimination_.reduce(exec_, augmented_);
    }
  }
  void publish() override {
    if (reduces(problem_.system().task)) problem_.take_reduced(augmented_);
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
