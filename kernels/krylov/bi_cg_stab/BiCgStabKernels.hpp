// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_BI_CG_STAB_BI_CG_STAB_KERNELS_HPP
#define STRATA_KERNELS_KRYLOV_BI_CG_STAB_BI_CG_STAB_KERNELS_HPP

#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/Wide.hpp>
#include <kernels/krylov/solve/KrylovStart.hpp>

namespace Strata {
namespace Detail {

// q is the shadow residual, p the direction, v = A M^-1 p, s = r - alpha v,
// which takes r's place, t = A M^-1 s, and omega makes r = s - omega t short.

template <class Scalar>
struct BiCgStabScalars : KrylovScalars {
  using W = WideOf<Scalar>;
  double squared_q = 0;
  W rho = W(0);  // q^H r
  W alpha = W(0), omega = W(0), beta = W(0);
  double squared_s = 0;
  int takes_alpha = 0;  // x is to have its part of alpha
  int breaks_down = 0;  // after that

  KOKKOS_INLINE_FUNCTION void take_r(double squared, ResidualOf) {
    squared_r = squared;
  }
  /// Whether u^H v vanishes beside ||u|| ||v||.
  KOKKOS_INLINE_FUNCTION static bool vanishes(const W& product,
                                              double squared_u,
                                              double squared_v) {
    return modulus(product) <=
           spacing_of<Scalar> * sqrt(squared_u) * sqrt(squared_v);
  }
  /// Of a new shadow residual.
  KOKKOS_INLINE_FUNCTION void take_shadow(const W& q_r, double squared) {
    if (!is_finite(q_r) || !is_finite(squared))
      return end(KrylovStatus::not_finite);
    rho = q_r;
    squared_q = squared;
    if (vanishes(rho, squared_q, squared_r)) end(KrylovStatus::breakdown);
  }
  KOKKOS_INLINE_FUNCTION void take_q_v(const W& q_v, double squared_v) {
    if (!is_finite(q_v) || !is_finite(squared_v) ||
        (iterations == 0 && product_out_of_range(squared_v, q_v)))
      return end(KrylovStatus::not_finite);
    if (vanishes(q_v, squared_q, squared_v))
      return end(KrylovStatus::breakdown);
    alpha = rho / q_v;
    if (!is_finite(alpha)) end(KrylovStatus::not_finite);
  }
  KOKKOS_INLINE_FUNCTION void take_s(double squared) {
    squared_s = squared;
    if (!is_finite(squared)) end(KrylovStatus::not_finite);
  }
  KOKKOS_INLINE_FUNCTION void take_t_s(const W& t_s, double squared_t) {
    omega = W(0);
    takes_alpha = 1;
    breaks_down = 0;
    if (squared_s <= squared_limit) return;  // t is not needed
    if (!is_finite(t_s) || !is_finite(squared_t))
      return end(KrylovStatus::not_finite);
    if (vanishes(t_s, squared_t, squared_s)) {
      breaks_down = 1;
      takes_alpha = squared_s < squared_r;
      return;
    }
    omega = t_s / squared_t;
    if (!is_finite(omega)) end(KrylovStatus::not_finite);
  }
  /// The end of an iteration.
  KOKKOS_INLINE_FUNCTION void take_new_r(double squared, const W& q_r,
                                         int iteration, int max_iterations) {
    take_residual(iteration, takes_alpha ? squared : squared_r, max_iterations);
    if (status != krylov_running) return;
    if (breaks_down || !is_finite(q_r) || vanishes(q_r, squared_q, squared_r))
      return end(KrylovStatus::breakdown);
    beta = q_r / rho * (alpha / omega);
    rho = q_r;
    if (!is_finite(beta)) end(KrylovStatus::breakdown);
  }
};

/// What the kernels of a solve share.
template <class Scalar>
struct BiCgStabShared {
  using State = BiCgStabScalars<Scalar>;
  State* state;
  KrylovSignals signals;
  const RealOf<Scalar>* inverse_diagonal;  // null: none

  KOKKOS_INLINE_FUNCTION bool running() const {
    return state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION RealOf<Scalar> scale(std::int64_t i) const {
    return inverse_diagonal ? inverse_diagonal[i] : RealOf<Scalar>(1);
  }
  KOKKOS_INLINE_FUNCTION void store(const State& found) const {
    *state = found;
    signals.tell_status(found.status);
  }
};

/// q = p = r, and q^H r with q^H q; after a breakdown, q = r and random
/// numbers, with about the norm of r together.
template <class Scalar>
struct BiCgStabBegin {
  static constexpr int sums = 3;
  static constexpr bool late = false;
  BiCgStabShared<Scalar> shared;
  const Scalar* r;
  Scalar *q, *p, *p_scaled;  // null: the preconditioner is no diagonal
  std::int64_t n;
  int times;  // that the solve broke down
  double size;

