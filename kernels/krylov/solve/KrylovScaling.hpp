// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_SCALING_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_SCALING_HPP

// Solves of systems whose numbers are so large or small that squares of them
// over- or underflow. Powers of two change no digits, so that a system times
// one has the same iterates.

#include <cmath>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/krylov/solve/KrylovOperator.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// The largest part of an element, infinite if one is not finite.
template <class Scalar>
struct LargestPart {
  MultiVectorRef<const Scalar> v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double& most) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Scalar value = v(i, 0);
    const double part = is_finite(value) ? larger_part(value) : infinity;
    if (part > most) most = part;
  }
};
/// Waits for `exec`.
template <class Scalar, class ExecutionSpace>
double largest_part(const ExecutionSpace& exec, const StridedBlock& v) {
  double most = 0;
  Kokkos::parallel_reduce(
      "Strata::Krylov::largest", RangeOf<ExecutionSpace>(exec, 0, v.extent[0]),
      LargestPart<Scalar>{multi_vector_ref<const Scalar>(v)},
      Kokkos::Max<double>(most));
  exec.fence();
  return most;
}

/// to = 2^exponent D from, in two steps, as the power alone may overflow.
template <class Scalar>
struct ScaleVector {
  MultiVectorRef<const Scalar> from;
  MultiVectorRef<Scalar> to;
  RealOf<Scalar> half, rest;
  const RealOf<Scalar>* diagonal;  // null: 1
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Scalar scaled = rest * (half * from(i, 0));
    to(i, 0) = diagonal ? diagonal[i] * scaled : scaled;
  }
};
template <class Scalar, class ExecutionSpace>
void scale_vector(const ExecutionSpace& exec, const StridedBlock& from,
                  const StridedBlock& to, int exponent,
                  const RealOf<Scalar>* diagonal = nullptr) {
  using Real = RealOf<Scalar>;
  for_each_index(
      "Strata::Krylov::scale", exec, from.extent[0],
      ScaleVector<Scalar>{
          multi_vector_ref<const Scalar>(from), multi_vector_ref<Scalar>(to),
          std::ldexp(Real(1), exponent / 2),
          std::ldexp(Real(1), exponent - exponent / 2), diagonal});
}

/// 2^exponent A
template <class Scalar, class ExecutionSpace>
struct ScaledOperator {
  const KrylovOperator<Scalar, ExecutionSpace>& A;
  int exponent;
  template <class From, class To>
  void apply(const ExecutionSpace& exec, const From& from, const To& to) const {
    A.apply(exec, from, to);
    const auto block = strided_block(to);
    scale_vector<Scalar>(exec, block, block, exponent);
  }
};

/// The e of 2^(e-1) <= v < 2^e.
inline int exponent_of(double v) {
  int exponent;
  std::frexp(v, &exponent);
  return exponent;
}

/// Numbers of up to 2^this, and of 2^-this and more, are no reason to scale:
/// their squares, and products of these, are normal numbers.
constexpr int ordinary_exponent = 300;

/// Of the size of A M^-1, as b shows it; 0 of one that needs no scaling, or
/// that no scaling helps. Waits for `exec`.
/// @param work, image vectors to work with
template <class Scalar, class ExecutionSpace>
int operator_exponent(
    const ExecutionSpace& exec, const KrylovOperator<Scalar, ExecutionSpace>& A,
    const KrylovPreconditioner<Scalar, ExecutionSpace>& M,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& b,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& work,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& image) {
  if (M.diagonal)
    scale_vector<Scalar>(exec, strided_block(b), strided_block(work), 0,
                         M.inverse_diagonal);
  else
    M.apply(exec, b, work);
  A.apply(exec, work, image);
  const double size = largest_part<Scalar>(exec, strided_block(image));
  if (!(size > 0) || !is_finite(size)) return 0;
  const int exponent = exponent_of(size);
  return std::abs(exponent) <= ordinary_exponent ? 0 : exponent;
}

/// Solves A x = 0 again, from x = 0, if the first solve broke down although the
/// x given is finite: its residual is out of range. Waits for `exec`.
template <class Scalar, class ExecutionSpace, class Options, class Solve,
          class Result>
