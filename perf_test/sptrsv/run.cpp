// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices and measurements for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfBackwardErrors.hpp>
#include <detail/Strata_PerfRandomVectors.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>

namespace Strata {
namespace PerfTest {
namespace {

template <class Scalar>
class Runner : public MatrixRunner<SptrsvResult, Problem<Scalar>> {
 public:
  Runner(const SptrsvOptions& options, std::ostream& explanations)
      : options_(options), explanations_(explanations) {}

 private:
  using MatrixRunner<SptrsvResult, Problem<Scalar>>::problem_;

  std::unique_ptr<Problem<Scalar>> load(const MatrixSource& source) override {
    auto problem = std::make_unique<Problem<Scalar>>(load_problem<Scalar>(
        source, options_.factor, options_.reorder, options_.rhs));
    // Four times the tolerance's limit: nothing could be told right from
    // wrong. Not-a-number and infinity come here too.
    if (!(problem->substitution_error < 0.2)) {
      std::ostringstream text;
      text << "the system can't be solved in " << options_.scalar
           << ": plain substitution's relative error is "
           << problem->substitution_error
           << "; use --scalar double or another --factor";
      throw std::runtime_error(text.str());
    }
    return problem;
  }
  void forget_algorithm() override { algorithm_.reset(); }

  void measure(benchmark::State& state, SptrsvResult& result) override {
    result.rows = problem_->rows();
    result.entries =
        static_cast<std::int64_t>(problem_->matrix.graph.entries.extent(0));
    result.levels = problem_->levels;
    analyse(result.algorithm, result);
    result.solve_us = 1e6 * (options_.timing.solves > 0
                                 ? mean_of_random_solves(state)
                                 : timing_loop(state, exec_, batch_,
                                               [this] { solve_as_timed(); }));
    result.outcome = relative_error_ <= problem_->tolerance ? Outcome::right
                                                            : Outcome::wrong;
  }

  void analyse(const std::string& name, SptrsvResult& result) {
    if (!algorithm_ || name != algorithm_name_) {
      algorithm_.reset();
      algorithm_name_ = name;
      algorithm_ = is_own(name) ? make_own(name, *problem_, options_.plan)
                                : make_peer(name, *problem_);
      analysis_us_ =
          1e6 * median_seconds(exec_, [this] { algorithm_->analyse(); });
      update_us_ =
          1e6 * median_seconds(exec_, [this] { algorithm_->update(); });
      host_mean_.reset();
      prepare_solves(result.transfers);
      if (options_.timing.changed > 0)
        pattern_ = algorithm_->time_pattern_updates(options_.timing.changed);
      if (options_.explain) algorithm_->explain(explanations_);
    } else if (transfers_ != result.transfers) {
      prepare_solves(result.transfers);
    }
    result.analysis_us = analysis_us_;
    result.update_us = update_us_;
    result.relative_error = relative_error_;
    result.rowwise_error = backward_.rowwise;
    result.normwise_error = backward_.normwise;
    result.componentwise_error = backward_.componentwise;
    result.pattern = pattern_;
    result.plan = algorithm_->plan();
  }

  void prepare_solves(bool transfers) {
    transfers_ = transfers;
    verify();
    if (options_.timing.solves == 0)
      batch_ = calls_per_batch(exec_, [this] { solve_as_timed(); });
  }

  /// Checks a solve as it will be timed: with the copies, what has come back.
  void verify() {
    // An answer left by another algorithm must not pass for this one's.
    const Scalar none(std::numeric_limits<double>::quiet_NaN());
    const auto& x = problem_->x;
    host_x_ = HostVectors<Scalar>("Strata::x", x.extent(0), x.extent(1));
    Kokkos::deep_copy(x, none);
    Kokkos::deep_copy(host_x_, none);
    solve_as_timed();
    exec_.fence();
    if (!copies_are_timed()) {
      algorithm_->publish();
      Kokkos::deep_copy(host_x_, x);
    }
    relative_error_ = relative_error(problem_->reference, host_x_.data());
    backward_ = backward_errors(*problem_, host_x_.data());
  }

  auto host_b() {
    return Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace,
                        Kokkos::MemoryUnmanaged>(
        problem_->host_b.data(), problem_->b.extent(0), problem_->b.extent(1));
  }
  bool copies_are_timed() const { return transfers_ && !algorithm_->on_host(); }
  /// A solve and, where they count, the copies before and after it.
  void solve_as_timed() {
    if (!copies_are_timed()) return algorithm_->solve();
    Kokkos::deep_copy(exec_, problem_->b, host_b());
    algorithm_->solve();
    Kokkos::deep_copy(exec_, host_x_, problem_->x);
  }

  /// Each solve is timed by itself, from idle to idle, with a b of random
  /// numbers that is there before the clock starts, on the device and on the
  /// host; the problem's own b is put back in the end. An algorithm without
  /// copies is timed once for both ways. Seconds.
  double mean_of_random_solves(benchmark::State& state) {
    const int solves = options_.timing.solves;
    if (host_mean_ && host_mean_->with_transfers != transfers_) {
      while (state.KeepRunningBatch(solves)) {
      }
      state.SetIterationTime(host_mean_->seconds *
                             static_cast<double>(state.iterations()));
      return host_mean_->seconds;
    }
    const auto own_b = problem_->host_b;
    double spent = 0;
    std::uint64_t drawn = 0;
    while (state.KeepRunningBatch(solves))
      for (int k = 0; k < solves; ++k) {
        draw_vectors(exec_, problem_->b, 20260117, drawn++);
        exec_.fence();
        Kokkos::deep_copy(host_b(), problem_->b);
        spent += seconds(exec_, 1, [this] { solve_as_timed(); });
      }
    problem_->host_b = own_b;
    Kokkos::deep_copy(problem_->b, host_b());
    state.SetIterationTime(spent);
    const double mean = spent / static_cast<double>(state.iterations());
    if (algorithm_->on_host()) host_mean_ = HostMean{transfers_, mean};
    return mean;
  }

  typename Algorithm<Scalar>::ExecutionSpace exec_;
  SptrsvOptions options_;
  std::ostream& explanations_;
  std::string algorithm_name_;
  std::unique_ptr<Algorithm<Scalar>> algorithm_;
  double analysis_us_ = 0, update_us_ = 0, relative_error_ = 0;
  BackwardErrors backward_;
  PatternTimes pattern_;
  HostVectors<Scalar> host_x_;
  bool transfers_ = false;  ///< of the solves that are timed
  int batch_ = 1;
  struct HostMean {
    bool with_transfers;
    double seconds;
  };
  std::optional<HostMean> host_mean_;  ///< of the algorithm, if on_host()
};

const SptrsvRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
