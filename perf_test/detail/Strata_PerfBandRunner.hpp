// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_RUNNER_HPP
#define STRATA_PERF_BAND_RUNNER_HPP

#include <Strata_BandMatrix.hpp>
#include <Strata_BandSolver.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_MatrixMarketArray.hpp>
#include <cmath>
#include <detail/Strata_PerfBandOptions.hpp>
#include <detail/Strata_PerfBandPeers.hpp>
#include <detail/Strata_PerfBandProblem.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// Times of one algorithm on one system; NaN where it did not run.
struct BandResult {
  BandCase sizes;
  int rhs = 0;
  std::string algorithm;
  double factor_us = NAN, solve_us = NAN, error = NAN;
  std::string note;  ///< why it did not run, or "WRONG"

  double total_us() const { return factor_us + solve_us; }
  bool right() const { return note.empty() && !std::isnan(solve_us); }
};

/// Makes the systems and runs the algorithms on them. It keeps the latest
/// matrix and the latest factors.
class BandRunner {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using HostSpace = Kokkos::DefaultHostExecutionSpace;
  using Memory = Space::memory_space;
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;

  explicit BandRunner(const BandPerfOptions& options)
      : options_(options), lapack_(options.lapack) {
    if (!options.lapack.empty() && !lapack_.usable())
      throw OptionError("--lapack",
                        "'" + options.lapack + "' has no dgbtrf and dgbtrs",
                        "name a shared library of LAPACK");
  }
  std::string lapack() const {
    return lapack_.usable() ? lapack_.name() : "none";
  }

