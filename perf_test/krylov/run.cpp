// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time steps of a changing matrix, each solved by a Krylov method, for one
// scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_SellMatrix.hpp>
#include <algorithm>
#include <detail/Strata_PerfKrylov.hpp>
#include <detail/Strata_PerfRandomVectors.hpp>
#include <detail/Strata_PerfSerialFactors.hpp>
#include <detail/Strata_PerfTimeSteps.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <detail/Strata_PerfTriangle.hpp>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

namespace Strata {
namespace PerfTest {
namespace {

/// How a solve has ended.
struct Solved {
  int iterations = 0;
  bool converged = false;
  std::string status;
};

/// A preconditioner as the solvers take it.
template <class Scalar>
struct Plugged {
  Factorizer<Scalar>* preconditioner;

  template <class Space, class Vector>
  void apply(const Space&, const Vector& r, const Vector& z) const {
    preconditioner->apply(r, z);
  }
};

/// One of our solvers, with its workspace. All preconditioners get the same
/// one.
template <class Scalar, class Space>
class KrylovMethod {
 public:
  KrylovMethod(const Space& exec, std::int64_t rows,
               const KrylovSettings& settings, double tolerance)
      : method_(settings.method) {
    const auto options = [&](auto of_method) {
      of_method.relative_tolerance = tolerance;
      of_method.max_iterations = settings.max_iterations;
      return of_method;
    };
    GmresOptions cycles;
    cycles.restart = settings.restart;
    if (method_ == KrylovMethodName::cg)
      cg_ = {exec, rows, options(CgOptions())};
    else if (method_ == KrylovMethodName::bicgstab)
      bicgstab_ = {exec, rows, options(BiCgStabOptions())};
    else
      gmres_ = {exec, rows, options(cycles)};
  }

  template <class Operator, class Preconditioner, class Vector>
  Solved solve(const Space& exec, const Operator& A, const Preconditioner& M,
               const Vector& b, const Vector& x) {
    if (method_ == KrylovMethodName::cg)
      return solved(cg_.solve(exec, A, M, b, x));
    if (method_ == KrylovMethodName::bicgstab)
      return solved(bicgstab_.solve(exec, A, M, b, x));
    return solved(gmres_.solve(exec, A, M, b, x));
  }

 private:
  template <class Result>
  static Solved solved(const Result& result) {
    return {result.iterations, result.converged(), to_string(result.status)};
  }

  KrylovMethodName method_;
  ConjugateGradient<Scalar, Space> cg_;
  BiCgStab<Scalar, Space> bicgstab_;
  Gmres<Scalar, Space> gmres_;
};

/// The values of a time step in `matrix`, and those which the steps change.
template <class Scalar>
struct StepProblem : FactorProblem<Scalar> {
  using Matrix = typename FactorProblem<Scalar>::Matrix;
  typename Matrix::values_type base;
};

template <class Scalar>
StepProblem<Scalar> load_problem(const MatrixSource& source,
                                 const KrylovSettings& settings) {
  using Kokkos::create_mirror_view_and_copy;
  using Problem = StepProblem<Scalar>;
  using Matrix = typename Problem::Matrix;
  const typename Problem::ExecutionSpace exec;
  Problem problem;
  problem.kind = settings.kind;
  problem.enqueue_updates = true;
  Matrix A = load_square_matrix<Matrix>(exec, source);
  if (settings.values != BaseValues::as_is)
    A = complete_diagonal(A, NewDiagonal::everywhere);
  const Kokkos::HostSpace host;
  problem.matrix = A;
  problem.row_map = create_mirror_view_and_copy(host, A.graph.row_map);
  problem.entries = create_mirror_view_and_copy(host, A.graph.entries);
  problem.diagonal = diagonal_places(problem);
  if (settings.values == BaseValues::laplacian)
    A = with_values(A, [](int row, int column, const Scalar&, int length) {
      return Scalar(row == column ? std::max(length - 1, 1) : -1);
    });
  problem.base = A.values;
  problem.matrix =
      Matrix("step", A.numRows(), A.numCols(), A.nnz(),
             typename Matrix::values_type("values", A.values.extent(0)),
             A.graph.row_map, A.graph.entries);
  const auto n = static_cast<std::size_t>(problem.rows());
  problem.b = typename Problem::Vectors("b", n, 1);
  problem.x = typename Problem::Vectors("x", n, 1);
  draw_vectors(exec, problem.b, 20261124, 0);
  exec.fence();
  return problem;
}

template <class Scalar>
class Runner : public MatrixRunner<KrylovPerfResult, StepProblem<Scalar>> {
  using Problem = StepProblem<Scalar>;
  using Space = typename Problem::ExecutionSpace;
  using Matrix = typename Problem::Matrix;
  using Vector = Kokkos::View<Scalar*, typename Space::memory_space>;
  using Product = SellMatrix<Scalar, Space>;
  using Method = KrylovMethod<Scalar, Space>;
  using Preconditioner = Factorizer<Scalar>;
  static constexpr bool narrow = sizeof(Detail::RealOf<Scalar>) == 4;

