// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measurements of the validation set for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <Strata_IncompletePattern.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfBackwardErrors.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <detail/Strata_PerfTriangle.hpp>
#include <detail/Strata_PerfValidation.hpp>
#include <sstream>

namespace Strata {
namespace PerfTest {
namespace {

/// The triangle of a system of the set.
template <class Matrix>
Matrix make_triangle(const typename Matrix::execution_space& exec,
                     const ValidationSystem& system) {
  Matrix whole =
      reordered(exec, gallery<Matrix>(exec, system.matrix, system.seed),
                system.order, system.seed);
  if (system.fill > 0) whole = incomplete_pattern(exec, whole, system.fill);
  return triangle_of(exec, whole, system.factor);
}

template <class Scalar>
class MeasuredSystems : public ValidationRunner {
 public:
  explicit MeasuredSystems(const ValidationOptions& options)
      : options_(options), bytes_per_us_(1e-6 * copy_bandwidth(exec_)) {}

  ValidationResult run(const ValidationSystem& system) override {
    ValidationResult result;
    result.family = system.family;
    result.system = system.name();
    result.scalar = options_.scalar;
    result.accuracy = to_string(options_.plan.accuracy);
    try {
      using Matrix = typename Problem<Scalar>::Matrix;
      problem_ = std::make_unique<Problem<Scalar>>(
          make_problem<Scalar>(make_triangle<Matrix>(exec_, system),
                               uplo_of(system.factor), options_.rhs));
      // As strata_perf_sptrsv has it: nothing could be told right from wrong.
      if (!(problem_->substitution_error < 0.2))
        throw std::runtime_error("the system can't be solved in " +
                                 options_.scalar);
    } catch (const std::exception& error) {
      result.outcome = Outcome::bad_input;
      result.message = error.what();
      return result;
    }
    result.rows = problem_->rows();
    result.entries =
        static_cast<std::int64_t>(problem_->matrix.graph.entries.extent(0));
    result.levels = problem_->levels;
    result.rhs = options_.rhs;
    try {
      measure(result);
    } catch (const std::exception& error) {
      result.outcome = Outcome::failed;
      result.message = error.what();
    }
    measured_.clear();
    problem_.reset();
    return result;
  }

 private:
  using Space = typename Algorithm<Scalar>::ExecutionSpace;

  /// An algorithm that is ready to solve.
  struct Measured {
    std::unique_ptr<Algorithm<Scalar>> algorithm;
    double once = 0;  ///< seconds of one solve from idle to idle
    int batch = 1;
    bool right = false;
    bool in_rounds = false;
    std::vector<double> samples = {};

    double solve_us() const {
      return 1e6 * (samples.empty() ? once : median(samples));
    }
  };

  void measure(ValidationResult& result) {
    const std::string automatic =
        Strata::to_string(Strata::Algorithm::automatic);
    Measured& chosen = add(make_own(automatic, *problem_, options_.plan));
    result.analysis_us = analyse_again(*chosen.algorithm);
    result.plan = chosen.algorithm->plan();
    solve_once(chosen);
    result.rowwise_error = backward_errors(*problem_, host_x_.data()).rowwise;
    set_floor(result);

    double fastest = chosen.once;
    std::vector<Measured*> of_candidate;
    for (const auto& name : validation_candidates()) {
      result.candidates.emplace_back();
      result.candidates.back().algorithm = name;
      of_candidate.push_back(
          is_asked(name) ? try_candidate(result.candidates.back()) : nullptr);
      const Measured* const made = of_candidate.back();
      if (made && made->right) fastest = std::min(fastest, made->once);
    }
    Measured* const cusparse = try_peer(result);

    chosen.in_rounds = true;
    for (Measured* const made : of_candidate)
      if (made) made->in_rounds = made->once <= slow * fastest;
    if (cusparse) cusparse->in_rounds = cusparse->once <= longest;
    time_in_turn();

    result.solve_us = chosen.solve_us();
    result.outcome = chosen.right ? Outcome::right : Outcome::wrong;
    for (std::size_t k = 0; k < of_candidate.size(); ++k) {
      const Measured* const made = of_candidate[k];
      if (!made) continue;
      CandidateTime& candidate = result.candidates[k];
      candidate.solve_us = made->solve_us();
      candidate.timing = made->in_rounds ? Timing::full : Timing::once;
      candidate.outcome = made->right ? Outcome::right : Outcome::wrong;
    }
    if (cusparse && cusparse->right)
      result.peer_us = cusparse->solve_us();
    else
      result.peer_analysis_us = NAN;
  }

