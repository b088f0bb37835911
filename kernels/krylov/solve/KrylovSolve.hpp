// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_SOLVE_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_SOLVE_HPP

// What the solves of all Krylov methods do on the host.

#include <Strata_Error.hpp>
#include <cmath>
#include <core/device/Profiling.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/scalar/RealPart.hpp>
#include <exception>
#include <kernels/krylov/solve/KrylovMonitor.hpp>
#include <kernels/krylov/solve/KrylovScaling.hpp>
#include <kernels/spmv/SellLaunch.hpp>
#include <kernels/spmv/SellVectors.hpp>
#include <limits>
#include <string>

namespace Strata {
namespace Detail {

/// An option that is a whole number. @throws OptionError
inline void check_option_range(const char* name, int value, int least,
                               int most) {
  if (value < least || value > most)
    throw OptionError(name,
                      std::to_string(value) + " is not from " +
                          std::to_string(least) + " to " + std::to_string(most),
                      "choose a number in that range");
}

/// The options that all Krylov methods have. @throws OptionError
template <class Options>
void check_krylov_options(const Options& options) {
  const auto check = [](const char* name, double value) {
    if (!(value >= 0) || value - value != 0)
      throw OptionError(name, std::to_string(value) + " is no tolerance",
                        "pass a finite number that is not negative");
  };
  check("relative_tolerance", options.relative_tolerance);
  check("absolute_tolerance", options.absolute_tolerance);
  if (!(options.divergence_tolerance >= 1))
    throw OptionError("divergence_tolerance",
                      std::to_string(options.divergence_tolerance) +
                          " is less than 1 or not a number",
                      "pass the factor that a residual may grow by, infinity "
                      "for any");
  check_option_range("max_iterations", options.max_iterations, 0, 100000000);
  check_option_range("iterations_ahead", options.iterations_ahead, 1, 100000);
}

/// @throws SizeMismatchError, IndexOverflowError
inline void check_unknowns(std::int64_t rows) {
  if (rows < 0)
    throw SizeMismatchError("rows", std::to_string(rows) + " is negative",
                            "pass the number of unknowns");
  if (rows > most_matrix_rows)
    throw IndexOverflowError(
        "rows",
        std::to_string(rows) + " is more than " +
            std::to_string(most_matrix_rows),
        "pass the number of unknowns, which no matrix has more of");
}

/// For the vectors of a launch, and `extra` parts.
template <class ExecutionSpace>
GridSum<typename ExecutionSpace::memory_space> make_grid_sum(
    const ExecutionSpace& exec, std::int64_t extra, int times = 1) {
  return {times * resident_blocks(exec, most_blocks_at_once), extra};
}

/// Scalars of a solve that are a view's element `at`. Both wait for `exec`.
template <class State>
using HostState = Kokkos::View<State, Kokkos::HostSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class ExecutionSpace, class State>
void fetch_state(
    const ExecutionSpace& exec,
    const Kokkos::View<State*, typename ExecutionSpace::memory_space>& states,
    int at, State& state) {
  Kokkos::deep_copy(exec, HostState<State>(&state),
                    Kokkos::subview(states, at));
  exec.fence();
}
template <class ExecutionSpace, class State>
void store_state(
    const ExecutionSpace& exec,
    const Kokkos::View<State*, typename ExecutionSpace::memory_space>& states,
    int at, State state) {
  Kokkos::deep_copy(exec, Kokkos::subview(states, at),
                    HostState<State>(&state));
  exec.fence();
}

/// Waits for what is enqueued where an exception ends a solve: the next one
/// has the same memory.
template <class ExecutionSpace>
struct WaitAfterException {
  const ExecutionSpace& exec;
  ~WaitAfterException() {
    try {
      if (std::uncaught_exceptions() > 0) exec.fence();
    } catch (...) {
      // Of a device that has failed: nothing works there any more.
    }
  }
};

/// Checks the vectors of a solve, and calls work(options, A, b, x) where there
/// are rows: see solve_in_range().
/// @param task  in plain words, for a MemoryError
/// @throws SizeMismatchError, AliasError, MemoryError
template <class Result, class Scalar, class ExecutionSpace, class Options,
          class Work>
Result checked_solve(const ExecutionSpace& exec, std::int64_t rows,
                     const Options& options,
                     const KrylovOperator<Scalar, ExecutionSpace>& A,
                     const KrylovPreconditioner<Scalar, ExecutionSpace>& M,
                     const StridedBlock& b, const StridedBlock& x,
                     const char* region_name, const char* task,
                     const Work& work) {
  check_vectors(rows, b, x);
  if (share_elements(b, x))
    throw AliasError("x", "shares memory with b",
                     "pass a vector of its own for the solution");
  const ProfilingRegion region(region_name);
  if (rows == 0) {
    Result result;
    result.status = decltype(result.status)::converged;
    result.history = {0};
    return result;
  }
  return with_memory_errors(
      task, [&] { return solve_in_range(exec, options, A, M, b, x, work); });
}

/// What a method's context tells run_krylov(), unless it says otherwise.
struct KrylovContext {
  int iterations_at_once() const { return 1; }
  void flush() const {}
  template <class State>
  void complete(const State&) const {}
  bool holds_back_x() const { return false; }
  template <class Status>
  bool broke_down(Status) const {
    return false;
  }
  template <class Status>
  bool begins_anew(Status) const {
    return false;
  }
};

/// No x that is worse than the one given goes without a word.
/// @param given  ||b - A x|| of that
template <class Result, class Context>
void report_divergence(Result& result, const Context& context, double given) {
  using Status = decltype(result.status);
  // What rounding makes of no gain at all.
  constexpr double roundings = 1.001;
  if ((result.status == Status::max_iterations ||
       result.status == Status::stagnated ||
       context.broke_down(result.status)) &&
      result.residual_norm > roundings * given)
    result.status = Status::diverged;
}

/// Iterates until the device says that the solve is over, works out b - A x
/// anew, and has the iteration begun anew from it where it is not what the
/// iteration says.
///
/// @param context enqueues the kernels of a method: begin(),
///   iterate(it, count) with `count` up to iterations_at_once(), flush() of
///   sums that are left, complete(state) of an x that lacks a part,
///   restart(state). holds_back_x() tells whether the x given stays as it is
///   until complete(). fetch() and verify(), the scalars with b - A x in
///   squared_r, wait. broke_down(status) tells whether the residual may be
///   small enough all the same, begins_anew(status) whether it is reason to try
///   again.
template <class Result, class Scalar, class ExecutionSpace, class Options,
          class Context>
Result run_krylov(const ExecutionSpace& exec, const Options& options,
                  KrylovMonitor<ExecutionSpace>& monitor,
                  const Context& context) {
  Result result;
  using Status = decltype(result.status);
  const WaitAfterException<ExecutionSpace> at_the_end{exec};
  context.begin();
  monitor.open();
  int done = 0;
  bool corrected = false;
  double verified = 0;
  double given = -1;  // ||b - A x|| of the x given, where history[0] is not it
  for (;;) {
    const bool stopped = monitor.follow(
        exec, options, done, context.iterations_at_once(),
        [&](int it, int count) { context.iterate(it, count); },
        [&] { context.flush(); });
    context.flush();
    auto state = context.fetch();
    if (!stopped) monitor.close(options, state.iterations);
    if (state.status == krylov_running) {
      if (!stopped)
        throw Error("exec", "an enqueued iteration has not run",
                    "look for errors of the device");
      state.status = static_cast<int>(Status::stopped);
    }
    const double squared_limit = state.squared_limit;
    result.status = static_cast<Status>(state.status);
    result.iterations = done = state.iterations;
    result.rhs_norm = std::sqrt(state.squared_b);
    // Kernels have left x alone.
    if (state.zero_b)
      Kokkos::deep_copy(exec, strided_vector<Scalar, ExecutionSpace>(context.x),
                        Scalar(0));
    if (result.status == Status::not_finite) {
      result.residual_norm = std::numeric_limits<double>::quiet_NaN();
      break;
    }
    if (context.holds_back_x() && result.status != Status::converged)
      given = std::sqrt(context.verify(state).squared_r);
    context.complete(state);
    state = context.verify(state);
    result.residual_norm = std::sqrt(state.squared_r);
    if (!is_finite(state.squared_r)) {
      result.status = Status::not_finite;
      break;
    }
    // Twice the limit is as good: to begin anew for less would cost more
    // than it gains.
    if (context.broke_down(result.status) && state.squared_r <= squared_limit)
      result.status = Status::converged;
    const bool wrong = result.status == Status::converged &&
                       state.squared_r > 4 * squared_limit;
    if (!wrong && !context.begins_anew(result.status)) break;
    if (stopped) {
      result.status = Status::stopped;
      break;
    }
    if (wrong && corrected && state.squared_r > 0.25 * verified) {
      result.status = Status::stagnated;
      break;
    }
    if (done == options.max_iterations) {
      result.status = Status::max_iterations;
      break;
    }
    corrected = corrected || wrong;
    if (wrong) verified = state.squared_r;
    // The x given is gone, and this one is better.
    if (wrong && context.holds_back_x())
      given = std::numeric_limits<double>::infinity();
    ++result.restarts;
    context.restart(state);
  }
  result.history = monitor.history(result.iterations);
  report_divergence(result, context, given < 0 ? result.history[0] : given);
  return result;
}

}  // namespace Detail
}  // namespace Strata

#endif