  void run(BandResult& result) {
    load(result.sizes);
    result.sizes = sizes_;
    result.rhs = make_vectors(result.rhs);
    result.note = reason_against(result);
    if (!result.note.empty()) return;
    if (result.algorithm != factored_) {
      forget_factors();
      factor_us_ = 1e6 * factor(result.algorithm);
      factored_ = result.algorithm;
    }
    result.factor_us = factor_us_;
    result.solve_us = 1e6 * solve(result.algorithm);
    result.error = error();
    if (!(result.error <= 1e-9)) result.note = "WRONG";
    if (!options_.solution.empty() && result.right())
      write_matrix_market_array(
          options_.solution,
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x_));
  }

 private:
  using Rows = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

  void load(const BandCase& wanted) {
    if (loaded_ && (!options_.matrix.empty() ||
                    (wanted.n == sizes_.n && wanted.kl == sizes_.kl &&
                     wanted.ku == sizes_.ku)))
      return;
    forget_factors();
    ab_ = b_ = x_ = Block();
    if (!options_.matrix.empty()) {
      using Crs = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
      const auto band =
          band_matrix(Space(), read_matrix_market<Crs>(options_.matrix));
      ab_ = band.ab;
      sizes_.n = static_cast<std::int64_t>(ab_.extent(1));
      sizes_.kl = band.kl;
      sizes_.ku = band.ku;
      const HostArray b = read_matrix_market_array(options_.vectors);
      if (static_cast<std::int64_t>(b.extent(0)) != sizes_.n)
        throw FileError(options_.vectors,
                        "has " + std::to_string(b.extent(0)) +
                            " rows, the matrix " + std::to_string(sizes_.n),
                        "pass right-hand sides of the matrix's size");
      b_ = Block("b", b.extent(0), b.extent(1));
      Kokkos::deep_copy(b_, b);
    } else {
      sizes_ = wanted;
      const std::int64_t lines = sizes_.kl + sizes_.ku + 1;
      ab_ = Block(Kokkos::view_alloc("ab", Kokkos::WithoutInitializing), lines,
                  sizes_.n);
      Kokkos::parallel_for(
          "fill", Rows(0, lines * sizes_.n),
          FillBandProblem<Block>{BandElement{sizes_.n, sizes_.kl, sizes_.ku},
                                 ab_, 0});
    }
    loaded_ = true;
  }

  /// Right-hand sides of all-ones solutions, or the file's; how many there are.
  int make_vectors(int wanted) {
    if (options_.matrix.empty() && static_cast<int>(b_.extent(1)) != wanted) {
      b_ = x_ = Block();
      b_ = Block("b", sizes_.n, wanted);
      Block ones("ones", sizes_.n, 1);
      Kokkos::deep_copy(ones, 1.0);
      const Block first(b_.data(), sizes_.n, 1);
      Kokkos::parallel_for(
          "multiply", Rows(0, sizes_.n),
          MultiplyBand<Block, Block>{ab_, ones, first, sizes_.kl, sizes_.ku});
      Kokkos::parallel_for("repeat", Rows(0, sizes_.n),
                           RepeatColumn<Block>{b_});
    }
    if (x_.extent(1) != b_.extent(1))
      x_ = Block("x", b_.extent(0), b_.extent(1));
    Kokkos::deep_copy(x_, NAN);
    return static_cast<int>(b_.extent(1));
  }

  std::string reason_against(const BandResult& r) const {
    const double n = static_cast<double>(sizes_.n);
    const double kl = static_cast<double>(sizes_.kl);
    const double ku = static_cast<double>(sizes_.ku);
    if (r.algorithm == "dgbsv" && !lapack_.usable()) return "no LAPACK";
    if (r.algorithm == "dgbsv" || r.algorithm == "strata_host") {
      // About what OpenBLAS does on 16 cores: a rate that grows with the band,
      // and substitution by one core for each right-hand side after the other.
      const double seconds =
          2 * n * kl * ku / (5e7 * std::max(std::max(kl, ku), 50.0)) +
          2 * n * (kl + ku + 1) * r.rhs / 3e9;
      if (seconds > options_.max_host_seconds) return "too long";
    }
    if (r.algorithm == "strata_host" && std::is_same<Space, HostSpace>::value)
      return "as strata";
    if (r.algorithm == "cusolver_dense") {
      if (!cusolver_.usable()) return "no cuSOLVER";
      if (n > 25000) return "too large";
    }
    return "";
  }

  /// Median seconds of `work`, each time after `prepare`, which is not counted.
  template <class Prepare, class Work>
  static double median_after(const Prepare& prepare, const Work& work) {
    std::vector<double> samples;
    double spent = 0;
    while (samples.empty() || (samples.size() < 5 && spent < 1)) {
      prepare();
      samples.push_back(seconds(Space(), 1, work));
      spent += samples.back();
    }
    return median(samples);
  }

  void forget_factors() {
    factored_.clear();
    solver_.reset();
    host_solver_.reset();
    host_ab_ = factors_ = HostBlock();
    dense_factors_ = Block();
  }

  double factor(const std::string& algorithm) {
    const Space exec;
    BandOptions options;
    options.max_right_hand_sides =
        *std::max_element(options_.rhs.begin(), options_.rhs.end());
    if (!options_.matrix.empty())
      options.max_right_hand_sides = static_cast<int>(b_.extent(1));
    if (options.max_right_hand_sides < 1) options.max_right_hand_sides = 1;
    if (algorithm == "strata" || algorithm == "strata_pivoting") {
      if (algorithm == "strata_pivoting")
        options.method = BandMethod::partial_pivoting;
      solver_ = std::make_unique<BandSolver<double, Space>>(
          exec, ab_, sizes_.kl, sizes_.ku, options);
      return median_seconds(exec, [&] { solver_->update_values(exec, ab_); });
    }
    if (algorithm == "strata_host") {
      host_ab_ = HostBlock("ab", ab_.extent(0), ab_.extent(1));
      Kokkos::deep_copy(host_ab_, ab_);
      host_solver_ = std::make_unique<BandSolver<double, HostSpace>>(
          HostSpace(), host_ab_, sizes_.kl, sizes_.ku, options);
      return median_seconds(HostSpace(), [&] {
        host_solver_->update_values(HostSpace(), host_ab_);
      });
    }
    const int kl = static_cast<int>(sizes_.kl),
              ku = static_cast<int>(sizes_.ku);
    if (algorithm == "dgbsv") {
      const auto band =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ab_);
      factors_ = HostBlock("factors", 2 * kl + ku + 1, sizes_.n);
      return median_after(
          [&] {
            Kokkos::parallel_for(Kokkos::RangePolicy<HostSpace>(0, sizes_.n),
                                 [&](const int j) {
                                   for (int i = 0; i <= kl + ku; ++i)
                                     factors_(kl + i, j) = band(i, j);
                                 });
            Kokkos::fence();
          },
          [&] { lapack_.factor(factors_, kl, ku); });
    }
    dense_factors_ = Block("dense", sizes_.n, sizes_.n);
    return median_after(
        [&] {
          Kokkos::parallel_for("fill_dense", Rows(0, sizes_.n * sizes_.n),
                               FillDense<Block, Block>{ab_, dense_factors_,
                                                       sizes_.kl, sizes_.ku});
          Kokkos::fence();
        },
        [&] { cusolver_.factor(dense_factors_); });
  }

  double solve(const std::string& algorithm) {
    const Space exec;
    if (solver_)
      return median_seconds(exec, [&] { solver_->solve(exec, b_, x_); });
    const auto host_b =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b_);
    HostBlock host_x("x", b_.extent(0), b_.extent(1));
    double taken = 0;
    if (host_solver_) {
      const HostSpace host;
      taken = median_seconds(
          host, [&] { host_solver_->solve(host, host_b, host_x); });
      Kokkos::deep_copy(x_, host_x);
    } else if (algorithm == "dgbsv") {
      taken =
          median_after([&] { Kokkos::deep_copy(host_x, host_b); },
                       [&] {
                         lapack_.solve(factors_, static_cast<int>(sizes_.kl),
                                       static_cast<int>(sizes_.ku), host_x);
                       });
      Kokkos::deep_copy(x_, host_x);
    } else {
      taken = median_after([&] { Kokkos::deep_copy(x_, b_); },
                           [&] { cusolver_.solve(dense_factors_, x_); });
    }
    return taken;
  }

  /// Distance from the all-ones solution, or for files the largest element of
  /// b - A x over the largest of b.
  double error() {
    Block wanted("wanted", x_.extent(0), x_.extent(1)), found = x_;
    double scale = 1;
    if (options_.matrix.empty()) {
      Kokkos::deep_copy(wanted, 1.0);
    } else {
      found = Block("product", x_.extent(0), x_.extent(1));
      Kokkos::parallel_for(
          "multiply", Rows(0, sizes_.n),
          MultiplyBand<Block, Block>{ab_, x_, found, sizes_.kl, sizes_.ku});
      scale = largest(b_, wanted);
      wanted = b_;
    }
    const double distance = largest(found, wanted);
    return scale > 0 ? distance / scale : distance;
  }
  static double largest(const Block& x, const Block& wanted) {
    double worst = 0;
    Kokkos::parallel_reduce(
        "error", Rows(0, static_cast<std::int64_t>(x.size())),
        LargestError<Block>{x, wanted}, Kokkos::Max<double>(worst));
    return worst;
  }

  const BandPerfOptions& options_;
  LapackBand lapack_;
  CusolverDense<Space> cusolver_;
  bool loaded_ = false;
  BandCase sizes_;
  Block ab_, b_, x_, dense_factors_;
  HostBlock host_ab_, factors_;
  std::string factored_;
  double factor_us_ = NAN;
  std::unique_ptr<BandSolver<double, Space>> solver_;
  std::unique_ptr<BandSolver<double, HostSpace>> host_solver_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
