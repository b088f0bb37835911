// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_START_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_START_HPP

#include <Strata_KrylovOptions.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/RealPart.hpp>
#include <core/scalar/Wide.hpp>
#include <kernels/krylov/solve/KrylovMonitor.hpp>
#include <kernels/krylov/solve/VectorKernel.hpp>

namespace Strata {
namespace Detail {

/// What the squared norms of a solve are held against.
struct KrylovLimits {
  double relative, absolute, divergence;
  int max_iterations;

  template <class Options>
  explicit KrylovLimits(const Options& options)
      : relative(options.relative_tolerance),
        absolute(options.absolute_tolerance),
        divergence(options.divergence_tolerance),
        max_iterations(options.max_iterations) {}

  /// Of a residual that is small enough.
  KOKKOS_INLINE_FUNCTION double squared_limit(double of_b) const {
    const double limit = relative * sqrt(of_b);
    const double larger = limit > absolute ? limit : absolute;
    return larger * larger;
  }
  /// Of a residual that is not too large, after the first one.
  KOKKOS_INLINE_FUNCTION double squared_most(double of_b, double of_r) const {
    return divergence * divergence * (of_b > of_r ? of_b : of_r);
  }
};

/// What the scalars of Gmres and BiCgStab, on the device, have in common. With
/// a status other than running, kernels still to come do nothing. A kernel
/// that changes them does so by its last block, when all blocks have read them.
struct KrylovScalars {
  double squared_limit = 0, squared_most = 0;  // see KrylovLimits
  double squared_b = 0;
  double squared_r = 0;
  int status = krylov_running;  // or a KrylovStatus
  int iterations = 0;           // whose residual is known
  int zero_b = 0;               // 1: b is 0, and x is to be
  int restarts = 0;             // that the device has counted

  KOKKOS_INLINE_FUNCTION void end(KrylovStatus how) {
    status = static_cast<int>(how);
  }
  /// Takes the squared norms of b and of the first residual.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION void take_start(double of_b, double of_r,
                                         const KrylovLimits& limits) {
    squared_b = of_b;
    squared_r = of_r;
    squared_limit = limits.squared_limit(of_b);
    squared_most = limits.squared_most(of_b, of_r);
    if (out_of_range<Scalar>(of_b) || !is_finite(of_r))
      return end(KrylovStatus::not_finite);
    if (of_b == 0) {
      zero_b = 1;
      return end(KrylovStatus::converged);
    }
    if (of_r <= squared_limit) return end(KrylovStatus::converged);
    if (limits.max_iterations == 0) end(KrylovStatus::max_iterations);
  }
  /// Takes the squared norm of the residual of an iteration, which tells
  /// whether it is the last.
  KOKKOS_INLINE_FUNCTION void take_residual(int iteration, double of_r,
                                            int max_iterations) {
    if (!is_finite(of_r)) return end(KrylovStatus::not_finite);
    squared_r = of_r;
    iterations = iteration;
    if (of_r <= squared_limit) return end(KrylovStatus::converged);
    if (of_r > squared_most) return end(KrylovStatus::diverged);
    if (iteration == max_iterations) end(KrylovStatus::max_iterations);
  }
};

/// When a residual is worked out as b - A x.
enum class ResidualOf {
  start,  ///< of a solve
  cycle,  ///< of Gmres, but the first
  end     ///< of the iterations: the status stays
};

/// r = b - w, with b^H b and r^H r. State::take_r(squared, of) takes the
/// latter.
template <class Scalar, class State>
struct KrylovStart {
  static constexpr int sums = 2;
  static constexpr bool late = false;
  State* state;
  KrylovSignals signals;
  MultiVectorRef<const Scalar> b;
  const Scalar* w;
  Scalar* r;
  KrylovLimits limits;
  ResidualOf of;

  struct Item {
    Scalar b, w;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return of != ResidualOf::cycle || state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {b(i, 0), w[i]};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&sum)[sums]) const {
    const Scalar residual = item.b - item.w;
    r[i] = residual;
    sum[0] += nonzero_square(item.b);
    sum[1] += real_product(residual, residual);
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[sums]) const {
    State found = *state;
    if (of == ResidualOf::start) {
      found.template take_start<Scalar>(sum[0], sum[1], limits);
      if (found.status != static_cast<int>(KrylovStatus::not_finite))
        signals.tell_norm(0, sqrt(sum[1]));
    }
    found.take_r(sum[1], of);
    *state = found;
    if (of != ResidualOf::end) signals.tell_status(found.status);
  }
};

/// x += z, once GMRES or another has made the correction z.
template <class Scalar, class State>
struct KrylovAdd {
  static constexpr int sums = 0;
  static constexpr bool late = false;
  const State* state;
  MultiVectorRef<Scalar> x;
  const Scalar* z;
  bool at_the_end;  // whatever the status is

  struct Item {
    Scalar x, z;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return at_the_end || state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {x(i, 0), z[i]};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&)[1]) const {
    x(i, 0) = item.x + item.z;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
