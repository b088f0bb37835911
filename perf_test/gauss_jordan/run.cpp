// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices and measurements for one scalar type, STRATA_PERF_SCALAR.
#include <detail/Strata_PerfDenseProblem.hpp>
#include <detail/Strata_PerfTiming.hpp>

namespace Strata {
namespace PerfTest {
namespace {

template <class Scalar>
class Runner : public PerfRunner<DenseResult> {
 public:
  explicit Runner(const DenseOptions& options) : options_(options) {}

  void run(benchmark::State& state, DenseResult& result) override {
    try {
      load({result.matrix, result.n, result.task});
      prepare(result);
      measure(state, result);
    } catch (const std::exception& error) {
      algorithm_.reset();
      give_up(state, Outcome::failed, error.what(), result);
    }
  }

 private:
  using Space = typename DenseProblem<Scalar>::ExecutionSpace;

  void load(const DenseCase& system) {
    if (problem_ && problem_->system().kind == system.kind &&
        problem_->system().n == system.n &&
        problem_->system().task == system.task)
      return;
    algorithm_.reset();
    problem_.reset();  // first, so that both need not fit
    problem_ = std::make_unique<DenseProblem<Scalar>>(system);
  }

  void prepare(DenseResult& result) {
    if (!algorithm_ || name_ != result.algorithm) {
      algorithm_.reset();
      name_ = result.algorithm;
      algorithm_ = result.own ? make_dense_own(options_, *problem_)
                              : make_dense_peer(name_, *problem_);
      // An answer left by another algorithm must not pass for this one's.
      Kokkos::deep_copy(problem_->X,
                        Scalar(std::numeric_limits<double>::quiet_NaN()));
      first_ = seconds(Space(), 1, [this] { algorithm_->run(); });
      algorithm_->publish();
      backward_error_ = problem_->backward_error();
    }
    result.backward_error = backward_error_;
  }

  void measure(benchmark::State& state, DenseResult& result) {
    if (options_.once || first_ > 1) {
      for (auto _ : state) state.SetIterationTime(first_);
      result.us = 1e6 * first_;
    } else {
      result.us =
          1e6 * timing_loop(state, Space(), 1, [this] { algorithm_->run(); });
    }
    const double limit =
        problem_->n() *
        static_cast<double>(std::numeric_limits<
                            typename DenseProblem<Scalar>::Real>::epsilon());
    result.outcome = backward_error_ <= limit ? Outcome::right : Outcome::wrong;
  }

  DenseOptions options_;
  std::unique_ptr<DenseProblem<Scalar>> problem_;
  std::string name_;
  std::unique_ptr<DenseAlgorithm<Scalar>> algorithm_;
  double first_ = 0;  ///< seconds of the first run
  double backward_error_ = 0;
};

const DenseRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
