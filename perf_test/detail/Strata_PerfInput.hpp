// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_INPUT_HPP
#define STRATA_PERF_INPUT_HPP

#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfProblem.hpp>

namespace Strata {
namespace PerfTest {

/// The system of a triangle with a stored diagonal and sorted rows, with its
/// right-hand sides and reference solutions.
template <class Scalar>
Problem<Scalar> make_problem(const typename Problem<Scalar>::Matrix& triangle,
                             Uplo uplo, int rhs);

/// The system of `source`, reordered, with its right-hand sides and reference
/// solutions. Raises what the readers, the gallery and the checks of the matrix
/// raise.
template <class Scalar>
Problem<Scalar> load_problem(const MatrixSource& source, Factor factor,
                             Reorder reorder, int rhs);

}  // namespace PerfTest
}  // namespace Strata

#endif
