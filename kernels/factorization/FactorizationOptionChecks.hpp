// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTORIZATION_OPTION_CHECKS_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTORIZATION_OPTION_CHECKS_HPP

#include <Strata_Error.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/factorization/solve/FactorTriangles.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Those of the solves with both factors.
inline FactorSolverOptions solve_options(
    const IncompleteFactorizationOptions& options) {
  FactorSolverOptions how;
  how.triangular = options.triangular;
  how.transpose = options.transpose;
  how.precision = options.precision;
  return how;
}
/// What the shift multiplies the diagonal by.
template <class Scalar>
RealOf<Scalar> diagonal_factor(double shift) {
  return static_cast<RealOf<Scalar>>(1 + shift);
}
/// Whether A's upper triangle is factorised, as a symmetric matrix.
constexpr bool reads_upper(Factorization kind) {
  return kind != Factorization::incomplete_lu;
}
constexpr bool is_ldl(Factorization kind) {
  return kind == Factorization::incomplete_ldlh ||
         kind == Factorization::incomplete_ldlt;
}

/// An option that is set and that the coloured order does not have; null: none.
inline const char* option_of_natural_order(
    const IncompleteFactorizationOptions& options) {
  const IncompleteFactorizationOptions defaults;
  if (options.scaling != defaults.scaling) return "scaling";
  if (options.triangular != defaults.triangular) return "triangular";
  if (options.transpose) return "transpose";
  if (options.shift != 0) return "shift";
  if (options.shift_tries != 1) return "shift_tries";
  if (options.precision != defaults.precision) return "precision";
  if (options.enqueue_updates) return "enqueue_updates";
  if (options.small_pivot_threshold != 0) return "small_pivot_threshold";
  if (options.fill_level != 0) return "fill_level";
  return nullptr;
}

/// Whether an order is a permutation that the host finds.
inline bool is_permutation(FactorOrder order) {
  return order > FactorOrder::coloured;
}

/// @throws OptionError
template <class Scalar, class ExecutionSpace>
void check_factorization_options(Factorization kind,
                                 const IncompleteFactorizationOptions& options,
                                 bool has_pattern = false) {
  require_enumerator("kind", kind);
  require_enumerator("order", options.order);
  require_enumerator("scaling", options.scaling);
  if (options.scaling == FactorScaling::matching &&
      (reads_upper(kind) || has_pattern))
    throw OptionError("scaling",
                      "is matching, which permutes rows alone, with symmetric "
                      "factors or a given pattern",
                      "use equilibration, incomplete LU, or for a pattern that "
                      "of a matched matrix with a FactorTransformation");
  if (has_pattern && is_permutation(options.order))
    throw OptionError("order",
                      std::string("is ") + to_string(options.order) +
                          ", and the pattern is given, which has an order",
                      "pass the permutations of that as a "
                      "FactorTransformation, and natural");
  check_factor_solve_options<Scalar, ExecutionSpace>(solve_options(options),
                                                     options.enqueue_updates);
  if (options.enqueue_updates && options.precision != FactorPrecision::working)
    throw OptionError("enqueue_updates",
                      "is set, and the factors are of single precision",
                      "leave one of both options out");
  // A not-a-number is not at least 0.
  if (!(options.shift >= 0) ||
      !is_finite(diagonal_factor<Scalar>(options.shift)))
    throw OptionError("shift", "is " + std::to_string(options.shift),
                      "pass 0, or a positive number that the scalar's type "
                      "can hold");
  if (options.shift_tries < 1 || options.shift_tries > 64)
    throw OptionError("shift_tries",
                      "is " + std::to_string(options.shift_tries),
                      "pass a number from 1 to 64");
  if (options.enqueue_updates && options.shift_tries > 1)
    throw OptionError("enqueue_updates",
                      "is set, and the host waits after each of several "
                      "shift_tries",
                      "set `shift` and one try, or call update_values");
  if ((is_ldl(kind) || has_pattern) && options.order == FactorOrder::coloured)
    throw OptionError("order",
                      "is coloured, with factors L D L^H or a given pattern",
                      "ask for FactorOrder::natural");
  if (has_pattern && options.fill_level != 0)
    throw OptionError("fill_level", "is set, and the pattern is given",
                      "leave one of both out");
  if (options.fill_level < 0)
    throw OptionError("fill_level",
                      std::to_string(options.fill_level) + " is negative",
                      "pass a level of fill of 0 or more");
  if (options.symmetry_tolerance && !reads_upper(kind) &&
      options.order != FactorOrder::coloured)
    throw OptionError("symmetry_tolerance",
                      "is set, and incomplete LU takes any matrix",
                      "leave it out, or use incomplete Cholesky");
  const double threshold = options.small_pivot_threshold;
  if (!(threshold >= 0 && threshold <= 1) ||
      (threshold > 0 && static_cast<RealOf<Scalar>>(threshold) == 0))
    throw OptionError("small_pivot_threshold",
                      "is " + std::to_string(threshold),
                      "pass 0, or a number of up to 1 that the scalar's type "
                      "can hold");
  const char* const name = option_of_natural_order(options);
  if (name && options.order == FactorOrder::coloured)
    throw OptionError(name, "is set, and the coloured order does not have it",
                      "leave it at its default, or set `order` to "
                      "FactorOrder::natural");
}

/// Whether rows are permuted or scaled.
/// @param given  permutations and scalings of the caller
/// @throws OptionError where options ask for others, or the triangle that is
///   read would not stay one
template <class Transformation>
bool is_reordered(Factorization kind, const Transformation& given,
                  const IncompleteFactorizationOptions& options) {
  const bool orders = is_permutation(options.order),
             matches = options.scaling == FactorScaling::matching,
             scales = options.scaling != FactorScaling::none;
  const auto refuse = [](const char* name, const char* value) {
    throw OptionError(
        name,
        "is " + std::string(value) + ", and the transformation sets that, too",
        "leave one of them out");
  };
  if (reads_upper(kind) && (orders || given.permutes()) &&
      !is_finite(options.symmetry_tolerance.value_or(0)))
    throw OptionError("symmetry_tolerance",
                      "is infinite, and entries of A's lower triangle come to "
                      "the upper one of the permuted matrix",
                      "store both triangles, and leave this out");
  if (given.permutes() || given.scales()) {
    if (orders ? given.permutes() : options.order == FactorOrder::coloured)
      refuse("order", to_string(options.order));
    if (matches || (scales && given.scales()))
      refuse("scaling", to_string(options.scaling));
    return true;
  }
  return orders || scales;
}

}  // namespace Detail
}  // namespace Strata

#endif
