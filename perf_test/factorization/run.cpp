// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices and measurements of incomplete factorisations for one scalar type,
// STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <detail/Strata_PerfFactorCheck.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <detail/Strata_PerfSerialFactors.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <detail/Strata_PerfTriangle.hpp>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

namespace Strata {
namespace PerfTest {
namespace {

/// S A S, with powers of two on the diagonal of S.
template <class Matrix>
Matrix scaled(const Matrix& A) {
  using Scalar = typename Matrix::non_const_value_type;
  const auto scale = [](int row) { return double(1 << row % 3); };
  return with_values(A, [&](int row, int column, const Scalar& value, int) {
    return value * Scalar(scale(row) * scale(column));
  });
}

/// @throws std::runtime_error unless A = A^H, within 64 roundings
template <class Scalar>
void require_hermitian(const FactorProblem<Scalar>& problem) {
  using W = WideType<Scalar>;
  std::vector<int> next(problem.rows());
  for (int i = 0; i < problem.rows(); ++i) next[i] = problem.row_map(i);
  // Columns of row j are met in the order of rows i.
  for (int i = 0; i < problem.rows(); ++i)
    for (int k = problem.row_map(i); k < problem.row_map(i + 1); ++k) {
      const int j = problem.entries(k), mirror = next[j]++;
      const auto value = W::from(problem.values(k));
      if (mirror >= problem.row_map(j + 1) || problem.entries(mirror) != i ||
          std::abs(value - std::conj(W::from(problem.values(mirror)))) >
              64 * unit_roundoff<Scalar>() * std::abs(value))
        throw std::runtime_error("is not Hermitian in row " +
                                 std::to_string(i));
    }
}

template <class Scalar>
FactorProblem<Scalar> load_problem(const MatrixSource& source,
                                   const FactorizationSettings& settings) {
  using Kokkos::create_mirror_view_and_copy;
  using Matrix = typename FactorProblem<Scalar>::Matrix;
  const typename FactorProblem<Scalar>::ExecutionSpace exec;
  FactorProblem<Scalar> problem;
  problem.kind = settings.kind;
  problem.enqueue_updates = settings.enqueue_updates;
  Matrix A = load_square_matrix<Matrix>(exec, source);
  if (settings.diagonal == DiagonalValues::dominant)
    A = complete_diagonal(A, NewDiagonal::everywhere);
  problem.matrix = A;
  problem.other = scaled(A);
  const Kokkos::HostSpace host;
  problem.row_map = create_mirror_view_and_copy(host, A.graph.row_map);
  problem.entries = create_mirror_view_and_copy(host, A.graph.entries);
  problem.values = create_mirror_view_and_copy(host, A.values);
  problem.other_values =
      create_mirror_view_and_copy(host, problem.other.values);
  problem.diagonal = diagonal_places(problem);
  if (settings.kind == FactorizationKind::ic0) require_hermitian(problem);
  TriangleInput lower;
  lower.diag = Diag::unit;
  lower.take_triangle = true;
  problem.levels = count_levels(A, lower);

  SerialFactorizer<Scalar> serial(problem);
  serial.analyse();
  serial.compute(problem.matrix);
  problem.reference = serial.factors();
  for (int i = 0; i < problem.rows(); ++i) {
    bool usable = !(problem.reference[problem.diagonal[i]] == Scalar(0));
    for (int k = problem.row_map(i); k < problem.row_map(i + 1); ++k)
      // An infinity less itself is a NaN, and a NaN equals nothing.
      usable =
          usable && problem.reference[k] - problem.reference[k] == Scalar(0);
    if (!usable)
      throw std::runtime_error("elimination fails in row " + std::to_string(i));
  }

  const auto n = static_cast<std::size_t>(problem.rows());
  std::mt19937_64 engine(20261121);
  for (std::size_t i = 0; i < n; ++i)
    problem.host_b.push_back(RandomScalar<Scalar>::draw(engine));
  problem.b = typename FactorProblem<Scalar>::Vectors("b", n, 1);
  problem.x = typename FactorProblem<Scalar>::Vectors("x", n, 1);
  Kokkos::deep_copy(
      problem.b,
      Kokkos::View<const Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace,
                   Kokkos::MemoryUnmanaged>(problem.host_b.data(), n, 1));
  return problem;
}

template <class Scalar>
class Runner : public MatrixRunner<FactorizationResult, FactorProblem<Scalar>> {
 public:
  explicit Runner(const FactorizationSettings& settings)
      : MatrixRunner<FactorizationResult, FactorProblem<Scalar>>(
            settings.max_seconds),
        settings_(settings) {}

