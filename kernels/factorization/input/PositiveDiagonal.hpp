// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_POSITIVE_DIAGONAL_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_POSITIVE_DIAGONAL_HPP

#include <Strata_Error.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/scalar/RealPart.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Whether a diagonal entry can stand in a Hermitian positive definite matrix,
/// and be divided by in type Real.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool is_positive(const Scalar& d) {
  using Real = RealOf<Scalar>;
  const Real real = static_cast<Real>(RealPart<Scalar>::real(d));
  return real > 0 && RealPart<Scalar>::imaginary(d) == 0 && is_finite(real) &&
         is_finite(Real(1) / real);
}

/// Reciprocals of the diagonal; the minimum is the first faulty row, twice its
/// number and one more where there is an entry.
template <class Scalar, class MemorySpace>
struct InvertDiagonal {
  CrsArrays<Scalar> A;
  Kokkos::View<RealOf<Scalar>*, MemorySpace> inverse;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    Scalar d(0);
    bool found = false;
    const std::int64_t end = A.row_map(row + 1);
    for (std::int64_t k = A.row_map(row); k < end; ++k)
      if (A.entries(k) == row) {
        d += A.values[k];
        found = true;
      }
    if (found && is_positive(d)) {
      inverse(row) = RealOf<Scalar>(1) /
                     static_cast<RealOf<Scalar>>(RealPart<Scalar>::real(d));
    } else {
      const std::int64_t code = 2 * row + found;
      if (code < first) first = code;
    }
  }
};

template <class Scalar, class ExecutionSpace>
Kokkos::View<RealOf<Scalar>*, typename ExecutionSpace::memory_space>
positive_diagonal_inverse(const ExecutionSpace& exec,
                          const CrsArrays<Scalar>& A) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t rows = A.rows();
  check_square_matrix(exec, A);
  const auto inverse = make_unfilled<Kokkos::View<RealOf<Scalar>*, Memory>>(
      "Strata::Jacobi::inverse_diagonal", rows);
  std::int64_t first = no_fault;
  Kokkos::parallel_reduce(
      "Strata::Jacobi::invert",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, rows),
      InvertDiagonal<Scalar, Memory>{A, inverse},
      Kokkos::Min<std::int64_t>(first));
  exec.fence();
  if (first == no_fault) return inverse;
  const std::int64_t row = first / 2;
  const std::string in_row = " in row " + std::to_string(row);
  if (first % 2 == 0)
    throw MissingDiagonalError("A", "no diagonal entry" + in_row,
                               "store a diagonal entry in every row", row);
  throw IndefiniteError(
      "A", "the diagonal entry is not positive and finite" + in_row,
      "the matrix is not Hermitian positive definite: use another solver", row);
}

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
  std::int64_t first = no_fault;
  Kokkos::parallel_reduce(
      "Strata::require_positive_pivots",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, U.rows()),
      FindBadPivot<Scalar>{U, pivot_tolerance<Scalar>},
      Kokkos::Min<std::int64_t>(first));
  exec.fence();
  return first;
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
