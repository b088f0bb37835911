// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves by conjugate gradients for one scalar type, STRATA_PERF_SCALAR.
// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosBlas1_update.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <algorithm>
#include <cmath>
#include <detail/Strata_PerfCg.hpp>
#include <detail/Strata_PerfRandomVectors.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <functional>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <limits>
#include <stdexcept>

namespace Strata {
namespace PerfTest {

/// Conjugate gradients as one writes them with Kokkos Kernels: a product, two
/// dots that the host waits for and three vector updates an iteration.
template <class Matrix>
class KokkosKernelsCg {
 public:
  using Scalar = typename Matrix::non_const_value_type;
  using Vector = Kokkos::View<Scalar*, typename Matrix::execution_space>;

  explicit KokkosKernelsCg(const Matrix& A)
      : A_(A),
        r_("r", A.numRows()),
        p_("p", A.numRows()),
        w_("w", A.numRows()) {}

  /// Solves from the x given; returns the iterations.
  /// @param residual set to that of the recursion, relative to b
  int solve(const Vector& b, const Vector& x, double tolerance,
            int max_iterations, double& residual) {
    using std::abs;  // Kokkos::abs of complex numbers is found by itself
    const Scalar one(1);
    KokkosSparse::spmv("N", one, A_, x, Scalar(0), w_);
    KokkosBlas::update(one, b, -one, w_, Scalar(0), r_);
    Kokkos::deep_copy(typename Matrix::execution_space(), p_, r_);
    Scalar rho = KokkosBlas::dot(r_, r_);
    const double size = static_cast<double>(abs(KokkosBlas::dot(b, b)));
    const double limit = tolerance * tolerance * size;
    int it = 0;
    for (; it < max_iterations && !(static_cast<double>(abs(rho)) <= limit);
         ++it) {
      KokkosSparse::spmv("N", one, A_, p_, Scalar(0), w_);
      const Scalar alpha = rho / KokkosBlas::dot(p_, w_);
      KokkosBlas::axpby(alpha, p_, one, x);
      KokkosBlas::axpby(-alpha, w_, one, r_);
      const Scalar next = KokkosBlas::dot(r_, r_);
      KokkosBlas::axpby(one, r_, next / rho, p_);
      rho = next;
    }
    Kokkos::fence();
    residual = std::sqrt(static_cast<double>(abs(rho)) / size);
    return it;
  }

 private:
  Matrix A_;
  Vector r_, p_, w_;
};
namespace {

template <class Scalar>
class Runner : public PerfRunner<CgPerfResult> {
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, int, Space, void, int>;
  using Vector = Kokkos::View<Scalar*, Space>;
  static constexpr bool narrow = sizeof(Detail::RealOf<Scalar>) == 4;
  struct Solved {
    int iterations;
    double residual;  ///< relative, as the solve states it
  };
  /// Solves from x = 0 to the tolerance, in at most so many iterations.
  using Solve = std::function<Solved(double tolerance, int iterations)>;

 public:
  explicit Runner(const CgSettings& settings)
      : tolerance_(settings.tolerance > 0 ? settings.tolerance
                   : narrow               ? 1e-5
                                          : 1e-8),
        most_iterations_(settings.max_iterations),
        solves_(static_cast<std::size_t>(settings.solves)),
        sell_(settings.sell),
        ones_(settings.b == RightHandSide::ones) {}

