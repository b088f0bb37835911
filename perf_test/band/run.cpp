// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Band systems and measurements for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_BandSolver.hpp>
#include <detail/Strata_PerfBandPeers.hpp>
#include <detail/Strata_PerfBandRowByRow.hpp>
#include <kernels/band/TileTeam.hpp>
#include <limits>
#include <optional>

namespace Strata {
namespace PerfTest {
namespace {

template <class Scalar>
class OwnBand : public BandAlgorithm<Scalar> {
  using Block = typename BandAlgorithm<Scalar>::Block;
  using Space = typename BandAlgorithm<Scalar>::Space;

 public:
  OwnBand(const BandCase& sizes, bool pivots) : sizes_(sizes) {
    if (pivots) options_.method = BandMethod::partial_pivoting;
  }
  double time_factor(const Block& ab) override {
    solver_.emplace(exec_, ab, sizes_.kl, sizes_.ku, options_);
    return median_seconds(exec_, [&] { solver_->update_values(exec_, ab); });
  }
  double time_solve(const Block& b, const Block& x) override {
    return median_seconds(exec_, [&] { solver_->solve(exec_, b, x); });
  }

 private:
  BandCase sizes_;
  Space exec_;
  BandOptions options_;
  std::optional<BandSolver<Scalar, Space>> solver_;
};

/// Keeps the latest matrix and the latest factors.
template <class Scalar>
class Runner : public PerfRunner<BandResult> {
  using Block = typename BandAlgorithm<Scalar>::Block;
  using Space = typename BandAlgorithm<Scalar>::Space;
  using Rows = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  static constexpr bool real = std::is_floating_point<Scalar>::value;
  static constexpr bool on_host =
      std::is_same<Space, Kokkos::DefaultHostExecutionSpace>::value;

 public:
  explicit Runner(const BandPerfOptions& options) : options_(options) {}

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
      algorithm_.reset();
      b_ = x_ = Block();
      give_up(state, Outcome::failed, error.what(), result);
    }
  }

 private:
  void measure(BandResult& result) {
    make_vectors(result.rhs);
    if (!algorithm_ || result.algorithm != name_) {
      algorithm_.reset();
      algorithm_ = make(result.algorithm);
      name_ = result.algorithm;
      factor_us_ = 1e6 * algorithm_->time_factor(ab_);
    }
    result.factor_us = factor_us_;
    result.solve_us = 1e6 * algorithm_->time_solve(b_, x_);
    result.total_us = result.factor_us + result.solve_us;
    result.relative_error = error();
    result.outcome = result.relative_error <= largest_error() ? Outcome::right
                                                              : Outcome::wrong;
  }

  void load(const BandCase& wanted) {
    if (ab_.size() > 0 && wanted.n == sizes_.n && wanted.kl == sizes_.kl &&
        wanted.ku == sizes_.ku)
      return;
    algorithm_.reset();
    ab_ = b_ = x_ = Block();
    sizes_ = wanted;
    ab_ = Block(Kokkos::view_alloc("ab", Kokkos::WithoutInitializing),
                sizes_.kl + sizes_.ku + 1, sizes_.n);
    Kokkos::parallel_for(
        "fill", Rows(0, static_cast<std::int64_t>(ab_.size())),
        FillBandProblem<Scalar, Block>{{sizes_.n, sizes_.kl, sizes_.ku}, ab_});
  }

  /// b of all-ones solutions; x not a number.
  void make_vectors(int rhs) {
    const auto rows = static_cast<std::size_t>(sizes_.n);
    const auto columns = static_cast<std::size_t>(rhs);
    if (b_.extent(0) != rows || b_.extent(1) != columns) {
      b_ = x_ = Block();
      b_ = Block("b", rows, columns);
      Kokkos::parallel_for(
          "sum_rows", Rows(0, sizes_.n),
          SumBandRows<Scalar, Block>{ab_, b_, sizes_.n, sizes_.kl, sizes_.ku});
      x_ = Block("x", rows, columns);
    }
    Kokkos::deep_copy(x_, Scalar(NAN));
  }

  bool is_lapack(const std::string& algorithm) const {
    return algorithm == lapack_band_name(options_.scalar);
  }
  std::string reason_against(const BandResult& r) const {
    const double weight =
        static_cast<double>(sizeof(Scalar)) / 8 * (real ? 1 : 2);
    double expected = 0;
    if (is_lapack(r.algorithm)) {
#ifndef STRATA_PERF_LAPACK
      return "no LAPACK";
#endif
      expected = lapack_seconds(sizes_, r.rhs, weight);
    }
    if (starts_with(r.algorithm, "row_by_row") &&
        (on_host || r.algorithm != "row_by_row_parallel"))
      expected = row_by_row_seconds(sizes_, r.rhs);
    if (expected > options_.max_host_seconds) return "too long";
    if (r.algorithm == "cusolver_dense") {
#ifndef STRATA_PERF_CUSOLVER
      return "no cuSOLVER";
#endif
      if (sizes_.n > 25000) return "too large";
    }
    return "";
  }

  std::unique_ptr<BandAlgorithm<Scalar>> make(const std::string& name) const {
    using Device = typename Space::memory_space;
    if (name == "row_by_row_parallel")
      return std::make_unique<BandRowByRow<Scalar, Device>>(sizes_, name);
    if (starts_with(name, "row_by_row"))
      return std::make_unique<BandRowByRow<Scalar, Kokkos::HostSpace>>(sizes_,
                                                                       name);
#ifdef STRATA_PERF_LAPACK
    if (is_lapack(name)) return std::make_unique<LapackBand<Scalar>>(sizes_);
#endif
#ifdef STRATA_PERF_CUSOLVER
    if (name == "cusolver_dense")
      return std::make_unique<CusolverDense<Scalar>>(sizes_);
#endif
    return std::make_unique<OwnBand<Scalar>>(sizes_, name == "strata_pivoting");
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
    using Real = Detail::RealOf<Scalar>;
    return std::numeric_limits<Real>::epsilon() *
           static_cast<double>(10 * (sizes_.kl + sizes_.ku + 2));
  }

  const BandPerfOptions& options_;
  BandCase sizes_;
  Block ab_, b_, x_;
  std::string name_;
  std::unique_ptr<BandAlgorithm<Scalar>> algorithm_;
  double factor_us_ = NAN;
};

const BandRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