  bool is_asked(const std::string& name) const {
    const auto& names = options_.candidates;
    return names.empty() ||
           std::find(names.begin(), names.end(), name) != names.end();
  }
  Measured& add(std::unique_ptr<Algorithm<Scalar>> algorithm) {
    auto made = std::make_unique<Measured>();
    made->algorithm = std::move(algorithm);
    measured_.push_back(std::move(made));
    return *measured_.back();
  }
  /// Microseconds.
  double analyse_again(Algorithm<Scalar>& algorithm) {
    return 1e6 * median_seconds(exec_, [&] { algorithm.analyse(); });
  }

  /// Null where it is not measured; `candidate` then says why.
  Measured* try_candidate(CandidateTime& candidate) {
    candidate.timing = Timing::refused;
    try {
      auto algorithm = make_own(candidate.algorithm, *problem_, options_.plan);
      algorithm->analyse();
      const PlanFacts plan = algorithm->plan();
      candidate.merged_levels = plan.merged_levels;
      candidate.steps = plan.subgraph_levels;
      Measured& made = add(std::move(algorithm));
      solve_once(made);
      return &made;
    } catch (const Error& error) {
      candidate.message = error.what();
    } catch (const std::exception& error) {
      candidate.outcome = Outcome::failed;
      candidate.message = error.what();
    }
    return nullptr;
  }

  /// cuSPARSE; null where it is not, or fails.
  Measured* try_peer(ValidationResult& result) {
    const std::string peer =
        options_.rhs == 1 ? "cusparse_spsv" : "cusparse_spsm";
    if (!is_asked("cusparse") ||
        !is_available(peer, Detail::is_gpu<Space>, options_.rhs))
      return nullptr;
    try {
      auto algorithm = make_peer(peer, *problem_);
      result.peer_analysis_us = analyse_again(*algorithm);
      Measured& made = add(std::move(algorithm));
      solve_once(made);
      return &made;
    } catch (const std::exception& error) {
      result.message = error.what();
    }
    return nullptr;
  }

  /// Checks a solve, and times one that does not load kernels.
  void solve_once(Measured& made) {
    forget_answer(*problem_);
    const auto solve = [&made] { made.algorithm->solve(); };
    made.once = seconds(exec_, 1, solve);
    made.right = is_right(made);
    if (made.once > longest) return;
    made.once = seconds(exec_, 1, solve);
  }
  bool is_right(Measured& made) {
    made.algorithm->publish();
    host_x_ = answer(*problem_);
    return relative_error(problem_->reference, host_x_.data()) <=
           problem_->tolerance;
  }

  /// Rounds of batches, one algorithm after the other in each, so that what
  /// changes while they run (clocks, other work) meets all of them. What the
  /// last batches leave is checked, too.
  void time_in_turn() {
    for (const auto& made : measured_)
      if (made->in_rounds)
        made->batch =
            calls_per_batch(exec_, [&made] { made->algorithm->solve(); });
    for (int round = 0; round < rounds; ++round)
      for (const auto& made : measured_) {
        if (!made->in_rounds) continue;
        if (round == rounds - 1) forget_answer(*problem_);
        double spent = 0;
        while (spent < 1e-3 * options_.milliseconds / rounds) {
          const double taken = seconds(exec_, made->batch,
                                       [&made] { made->algorithm->solve(); });
          spent += taken;
          made->samples.push_back(taken / made->batch);
        }
        if (round == rounds - 1) made->right = made->right && is_right(*made);
      }
  }

  void set_floor(ValidationResult& result) const {
    const double scalar = sizeof(Scalar);
    result.bytes_us =
        (static_cast<double>(result.entries) * (scalar + 4) +
         static_cast<double>(result.rows) * (2 * scalar * options_.rhs + 4)) /
        bytes_per_us_;
    result.floor_us = result.bytes_us;
    if (Detail::is_gpu<Space>) {
      const double merged = std::max(1, result.plan.merged_levels);
      result.floor_us = std::max(
          result.bytes_us,
          latency_us * std::ceil(static_cast<double>(result.levels) / merged));
    }
  }

  /// Solves that take more than this many times as long as the fastest are
  /// timed once, as are solves of more seconds than `longest`.
  static constexpr double slow = 3, longest = 0.1;
  static constexpr int rounds = 3;
  /// Of a dependency between blocks of a GPU (docs/developer/benchmarking.md).
  static constexpr double latency_us = 0.3;

  Space exec_;
  ValidationOptions options_;
  double bytes_per_us_;
  std::unique_ptr<Problem<Scalar>> problem_;
  std::vector<std::unique_ptr<Measured>> measured_;
  HostVectors<Scalar> host_x_;
};

const ValidationRunners::Added<MeasuredSystems<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
