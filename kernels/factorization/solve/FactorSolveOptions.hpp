// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_SOLVE_OPTIONS_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_SOLVE_OPTIONS_HPP

#include <Strata_Error.hpp>
#include <Strata_FactorSolverOptions.hpp>
#include <kernels/factorization/solve/SingleFactors.hpp>
#include <kernels/triangular/OptionChecks.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Of each triangular solver.
inline TriangularOptions triangular_options(const FactorSolverOptions& options,
                                            bool enqueue_updates) {
  TriangularOptions of_each{options.triangular};
  of_each.take_triangle = options.take_triangle;
  of_each.enqueue_updates = enqueue_updates;
  return of_each;
}

/// @throws OptionError
template <class Scalar, class ExecutionSpace>
void check_factor_solve_options(const FactorSolverOptions& options,
                                bool enqueue_updates) {
  require_enumerator("lower_diag", options.lower_diag);
  require_enumerator("upper_diag", options.upper_diag);
  require_enumerator("precision", options.precision);
  check_options(triangular_options(options, enqueue_updates));
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
