// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CONJUGATE_GRADIENT_OPTIONS_HPP
#define STRATA_CONJUGATE_GRADIENT_OPTIONS_HPP

#include <Strata_KrylovOptions.hpp>
#include <core/interface/Enumerators.hpp>

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

struct CgOptions : KrylovOptions {
  /// Launches of an iteration with a SellMatrix and no or a diagonal
  /// preconditioner (one less than with others): 3, or 1: one launch does up to
  /// 32 iterations, with all vectors and as much of the matrix as there is room
  /// for in the scratch of the multiprocessors; the same with the Schur
  /// complement of an IncompleteFactorization of two colours. That needs a
  /// device whose teams may wait for each other, vectors that fit, chunks of
  /// the SellMatrix as wide as a warp and no long rows; else 1 is as 3. At
  /// least 64 iterations are then enqueued ahead without a progress callback.
  /// 0: 1 where that is possible and faster, with a callback from 16 iterations
  /// ahead on, else 3.
  int launches = 0;
};

/// In a Schur complement, the x given, whose residual begins the history, has
/// the first colour solved for.
using CgResult = KrylovResultOf<CgStatus>;

}  // namespace Strata

#endif
