// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_KERNELS_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_KERNELS_HPP

#include <core/device/Atomics.hpp>
#include <core/device/GridSum.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/krylov/conjugate_gradient/CgState.hpp>
#include <kernels/krylov/solve/KrylovStart.hpp>
#include <kernels/krylov/solve/VectorKernel.hpp>
#include <kernels/spmv/SellLaunch.hpp>

namespace Strata {
namespace Detail {

/// b^H b into the scalars, of a b that has more rows than the iteration; and
/// whether all of x is finite.
template <class Scalar>
struct CgRhsNorm {
  static constexpr int sums = 2;
  static constexpr bool late = false;
  CgShared shared;
  MultiVectorRef<const Scalar> b, x;

  struct Item {
    Scalar b, x;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {b(i, 0), x(i, 0)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, const Item& item,
                                    double (&sum)[sums]) const {
    sum[0] += nonzero_square(item.b);
    sum[1] += is_finite(item.x) ? 0. : 1.;
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    CgScalars state = *shared.state;
    state.squared_b = sum[0];
    state.bad_x = sum[1] > 0;
    shared.store(state, shared.state);
  }
};

/// r = b - w, with b^H b, r^H r and, with a diagonal preconditioner,
/// r^H D^-1 r.
template <class Scalar>
struct CgStart {
  static constexpr int sums = 3;
  static constexpr bool late = false;
  CgShared shared;
  MultiVectorRef<const Scalar> b;
  const Scalar* w;
  Scalar* r;
  const RealOf<Scalar>* inverse_diagonal;  // null: 1
  KrylovLimits limits;
  bool knows_z;       // no preconditioner, or a diagonal one
  bool verify;        // b - A x of the x found: the state stays
  bool has_rhs_norm;  // CgRhsNorm has been

  struct Item {
    Scalar b, w;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {b(i, 0), w[i],
            inverse_diagonal ? inverse_diagonal[i] : RealOf<Scalar>(1)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&sum)[sums]) const {
    const Scalar residual = item.b - item.w;
    r[i] = residual;
    const double squared = real_product(residual, residual);
    sum[0] += nonzero_square(item.b);
    sum[1] += squared;
    sum[2] += static_cast<double>(item.d) * squared;
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    CgScalars state = *shared.state;
    take(state, sum);
    shared.store(state, shared.state);
  }
  KOKKOS_INLINE_FUNCTION void take(CgScalars& state,
                                   const double (&sum)[sums]) const {
    state.squared_r = sum[1];
    if (verify) {
      state.rho = sum[2];
      return;
    }
    const double squared_b = has_rhs_norm ? state.squared_b : sum[0];
    state.squared_b = squared_b;
    state.squared_limit = limits.squared_limit(squared_b);
    state.squared_most = limits.squared_most(squared_b, sum[1]);
    if (state.bad_x || out_of_range<Scalar>(squared_b) || !is_finite(sum[1]))
      return state.end(CgStatus::not_finite);
    shared.signals.tell_norm(0, sqrt(sum[1]));
    if (squared_b == 0) {
      state.zero_b = 1;
      return state.end(CgStatus::converged);
    }
    if (sum[1] <= state.squared_limit) return state.end(CgStatus::converged);
    if (limits.max_iterations == 0) return state.end(CgStatus::max_iterations);
    if (knows_z) state.take_rho(sum[2], true);
  }
};

/// r -= alpha w, with r^H r and, with a diagonal preconditioner, r^H D^-1 r.
template <class Scalar>
struct CgResidual {
  static constexpr int sums = 2;
  static constexpr bool late = true;
  CgShared shared;
  CgTakeCurvature curvature;
  const Scalar* w;
  Scalar* r;
  const RealOf<Scalar>* inverse_diagonal;
  RealOf<Scalar> alpha;

