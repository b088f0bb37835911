// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTORIZATION_OPTION_CHECKS_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTORIZATION_OPTION_CHECKS_HPP

#include <Strata_Error.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/factorization/solve/FactorSolveOptions.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Those of the solves with both factors.
inline FactorSolveOptions solve_options(
    const IncompleteFactorizationOptions& options) {
  FactorSolveOptions how;
  how.triangular = {options.triangular};
  how.triangular.enqueue_updates = options.enqueue_updates;
  how.transpose = options.transpose;
  how.precision = options.precision;
  return how;
}
/// What the shift multiplies the diagonal by.
template <class Scalar>
RealOf<Scalar> diagonal_factor(const IncompleteFactorizationOptions& options) {
  return static_cast<RealOf<Scalar>>(1 + options.shift);
}

/// An option that is set and that the coloured order does not have; null: none.
inline const char* option_of_natural_order(
    const IncompleteFactorizationOptions& options) {
  const IncompleteFactorizationOptions defaults;
  if (options.scaling != defaults.scaling) return "scaling";
  if (options.triangular != defaults.triangular) return "triangular";
  if (options.transpose) return "transpose";
  if (options.shift != 0) return "shift";
  if (options.precision != defaults.precision) return "precision";
  if (options.enqueue_updates) return "enqueue_updates";
  if (options.small_pivot_threshold != 0) return "small_pivot_threshold";
  if (options.fill_level != 0) return "fill_level";
  return nullptr;
}

/// @throws OptionError
template <class Scalar, class ExecutionSpace>
const IncompleteFactorizationOptions& checked_options(
    Factorization kind, const IncompleteFactorizationOptions& options) {
  require_enumerator("kind", kind);
  require_enumerator("order", options.order);
  require_enumerator("scaling", options.scaling);
  if (options.scaling == FactorScaling::matching &&
      kind == Factorization::incomplete_cholesky)
    throw OptionError("scaling",
                      "is matching, which permutes rows alone, and incomplete "
                      "Cholesky factorises Hermitian matrices",
                      "use equilibration, or incomplete LU");
  check_factor_solve_options<Scalar, ExecutionSpace>(solve_options(options));
  if (options.enqueue_updates && options.precision != FactorPrecision::working)
    throw OptionError("enqueue_updates",
                      "is set, and the factors are of single precision",
                      "leave one of both options out");
  // A not-a-number is not at least 0.
  if (!(options.shift >= 0) || !is_finite(diagonal_factor<Scalar>(options)))
    throw OptionError("shift", "is " + std::to_string(options.shift),
                      "pass 0, or a positive number that the scalar's type "
                      "can hold");
  if (options.fill_level < 0)
    throw OptionError("fill_level",
                      std::to_string(options.fill_level) + " is negative",
                      "pass a level of fill of 0 or more");
  if (options.symmetry_tolerance &&
      kind != Factorization::incomplete_cholesky &&
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
  return options;
}

/// Whether an order is a permutation that the host finds.
inline bool is_permutation(FactorOrder order) {
  return order > FactorOrder::coloured;
}

/// Whether rows are permuted or scaled.
/// @param given  permutations and scalings of the caller
/// @throws OptionError where options ask for others
template <class Transformation>
bool is_reordered(const Transformation& given,
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
