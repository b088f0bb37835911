// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peers of our preconditioner of time steps for one scalar type,
// STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <detail/Strata_PerfKrylov.hpp>
#include <detail/Strata_PerfSpiluk.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <detail/Strata_PerfCusparseFactors.hpp>
#endif

namespace Strata {
namespace PerfTest {
namespace {

/// A peer of strata_perf_factorization.
template <class Scalar, class Peer>
class PeerPreconditioner : public StepPreconditioner<Scalar> {
  using Matrix = typename StepPreconditioner<Scalar>::Matrix;
  using Vector = typename StepPreconditioner<Scalar>::Vector;

 public:
  template <class... Arguments>
  explicit PeerPreconditioner(const FactorProblem<Scalar>& problem,
                              const Arguments&... arguments)
      : peer_(problem, arguments...) {}

  void make_ready() override { peer_.make_ready(); }
  void update_values(const Matrix& A) override { peer_.update_values(A); }
  void apply(const Vector& r, const Vector& z) override {
    peer_.apply_to(r, z);
  }

 private:
  Peer peer_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<StepPreconditioner<Scalar>> make_peer_preconditioner(
    const std::string& name, const FactorProblem<Scalar>& problem) {
  // There is no incomplete Cholesky: the product of spiluk's factors is that of
  // incomplete Cholesky's on a Hermitian matrix.
  if (name == "kokkos_kernels")
    return std::make_unique<
        PeerPreconditioner<Scalar, SpilukFactorizer<Scalar>>>(problem);
#ifdef STRATA_PERF_HAS_CSRILU02
  const auto policy = name.find("no_level") != std::string::npos
                          ? CUSPARSE_SOLVE_POLICY_NO_LEVEL
                          : CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  if (starts_with(name, "cusparse")) {
    if (problem.kind == FactorizationKind::ilu0)
      return std::make_unique<
          PeerPreconditioner<Scalar, CusparseFactorizer<Csrilu02<Scalar>>>>(
          problem, policy);
    return std::make_unique<
        PeerPreconditioner<Scalar, CusparseFactorizer<Csric02<Scalar>>>>(
        problem, policy);
  }
#endif
  throw OptionError("--preconditioners", "'" + name + "' is not in this build",
                    "see --help");
}

template std::unique_ptr<StepPreconditioner<STRATA_PERF_SCALAR>>
make_peer_preconditioner(const std::string&,
                         const FactorProblem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
