// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peers of incomplete factorisation for one scalar type,
// STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <detail/Strata_PerfSerialFactors.hpp>
#include <detail/Strata_PerfSpiluk.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <detail/Strata_PerfCusparseFactors.hpp>
#endif

namespace Strata {
namespace PerfTest {

template <class Scalar>
std::unique_ptr<Factorizer<Scalar>> make_peer_factorizer(
    const std::string& name, const FactorProblem<Scalar>& problem) {
  if (name == "serial")
    return std::make_unique<SerialFactorizer<Scalar>>(problem);
  if (name == "kokkos_kernels_spiluk")
    return std::make_unique<SpilukFactorizer<Scalar>>(problem);
#ifdef STRATA_PERF_HAS_CSRILU02
  const auto policy = name.find("no_level") != std::string::npos
                          ? CUSPARSE_SOLVE_POLICY_NO_LEVEL
                          : CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  if (starts_with(name, "cusparse_csrilu02"))
    return std::make_unique<CusparseFactorizer<Csrilu02<Scalar>>>(problem,
                                                                  policy);
  if (starts_with(name, "cusparse_csric02"))
    return std::make_unique<CusparseFactorizer<Csric02<Scalar>>>(problem,
                                                                 policy);
#endif
  throw OptionError("--algorithms", "'" + name + "' is not in this build",
                    "see --help");
}

template std::unique_ptr<Factorizer<STRATA_PERF_SCALAR>> make_peer_factorizer(
    const std::string&, const FactorProblem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
