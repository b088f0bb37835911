// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peers for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfKokkosKernels.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <detail/Strata_PerfCusparse.hpp>
#endif

namespace Strata {
namespace PerfTest {

/// Plain substitution by one thread of the host, from and to host memory. On
/// a host backend b and x are the problem's own; beside a device the vectors
/// are copies on the host, and their way there and back is not timed.
template <class Scalar>
class SerialSubstitution : public Algorithm<Scalar> {
 public:
  explicit SerialSubstitution(const Problem<Scalar>& problem)
      : problem_(problem), x_(Kokkos::create_mirror_view(problem.x)) {}

  void analyse() override {}
  void update() override {}
  void solve() override {
    const std::size_t rows = static_cast<std::size_t>(problem_.rows());
    for (int column = 0; column < problem_.rhs(); ++column)
      substitute(problem_.uplo, problem_.host_row_map, problem_.host_entries,
                 problem_.host_values, problem_.host_b.data() + column * rows,
                 x_.data() + column * rows, [](const Scalar& s) { return s; });
  }
  bool on_host() const override { return true; }
  void publish() override { Kokkos::deep_copy(problem_.x, x_); }

 private:
  const Problem<Scalar>& problem_;
  decltype(Kokkos::create_mirror_view(typename Problem<Scalar>::Vectors())) x_;
};

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
