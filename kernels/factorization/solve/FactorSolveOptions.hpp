// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_SOLVE_OPTIONS_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_SOLVE_OPTIONS_HPP

#include <Strata_Error.hpp>
#include <Strata_FactorPrecision.hpp>
#include <Strata_TriangularOptions.hpp>
#include <kernels/factorization/solve/SingleFactors.hpp>
#include <kernels/triangular/OptionChecks.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// What solves with both factors are made for.
struct FactorSolveOptions {
  TriangularOptions triangular;
  Diag lower_diag = Diag::unit, upper_diag = Diag::non_unit;
  /// Whether apply takes the transposes, too.
  bool transpose = false;
  FactorPrecision precision = FactorPrecision::working;
};

/// @throws OptionError
template <class Scalar, class ExecutionSpace>
void check_factor_solve_options(const FactorSolveOptions& options) {
  require_enumerator("lower_diag", options.lower_diag);
  require_enumerator("upper_diag", options.upper_diag);
  require_enumerator("precision", options.precision);
  check_options(options.triangular);
  if (options.precision == FactorPrecision::single &&
      !has_single_factors<Scalar, ExecutionSpace>)
    throw OptionError(
        "precision",
        "is single, and libstrata was built without " +
            std::string(SinglePrecision<Scalar>::name),
        "add it to Strata_SCALARS where Strata is configured, or include "
        "kernels/triangular/TriangularSolverImplementation.hpp and the "
        "implementation of this class");
}

}  // namespace Detail
}  // namespace Strata

#endif
