// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PEERS_HPP
#define STRATA_PERF_BAND_PEERS_HPP

#include <detail/Strata_PerfBandProblem.hpp>
#include <vector>

#ifdef STRATA_PERF_LAPACK
#include <detail/Strata_PerfLapack.hpp>
#endif
#ifdef STRATA_PERF_CUSOLVER
#include <detail/Strata_PerfCusolver.hpp>
#endif

namespace Strata {
namespace PerfTest {

#ifdef STRATA_PERF_LAPACK
/// LAPACK's band factorisation and substitution on the host.
template <class Scalar>
class LapackBand : public BandAlgorithm<Scalar> {
  using Block = typename BandAlgorithm<Scalar>::Block;
  using OnHost = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

 public:
  explicit LapackBand(const BandCase& sizes)
      : n_(static_cast<int>(sizes.n)),
        kl_(static_cast<int>(sizes.kl)),
        ku_(static_cast<int>(sizes.ku)),
        lines_(2 * kl_ + ku_ + 1),
        factors_("factors", lines_, n_),
        pivots_(n_) {}

  double time_factor(const Block& ab) override {
    const auto band =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ab);
    // gbtrf's storage has room for kl more diagonals.
    const auto stored = Kokkos::subview(
        factors_, std::make_pair(kl_, kl_ + kl_ + ku_ + 1), Kokkos::ALL);
    return median_after([&] { Kokkos::deep_copy(stored, band); },
                        [&] {
                          int info = 0;
                          Lapack<Scalar>::gbtrf(&n_, &n_, &kl_, &ku_,
                                                factors_.data(), &lines_,
                                                pivots_.data(), &info);
                          check_lapack("gbtrf", info);
                        });
  }
  double time_solve(const Block& b, const Block& x) override {
    const auto host_b =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
    const OnHost host_x("x", b.extent(0), b.extent(1));
    const int columns = static_cast<int>(b.extent(1));
    const double taken = median_after(
        [&] { Kokkos::deep_copy(host_x, host_b); },
        [&] {
          int info = 0;
          Lapack<Scalar>::gbtrs("N", &n_, &kl_, &ku_, &columns, factors_.data(),
                                &lines_, pivots_.data(), host_x.data(), &n_,
                                &info, 1);
          check_lapack("gbtrs", info);
        });
    Kokkos::deep_copy(x, host_x);
    return taken;
  }

 private:
  int n_, kl_, ku_, lines_;
  OnHost factors_;
  std::vector<int> pivots_;
};
#endif

#ifdef STRATA_PERF_CUSOLVER
/// cuSOLVER's LU of the dense matrix.
template <class Scalar>
class CusolverDense : public BandAlgorithm<Scalar> {
  using Block = typename BandAlgorithm<Scalar>::Block;
  using Space = typename BandAlgorithm<Scalar>::Space;

 public:
  explicit CusolverDense(const BandCase& sizes)
      : sizes_(sizes), solver_(sizes.n) {}

  double time_factor(const Block& ab) override {
    return median_after(
        [&] {
          Kokkos::parallel_for(
              "fill_dense",
              Detail::RangeOf<Space>(Space(), 0, sizes_.n * sizes_.n),
              FillDenseOfBand<Scalar, Block>{ab, solver_.lu, sizes_.kl,
                                             sizes_.ku});
          Kokkos::fence();
        },
        [&] { solver_.factor(); });
  }
  double time_solve(const Block& b, const Block& x) override {
    return median_after([&] { Kokkos::deep_copy(x, b); },
                        [&] { solver_.solve(x); });
  }

 private:
  BandCase sizes_;
  CusolverLu<Scalar> solver_;
};
#endif

}  // namespace PerfTest
}  // namespace Strata

#endif
