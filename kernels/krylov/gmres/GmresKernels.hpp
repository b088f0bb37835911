// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_GMRES_GMRES_KERNELS_HPP
#define STRATA_KERNELS_KRYLOV_GMRES_GMRES_KERNELS_HPP

#include <core/device/GridSum.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/Wide.hpp>
#include <kernels/krylov/solve/KrylovStart.hpp>

namespace Strata {
namespace Detail {

struct GmresScalars : KrylovScalars {
  double norm = 0;           // of the vector that is to become a basis vector
  double squared_first = 0;  // residual that the cycle began with
  double largest = 0;        // norm of A M^-1 v, of basis vectors v
  int columns = 0;           // of the cycle's small problem, as far as it is
  int padding = 0;           // no byte is copied as it was

  /// What rounding may leave of A M^-1 times a unit vector.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION double rounding() const {
    return largest * spacing_of<Scalar>;
  }
  KOKKOS_INLINE_FUNCTION void take_r(double squared, ResidualOf of) {
    if (of == ResidualOf::cycle) {
      // The factor: what rounding makes of no gain at all.
      constexpr double no_gain = 1 - 1e-10;
      if (!is_finite(squared))
        end(KrylovStatus::not_finite);
      else if (squared <= squared_limit)
        end(KrylovStatus::converged);
      else if (squared >= no_gain * squared_first)
        end(KrylovStatus::stagnated);
      else
        ++restarts;
    }
    squared_r = squared_first = squared;
    norm = sqrt(squared);
    columns = 0;
  }
};

/// The least-squares problem of a cycle of up to `size` columns, on the device:
/// R and the rotations that made it, their right-hand side g, the solution y,
/// and dot products on their way.
template <class Scalar>
struct GmresProblem {
  using W = WideOf<Scalar>;
  static constexpr int parts = Wide<Scalar>::parts;
  GmresScalars* state;
  KrylovSignals signals;
  W* numbers;
  int size;

  static std::int64_t count(std::int64_t size) {
    return size * size + 6 * size + 5;
  }

  KOKKOS_INLINE_FUNCTION W& r(int i, int j) const {
    return numbers[static_cast<std::int64_t>(j) * size + i];
  }
  KOKKOS_INLINE_FUNCTION W* after_r() const {
    return numbers + static_cast<std::int64_t>(size) * size;
  }
  KOKKOS_INLINE_FUNCTION W* cosine() const { return after_r(); }
  KOKKOS_INLINE_FUNCTION W* sine() const { return after_r() + size; }
  KOKKOS_INLINE_FUNCTION W* y() const { return after_r() + 2 * size; }
  KOKKOS_INLINE_FUNCTION W* g() const { return after_r() + 3 * size; }
  /// V^H w, and w^H w behind it.
  KOKKOS_INLINE_FUNCTION W* first_dots() const {
    return after_r() + 4 * size + 1;
  }
  /// V^H w of the w that is left.
  KOKKOS_INLINE_FUNCTION W* second_dots() const {
    return after_r() + 5 * size + 3;
  }
  KOKKOS_INLINE_FUNCTION W* last_dot() const {
    return after_r() + 6 * size + 4;
  }

  /// Column `j` of the Hessenberg matrix, once w is what of it is left, with
  /// the square `left` of its norm: rotates it into a column of R.
  KOKKOS_INLINE_FUNCTION void take_column(int j, double left, int iteration,
                                          int max_iterations) const {
    GmresScalars found = *state;
    const double whole = RealPart<W>::real(first_dots()[j + 1]);
    const double image = sqrt(whole);
    if (image > found.largest) found.largest = image;
    if (!is_finite(whole) || !is_finite(left) ||
        (found.iterations == 0 &&
         product_out_of_range(found.largest * found.largest,
                              first_dots()[0]))) {
      found.end(KrylovStatus::not_finite);
    } else {
      add_column(found, j, sqrt(left), iteration, max_iterations);
      if (found.iterations == iteration)
        signals.tell_norm(iteration, sqrt(found.squared_r));
    }
    *state = found;
    signals.tell_status(found.status);
  }