 private:
  using MatrixRunner<FactorizationResult, FactorProblem<Scalar>>::problem_;

  std::unique_ptr<FactorProblem<Scalar>> load(
      const MatrixSource& source) override {
    try {
      return std::make_unique<FactorProblem<Scalar>>(
          load_problem<Scalar>(source, settings_));
    } catch (const std::runtime_error& error) {
      if (settings_.diagonal == DiagonalValues::dominant) throw;
      throw std::runtime_error(error.what() +
                               std::string("; --diagonal dominant may help"));
    }
  }
  void forget_algorithm() override { algorithm_.reset(); }

  void measure(benchmark::State& state, FactorizationResult& result) override {
    result.rows = problem_->rows();
    result.entries = problem_->num_entries();
    result.levels = problem_->levels;
    prepare(result);
    result.numeric_us = 1e6 * timing_loop(state, exec_, batch_, [this] {
                          algorithm_->compute(next_values());
                        });
  }

  /// Checks the algorithm's answers and takes all times but that of the numeric
  /// phase.
  void prepare(FactorizationResult& result) {
    if (!algorithm_ || result.algorithm != known_.algorithm) {
      algorithm_.reset();
      known_ = result;
      algorithm_ = result.own
                       ? make_own_factorizer(result.algorithm, *problem_)
                       : make_peer_factorizer(result.algorithm, *problem_);
      verify();
      this->require_time();
      take_times();
    }
    result = known_;
  }

  void verify() {
    const auto& A = problem_->matrix;
    Factorizer<Scalar>& algorithm = *algorithm_;
    // Factors of other values must not pass for those of A.
    algorithm.analyse();
    algorithm.compute(problem_->other);
    algorithm.compute(A);
    exec_.fence();
    const auto factors = algorithm.factors();
    const FactorErrors errors = factor_errors(*problem_, factors);
    known_.relative_error = errors.relative;
    std::ostringstream message;
    if (!(errors.over_bound <= 1))
      message << "|LU - A| is " << errors.over_bound
              << " times its bound in row " << errors.row << "; ";

    algorithm.make_ready();
    algorithm.update_values(problem_->other);
    algorithm.update_values(A);
    // Nor may an answer left by another algorithm.
    Kokkos::deep_copy(problem_->x,
                      Scalar(std::numeric_limits<double>::quiet_NaN()));
    apply();
    exec_.fence();
    algorithm.publish();
    const auto x =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), problem_->x);
    const double error = apply_error(*problem_, factors, x.data());
    // Half of the digits, as in strata_perf_sptrsv.
    if (!(error <= std::sqrt(unit_roundoff<Scalar>())))
      message << "the backward error of U^-1 L^-1 b is " << error << "; ";
    known_.message = message.str();
    known_.message.resize(known_.message.size() -
                          std::min<std::size_t>(known_.message.size(), 2));
    known_.outcome = known_.message.empty() ? Outcome::right : Outcome::wrong;
  }

  void apply() {
    using Vector = typename Factorizer<Scalar>::Vector;
    const auto n = static_cast<std::size_t>(problem_->rows());
    algorithm_->apply(Vector(problem_->b.data(), n),
                      Vector(problem_->x.data(), n));
  }

  /// Each call has other values than the one before.
  const typename FactorProblem<Scalar>::Matrix& next_values() {
    second_ = !second_;
    return second_ ? problem_->other : problem_->matrix;
  }

  void take_times() {
    Factorizer<Scalar>& algorithm = *algorithm_;
    const auto median_us = [&](const auto& work) {
      return 1e6 * median_seconds(exec_, work);
    };
    known_.ready_us = median_us([&] { algorithm.make_ready(); });
    this->require_time();
    known_.new_values_us =
        median_us([&] { algorithm.update_values(next_values()); });
    algorithm.update_values(problem_->matrix);
    const int batch = calls_per_batch(exec_, [&] { apply(); });
    known_.apply_us = median_us([&] {
                        for (int i = 0; i < batch; ++i) apply();
                      }) /
                      batch;
    this->require_time();
    known_.analysis_us = median_us([&] { algorithm.analyse(); });
    batch_ = calls_per_batch(exec_, [&] { algorithm.compute(next_values()); });
  }

  typename FactorProblem<Scalar>::ExecutionSpace exec_;
  FactorizationSettings settings_;
  std::unique_ptr<Factorizer<Scalar>> algorithm_;
  FactorizationResult known_;  // of algorithm_, without the numeric phase
  bool second_ = false;
  int batch_ = 1;
};

const FactorizationRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
