// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our preconditioner of time steps for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <detail/Strata_PerfKrylov.hpp>

namespace Strata {
namespace PerfTest {
namespace {

/// IncompleteFactorization, as a user has it who takes new values without a
/// wait. Solves with bad ones do not come to their tolerance.
template <class Scalar>
class OwnPreconditioner : public StepPreconditioner<Scalar> {
  using Matrix = typename StepPreconditioner<Scalar>::Matrix;
  using Space = typename StepPreconditioner<Scalar>::ExecutionSpace;
  using Vector = typename StepPreconditioner<Scalar>::Vector;

 public:
  explicit OwnPreconditioner(const FactorProblem<Scalar>& problem)
      : problem_(problem) {}

  void make_ready() override {
    // The earlier one's memory is released before the next is made.
    factors_ = {};
    IncompleteFactorizationOptions options;
    options.enqueue_updates = true;
    factors_ = IncompleteFactorization<Scalar, Space>(
        exec_, problem_.matrix,
        problem_.kind == FactorizationKind::ilu0
            ? Factorization::incomplete_lu
            : Factorization::incomplete_cholesky,
        options);
  }
  void update_values(const Matrix& A) override {
    factors_.enqueue_update_values(exec_, A);
  }
  void apply(const Vector& r, const Vector& z) override {
    factors_.apply(exec_, r, z);
  }

 private:
  const FactorProblem<Scalar>& problem_;
  Space exec_;
  IncompleteFactorization<Scalar, Space> factors_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<StepPreconditioner<Scalar>> make_own_preconditioner(
    const std::string&, const FactorProblem<Scalar>& problem) {
  return std::make_unique<OwnPreconditioner<Scalar>>(problem);
}
template std::unique_ptr<StepPreconditioner<STRATA_PERF_SCALAR>>
make_own_preconditioner(const std::string&,
                        const FactorProblem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
