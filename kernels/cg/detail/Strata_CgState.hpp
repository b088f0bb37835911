// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CG_STATE_HPP
#define STRATA_CG_STATE_HPP

#include <Strata_ConjugateGradientOptions.hpp>
#include <detail/Strata_KokkosCompat.hpp>
#include <detail/Strata_RealPart.hpp>

namespace Strata {
namespace Detail {

constexpr int cg_running = -1;

/// The scalars of a solve, on the device. Kernels read them when they start;
/// the last block of a kernel writes them. With a status other than
/// running, kernels still to come do nothing.
struct CgScalars {
  double rho = 0;    // r^H z
  double part = 0;   // of r^H z, as far as it has been added up
  double alpha = 0;  // rho / p^H A p
  double beta = 0;
  double squared_limit = 0;
  double squared_b = 0;
  double squared_r = 0;
  int status = cg_running;  // or a CgStatus
  int iterations = 0;       // whose residual is known
  int zero_b = 0;           // 1: b is 0, and x is to be
};

/// What the kernels of a solve share.
struct CgShared {
  CgScalars* state;
  double* history;  // HostVisibleSpace; negative where not known yet
  double* signal;   // HostVisibleSpace; the status once it is not running

  KOKKOS_INLINE_FUNCTION void end(CgStatus status) const {
    state->status = static_cast<int>(status);
    store_for_host(signal, static_cast<double>(static_cast<int>(status)));
  }
  /// Takes r^H z of iteration `it`; `first`: there is no direction yet.
  KOKKOS_INLINE_FUNCTION void take_rho(double rho, bool first) const {
    if (!is_finite(rho)) return end(CgStatus::not_finite);
    if (!(rho > 0)) return end(CgStatus::indefinite_preconditioner);
    state->beta = first ? 0.0 : rho / state->rho;
    state->rho = rho;
  }
  KOKKOS_INLINE_FUNCTION void take_curvature(double p_a_p) const {
    if (!is_finite(p_a_p)) return end(CgStatus::not_finite);
    if (!(p_a_p > 0)) return end(CgStatus::indefinite_matrix);
    const double alpha = state->rho / p_a_p;
    if (!is_finite(alpha)) return end(CgStatus::not_finite);
    state->alpha = alpha;
  }
};

/// r^H z from the launches of a preconditioner that has several.
struct CgSweepSum {
  static constexpr bool wanted = true;
  CgShared shared;
  bool first_iteration;
  KOKKOS_INLINE_FUNCTION bool running() const {
    return shared.state->status == cg_running;
  }
  KOKKOS_INLINE_FUNCTION void take(double part, bool first, bool last) const {
    const double sum = first ? part : shared.state->part + part;
    if (last)
      shared.take_rho(sum, first_iteration);
    else
      shared.state->part = sum;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
