// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our incomplete factorisations for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <detail/Strata_PerfFactorCheck.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <optional>

namespace Strata {
namespace PerfTest {
namespace {

/// The phases are those inside of incomplete_lu(); from the matrix or new
/// values to an answer it is IncompleteFactorization, as a user has it. On a
/// Hermitian matrix both of its factorisations eliminate alike, and incomplete
/// Cholesky checks the matrix and the pivots as well.
template <class Scalar>
class OwnFactorizer : public Factorizer<Scalar> {
  using Matrix = typename Factorizer<Scalar>::Matrix;
  using Space = typename Factorizer<Scalar>::ExecutionSpace;
  using Vector = typename Factorizer<Scalar>::Vector;

 public:
  explicit OwnFactorizer(const FactorProblem<Scalar>& problem)
      : problem_(problem) {}

  void analyse() override {
    // The earlier analysis's memory is released before the next is made.
    phases_.reset();
    phases_.emplace(exec_, problem_.matrix);
  }
  /// Without a wait, as the peers' numeric phases: factors() looks for faults.
  void compute(const Matrix& A) override {
    fault_ = phases_->factors.enqueue(exec_, Detail::crs_arrays(A),
                                      phases_->L.matrix("L").values.data(),
                                      phases_->U.matrix("U").values.data());
  }
  void make_ready() override {
    made_ = IncompleteFactorization<Scalar, Space>();
    IncompleteFactorizationOptions options;
    options.enqueue_updates = problem_.enqueue_updates;
    made_ = IncompleteFactorization<Scalar, Space>(
        exec_, problem_.matrix,
        problem_.kind == FactorizationKind::ilu0
            ? Factorization::incomplete_lu
            : Factorization::incomplete_cholesky,
        options);
  }
  void update_values(const Matrix& A) override {
    if (problem_.enqueue_updates)
      made_.enqueue_update_values(exec_, A);
    else
      made_.update_values(exec_, A);
  }
  void apply(const Vector& b, const Vector& x) override {
    made_.apply(exec_, b, x);
  }
  std::vector<Scalar> factors() override {
    using Fault = Kokkos::View<const std::int64_t, typename Space::memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    if (fault_)
      Detail::raise_factor_fault(Kokkos::create_mirror_view_and_copy(
          Kokkos::HostSpace(), Fault(fault_))());
    return on_pattern(problem_, phases_->L.matrix("L"), phases_->U.matrix("U"));
  }

 private:
  struct Phases {
    Detail::NewCrsMatrix<Matrix> L, U;
    Detail::IncompleteFactors<Scalar, Space> factors;

    Phases(const Space& exec, const Matrix& A)
        : factors(exec, Detail::crs_arrays(A), L, U) {
      factors.prepare_enqueue(exec, Detail::crs_arrays(A));
    }
  };

  const FactorProblem<Scalar>& problem_;
  Space exec_;
  std::optional<Phases> phases_;
  const std::int64_t* fault_ = nullptr;  // in device memory
  IncompleteFactorization<Scalar, Space> made_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Factorizer<Scalar>> make_own_factorizer(
    const std::string&, const FactorProblem<Scalar>& problem) {
  return std::make_unique<OwnFactorizer<Scalar>>(problem);
}
template std::unique_ptr<Factorizer<STRATA_PERF_SCALAR>> make_own_factorizer(
    const std::string&, const FactorProblem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
