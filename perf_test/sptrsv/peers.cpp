// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peers for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfKokkosKernels.hpp>
#include <detail/Strata_PerfSerial.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <detail/Strata_PerfCusparse.hpp>
#endif

namespace Strata {
namespace PerfTest {

template <class Scalar>
std::unique_ptr<Algorithm<Scalar>> make_peer(const std::string& name,
                                             const Problem<Scalar>& problem) {
  using KokkosSparse::Experimental::SPTRSVAlgorithm;
  if (name == "serial_substitution")
    return std::make_unique<SerialSubstitution<Scalar>>(problem);
  if (name == "kokkos_kernels_rp")
    return fastest_kokkos_kernels(problem, SPTRSVAlgorithm::SEQLVLSCHD_RP);
  if (name == "kokkos_kernels_tp1")
    return fastest_kokkos_kernels(problem, SPTRSVAlgorithm::SEQLVLSCHD_TP1);
  if (name == "kokkos_kernels_tp1chain")
    return fastest_kokkos_kernels(problem,
                                  SPTRSVAlgorithm::SEQLVLSCHD_TP1CHAIN);
#ifdef KOKKOS_ENABLE_CUDA
  if (name == "cusparse_spsv")
    return std::make_unique<CusparseSpsv<Scalar>>(problem);
  if (name == "cusparse_spsv_sell")
    return std::make_unique<CusparseSpsv<Scalar>>(problem,
                                                  CusparseForm::sliced_ell);
  if (name == "cusparse_spsm")
    return std::make_unique<CusparseSpsm<Scalar>>(problem);
#endif
  throw OptionError("--algorithms", "'" + name + "' is not in this build",
                    "see --help");
}

template std::unique_ptr<Algorithm<STRATA_PERF_SCALAR>> make_peer(
    const std::string&, const Problem<STRATA_PERF_SCALAR>&);

}  // namespace PerfTest
}  // namespace Strata
