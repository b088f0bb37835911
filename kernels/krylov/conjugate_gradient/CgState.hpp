// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_STATE_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_STATE_HPP

#include <Strata_ConjugateGradientOptions.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/GridSum.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/krylov/solve/KrylovMonitor.hpp>
#include <kernels/krylov/solve/VectorKernel.hpp>

namespace Strata {
namespace Detail {

/// The scalars of a solve, on the device. With a status other than running,
/// kernels still to come do nothing.
struct CgScalars {
  double rho = 0;       // r^H z
  double next_rho = 0;  // the next one, of a preconditioner that is no diagonal
  double alpha = 0;     // rho / p^H A p
  double beta = 0;
  double squared_limit = 0, squared_most = 0;  // see KrylovLimits
  double squared_b = 0;
  double squared_r = 0;
  int status = krylov_running;  // or a CgStatus
  int iterations = 0;           // whose residual is known
  int zero_b = 0;               // 1: b is 0, and x is to be
  int bad_x = 0;                // 1: an x given is not finite

  KOKKOS_INLINE_FUNCTION void end(CgStatus how) {
    status = static_cast<int>(how);
  }
  /// Takes r^H z; `first`: there is no direction yet.
  KOKKOS_INLINE_FUNCTION void take_rho(double found, bool first) {
    if (!is_finite(found)) return end(CgStatus::not_finite);
    if (!(found > 0)) return end(CgStatus::indefinite_preconditioner);
    beta = first ? 0.0 : found / rho;
    rho = found;
  }
  KOKKOS_INLINE_FUNCTION void take_curvature(double p_a_p) {
    if (!is_finite(p_a_p)) return end(CgStatus::not_finite);
    if (!(p_a_p > 0)) return end(CgStatus::indefinite_matrix);
    // Less loses digits, and what is left in the first iteration gets smaller.
    if (p_a_p < (iterations == 0 ? 1e-270 : 1e-290))
      return end(CgStatus::not_finite);
    alpha = rho / p_a_p;
    if (!is_finite(alpha)) end(CgStatus::not_finite);
  }
};

/// What the kernels of a solve share. There are two sets of scalars. A kernel
/// that has sums of the one before to add up reads one set, and every block
/// works out what it needs for itself, the same bits in each; one of them
/// writes the other set, which the kernels after it go on from. No block waits
/// for sums at the end of a kernel that way, nor is the last one to do them.
/// Kernels that are seldom add up their own sums and write to the set they
/// read, by their last block.
struct CgShared {
  CgScalars *state, *next;
  KrylovSignals signals;

  KOKKOS_INLINE_FUNCTION void store(const CgScalars& scalars,
                                    CgScalars* to) const {
    *to = scalars;
    signals.tell_status(scalars.status);
  }
};

/// Adds up p^H A p, which the kernel before has left, and takes it.
struct CgTakeCurvature {
  LateSums sums;  // nothing: alpha is known already

  /// All threads of a block call it. @return whether the solve goes on
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool operator()(const Team& team,
                                         const CgShared& shared,
                                         double& alpha) const {
    double sum[1] = {0};
    if (sums.blocks > 0)
      sums.grid_sum.add_up(team, sums.blocks, sum, sums.used_extra);
    const auto take = [&](CgScalars& scalars) {
      if (scalars.status == krylov_running && sums.blocks > 0)
        scalars.take_curvature(sum[0]);
    };
    CgScalars own;
    own.status = shared.state->status;
    own.rho = shared.state->rho;
    own.alpha = shared.state->alpha;
    own.iterations = shared.state->iterations;
    take(own);
    if (team.league_rank() == 0 && team.team_rank() == 0) {
      CgScalars all = *shared.state;
      take(all);
      shared.store(all, shared.next);
    }
    alpha = own.alpha;
    return own.status == krylov_running;
  }
};

/// Adds up the residual's sums, which an earlier kernel has left, and takes
/// them: whether the solve is over, and beta for the next direction.
struct CgTakeResidual {
  /// nothing: beta is known. first: r^H z is, and there is no direction yet.
  enum Mode { nothing, first, residual };
  Mode mode = nothing;
  /// r^H z is the second sum, else next_rho of the scalars.
  bool sums_rho = false;
  int iteration = 0, max_iterations = 0;
  LateSums sums;

  KOKKOS_INLINE_FUNCTION void take(CgScalars& scalars,
                                   const double (&sum)[2]) const {
    if (scalars.status != krylov_running || mode == nothing) return;
    const double found = sums_rho ? sum[1] : scalars.next_rho;
    if (mode == first) return scalars.take_rho(found, true);
    scalars.squared_r = sum[0];
    scalars.iterations = iteration;
    if (!is_finite(sum[0])) return scalars.end(CgStatus::not_finite);
    if (sum[0] <= scalars.squared_limit)
      return scalars.end(CgStatus::converged);
    if (sum[0] > scalars.squared_most) return scalars.end(CgStatus::diverged);
    if (iteration == max_iterations)
      return scalars.end(CgStatus::max_iterations);
    scalars.take_rho(found, false);
  }

  /// All threads of a block call it. @return the scalars as far as kernels need
  /// them: beta, status, and alpha as it was or became
  /// @param was_running whether the solve went on before
  template <class Team>
  KOKKOS_INLINE_FUNCTION CgScalars operator()(const Team& team,
                                              const CgShared& shared,
                                              bool& was_running) const {
    double sum[2] = {0, 0};
    if (mode == residual)
      sums.grid_sum.add_up(team, sums.blocks, sum, sums.used_extra);
    CgScalars own;
    own.status = shared.state->status;
    own.rho = shared.state->rho;
    own.next_rho = shared.state->next_rho;
    own.alpha = shared.state->alpha;
    own.beta = shared.state->beta;
    own.squared_limit = shared.state->squared_limit;
    own.squared_most = shared.state->squared_most;
    was_running = own.status == krylov_running;
    take(own, sum);
    if (team.league_rank() == 0 && team.team_rank() == 0) {
      CgScalars all = *shared.state;
      take(all, sum);
      if (was_running && mode == residual)
        shared.signals.tell_norm(iteration, sqrt(sum[0]));
      shared.store(all, shared.next);
    }
    return own;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