Result solve_zero_rhs(const ExecutionSpace& exec, const Options& options,
                      const KrylovOperator<Scalar, ExecutionSpace>& A,
                      const StridedBlock& b, const StridedBlock& x,
                      const Solve& solve, const Result& broken) {
  if (!is_finite(largest_part<Scalar>(exec, x))) return broken;
  const auto zero = make_unfilled<
      Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>>(
      "Strata::Krylov::zero", b.extent[0]);
  Kokkos::deep_copy(exec, zero, Scalar(0));
  const auto result = solve(options, A, b, strided_block(zero));
  if (!result.converged()) return broken;
  Kokkos::deep_copy(exec, strided_vector<Scalar, ExecutionSpace>(x), Scalar(0));
  exec.fence();
  return result;
}

/// Returns solve(options, A, b, x), or, if that fails before it has changed x
/// or stagnates, as it may if some squares over- or underflow, the result of
/// solving once more for b of size 1, and an A of size 1 if A M^-1 needs that;
/// x and all norms are of the system given. If b is zero, x becomes zero,
/// however large it was. An x that has changed may be out of range: x is left
/// alone then, and the status is not_finite.
///
/// Cost: nothing unless a solve breaks down so or stagnates. Then three
/// vectors, a product, and the time of a second solve if numbers are not
/// ordinary or the first solve has done no iteration.
template <class Scalar, class ExecutionSpace, class Options, class Solve>
auto solve_in_range(const ExecutionSpace& exec, const Options& options,
                    const KrylovOperator<Scalar, ExecutionSpace>& A,
                    const KrylovPreconditioner<Scalar, ExecutionSpace>& M,
                    const StridedBlock& b, const StridedBlock& x,
                    const Solve& solve) {
  using Vector = Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>;
  using Limits = std::numeric_limits<RealOf<Scalar>>;
  auto result = solve(options, A, b, x);
  using Status = decltype(result.status);
  const auto left_x_alone = [&result] {
    return result.iterations == 0 || result.residual_norm == result.history[0];
  };
  if (result.converged() || result.status == Status::max_iterations ||
      result.status == Status::stopped ||
      (result.status != Status::stagnated && !left_x_alone()))
    return result;
  const double size = largest_part<Scalar>(exec, b);
  if (size == 0) return solve_zero_rhs(exec, options, A, b, x, solve, result);
  if (!is_finite(size)) return result;

  const auto vector = [&] {
    return make_unfilled<Vector>("Strata::Krylov::scaled", b.extent[0]);
  };
  const Vector scaled_b = vector(), scaled_x = vector(), image = vector();
  const StridedBlock of_b = strided_block(scaled_b),
                     of_x = strided_block(scaled_x);
  const int by_b = exponent_of(size);
  scale_vector<Scalar>(exec, b, of_b, -by_b);
  const int by_A = operator_exponent(exec, A, M, scaled_b, scaled_x, image);
  // Then scale is not what the solve broke down for.
  if (result.iterations > 0 && by_A == 0 && std::abs(by_b) <= ordinary_exponent)
    return result;
  const ScaledOperator<Scalar, ExecutionSpace> scaled_A{A, -by_A};
  scale_vector<Scalar>(exec, x, of_x, by_A - by_b);
  Options scaled = options;
  scaled.absolute_tolerance = std::ldexp(options.absolute_tolerance, -by_b);
  const int told = is_finite(result.history[0]) ? result.iterations : -1;
  if (options.progress)
    scaled.progress = [&](int iteration, double norm) {
      return iteration <= told ||
             options.progress(iteration, std::ldexp(norm, by_b));
    };
  result = solve(
      scaled, by_A == 0 ? A : krylov_operator<Scalar, ExecutionSpace>(scaled_A),
      of_b, of_x);
  // A reduced system gives another x even where no iteration was needed.
  const bool changed = result.converged() || !left_x_alone();
  for (double* norm : {&result.rhs_norm, &result.residual_norm})
    *norm = std::ldexp(*norm, by_b);
  for (double& norm : result.history) norm = std::ldexp(norm, by_b);
  if (!changed || result.status == Status::not_finite) return result;
  const double of_solution = largest_part<Scalar>(exec, of_x);
  const int exponent = exponent_of(of_solution) + by_b - by_A;
  if (of_solution == 0 ||
      (is_finite(of_solution) && exponent >= Limits::min_exponent &&
       exponent <= Limits::max_exponent)) {
    scale_vector<Scalar>(exec, of_x, x, by_b - by_A);
    exec.fence();
  } else {
    result.status = Status::not_finite;
    result.residual_norm = Limits::quiet_NaN();
  }
  return result;
}

}  // namespace Detail
}  // namespace Strata

#endif