  void run(benchmark::State& state, CgPerfResult& result) override {
    try {
      load(result.size);
      result.rows = A_.numRows();
      result.entries = static_cast<std::int64_t>(A_.nnz());
      result.to_device_us = 1e6 * to_device_;
      result.from_device_us = 1e6 * from_device_;
      const Solve solve = make(result.algorithm, result);
      Solved done{};
      const double first =
          timed([&] { done = solve(tolerance_, most_iterations_); });
      result.iterations = done.iterations;
      result.status = status_;
      result.relative_error = residual();
      const bool right = is_right(done, result.relative_error, result.own);
      result.iteration_us = 1e6 * iteration_seconds(solve);
      std::vector<double> samples;
      double spent = 0;
      const auto sample = [&] {
        samples.push_back(solves_ == 1 ? first : timed([&] {
          solve(tolerance_, most_iterations_);
        }));
        spent += samples.back();
      };
      for (auto _ : state) {
        (void)_;
        sample();
      }
      while (samples.size() < solves_ ||
             (solves_ > 1 && samples.size() < 7 && spent < 2))
        sample();
      const double middle = median(samples);
      state.SetIterationTime(middle * static_cast<double>(state.iterations()));
      result.solve_us = 1e6 * middle;
      result.outcome = right ? Outcome::right : Outcome::wrong;
    } catch (const std::exception& error) {
      give_up(state, Outcome::failed, error.what(), result);
    }
  }

 private:
  template <class Work>
  double timed(const Work& work) const {
    return seconds(exec_, 1, work);
  }

  void load(int size) {
    if (size == size_) return;
    size_ = 0;
    A_ = Matrix();
    A_ = gallery<Matrix>(exec_, "poisson:" + std::to_string(size));
    b_ = Vector("b", A_.numRows());
    x_ = Vector("x", A_.numRows());
    const auto b = Kokkos::create_mirror(b_);
    Kokkos::deep_copy(b_, Scalar(1));
    if (!ones_)
      draw_vectors(exec_,
                   Kokkos::View<Scalar**, Kokkos::LayoutLeft, Space>(
                       b_.data(), b_.extent(0), 1),
                   777, 0);
    Kokkos::deep_copy(b, b_);
    // What a solve of a system in the host's (pageable) memory would move.
    const auto row_map = Kokkos::create_mirror(A_.graph.row_map);
    const auto entries = Kokkos::create_mirror(A_.graph.entries);
    const auto values = Kokkos::create_mirror(A_.values);
    Kokkos::deep_copy(row_map, A_.graph.row_map);
    Kokkos::deep_copy(entries, A_.graph.entries);
    Kokkos::deep_copy(values, A_.values);
    using Types = Detail::MatrixTypes<Matrix>;
    const typename Types::RowMap to_row_map("row_map", row_map.extent(0));
    const typename Types::Entries to_entries("entries", entries.extent(0));
    to_device_ = timed([&] {
      Kokkos::deep_copy(to_row_map, row_map);
      Kokkos::deep_copy(to_entries, entries);
      Kokkos::deep_copy(A_.values, values);
      Kokkos::deep_copy(b_, b);
    });
    from_device_ = timed([&] { Kokkos::deep_copy(b, x_); });
    size_ = size;
  }