  struct Item {
    Scalar r, w;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team& team) {
    double found = 0;
    const bool running = curvature(team, shared, found);
    alpha = static_cast<RealOf<Scalar>>(found);
    return running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {r[i], w[i],
            inverse_diagonal ? inverse_diagonal[i] : RealOf<Scalar>(1)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&sum)[sums]) const {
    const Scalar residual = item.r - alpha * item.w;
    r[i] = residual;
    const double squared = real_product(residual, residual);
    sum[0] += squared;
    sum[1] += static_cast<double>(item.d) * squared;
  }
};

/// u^H v: p^H A p for operators that can't add it up themselves, and r^H z.
template <class Scalar>
struct CgProduct {
  static constexpr int sums = 1;
  static constexpr bool late = false;
  CgShared shared;
  const Scalar *u, *v;
  bool curvature;  // p^H A p, else r^H z

  struct Item {
    Scalar u, v;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return shared.state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {u[i], v[i]};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, const Item& item,
                                    double (&sum)[sums]) const {
    sum[0] += real_product(item.u, item.v);
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    CgScalars state = *shared.state;
    if (curvature)
      state.take_curvature(sum[0]);
    else
      state.next_rho = sum[0];
    shared.store(state, shared.state);
  }
};

/// The residual's sums taken, and nothing else: before the host looks at the
/// scalars, or waits for the last residual.
template <class Scalar>
struct CgFlush {
  static constexpr int sums = 0;
  static constexpr bool late = false;
  CgShared shared;
  CgTakeResidual residual;
  struct Item {};
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team& team) {
    bool was_running;
    residual(team, shared, was_running);
    return false;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t, Item&) const {}
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, const Item&,
                                    double (&)[1]) const {}
};

/// x += alpha p of the iteration just done, p = z + beta p for the next one.
template <class Scalar>
struct CgDirection {
  static constexpr int sums = 0;
  static constexpr bool late = false;
  CgShared shared;
  CgTakeResidual residual;
  const Scalar* z;
  const RealOf<Scalar>* inverse_diagonal;
  Scalar* p;
  MultiVectorRef<Scalar> x;
  bool first;  // p = z, and x has nothing to come
  RealOf<Scalar> alpha, beta;
  bool running;

  struct Item {
    Scalar z, p, x;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team& team) {
    bool was_running;
    const CgScalars state = residual(team, shared, was_running);
    alpha = static_cast<RealOf<Scalar>>(state.alpha);
    beta = static_cast<RealOf<Scalar>>(state.beta);
    running = state.status == krylov_running;
    return was_running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item.z = z[i];
    item.d = inverse_diagonal ? inverse_diagonal[i] : RealOf<Scalar>(1);
    // Before the first direction p holds anything, NaN included.
    item.p = first ? Scalar(0) : p[i];
    item.x = first ? Scalar(0) : x(i, 0);
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&)[1]) const {
    if (!first) x(i, 0) = item.x + alpha * item.p;
    if (running) p[i] = item.d * item.z + beta * item.p;
  }
};

/// w = A p by a SELL-C-sigma matrix, with p^H w.
template <class Scalar>
struct CgSellProduct {
  static constexpr int block = 1;
  static constexpr bool reduces = true, late = true, heavy = false;
  ContiguousSource<Scalar> source;
  Scalar* w;
  CgShared shared;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return shared.state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    w[row] = sum[0];
    return real_product(source(row, 0), sum[0]);
  }
};

/// t = F p of TwoColourBlocks.
template <class Scalar>
struct CgReducedFirst {
  static constexpr int block = 1;
  static constexpr bool reduces = false, late = false, heavy = false;
  ContiguousSource<Scalar> source;
  Scalar* t;
  const CgScalars* state;
  bool always;  // whether or not the solve is over
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return always || state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    t[row] = sum[0];
    return 0;
  }
};

/// w = D2 p - G t, with p^H w.
template <class Scalar>
struct CgReducedSecond {
  static constexpr int block = 1;
  static constexpr bool reduces = true, late = true, heavy = false;
  ContiguousSource<Scalar> source;  // t
  const Scalar *p, *diagonal;
  Scalar* w;
  const CgScalars* state;
  bool always;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return always || state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    const Scalar own = p[row], product = diagonal[row] * own - sum[0];
    w[row] = product;
    return real_product(own, product);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
