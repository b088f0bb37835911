// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_ROW_BY_ROW_HPP
#define STRATA_PERF_BAND_ROW_BY_ROW_HPP

#include <core/device/Backend.hpp>
#include <detail/Strata_PerfBandProblem.hpp>
#include <detail/Strata_PerfRowByRowBand.hpp>
#include <string>
#include <type_traits>

namespace Strata {
namespace PerfTest {

/// The programs of Biondo (2013): row_by_row on one thread of the host;
/// row_by_row_rhs, where the host's threads share the right-hand sides;
/// row_by_row_parallel, where each step's loop is a launch in `Memory`, which
/// on OpenMP is the slow program of section 5 and on CUDA that of section 3.
template <class Scalar, class Memory>
class BandRowByRow : public BandAlgorithm<Scalar> {
  using Block = typename BandAlgorithm<Scalar>::Block;
  using Space = typename BandAlgorithm<Scalar>::Space;
  using Host = Kokkos::DefaultHostExecutionSpace;
  using Own = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory>;

 public:
  BandRowByRow(const BandCase& sizes, std::string algorithm)
      : sizes_(sizes),
        algorithm_(std::move(algorithm)),
        factors_(Kokkos::view_alloc("factors", Kokkos::WithoutInitializing),
                 sizes.kl + sizes.ku + 1, sizes.n) {}

  double time_factor(const Block& ab) override {
    return median_after([&] { Kokkos::deep_copy(factors_, ab); },
                        [&] {
                          if (algorithm_ == "row_by_row_parallel")
                            factorize_row_by_row(band(),
                                                 InParallel<Space>{Space()},
                                                 Detail::is_gpu<Space>);
                          else
                            factorize_row_by_row(band(), OneThread());
                        });
  }
  double time_solve(const Block& b, const Block& x) override {
    const Own work("x", b.extent(0), b.extent(1));
    const auto columns = static_cast<std::int64_t>(b.extent(1));
    const auto lu = band();
    Scalar* const first = work.data();
    const std::int64_t n = sizes_.n;
    const auto one_thread = [=](std::int64_t c) {
      solve_row_by_row(lu, first + c * n, OneThread());
    };
    const double taken = median_after(
        [&] { Kokkos::deep_copy(work, b); },
        [&] {
          if (algorithm_ == "row_by_row_rhs") {
            Kokkos::parallel_for("row_by_row_rhs",
                                 Detail::RangeOf<Host>(Host(), 0, columns),
                                 one_thread);
            Kokkos::fence();
            return;
          }
          for (std::int64_t c = 0; c < columns; ++c) {
            if (algorithm_ == "row_by_row")
              one_thread(c);
            else
              solve_row_by_row(lu, first + c * n, InParallel<Space>{Space()});
          }
        });
    Kokkos::deep_copy(x, work);
    return taken;
  }

 private:
  RowByRowBand<Scalar> band() const {
    return {factors_.data(), static_cast<std::int64_t>(factors_.extent(0)),
            sizes_.n, sizes_.kl, sizes_.ku};
  }

  BandCase sizes_;
  std::string algorithm_;
  Own factors_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
