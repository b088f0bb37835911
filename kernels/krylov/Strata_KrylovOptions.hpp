// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KRYLOV_OPTIONS_HPP
#define STRATA_KRYLOV_OPTIONS_HPP

#include <core/interface/Enumerators.hpp>
#include <functional>
#include <vector>

namespace Strata {

/// How a solve by Gmres or BiCgStab ended.
enum class KrylovStatus {
  /// The residual is as small as was asked for.
  converged,
  /// max_iterations are done and it is not.
  max_iterations,
  /// Gmres: the Krylov space is complete and has no solution, as A is singular,
  /// or close to that. BiCgStab: a scalar that is divided by vanished, and
  /// beginning anew from b - A x did not help.
  breakdown,
  /// A NaN or an infinity in A, M, b or x; an x given whose residual is beyond
  /// 1e150 ||b||; or a solution, or numbers on the way to it, that the scalar
  /// can't hold. The scale of b is no reason, nor that of A and M
  /// within the limits of docs/algorithms/krylov.md.
  not_finite,
  /// The residual followed through the iterations is small enough, b - A x is
  /// not, and beginning anew from x gains less than a factor of two. Or, of
  /// Gmres: a whole cycle gained nothing, and neither would the next.
  stagnated,
  /// The progress callback asked to stop.
  stopped,
  /// The residual grew: to more than divergence_tolerance allows, or, at the
  /// end, beyond that of the x given. x is the last iterate: do not use it.
  diverged
};

namespace Detail {
template <>
struct EnumeratorNames<KrylovStatus> {
  static constexpr const char* list[] = {
      "converged", "max_iterations", "breakdown", "not_finite",
      "stagnated", "stopped",        "diverged"};
};
}  // namespace Detail

/// What the options of all Krylov methods have in common.
struct KrylovOptions {
  /// Converged where the residual followed through the iterations has
  /// ||r|| <= max(relative ||b||, absolute), 2-norms, and ||b - A x|| worked
  /// out anew is no more than twice that.
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 0;
  /// Diverged when ||r|| of an iteration exceeds this many times
  /// max(||b||, ||r|| of the x given): at least 1, infinity for never.
  double divergence_tolerance = 1e5;
  int max_iterations = 10000;
  /// Iterations enqueued beyond the newest one whose residual the host knows.
  /// More hide more of the host's latency; those enqueued behind the last one
  /// do nothing but what caller's own operators do, at the price of their
  /// launches.
  int iterations_ahead = 4;
  /// Called in the order of iterations, from 0, some iterations late, with the
  /// norm of the residual; false stops the solve.
  std::function<bool(int iteration, double residual_norm)> progress;
};

struct GmresOptions : KrylovOptions {
  /// Iterations of a cycle, 1 to 1000. More take fewer iterations, each of
  /// which costs more: time and memory grow by a vector with each.
  int restart = 30;
};

struct BiCgStabOptions : KrylovOptions {
  /// Times that a solve which broke down begins anew from b - A x, with another
  /// shadow residual, before it ends as `breakdown`: 0 to 1000.
  int max_new_starts = 5;
};

/// What a solve by a Krylov method came to.
template <class Status>
struct KrylovResultOf {
  Status status = Status::max_iterations;
  int iterations = 0;
  /// ||b||, and ||b - A x|| worked out anew for the x returned (NaN where the
  /// status is not_finite).
  double rhs_norm = 0, residual_norm = 0;
  /// Norms of the residual as followed through the iterations, the first for
  /// the x given: iterations + 1 elements.
  std::vector<double> history;
  /// Times that the iteration was begun anew from b - A x: after each full
  /// cycle of Gmres that another one follows, after a breakdown of BiCgStab,
  /// and where b - A x was not what the iteration said.
  int restarts = 0;

  bool converged() const { return status == Status::converged; }
};
using KrylovResult = KrylovResultOf<KrylovStatus>;

}  // namespace Strata

#endif
