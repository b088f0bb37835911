// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_RUNNER_HPP
#define STRATA_PERF_RUNNER_HPP

#include <benchmark/benchmark.h>

#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfResult.hpp>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace Strata {
namespace PerfTest {

/// Runs the benchmarks of one scalar type. Google Benchmark calls one benchmark
/// several times in a row: runners keep what their latest one was about.
template <class Result>
class PerfRunner {
 public:
  virtual ~PerfRunner() = default;
  /// `result` says what is to be measured, and gets what was.
  virtual void run(benchmark::State& state, Result& result) = 0;

 protected:
  static void give_up(benchmark::State& state, Outcome outcome,
                      const std::string& message, Result& result) {
    result.outcome = outcome;
    result.message = message;
    state.SkipWithError(message.c_str());
  }
};

/// What a runner throws to say how a measurement ended.
struct EndedBadly : std::runtime_error {
  EndedBadly(const std::string& message, Outcome is)
      : std::runtime_error(message), outcome(is) {}
  Outcome outcome;
};

/// Keeps the latest matrix, and only that: large matrices come one by one.
template <class Result, class Problem>
class MatrixRunner : public PerfRunner<Result> {
 public:
  void run(benchmark::State& state, Result& result) final {
    try {
      take(*result.source);
    } catch (const std::exception& error) {
      return this->give_up(state, Outcome::bad_input, error.what(), result);
    }
    try {
      measure(state, result);
    } catch (const EndedBadly& error) {
      this->give_up(state, error.outcome, error.what(), result);
    } catch (const std::exception& error) {
      forget_algorithm();
      this->give_up(state, Outcome::failed, error.what(), result);
    }
  }

 protected:
  virtual std::unique_ptr<Problem> load(const MatrixSource& source) = 0;
  /// Releases what refers to the matrix.
  virtual void forget_algorithm() {}
  virtual void measure(benchmark::State& state, Result& result) = 0;

  std::unique_ptr<Problem> problem_;  ///< none where it can't be loaded

 private:
  void take(const MatrixSource& source) {
    if (source_ != &source) {
      forget_algorithm();
      problem_.reset();
      source_ = &source;
      try {
        problem_ = load(source);
      } catch (const std::exception& error) {
        input_error_ = source.name + ": " + error.what();
      }
    }
    if (!problem_) throw std::runtime_error(input_error_);
  }

  const MatrixSource* source_ = nullptr;
  std::string input_error_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