  Solve own(const std::string& name, CgPerfResult& result) {
    using Cg = ConjugateGradient<Scalar, Space>;
    std::shared_ptr<SellMatrix<Scalar, Space>> A;
    std::shared_ptr<JacobiPreconditioner<Scalar, Space>> jacobi;
    std::shared_ptr<IncompleteFactorization<Scalar, Space>> incomplete;
    const bool coloured = name == "strata_ic0";
    const bool natural = name == "strata_ic0_natural";
    const auto set_up = [&] {
      A = std::make_shared<SellMatrix<Scalar, Space>>(exec_, A_, sell_of(name));
      if (name == "strata_jacobi")
        jacobi =
            std::make_shared<JacobiPreconditioner<Scalar, Space>>(exec_, A_);
      IncompleteFactorizationOptions how;
      how.order = coloured ? FactorOrder::coloured : FactorOrder::natural;
      if (coloured || natural)
        incomplete = std::make_shared<IncompleteFactorization<Scalar, Space>>(
            exec_, A_, Factorization::incomplete_cholesky, how);
    };
    result.setup_us =
        1e6 * (natural ? timed(set_up) : median_seconds(exec_, set_up));
    return [this, A, jacobi, incomplete](double tolerance, int iterations) {
      CgOptions options;
      options.relative_tolerance = tolerance;
      options.max_iterations = iterations;
      if (!own_ || own_->rows() != A->rows() ||
          own_->options().relative_tolerance != tolerance ||
          own_->options().max_iterations != iterations)
        own_ = std::make_shared<Cg>(exec_, A->rows(), options);
      Kokkos::deep_copy(exec_, x_, Scalar(0));
      const CgResult done = jacobi ? own_->solve(exec_, *A, *jacobi, b_, x_)
                            : incomplete
                                ? own_->solve(exec_, *A, *incomplete, b_, x_)
                                : own_->solve(exec_, *A, b_, x_);
      status_ = to_string(done.status);
      return Solved{done.iterations, done.residual_norm / done.rhs_norm};
    };
  }
  SellOptions sell_of(const std::string& name) const {
    SellOptions options = sell_;
    options.use_diagonals = name != "strata_columns";
    return options;
  }
  Solve make(const std::string& name, CgPerfResult& result) {
    own_.reset();
    status_.clear();
    if (is_stratas(name)) return own(name, result);
    const auto peer = std::make_shared<KokkosKernelsCg<Matrix>>(A_);
    return [this, peer](double tolerance, int iterations) {
      Kokkos::deep_copy(exec_, x_, Scalar(0));
      double residual = 0;
      const int done = peer->solve(b_, x_, tolerance, iterations, residual);
      status_ = residual <= tolerance ? "converged" : "max_iterations";
      return Solved{done, residual};
    };
  }

  /// The difference of solves of 60 and of 20 iterations, medians of five.
  double iteration_seconds(const Solve& solve) const {
    double taken[2];
    for (int i = 0; i < 2; ++i) {
      const int count = i == 0 ? 20 : 60;
      solve(0, count);
      std::vector<double> samples;
      for (int k = 0; k < 5; ++k)
        samples.push_back(timed([&] { solve(0, count); }));
      taken[i] = median(samples);
    }
    return (taken[1] - taken[0]) / 40;
  }

  /// A solve that was stopped by the cap on iterations is right where its
  /// residual is the one that it states. What rounding x leaves counts twice
  /// for ours, which begins anew from b - A x. A peer's x is rounded in each
  /// iteration, which adds up as random errors do.
  bool is_right(const Solved& done, double true_residual, bool own) const {
    const double attained =
        attainable() *
        (own ? 2
             : std::sqrt(static_cast<double>(std::max(4, done.iterations))));
    if (true_residual <= std::max(2.1 * tolerance_, attained)) return true;
    return status_ == "max_iterations" && done.iterations == most_iterations_ &&
           true_residual < 1 &&
           std::abs(true_residual - done.residual) <=
               0.1 * true_residual + attained;
  }

  double residual() const {
    const Vector r("r", b_.extent(0));
    Kokkos::deep_copy(r, b_);
    KokkosSparse::spmv("N", Scalar(-1), A_, x_, Scalar(1), r);
    Kokkos::fence();
    return static_cast<double>(KokkosBlas::nrm2(r)) /
           static_cast<double>(KokkosBlas::nrm2(b_));
  }

  /// The relative residual that rounding x alone may leave: the unit roundoff
  /// times ||A|| <= 12 times ||x|| / ||b||. In float the recursion's residual
  /// goes on where that has stopped.
  double attainable() const {
    const double epsilon = narrow ? std::numeric_limits<float>::epsilon()
                                  : std::numeric_limits<double>::epsilon();
    return epsilon / 2 * 12 * static_cast<double>(KokkosBlas::nrm2(x_)) /
           static_cast<double>(KokkosBlas::nrm2(b_));
  }

  Space exec_;
  double tolerance_;
  int most_iterations_;
  std::size_t solves_;
  SellOptions sell_;
  bool ones_;
  int size_ = 0;
  Matrix A_;
  Vector b_, x_;
  double to_device_ = 0, from_device_ = 0;
  std::string status_;
  std::shared_ptr<ConjugateGradient<Scalar, Space>> own_;
};

const CgRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
