// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_RUNNER_HPP
#define STRATA_PERF_RUNNER_HPP

#include <benchmark/benchmark.h>

#include <Strata_Error.hpp>
#include <chrono>
#include <cmath>
#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfResult.hpp>
#include <exception>
#include <map>
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

/// What makes the runners of a program, by the name of the scalar type that
/// each is for. The sources in the program's folder are compiled once for each
/// one of CMake's Strata_SCALARS, and add theirs before main.
template <class Runner, class... Settings>
class RunnersOf {
 public:
  /// Adds Own, which is made of the settings.
  template <class Own>
  struct Added {
    explicit Added(const char* scalar) {
      all()[scalar] = [](Settings... settings) -> std::unique_ptr<Runner> {
        return std::make_unique<Own>(settings...);
      };
    }
  };
  /// @throws OptionError where the build has no such scalar type
  static std::unique_ptr<Runner> make(const std::string& scalar,
                                      Settings... settings) {
    const auto found = all().find(scalar);
    if (found != all().end()) return found->second(settings...);
    std::string names;
    for (const auto& one : all()) names += ' ' + one.first;
    throw OptionError(
        "--scalar", "this build has no '" + scalar + "'",
        "use one of" + names + ", or add it to CMake's Strata_SCALARS");
  }

 private:
  using Make = std::unique_ptr<Runner> (*)(Settings...);
  static std::map<std::string, Make>& all() {
    static std::map<std::string, Make> made;
    return made;
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
      require_time();
      measure(state, result);
    } catch (const EndedBadly& error) {
      this->give_up(state, error.outcome, error.what(), result);
    } catch (const std::exception& error) {
      forget_algorithm();
      this->give_up(state, Outcome::failed, error.what(), result);
    }
  }

 protected:
  /// @param max_seconds  that a matrix may take, all algorithms together
  explicit MatrixRunner(double max_seconds = INFINITY)
      : max_seconds_(max_seconds) {}
  /// Between phases of a measurement. @throws EndedBadly if time is up
  void require_time() const {
    const std::chrono::duration<double> spent = Clock::now() - begin_;
    if (spent.count() > max_seconds_)
      throw EndedBadly("--max-seconds are over", Outcome::left_out);
  }
  virtual std::unique_ptr<Problem> load(const MatrixSource& source) = 0;
  /// Releases what refers to the matrix.
  virtual void forget_algorithm() {}
  virtual void measure(benchmark::State& state, Result& result) = 0;

  std::unique_ptr<Problem> problem_;  ///< none where it can't be loaded

 private:
  using Clock = std::chrono::steady_clock;

  void take(const MatrixSource& source) {
    if (source_ != &source) {
      forget_algorithm();
      problem_.reset();
      source_ = &source;
      begin_ = Clock::now();
      try {
        problem_ = load(source);
      } catch (const std::exception& error) {
        input_error_ = source.name + ": " + error.what();
      }
    }
    if (!problem_) throw std::runtime_error(input_error_);
  }

  double max_seconds_;
  Clock::time_point begin_;  // of the matrix
  const MatrixSource* source_ = nullptr;
  std::string input_error_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
