// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_CHECKS_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_CHECKS_HPP

#include <core/matrix/MatrixTypes.hpp>

namespace Strata {
namespace Detail {

/// What is wrong with a row of a matrix to factorise, or of its factors.
enum FactorFault : int {
  factor_duplicate,
  factor_unsorted,
  factor_no_diagonal,
  factor_zero_diagonal,
  factor_zero_pivot,
  factor_not_finite,
  num_factor_faults
};

constexpr std::int64_t no_factor_fault =
    std::numeric_limits<std::int64_t>::max();

/// Finds the first row that can't be factorised, as row * num_factor_faults +
/// fault, of a matrix that check_square_matrix has seen.
template <class CrsMatrix>
struct FactorInputCheck {
  typename CrsMatrix::row_map_type row_map;
  typename CrsMatrix::index_type entries;
  typename CrsMatrix::values_type values;

  KOKKOS_INLINE_FUNCTION int fault(std::int64_t row) const {
    using Scalar = typename MatrixTypes<CrsMatrix>::Scalar;
    const auto begin = static_cast<std::int64_t>(row_map(row));
    const auto end = static_cast<std::int64_t>(row_map(row + 1));
    bool diagonal = false;
    for (std::int64_t k = begin; k < end; ++k) {
      const auto column = static_cast<std::int64_t>(entries(k));
      if (k > begin && column <= static_cast<std::int64_t>(entries(k - 1)))
        return column == static_cast<std::int64_t>(entries(k - 1))
                   ? factor_duplicate
                   : factor_unsorted;
      if (column != row) continue;
      diagonal = true;
      if (values(k) == Scalar(0)) return factor_zero_diagonal;
    }
    return diagonal ? num_factor_faults : factor_no_diagonal;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const int found = fault(row);
    if (found == num_factor_faults) return;
    const std::int64_t code = row * num_factor_faults + found;
    if (code < first) first = code;
  }
};

/// Looks for rows of the factors that are not finite, or whose pivot vanished.
/// spiluk stores 1e6 for a pivot of zero; where U has that number on its
/// diagonal, the pivot is worked out again.
template <class CrsMatrix>
struct FactorOutputCheck {
  CrsMatrix A;
  OwningCrsMatrix<CrsMatrix> L, U;

  using Scalar = typename MatrixTypes<CrsMatrix>::Scalar;

  KOKKOS_INLINE_FUNCTION static bool all_finite(
      const OwningCrsMatrix<CrsMatrix>& factor, std::int64_t row) {
    for (auto k = factor.graph.row_map(row); k < factor.graph.row_map(row + 1);
         ++k)
      // An infinity less itself is a NaN, and a NaN equals nothing.
      if (!(factor.values(k) - factor.values(k) == Scalar(0))) return false;
    return true;
  }

  template <class Matrix>
  KOKKOS_INLINE_FUNCTION Scalar entry(const Matrix& matrix, std::int64_t row,
                                      std::int64_t column) const {
    for (auto k = matrix.graph.row_map(row); k < matrix.graph.row_map(row + 1);
         ++k)
      if (static_cast<std::int64_t>(matrix.graph.entries(k)) == column)
        return matrix.values(k);
    return Scalar(0);
  }

  KOKKOS_INLINE_FUNCTION bool lost_pivot(std::int64_t row) const {
    const Scalar stand_in(1e6);
    if (!(U.values(U.graph.row_map(row)) == stand_in)) return false;
    Scalar pivot = entry(A, row, row);
    for (auto k = L.graph.row_map(row); k + 1 < L.graph.row_map(row + 1); ++k)
      pivot -= L.values(k) * entry(U, L.graph.entries(k), row);
    // Rounding moves a pivot of zero, but not half of the way to 1e6.
    const Scalar distance = pivot - stand_in;
    return squared(distance) > 0.25e12;
  }

  template <class Real>
  KOKKOS_INLINE_FUNCTION static double squared(const Real& value) {
    return static_cast<double>(value) * static_cast<double>(value);
  }
  template <class Real>
  KOKKOS_INLINE_FUNCTION static double squared(
      const Kokkos::complex<Real>& value) {
    return squared(value.real()) + squared(value.imag());
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    int found;
    if (!all_finite(L, row) || !all_finite(U, row))
      found = factor_not_finite;
    else if (lost_pivot(row))
      found = factor_zero_pivot;
    else
      return;
    const std::int64_t code = row * num_factor_faults + found;
    if (code < first) first = code;
  }
};

/// Runs one of the checks over all rows and raises what it finds.
template <class CrsMatrix, class Check>
void raise_factor_faults(const char* label,
                         const typename CrsMatrix::execution_space& exec,
                         std::int64_t rows, const Check& check) {
  std::int64_t first = no_factor_fault;
  Kokkos::parallel_reduce(label,
                          typename MatrixTypes<CrsMatrix>::Rows(exec, 0, rows),
                          check, Kokkos::Min<std::int64_t>(first));
  exec.fence();
  if (first == no_factor_fault) return;
  const std::int64_t row = first / num_factor_faults;
  const std::string in_row = " in row " + std::to_string(row);
  switch (static_cast<FactorFault>(first % num_factor_faults)) {
    case factor_duplicate:
      throw DuplicateEntryError("A", "a column is named twice" + in_row,
                                "add the entries up", row);
    case factor_unsorted:
      throw UnsortedRowError("A", "columns do not increase" + in_row,
                             "sort the rows", row);
    case factor_no_diagonal:
      throw MissingDiagonalError("A", "no diagonal entry" + in_row,
                                 "store a diagonal entry in every row", row);
    case factor_zero_diagonal:
      throw ZeroDiagonalError("A", "the diagonal entry is zero" + in_row,
                              "reorder the rows or shift the diagonal", row);
    case factor_zero_pivot:
      throw FactorizationError("A", "elimination makes the pivot zero" + in_row,
                               "reorder the rows or shift the diagonal", row);
    default:
      throw FactorizationError(
          "A", "elimination makes a value that is not finite" + in_row,
          "look for values that are not finite, scale the rows, or shift the "
          "diagonal",
          row);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