  /// All time steps together.
  struct Steps {
    double seconds = 0, residual = 0;
    std::int64_t iterations = 0, restarts = 0;
  };

 public:
  explicit Runner(const KrylovSettings& settings)
      : MatrixRunner<KrylovPerfResult, StepProblem<Scalar>>(
            settings.max_seconds),
        settings_(settings),
        tolerance_(settings.tolerance > 0 ? settings.tolerance
                   : narrow               ? 1e-4
                                          : 1e-8) {}

 private:
  using MatrixRunner<KrylovPerfResult, StepProblem<Scalar>>::problem_;

  std::unique_ptr<Problem> load(const MatrixSource& source) override {
    return std::make_unique<Problem>(load_problem<Scalar>(source, settings_));
  }

  void measure(benchmark::State& state, KrylovPerfResult& result) override {
    result.rows = problem_->rows();
    result.entries = problem_->num_entries();
    result.steps = settings_.steps;
    const auto n = static_cast<std::int64_t>(problem_->rows());
    const Vector b(problem_->b.data(), n), x(problem_->x.data(), n);
    set_step(0);
    const auto M = make_preconditioner(result.algorithm);
    result.ready_us = 1e6 * median_seconds(exec_, [&] { M->make_ready(); });
    Product product(exec_, problem_->matrix);
    Method method(exec_, n, settings_, tolerance_);

    // All runs do the same; the first one warms up, and is checked like the
    // others.
    Steps steps = run_steps(*M, product, method, b, x);
    std::vector<double> samples;
    if (steps.seconds > 10) samples.push_back(steps.seconds);
    while (samples.empty() ||
           (steps.seconds <= 10 &&
            samples.size() < static_cast<std::size_t>(settings_.runs))) {
      const Steps next = run_steps(*M, product, method, b, x);
      samples.push_back(next.seconds);
      steps.residual = std::max(steps.residual, next.residual);
      steps.iterations = next.iterations;
      steps.restarts = next.restarts;
    }
    result.total_us = 1e6 * median(samples);
    result.iterations = steps.iterations;
    result.restarts = steps.restarts;
    result.relative_error = steps.residual;

    result.outcome = Outcome::right;

    for (auto _ : state) state.SetIterationTime(1e-6 * result.total_us);
  }

  /// The algorithm of strata_perf_factorization that it is. Kokkos Kernels has
  /// no incomplete Cholesky: the product of spiluk's factors is that of
  /// incomplete Cholesky's on a Hermitian matrix.
  std::unique_ptr<Preconditioner> make_preconditioner(
      const std::string& name) const {
    if (is_stratas(name)) return make_own_factorizer(name, *problem_);
    if (name == "kokkos_kernels")
      return make_peer_factorizer("kokkos_kernels_spiluk", *problem_);
    const std::string cusparse = "cusparse";
    return make_peer_factorizer(
        cusparse +
            (settings_.kind == FactorizationKind::ilu0 ? "_csrilu02"
                                                       : "_csric02") +
            name.substr(cusparse.size()),
        *problem_);
  }

  /// The values of a time step.
  void set_step(int step) {
    set_values_of_step(exec_, problem_->matrix, problem_->base, step,
                       settings_.steps, settings_.shift);
  }

  /// Where the solve of `step` ends is worked out anew, which is not timed.
  /// @throws EndedBadly: the solver ended too early, or is content with a
  /// residual that is too large
  /// @return whether the true residual is small enough, in `residual`
  bool is_there(int step, int round, const Solved& solved, const Vector& b,
                const Vector& x, double& residual) {
    residual = true_residual(exec_, problem_->matrix, b, x);
    if (residual <= tolerance_) return true;
    std::ostringstream message;
    message << "time step " << step << ": the true residual is " << residual
            << ", the solver says " << solved.status;
    if (!solved.converged) throw EndedBadly(message.str(), Outcome::failed);
    if (round == most_rounds) throw EndedBadly(message.str(), Outcome::wrong);
    return false;
  }

  Steps run_steps(Preconditioner& M, Product& product, Method& method,
                  const Vector& b, const Vector& x) {
    const Plugged<Scalar> plugged{&M};
    Steps sum;
    for (int step = 0; step < settings_.steps; ++step) {
      this->require_time();
      set_step(step);
      Kokkos::deep_copy(exec_, x, Scalar(0));
      Solved solved;
      double residual = 0;
      sum.seconds += seconds(exec_, 1, [&] {
        M.update_values(problem_->matrix);
        product.update_values(exec_, problem_->matrix);
        solved = method.solve(exec_, product, plugged, b, x);
      });
      sum.iterations += solved.iterations;
      for (int round = 1; !is_there(step, round, solved, b, x, residual);
           ++round) {
        sum.seconds += seconds(exec_, 1, [&] {
          solved = method.solve(exec_, product, plugged, b, x);
        });
        sum.iterations += solved.iterations;
        ++sum.restarts;
      }
      sum.residual = std::max(sum.residual, residual);
    }
    return sum;
  }

  static constexpr int most_rounds = 5;

  Space exec_;
  KrylovSettings settings_;
  double tolerance_;
};

const KrylovRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
