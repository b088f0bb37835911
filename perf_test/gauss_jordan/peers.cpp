// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peers for one scalar type, STRATA_PERF_SCALAR.
#include <Strata_Error.hpp>
#include <detail/Strata_PerfEyvazov.hpp>
#include <detail/Strata_PerfHostDense.hpp>

#ifdef STRATA_PERF_CUSOLVER
#include <detail/Strata_PerfCusolver.hpp>
#endif

namespace Strata {
namespace PerfTest {

#ifdef STRATA_PERF_CUSOLVER
/// cuSOLVER's getrf and getrs on copies of A and B.
template <class Scalar>
class CusolverSolve : public DenseAlgorithm<Scalar> {
 public:
  explicit CusolverSolve(const DenseProblem<Scalar>& problem)
      : problem_(problem), solver_(problem.n()) {}
  void run() override {
    const Kokkos::Cuda exec;
    Kokkos::deep_copy(exec, solver_.lu, problem_.A);
    Kokkos::deep_copy(exec, problem_.X, problem_.B);
    solver_.factor();
    solver_.solve(problem_.X);
  }

 private:
  const DenseProblem<Scalar>& problem_;
  CusolverLu<Scalar> solver_;
};
#endif

template <class Scalar>
std::unique_ptr<DenseAlgorithm<Scalar>> make_dense_peer(
    const std::string& name, const DenseProblem<Scalar>& problem) {
  if (name == "textbook")
    return std::make_unique<TextbookGaussJordan<Scalar>>(problem);
  if (name == "eyvazov_2021")
    return std::make_unique<EyvazovElimination<Scalar>>(problem);
#ifdef STRATA_PERF_LAPACK
  if (name == "lapack") return std::make_unique<LapackGesv<Scalar>>(problem);
#endif
#ifdef STRATA_PERF_CUSOLVER
  if (name == "cusolver")
    return std::make_unique<CusolverSolve<Scalar>>(problem);
#endif
  throw OptionError("--algorithms", "'" + name + "' is not in this build",
                    "see --help");
}

template std::unique_ptr<DenseAlgorithm<STRATA_PERF_SCALAR>> make_dense_peer(
    const std::string&, const DenseProblem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
