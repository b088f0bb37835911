// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CONJUGATE_GRADIENT_OPTIONS_HPP
#define STRATA_CONJUGATE_GRADIENT_OPTIONS_HPP

#include <Strata_Error.hpp>
#include <core/interface/Enumerators.hpp>
#include <cstdint>
#include <functional>
#include <kernels/krylov/KrylovChecks.hpp>
#include <string>
#include <vector>

namespace Strata {

/// How a solve by conjugate gradients ended.
enum class CgStatus {
  /// The residual is as small as was asked for.
  converged,
  /// max_iterations are done and it is not.
  max_iterations,
  /// p^H A p was not positive: A is not positive definite. x is the last
  /// iterate before.
  indefinite_matrix,
  /// r^H z was not positive: the preconditioner is not positive definite.
  indefinite_preconditioner,
  /// A NaN or an infinity in A, b or x; an x given whose residual is beyond
  /// 1e150 ||b||; or a solution, or numbers on the way to it, that the scalar
  /// can't hold. The scale of b is no reason, nor that of A and M
  /// within the limits of docs/algorithms/krylov.md.
  not_finite,
  /// The residual followed through the iterations is small enough, b - A x is
  /// not, and starting anew from x gains less than a factor of two.
  stagnated,
  /// The progress callback asked to stop.
  stopped,
  /// The residual grew: to more than divergence_tolerance allows, or, at the
  /// end, beyond that of the x given. x is the last iterate: do not use it.
  diverged
};

namespace Detail {
template <>
struct EnumeratorNames<CgStatus> {
  static constexpr const char* list[] = {
      "converged",         "max_iterations",
      "indefinite_matrix", "indefinite_preconditioner",
      "not_finite",        "stagnated",
      "stopped",           "diverged"};
};
}  // namespace Detail

inline const char* to_string(CgStatus status) {
  return Detail::enumerator_name(status);
}

struct CgOptions {
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
  /// do nothing, at the price of their launches. Without a callback, 64 at
  /// least where a launch does many.
  int iterations_ahead = 4;
  /// Launches of an iteration with a SellMatrix and no or a diagonal
  /// preconditioner (one less each than with others): 3, or 2, where the
  /// product makes the elements of p that it needs itself. That saves the time
  /// of a launch and has the caches move more. 1: one launch does up to 32
  /// iterations, with all vectors and as much of the matrix as there is room
  /// for in the scratch of the multiprocessors; the same with the Schur
  /// complement of an IncompletePreconditioner of two colours. That needs a
  /// device whose teams may wait for each other, vectors that fit, chunks of
  /// the SellMatrix as wide as a warp and no long rows; else 1 is as 0.
  /// 0: 1 where that is possible and faster, 2 on a device for at most 300,000
  /// unknowns, else 3.
  int launches = 0;
  /// Called in the order of iterations, from 0, some iterations late, with the
  /// norm of the residual; false stops the solve. With one, and launches = 0, a
  /// launch does many iterations from 16 iterations ahead on.
  std::function<bool(int iteration, double residual_norm)> progress;
};

struct CgResult {
  CgStatus status = CgStatus::max_iterations;
  int iterations = 0;
  /// ||b||, and ||b - A x|| worked out anew for the x returned (NaN where the
  /// status is not_finite).
  double rhs_norm = 0, residual_norm = 0;
  /// Norms of the residual as followed through the iterations, the first for
  /// the x given: iterations + 1 elements. In a Schur complement, that x has
  /// the first colour solved for.
  std::vector<double> history;
  /// Times that the iteration was begun anew from b - A x.
  int restarts = 0;

  bool converged() const { return status == CgStatus::converged; }
};

namespace Detail {

constexpr std::int64_t most_merged_rows = 300000;

/// @throws OptionError
inline void check_cg_options(const CgOptions& options) {
  check_krylov_options(options);
  if (options.launches < 0 || options.launches > 3)
    throw OptionError("launches",
                      std::to_string(options.launches) + " is not 0, 1, 2 or 3",
                      "choose one of these, 0 for the default");
}

}  // namespace Detail
}  // namespace Strata

#endif
