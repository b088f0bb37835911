// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Band systems and measurements for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_BandMatrix.hpp>
#include <Strata_BandSolver.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_MatrixMarketArray.hpp>
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

  void run(BandResult& result) override {
    load(result.sizes);
    result.sizes = sizes_;
    if (!options_.matrix.empty()) result.rhs = static_cast<int>(b_.extent(1));
    const BandPart part = part_for(result);
    result.note = reason_against(result, part);
    if (!result.note.empty()) return;
    try {
      measure(result, part);
    } catch (const Error&) {
      throw;  // of the arguments, not of what there is of memory or libraries
    } catch (const std::exception& error) {
      forget_factors();
      b_ = x_ = Block();
      result.note = "failed";
      result.message = error.what();
    }
  }

 private:
  void measure(BandResult& result, const BandPart& part) {
    make_vectors(part);
    if (result.algorithm != factored_) {
      forget_factors();
      factor_us_ = 1e6 * factor(result.algorithm, part.rows);
      factored_ = result.algorithm;
    }
    result.factor_us = factor_us_;
    result.solve_us = 1e6 * solve();
    result.error = error();
    if (!(result.error <= largest_error())) result.note = "WRONG";
    if (part.rows < sizes_.n || part.rhs < result.rhs) result.part = part;
    write_solution(result);
  }

  void load(const BandCase& wanted) {
    if (loaded_ && (!options_.matrix.empty() ||
                    (wanted.n == sizes_.n && wanted.kl == sizes_.kl &&
                     wanted.ku == sizes_.ku)))
      return;
    loaded_ = false;
    forget_factors();
    ab_ = b_ = x_ = Block();
    if (!options_.matrix.empty()) {
      read_files();
    } else {
      sizes_ = wanted;
      const std::int64_t lines = sizes_.kl + sizes_.ku + 1;
      ab_ = Block(Kokkos::view_alloc("ab", Kokkos::WithoutInitializing), lines,
                  sizes_.n, options_.batch);
      Kokkos::parallel_for("fill",
                           Rows(0, static_cast<std::int64_t>(ab_.size())),
                           FillBandProblem<Scalar, Block>{
                               {sizes_.n, sizes_.kl, sizes_.ku}, ab_});
    }
    loaded_ = true;
  }

  void read_files() {
    if constexpr (real) {
      using Crs = KokkosSparse::CrsMatrix<Scalar, int, Space, void, int>;
      const auto band =
          band_matrix(Space(), read_matrix_market<Crs>(options_.matrix));
      sizes_.n = static_cast<std::int64_t>(band.ab.extent(1));
      sizes_.kl = band.kl;
      sizes_.ku = band.ku;
      ab_ = Block("ab", band.ab.extent(0), band.ab.extent(1), 1);
      Kokkos::deep_copy(Kokkos::subview(ab_, Kokkos::ALL, Kokkos::ALL, 0),
                        band.ab);
      const HostArray b = read_matrix_market_array(options_.vectors);
      if (static_cast<std::int64_t>(b.extent(0)) != sizes_.n)
        throw FileError(options_.vectors,
                        "has " + std::to_string(b.extent(0)) +
                            " rows, the matrix " + std::to_string(sizes_.n),
                        "pass right-hand sides of the matrix's size");
      b_ = Block("b", b.extent(0), b.extent(1), 1);
      const auto host = Kokkos::create_mirror_view(b_);
      std::copy(b.data(), b.data() + b.size(), host.data());
      Kokkos::deep_copy(b_, host);
    }
  }

  /// That of the first algorithm that is right.
  void write_solution(const BandResult& result) {
    if constexpr (real) {
      if (options_.solution.empty() || written_ || !result.right()) return;
      written_ = true;
      const auto host =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x_);
      const HostArray x("x", host.extent(0), host.extent(1));
      std::copy(host.data(), host.data() + host.size(), x.data());
      write_matrix_market_array(options_.solution, x);
    }
  }

  /// b of all-ones solutions of the leading rows, or the file's; x not a
  /// number.
  void make_vectors(const BandPart& part) {
    const auto rows = static_cast<std::size_t>(part.rows);
    const auto columns = static_cast<std::size_t>(part.rhs);
    if (options_.matrix.empty() &&
        (b_.extent(0) != rows || b_.extent(1) != columns)) {
      b_ = x_ = Block();
      b_ = Block("b", rows, columns, options_.batch);
      Block ones("ones", rows, 1, options_.batch);
      Kokkos::deep_copy(ones, Scalar(1));
      multiply(ones, b_, 1);
      Kokkos::parallel_for(
          "repeat", Rows(0, static_cast<std::int64_t>(rows) * options_.batch),
          RepeatColumn<Block>{b_});
    }
    if (x_.extent(0) != b_.extent(0) || x_.extent(1) != b_.extent(1))
      x_ = Block("x", b_.extent(0), b_.extent(1), b_.extent(2));
    Kokkos::deep_copy(x_, Scalar(NAN));
  }
  void multiply(const Block& x, const Block& b, std::int64_t columns) const {
    const auto n = static_cast<std::int64_t>(b.extent(0));
    Kokkos::parallel_for("multiply",
                         Rows(0, n * static_cast<std::int64_t>(b.extent(2))),
                         MultiplyBand<Scalar, Block>{ab_, x, b, n, sizes_.kl,
                                                     sizes_.ku, columns});
  }

  bool is_lapack(const std::string& algorithm) const {
    return algorithm == lapack_band_name(options_.scalar);
  }
  /// What of the system LAPACK can do in the time that it has; else all.
  BandPart part_for(const BandResult& r) const {
    const BandPart whole{sizes_.n, r.rhs};
    if (!is_lapack(r.algorithm) && r.algorithm != "strata_host") return whole;
    const BandHostTime time(sizes_, options_.batch, sizeof(Scalar), real);
    return time.part_within(options_.max_host_seconds, whole);
  }
  std::string reason_against(const BandResult& r, const BandPart& part) const {
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
    if (part.rows < sizes_.n || part.rhs < r.rhs) {
      if (!lapack || !options_.lower_bounds || !options_.matrix.empty())
        return "too long";
    }
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

  double factor(const std::string& algorithm, std::int64_t rows) {
    const Space exec;
    BandOptions options;
    double taken = 0;
    if (algorithm == "strata" || algorithm == "strata_pivoting") {
      if (algorithm == "strata_pivoting")
        options.method = BandMethod::partial_pivoting;
      with_rank(ab_, [&](const auto& as) {
        solver_ = std::make_unique<BandSolver<Scalar, Space>>(
            exec, as(ab_), sizes_.kl, sizes_.ku, options);
        taken = median_of([&] { solver_->update_values(exec, as(ab_)); });
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
        taken =
            median_of([&] { host_solver_->update_values(host, as(host_ab_)); });
      });
      return taken;
    }
    if (is_row_by_row(algorithm))
      return row_by_row_.time_factor(algorithm, ab_, sizes_);
    if (is_lapack(algorithm)) return lapack_.time_factor(ab_, sizes_, rows);
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
        taken = median_of([&] { solver_->solve(exec, as(b_), as(x_)); });
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
        taken = median_of(
            [&] { host_solver_->solve(host, as(host_b), as(host_x)); });
      });
    } else {
      taken = lapack_.time_solve(host_b, host_x);
    }
    Kokkos::deep_copy(x_, host_x);
    return taken;
  }

  /// Distance from the all-ones solution, or the backward error for files.
  double error() const {
    if (options_.matrix.empty()) {
      const Block ones("ones", x_.extent(0), x_.extent(1), x_.extent(2));
      Kokkos::deep_copy(ones, Scalar(1));
      return largest(x_, &ones);
    }
    const Block product("product", x_.extent(0), x_.extent(1), 1);
    multiply(x_, product, static_cast<std::int64_t>(x_.extent(1)));
    double of_a = 0;
    Kokkos::parallel_reduce(
        "row_sum", Rows(0, sizes_.n),
        LargestRowSum<Scalar, Block>{ab_, sizes_.n, sizes_.kl, sizes_.ku},
        Kokkos::Max<double>(of_a));
    const double scale = of_a * largest(x_) + largest(b_);
    const double distance = largest(product, &b_);
    return scale > 0 ? distance / scale : distance;
  }
  /// Of `error`, see band_usage().
  double largest_error() const {
    using Real = typename Detail::BandRealOf<Scalar>::type;
    const double eps = std::numeric_limits<Real>::epsilon();
    const auto factor = options_.matrix.empty()
                            ? 10 * (sizes_.kl + sizes_.ku + 2)
                            : std::max<std::int64_t>(sizes_.n, 10);
    return eps * static_cast<double>(factor);
  }
  static double largest(const Block& a, const Block* b = nullptr) {
    double worst = 0;
    Kokkos::parallel_reduce(
        "largest", Rows(0, static_cast<std::int64_t>(a.size())),
        LargestDistance<Scalar>{a.data(), b ? b->data() : nullptr},
        Kokkos::Max<double>(worst));
    return worst;
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
  bool written_ = false;  ///< a solution, to a file
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
