// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KOKKOS_KERNELS_HPP
#define STRATA_PERF_KOKKOS_KERNELS_HPP

#include <KokkosKernels_Handle.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_SptrsvNames.hpp>

namespace Strata {
namespace PerfTest {

/// Kokkos Kernels' own sptrsv (no vendor library behind it). It solves one
/// right-hand side at a time and reads the values at every solve, so that new
/// values cost nothing.
template <class Scalar>
class KokkosKernelsSptrsv : public Algorithm<Scalar> {
 public:
  using Method = KokkosSparse::Experimental::SPTRSVAlgorithm;

  KokkosKernelsSptrsv(const Problem<Scalar>& problem, Method method)
      : problem_(problem), method_(method) {}
  ~KokkosKernelsSptrsv() override { handle_.destroy_sptrsv_handle(); }

  void analyse() override {
    const auto& graph = problem_.matrix.graph;
    handle_.create_sptrsv_handle(method_, problem_.rows(),
                                 problem_.uplo == Uplo::lower);
    SptrsvNames::symbolic(SptrsvNames::First(), &handle_, graph.row_map,
                          graph.entries);
  }
  void update() override {}
  void solve() override {
    const auto& graph = problem_.matrix.graph;
    // Release 4.6's range-policy kernels add to what x holds.
    if (method_ == Method::SEQLVLSCHD_RP)
      Kokkos::deep_copy(exec_, problem_.x, Scalar(0));
    for (int column = 0; column < problem_.rhs(); ++column)
      SptrsvNames::solve(SptrsvNames::First(), &handle_, graph.row_map,
                         graph.entries, problem_.matrix.values,
                         Kokkos::subview(problem_.b, Kokkos::ALL(), column),
                         Kokkos::subview(problem_.x, Kokkos::ALL(), column));
  }
  /// The same for vectors of rank 1, other than the problem's.
  template <class Vector>
  void solve_with(const Vector& b, const Vector& x) {
    using Column = decltype(Kokkos::subview(problem_.b, Kokkos::ALL(), 0));
    const auto& graph = problem_.matrix.graph;
    if (method_ == Method::SEQLVLSCHD_RP)
      Kokkos::deep_copy(exec_, x, Scalar(0));
    SptrsvNames::solve(SptrsvNames::First(), &handle_, graph.row_map,
                       graph.entries, problem_.matrix.values,
                       Column(b.data(), b.extent(0)),
                       Column(x.data(), x.extent(0)));
  }

 private:
  using Space = typename Algorithm<Scalar>::ExecutionSpace;
  using Memory = typename Space::memory_space;
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, Scalar, Space,
                                                       Memory, Memory>;

  const Problem<Scalar>& problem_;
  Method method_;
  Space exec_;
  Handle handle_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
