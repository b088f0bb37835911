// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_ROW_BY_ROW_HPP
#define STRATA_PERF_BAND_ROW_BY_ROW_HPP

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <detail/Strata_PerfBandTime.hpp>
#include <detail/Strata_PerfRowByRowBand.hpp>
#include <string>

namespace Strata {
namespace PerfTest {

/// The programs of Biondo (2013), one system: row_by_row on one thread of the
/// host; row_by_row_rhs, where the host's threads share the right-hand sides;
/// row_by_row_parallel, where each step's loop is a launch on the device, which
/// on OpenMP is the slow program of section 5 and on CUDA that of section 3.
inline bool is_row_by_row(const std::string& algorithm) {
  return algorithm.compare(0, 10, "row_by_row") == 0;
}

template <class Scalar, class ExecutionSpace>
class BandRowByRow {
  using Memory = typename ExecutionSpace::memory_space;
  using Block = Kokkos::View<Scalar***, Kokkos::LayoutLeft, Memory>;
  using OnHost = Kokkos::View<Scalar***, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  using Host = Kokkos::DefaultHostExecutionSpace;

 public:
  bool has_factors() const { return factors_.size() + on_host_.size() > 0; }
  void forget() {
    factors_ = Block();
    on_host_ = OnHost();
  }
  /// What one thread takes at a thousand million operations a second.
  static double seconds_expected(const BandCase& sizes, int rhs) {
    const double n = static_cast<double>(sizes.n);
    const double kl = static_cast<double>(sizes.kl),
                 ku = static_cast<double>(sizes.ku);
    return (2 * kl * ku * n + 2 * rhs * n * (kl + ku)) * 1e-9;
  }

  /// @returns median seconds, without the copy of the band
  double time_factor(const std::string& algorithm, const Block& ab,
                     const BandCase& sizes) {
    forget();
    algorithm_ = algorithm;
    sizes_ = sizes;
    const auto size = [&](auto& to) {
      to = std::decay_t<decltype(to)>(
          Kokkos::view_alloc("factors", Kokkos::WithoutInitializing),
          ab.extent(0), ab.extent(1), 1);
    };
    if (algorithm == "row_by_row_parallel") {
      size(factors_);
      const InParallel<ExecutionSpace> parallel{ExecutionSpace()};
      return median_after([&] { Kokkos::deep_copy(factors_, ab); },
                          [&] {
                            factorize_row_by_row(
                                band(factors_), parallel,
                                Detail::is_gpu<ExecutionSpace>);
                          });
    }
    size(on_host_);
    return median_after(
        [&] { Kokkos::deep_copy(on_host_, ab); },
        [&] { factorize_row_by_row(band(on_host_), OneThread()); });
  }
  /// x = A^-1 b. @returns median seconds, without the copies
  double time_solve(const Block& b, const Block& x) const {
    const auto columns = static_cast<std::int64_t>(b.extent(1));
    if (algorithm_ == "row_by_row_parallel") {
      const InParallel<ExecutionSpace> parallel{ExecutionSpace()};
      const auto lu = band(factors_);
      return median_after([&] { Kokkos::deep_copy(x, b); },
                          [&] {
                            for (std::int64_t c = 0; c < columns; ++c)
                              solve_row_by_row(lu, x.data() + c * sizes_.n,
                                               parallel);
                          });
    }
    const OnHost work("x", b.extent(0), b.extent(1), 1);
    const auto lu = band(on_host_);
    Scalar* const first = work.data();
    const std::int64_t n = sizes_.n;
    const bool share = algorithm_ == "row_by_row_rhs";
    const double taken =
        median_after([&] { Kokkos::deep_copy(work, b); },
                     [&] {
                       const auto solve = [&](std::int64_t c) {
                         solve_row_by_row(lu, first + c * n, OneThread());
                       };
                       if (share) {
                         Kokkos::parallel_for(
                             "row_by_row_rhs",
                             Detail::RangeOf<Host>(Host(), 0, columns), solve);
                         Kokkos::fence();
                       } else {
                         for (std::int64_t c = 0; c < columns; ++c) solve(c);
                       }
                     });
    Kokkos::deep_copy(x, work);
    return taken;
  }

 private:
  template <class View>
  RowByRowBand<Scalar> band(const View& ab) const {
    return {ab.data(), static_cast<std::int64_t>(ab.extent(0)), sizes_.n,
            sizes_.kl, sizes_.ku};
  }

  std::string algorithm_;
  BandCase sizes_;
  Block factors_;
  OnHost on_host_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