 private:
  KOKKOS_INLINE_FUNCTION void add_column(GmresScalars& found, int j,
                                         double left, int iteration,
                                         int max_iterations) const {
    const double rounding = found.rounding<Scalar>();
    const W *const first = first_dots(), *const second = second_dots(),
                   *const c = cosine(), *const s = sine();
    W below = first[0] + second[0];
    for (int i = 0; i < j; ++i) {
      const W above = below, next = first[i + 1] + second[i + 1];
      r(i, j) = c[i] * above + s[i] * next;
      below = c[i] * next - conjugate(s[i]) * above;
    }
    // What rounding has left is nothing: A maps the space into itself.
    const bool complete = left <= 16 * rounding;
    if (complete) left = 0;
    const double turned = sqrt(squared_modulus(below));
    if (complete && turned <= 1000 * rounding) {
      // Singular there. The columns before this one are of use.
      found.iterations = iteration;
      return found.end(KrylovStatus::breakdown);
    }
    const double length = sqrt(turned * turned + left * left);
    const W direction = turned > 0 ? below / turned : W(1);
    const W new_sine = direction * (left / length);
    cosine()[j] = W(turned / length);
    sine()[j] = new_sine;
    r(j, j) = direction * length;
    const W right = j == 0 ? W(sqrt(found.squared_first)) : g()[j];
    const W remaining = conjugate(new_sine) * right * -1.0;
    g()[j] = cosine()[j] * right;
    g()[j + 1] = remaining;
    found.columns = j + 1;
    found.norm = left;
    found.take_residual(iteration, squared_modulus(remaining), max_iterations);
  }
};

/// One of the three passes over the basis V of an iteration: w = A z is made
/// the next vector of the basis, h = V^H w, with w^H w; w -= V h and h' = V^H
/// w; w -= V h' and w^H w, with which the column is complete. (Gram-Schmidt,
/// and the same once more: the second time leaves rounding alone.)
///
/// The product is not made in the basis itself: one that is enqueued behind the
/// last iteration, where no pass runs, must leave the basis as it is.
///
/// A thread reads what it has itself written of w, and nobody else does.
template <class Scalar, class ExecutionSpace>
struct GmresPass {
  enum Step { project, again, norm };
  static constexpr int blocks_at_once = 2;
  static constexpr int parts = Wide<Scalar>::parts;
  GmresProblem<Scalar> problem;
  ManySumsRef sums;
  Scalar* basis;
  const Scalar* image;  // A z
  std::int64_t n;
  int column;  // V has column + 1, and w is the next
  Step step;
  int iteration, max_iterations;

  /// A thread's rows.
  struct Rows {
    std::int64_t begin, end, stride;
  };

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (problem.state->status != krylov_running) return;
    const Rows rows = rows_of(team);
    if (step == project) {
      Scalar* const w = vector(column + 1);
      for (std::int64_t i = rows.begin; i < rows.end; i += rows.stride)
        w[i] = image[i];
    } else {
      const auto* h =
          step == again ? problem.first_dots() : problem.second_dots();
      int c = 0;
      for (; c + 8 <= column + 1; c += 8) subtract<8>(rows, c, h);
      for (; c + 2 <= column + 1; c += 2) subtract<2>(rows, c, h);
      if (c < column + 1) subtract<1>(rows, c, h);
    }
    const int first = step == norm ? column + 1 : 0;
    const int end = step == again ? column + 1 : column + 2;
    constexpr int many = ManySumsRef::group / parts;
    int c = first;
    for (; c + many <= end; c += many) multiply<many>(team, rows, first, c);
    for (; c + 2 <= end; c += 2) multiply<2>(team, rows, first, c);
    if (c < end) multiply<1>(team, rows, first, c);

    if (!is_last_block(team, sums.done)) return;
    auto* const to = step == project ? problem.first_dots()
                     : step == again ? problem.second_dots()
                                     : problem.last_dot();
    sums.add_up(team, (end - first) * parts, reinterpret_cast<double*>(to));
    if (step == norm && team.team_rank() == 0)
      problem.take_column(column,
                          RealPart<WideOf<Scalar>>::real(*problem.last_dot()),
                          iteration, max_iterations);
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION Rows rows_of(const Team& team) const {
    if (is_gpu<ExecutionSpace>) {
      const std::int64_t size = team.team_size();
      return {team.league_rank() * size + team.team_rank(), n,
              team.league_size() * size};
    }
    const std::int64_t share =
        (n + team.league_size() - 1) / team.league_size();
    const std::int64_t begin = team.league_rank() * share;
    return {begin, begin + share < n ? begin + share : n, 1};
  }
  KOKKOS_INLINE_FUNCTION Scalar* vector(int c) const { return basis + c * n; }

