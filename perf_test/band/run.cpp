// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Band systems and measurements for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_BandSolver.hpp>
#include <algorithm>
#include <detail/Strata_PerfBand.hpp>
#include <detail/Strata_PerfBandLapack.hpp>
#include <detail/Strata_PerfBandPeers.hpp>
#include <detail/Strata_PerfBandProblem.hpp>
#include <detail/Strata_PerfBandRowByRow.hpp>
#include <detail/Strata_PerfBandTime.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <kernels/band/TileTeam.hpp>
#include <limits>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using HostSpace = Kokkos::DefaultHostExecutionSpace;

/// A solver of one system takes views of rank 2, of a batch of rank 3.
template <class Block, class Use>
void with_rank(const Block& block, const Use& use) {
  if (block.extent(2) == 1)
    use([](const auto& v) {
      return Kokkos::subview(v, Kokkos::ALL, Kokkos::ALL, 0);
    });
  else
    use([](const auto& v) { return v; });
}

/// Keeps the latest matrix and the latest factors.
template <class Scalar>
class Runner : public BandRunner {
  using Memory = Space::memory_space;
  /// Rows x columns x systems.
  using Block = Kokkos::View<Scalar***, Kokkos::LayoutLeft, Memory>;
  using OnHost = HostBlock<Scalar>;
  using RowByRow = BandRowByRow<Scalar, Space>;
  using Rows = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  static constexpr bool real = std::is_floating_point<Scalar>::value;

 public:
  explicit Runner(const BandPerfOptions& options)
      : options_(options),
        lapack_(options.lapack, lapack_letter(options.scalar)),
        cusolver_(lapack_letter(options.scalar)) {
    if (!options.lapack.empty() && !lapack_.usable())
      throw OptionError(
          "--lapack", "'" + options.lapack + "' has no " + lapack_.functions(),
          "name a shared library of LAPACK");
    if (options.batch > 1) lapack_.one_thread_a_call();
  }
  std::string lapack() const override {
    return lapack_.usable() ? lapack_.name() : "none";
  }

  void run(benchmark::State& state, BandResult& result) override {
    load(result.sizes);
    result.message = reason_against(result);
    if (!result.message.empty())
      return give_up(state, Outcome::left_out, result.message, result);
    try {
      for (auto _ : state) {
        measure(result);
        state.SetIterationTime(1e-6 * result.total_us);
      }
    } catch (const std::exception& error) {
      forget_factors();
      b_ = x_ = Block();
      give_up(state, Outcome::failed, error.what(), result);
    }
  }

 private:
  void measure(BandResult& result) {
    make_vectors(result.rhs);
    if (result.algorithm != factored_) {
      forget_factors();
      factor_us_ = 1e6 * factor(result.algorithm);
      factored_ = result.algorithm;
    }
    result.factor_us = factor_us_;
    result.solve_us = 1e6 * solve();
    result.total_us = result.factor_us + result.solve_us;
    result.relative_error = error();
    result.outcome = result.relative_error <= largest_error() ? Outcome::right
                                                              : Outcome::wrong;
  }

  void load(const BandCase& wanted) {
    if (loaded_ && wanted.n == sizes_.n && wanted.kl == sizes_.kl &&
        wanted.ku == sizes_.ku)
      return;
    loaded_ = false;
    forget_factors();
    ab_ = b_ = x_ = Block();
    sizes_ = wanted;
    const std::int64_t lines = sizes_.kl + sizes_.ku + 1;
    ab_ = Block(Kokkos::view_alloc("ab", Kokkos::WithoutInitializing), lines,
                sizes_.n, options_.batch);
    Kokkos::parallel_for(
        "fill", Rows(0, static_cast<std::int64_t>(ab_.size())),
        FillBandProblem<Scalar, Block>{{sizes_.n, sizes_.kl, sizes_.ku}, ab_});
    loaded_ = true;
  }

  /// b of all-ones solutions; x not a number.
  void make_vectors(int rhs) {
    const auto rows = static_cast<std::size_t>(sizes_.n);
    const auto columns = static_cast<std::size_t>(rhs);
    if (b_.extent(0) != rows || b_.extent(1) != columns) {
      b_ = x_ = Block();
      b_ = Block("b", rows, columns, options_.batch);
      Block ones("ones", rows, 1, options_.batch);
      Kokkos::deep_copy(ones, Scalar(1));
      const Rows all(0, sizes_.n * options_.batch);
      Kokkos::parallel_for(
          "multiply", all,
          MultiplyBand<Scalar, Block>{ab_, ones, b_, sizes_.n, sizes_.kl,
                                      sizes_.ku, 1});
      Kokkos::parallel_for("repeat", all, RepeatColumn<Block>{b_});
      x_ = Block("x", rows, columns, options_.batch);
    }
    Kokkos::deep_copy(x_, Scalar(NAN));
  }

