// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_PRECONDITIONER_JACOBI_PRECONDITIONER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_PRECONDITIONER_JACOBI_PRECONDITIONER_IMPLEMENTATION_HPP

// What JacobiPreconditioner does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_Preconditioner.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/scalar/RealPart.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<JacobiPreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

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

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
void JacobiPreconditioner<Scalar, ExecutionSpace>::take_diagonal(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  Detail::with_memory_errors("a diagonal preconditioner", [&] {
    using namespace Detail;
    using Memory = typename ExecutionSpace::memory_space;
    const std::int64_t rows = A.rows();
    check_square_matrix(exec, A);
    const auto inverse = make_unfilled<Kokkos::View<RealOf<Scalar>*, Memory>>(
        "Strata::Jacobi::inverse_diagonal", rows);
    const std::int64_t first =
        find_first("Strata::Jacobi::invert", exec, 0, rows,
                   InvertDiagonal<Scalar, Memory>{A, inverse});
    if (first == no_fault) {
      inverse_diagonal_ = inverse;
      return;
    }
    const std::int64_t row = first / 2;
    const std::string in_row = " in row " + std::to_string(row);
    if (first % 2 == 0)
      throw MissingDiagonalError("A", "no diagonal entry" + in_row,
                                 "store a diagonal entry in every row", row);
    throw IndefiniteError(
        "A", "the diagonal entry is not positive and finite" + in_row,
        "the matrix is not Hermitian positive definite: use another solver",
        row);
  });
}

}  // namespace Strata

#endif