  template <int count>
  KOKKOS_INLINE_FUNCTION void subtract(const Rows& rows, int c,
                                       const WideOf<Scalar>* h) const {
    Scalar factor[count];
    for (int k = 0; k < count; ++k) factor[k] = narrow<Scalar>(h[c + k]);
    const Scalar* const v = vector(c);
    Scalar* const w = vector(column + 1);
    for (std::int64_t i = rows.begin; i < rows.end; i += rows.stride) {
      Scalar sum = w[i];
      STRATA_IMPL_UNROLL
      for (int k = 0; k < count; ++k) sum -= factor[k] * v[k * n + i];
      w[i] = sum;
    }
  }
  template <int count, class Team>
  KOKKOS_INLINE_FUNCTION void multiply(const Team& team, const Rows& rows,
                                       int first, int c) const {
    double sum[count * parts] = {};
    const Scalar *const v = vector(c), *const w = vector(column + 1);
    for (std::int64_t i = rows.begin; i < rows.end; i += rows.stride) {
      const Scalar own = w[i];
      STRATA_IMPL_UNROLL
      for (int k = 0; k < count; ++k)
        add_product(v[k * n + i], own, sum + k * parts);
    }
    sums.leave(team, (c - first) * parts, sum);
  }
};

/// v /= its norm, and z = D^-1 v where the preconditioner is a diagonal D.
template <class Scalar>
struct GmresNormalise {
  static constexpr int sums = 0;
  static constexpr bool late = false;
  const GmresScalars* state;
  Scalar *v, *z;
  const RealOf<Scalar>* inverse_diagonal;  // null: no z is made
  RealOf<Scalar> norm;

  struct Item {
    Scalar v;
    RealOf<Scalar> d;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    norm = static_cast<RealOf<Scalar>>(state->norm);
    return state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t i, Item& item) const {
    item = {v[i], inverse_diagonal ? inverse_diagonal[i] : RealOf<Scalar>(1)};
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item& item,
                                    double (&)[1]) const {
    const Scalar unit = item.v / norm;
    v[i] = unit;
    if (inverse_diagonal) z[i] = item.d * unit;
  }
};

/// y = R^-1 g, by one team. Of a matrix that is singular, or nearly so, y may
/// be so large that its rounding errors weigh more than what it gains: the
/// first columns then do without the others.
template <class Scalar>
struct GmresTriangle {
  GmresProblem<Scalar> problem;
  bool at_the_end;  // whatever the status is

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const GmresScalars& state = *problem.state;
    if (!at_the_end && state.status != krylov_running) return;
    const int rank = team.team_rank(), size = team.team_size();
    const double most = 0.25 * sqrt(state.squared_first);
    auto* const y = problem.y();
    for (int columns = state.columns; columns > 0; --columns) {
      solve(team, columns);
      double sum = 0;
      for (int i = rank; i < columns; i += size) sum += squared_modulus(y[i]);
      if (state.rounding<Scalar>() * sqrt(team_sum(team, sum)) <= most) return;
      if (rank == 0) y[columns - 1] = WideOf<Scalar>(0);
    }
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, int columns) const {
    const int rank = team.team_rank(), size = team.team_size();
    auto* const y = problem.y();
    for (int i = rank; i < columns; i += size) y[i] = problem.g()[i];
    for (int i = columns - 1; i >= 0; --i) {
      team.team_barrier();
      if (rank == 0) y[i] = y[i] / problem.r(i, i);
      team.team_barrier();
      for (int k = rank; k < i; k += size) y[k] -= problem.r(k, i) * y[i];
    }
    team.team_barrier();
  }
};

/// V y, scaled by a diagonal preconditioner and added to x, or left in z.
template <class Scalar>
struct GmresCorrection {
  static constexpr int sums = 0;
  static constexpr bool late = false;
  GmresProblem<Scalar> problem;
  const Scalar* basis;
  std::int64_t n;
  const RealOf<Scalar>* inverse_diagonal;  // null: 1
  MultiVectorRef<Scalar> x;
  Scalar* z;  // null: x is to have it
  bool at_the_end;
  int columns;

  struct Item {};
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    columns = problem.state->columns;
    return at_the_end || problem.state->status == krylov_running;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t, Item&) const {}
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, const Item&,
                                    double (&)[1]) const {
    const auto* const y = problem.y();
    Scalar sum(0);
    for (int c = 0; c < columns; ++c)
      sum += narrow<Scalar>(y[c]) * basis[c * n + i];
    if (z) {
      z[i] = sum;
    } else {
      x(i, 0) += inverse_diagonal ? inverse_diagonal[i] * sum : sum;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
