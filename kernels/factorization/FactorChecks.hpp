// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_CHECKS_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_CHECKS_HPP

#include <Strata_Error.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <limits>

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

/// What FactorInputCheck makes of a diagonal entry that is zero.
enum class ZeroDiagonal { refuse, take };

/// Finds the first row that can't be factorised, as row * num_factor_faults +
/// fault, of a matrix that check_square_matrix has seen.
template <class Scalar>
struct FactorInputCheck {
  CrsArrays<Scalar> A;
  ZeroDiagonal zero_diagonal;

  KOKKOS_INLINE_FUNCTION int fault(std::int64_t row) const {
    const std::int64_t begin = A.row_map(row), end = A.row_map(row + 1);
    bool diagonal = false;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t column = A.entries(k);
      if (k > begin && column <= A.entries(k - 1))
        return column == A.entries(k - 1) ? factor_duplicate : factor_unsorted;
      if (column != row) continue;
      diagonal = true;
      if (zero_diagonal == ZeroDiagonal::refuse && A.values[k] == Scalar(0))
        return factor_zero_diagonal;
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
template <class Scalar>
struct FactorOutputCheck {
  CrsArrays<Scalar> L, U;

  KOKKOS_INLINE_FUNCTION static bool all_finite(const CrsArrays<Scalar>& factor,
                                                std::int64_t row) {
    const std::int64_t end = factor.row_map(row + 1);
    for (std::int64_t k = factor.row_map(row); k < end; ++k)
      // An infinity less itself is a NaN, and a NaN equals nothing.
      if (!(factor.values[k] - factor.values[k] == Scalar(0))) return false;
    return true;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    int found;
    if (U.values[U.row_map(row)] == Scalar(0))
      found = factor_zero_pivot;
    else if (!all_finite(L, row) || !all_finite(U, row))
      found = factor_not_finite;
    else
      return;
    const std::int64_t code = row * num_factor_faults + found;
    if (code < first) first = code;
  }
};

/// Raises the first fault that was found, as row * num_factor_faults + fault.
inline void raise_factor_fault(std::int64_t first) {
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

/// A check whose minimum goes to a word in device memory: few rows have a
/// fault.
template <class Check>
struct CheckInto {
  Check check;
  std::int64_t* first;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t found = no_factor_fault;
    check(row, found);
    if (found != no_factor_fault) Kokkos::atomic_fetch_min(first, found);
  }
};

/// A check of all rows by one team of a host, whose minimum goes to a word.
template <class Check>
struct CheckAllRows {
  Check check;
  std::int64_t rows;
  std::int64_t* first;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team&) const {
    std::int64_t found = no_factor_fault;
    for (std::int64_t row = 0; row < rows; ++row) check(row, found);
    *first = found;
  }
};

struct ResetFactorFault {
  std::int64_t* fault;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    *fault = no_factor_fault;
  }
};

/// Runs one of the checks over all rows and raises what it finds.
template <class ExecutionSpace, class Check>
void raise_factor_faults(const char* label, const ExecutionSpace& exec,
                         std::int64_t rows, const Check& check) {
  std::int64_t first = no_factor_fault;
  Kokkos::parallel_reduce(
      label,
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, rows),
      check, Kokkos::Min<std::int64_t>(first));
  exec.fence();
  raise_factor_fault(first);
}

/// What incomplete_lu raises of a matrix that it can't factorise, before any
/// elimination.
/// @param zero_diagonal  `take` where the pattern alone counts
template <class Scalar, class ExecutionSpace>
void check_factor_input(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                        ZeroDiagonal zero_diagonal = ZeroDiagonal::refuse) {
  check_square_matrix(exec, A);
  raise_factor_faults("Strata::IncompleteLu::check::input", exec, A.rows(),
                      FactorInputCheck<Scalar>{A, zero_diagonal});
}

/// @throws IndexOverflowError
inline void require_row_numbers(std::int64_t rows) {
  if (rows > std::numeric_limits<int>::max() - 1)
    throw IndexOverflowError(
        "A", std::to_string(rows) + " rows do not fit 32-bit row numbers",
        "split the system into blocks of at most 2147483646 rows");
}

}  // namespace Detail
}  // namespace Strata

#endif