  struct Item {
    Scalar r;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    size = times > 0 ? sqrt(shared.state->squared_r / static_cast<double>(n))
                     : 0.0;
    return shared.running();
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {r[i], shared.scale(i)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&sum)[sums]) const {
    Scalar shadow = item.r;
    if (times > 0) shadow += random(i);
    q[i] = shadow;
    p[i] = item.r;
    if (p_scaled) p_scaled[i] = item.d * item.r;
    add_product(shadow, item.r, sum);
    sum[2] += real_product(shadow, shadow);
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    auto found = *shared.state;
    found.take_shadow(wide_of_parts<WideOf<Scalar>>(sum), sum[2]);
    shared.store(found);
  }

 private:
  KOKKOS_INLINE_FUNCTION double part(std::int64_t i,
                                     std::uint64_t which) const {
    const auto bits = random_bits(static_cast<std::uint64_t>(times),
                                  static_cast<std::uint64_t>(i), which, 0x51);
    return size * (2 * unit_interval(bits) - 1);
  }
  KOKKOS_INLINE_FUNCTION Scalar random(std::int64_t i) const {
    const double numbers[2] = {part(i, 0), part(i, 1)};
    return narrow<Scalar>(wide_of_parts<WideOf<Scalar>>(numbers));
  }
};

/// p = r + beta (p - omega v)
template <class Scalar>
struct BiCgStabDirection {
  static constexpr int sums = 0;
  static constexpr bool late = false;
  BiCgStabShared<Scalar> shared;
  const Scalar *r, *v;
  Scalar *p, *p_scaled;
  Scalar beta, omega;

  struct Item {
    Scalar r, v, p;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    beta = narrow<Scalar>(shared.state->beta);
    omega = narrow<Scalar>(shared.state->omega);
    return shared.running();
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {r[i], v[i], p[i], shared.scale(i)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&)[1]) const {
    const Scalar next = item.r + beta * (item.p - omega * item.v);
    p[i] = next;
    if (p_scaled) p_scaled[i] = item.d * next;
  }
};

/// v^H v with q^H v, or t^H t with t^H s: what alpha or omega is of.
template <class Scalar>
struct BiCgStabProducts {
  static constexpr int sums = 3;
  static constexpr bool late = false;
  BiCgStabShared<Scalar> shared;
  const Scalar *left, *right;  // of the product that may be complex
  bool of_v;

  struct Item {
    Scalar left, right;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return shared.running();
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {left[i], right[i]};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, const Item& item,
                                    double (&sum)[sums]) const {
    add_product(item.left, item.right, sum);
    const Scalar& image = of_v ? item.right : item.left;
    sum[2] += real_product(image, image);
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    auto found = *shared.state;
    const auto product = wide_of_parts<WideOf<Scalar>>(sum);
    if (of_v)
      found.take_q_v(product, sum[2]);
    else
      found.take_t_s(product, sum[2]);
    shared.store(found);
  }
};

/// s = r - alpha v in r's place, with s^H s.
template <class Scalar>
struct BiCgStabHalf {
  static constexpr int sums = 1;
  static constexpr bool late = false;
  BiCgStabShared<Scalar> shared;
  const Scalar* v;
  Scalar *r, *s_scaled;
  Scalar alpha;

  struct Item {
    Scalar r, v;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    alpha = narrow<Scalar>(shared.state->alpha);
    return shared.running();
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {r[i], v[i], shared.scale(i)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&sum)[sums]) const {
    const Scalar s = item.r - alpha * item.v;
    r[i] = s;
    if (s_scaled) s_scaled[i] = item.d * s;
    sum[0] += real_product(s, s);
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    auto found = *shared.state;
    found.take_s(sum[0]);
    shared.store(found);
  }
};

/// x += alpha M^-1 p + omega M^-1 s, r = s - omega t, with r^H r and q^H r.
template <class Scalar>
struct BiCgStabUpdate {
  static constexpr int sums = 3;
  static constexpr bool late = false;
  BiCgStabShared<Scalar> shared;
  const Scalar *p, *s, *t, *q;  // p and s preconditioned
  Scalar* r;                    // s
  MultiVectorRef<Scalar> x;
  int iteration, max_iterations;
  Scalar alpha, omega;
  bool writes, has_omega;

  struct Item {
    Scalar p, s, t, q, r, x;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    alpha = narrow<Scalar>(shared.state->alpha);
    omega = narrow<Scalar>(shared.state->omega);
    writes = shared.state->takes_alpha != 0;
    has_omega = shared.state->omega != WideOf<Scalar>(0);
    return shared.running();
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {p[i], s[i], t[i], q[i], r[i], x(i, 0)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&sum)[sums]) const {
    Scalar step = alpha * item.p, residual = item.r;
    if (has_omega) {
      step += omega * item.s;
      residual -= omega * item.t;
    }
    if (writes) x(i, 0) = item.x + step;
    r[i] = residual;
    add_product(item.q, residual, sum);
    sum[2] += real_product(residual, residual);
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    auto found = *shared.state;
    found.take_new_r(sum[2], wide_of_parts<WideOf<Scalar>>(sum), iteration,
                     max_iterations);
    if (found.status != static_cast<int>(KrylovStatus::not_finite))
      shared.signals.tell_norm(iteration, sqrt(found.squared_r));
    shared.store(found);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
