// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_POSITIVE_PIVOTS_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_POSITIVE_PIVOTS_HPP

#include <Strata_Error.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/scalar/RealPart.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Of the imaginary part of a pivot, relative.
template <class Scalar>
constexpr double pivot_tolerance =
    1e3 * std::numeric_limits<RealOf<Scalar>>::epsilon();

/// The first entry of each row of an upper factor.
template <class Scalar>
struct FindBadPivot {
  CrsArrays<Scalar> U;
  double tolerance;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    using Part = RealPart<Scalar>;
    const Scalar d = U.values[U.row_map(row)];
    const double re = Part::real(d), im = Part::imaginary(d);
    // Rounding leaves a Hermitian matrix's pivots a small imaginary part.
    if (!(re > 0 && im * im <= tolerance * tolerance * re * re) && row < first)
      first = row;
  }
};

[[noreturn]] inline void raise_bad_pivot(std::int64_t row) {
  throw IndefiniteError(
      "A", "the pivot of row " + std::to_string(row) + " is not positive",
      "the matrix is not positive definite, or too far from diagonally "
      "dominant: shift the diagonal, or use JacobiPreconditioner",
      row);
}

/// The first row whose pivot is not real and positive, or no_fault. Waits for
/// `exec`.
template <class Scalar, class ExecutionSpace>
std::int64_t first_bad_pivot(const ExecutionSpace& exec,
                             const CrsArrays<Scalar>& U) {
  return find_first("Strata::require_positive_pivots", exec, 0, U.rows(),
                    FindBadPivot<Scalar>{U, pivot_tolerance<Scalar>});
}
/// @throws IndefiniteError
template <class Scalar, class ExecutionSpace>
void require_positive_pivots(const ExecutionSpace& exec,
                             const CrsArrays<Scalar>& U) {
  const std::int64_t row = first_bad_pivot(exec, U);
  if (row != no_fault) raise_bad_pivot(row);
}

}  // namespace Detail
}  // namespace Strata

#endif