  bool is_lapack(const std::string& algorithm) const {
    return algorithm == lapack_band_name(options_.scalar);
  }
  std::string reason_against(const BandResult& r) const {
    const bool lapack = is_lapack(r.algorithm);
    if (lapack && !lapack_.usable()) return "no LAPACK";
    if (r.algorithm == "strata_host" && std::is_same<Space, HostSpace>::value)
      return "as strata";
    if (is_row_by_row(r.algorithm)) {
      if (options_.batch > 1) return "a batch";
      const bool on_host = r.algorithm != "row_by_row_parallel" ||
                           std::is_same<Space, HostSpace>::value;
      if (on_host &&
          RowByRow::seconds_expected(sizes_, r.rhs) > options_.max_host_seconds)
        return "too long";
    }
    const double weight =
        static_cast<double>(sizeof(Scalar)) / 8 * (real ? 1 : 2);
    if ((lapack || r.algorithm == "strata_host") &&
        lapack_seconds(sizes_, r.rhs, options_.batch, weight) >
            options_.max_host_seconds)
      return "too long";
    if (r.algorithm == "cusolver_dense") {
      if (!cusolver_.usable()) return "no cuSOLVER";
      if (options_.batch > 1) return "a batch";
      if (sizes_.n > 25000) return "too large";
    }
    return "";
  }

  void forget_factors() {
    factored_.clear();
    solver_.reset();
    host_solver_.reset();
    host_ab_ = OnHost();
    row_by_row_.forget();
    lapack_.forget();
    dense_factors_ = Block();
  }

  double factor(const std::string& algorithm) {
    const Space exec;
    BandOptions options;
    double taken = 0;
    if (algorithm == "strata" || algorithm == "strata_pivoting") {
      if (algorithm == "strata_pivoting")
        options.method = BandMethod::partial_pivoting;
      with_rank(ab_, [&](const auto& as) {
        solver_ = std::make_unique<BandSolver<Scalar, Space>>(
            exec, as(ab_), sizes_.kl, sizes_.ku, options);
        taken = median_seconds(exec,
                               [&] { solver_->update_values(exec, as(ab_)); });
      });
      return taken;
    }
    if (algorithm == "strata_host") {
      host_ab_ = OnHost("ab", ab_.extent(0), ab_.extent(1), ab_.extent(2));
      Kokkos::deep_copy(host_ab_, ab_);
      const HostSpace host;
      with_rank(host_ab_, [&](const auto& as) {
        host_solver_ = std::make_unique<BandSolver<Scalar, HostSpace>>(
            host, as(host_ab_), sizes_.kl, sizes_.ku, options);
        taken = median_seconds(
            exec, [&] { host_solver_->update_values(host, as(host_ab_)); });
      });
      return taken;
    }
    if (is_row_by_row(algorithm))
      return row_by_row_.time_factor(algorithm, ab_, sizes_);
    if (is_lapack(algorithm)) return lapack_.time_factor(ab_, sizes_);
    dense_factors_ = Block("dense", sizes_.n, sizes_.n, 1);
    return median_after(
        [&] {
          Kokkos::parallel_for("fill_dense", Rows(0, sizes_.n * sizes_.n),
                               FillDenseOfBand<Scalar, Block>{
                                   ab_, dense_factors_, sizes_.kl, sizes_.ku});
          Kokkos::fence();
        },
        [&] { cusolver_.factor(dense_factors_); });
  }

  double solve() {
    const Space exec;
    double taken = 0;
    if (solver_) {
      with_rank(b_, [&](const auto& as) {
        taken =
            median_seconds(exec, [&] { solver_->solve(exec, as(b_), as(x_)); });
      });
      return taken;
    }
    if (row_by_row_.has_factors()) return row_by_row_.time_solve(b_, x_);
    if (dense_factors_.size() > 0)
      return median_after([&] { Kokkos::deep_copy(x_, b_); },
                          [&] { cusolver_.solve(dense_factors_, x_); });
    const auto host_b =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b_);
    const OnHost host_x("x", b_.extent(0), b_.extent(1), b_.extent(2));
    if (host_solver_) {
      const HostSpace host;
      with_rank(host_b, [&](const auto& as) {
        taken = median_seconds(
            exec, [&] { host_solver_->solve(host, as(host_b), as(host_x)); });
      });
    } else {
      taken = lapack_.time_solve(host_b, host_x);
    }
    Kokkos::deep_copy(x_, host_x);
    return taken;
  }

  /// Distance from the all-ones solution.
  double error() const {
    double worst = 0;
    Kokkos::parallel_reduce(
        "distance", Rows(0, static_cast<std::int64_t>(x_.size())),
        LargestDistance<Scalar>{x_.data()}, Kokkos::Max<double>(worst));
    return worst;
  }
  /// See band_usage().
  double largest_error() const {
    using Real = typename Detail::BandRealOf<Scalar>::type;
    return std::numeric_limits<Real>::epsilon() *
           static_cast<double>(10 * (sizes_.kl + sizes_.ku + 2));
  }

  const BandPerfOptions& options_;
  LapackBand<Scalar> lapack_;
  CusolverDense<Scalar, Space> cusolver_;
  bool loaded_ = false;
  BandCase sizes_;
  Block ab_, b_, x_, dense_factors_;
  OnHost host_ab_;
  RowByRow row_by_row_;
  std::string factored_;
  double factor_us_ = NAN;
  std::unique_ptr<BandSolver<Scalar, Space>> solver_;
  std::unique_ptr<BandSolver<Scalar, HostSpace>> host_solver_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<BandRunner> make_band_runner(const BandPerfOptions& options) {
  return std::make_unique<Runner<Scalar>>(options);
}
template std::unique_ptr<BandRunner> make_band_runner<STRATA_PERF_SCALAR>(
    const BandPerfOptions&);

}  // namespace PerfTest
}  // namespace Strata
