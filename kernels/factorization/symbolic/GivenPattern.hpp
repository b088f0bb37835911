// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_GIVEN_PATTERN_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_GIVEN_PATTERN_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/interface/NameMatrixErrors.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HermitianMatrix.hpp>
#include <string>

// The pattern of L + U, from a caller.

namespace Strata {
namespace Detail {

template <class Scalar>
KOKKOS_INLINE_FUNCTION bool has_entry(const CrsArrays<Scalar>& A,
                                      std::int64_t row, std::int64_t column) {
  const std::int64_t at = first_entry_from(A, row, column);
  return at < A.row_map(row + 1) && A.entries(at) == column;
}

/// The first row of `of` with an entry that `in` lacks, or whose mirror image
/// `in` lacks.
template <class Scalar>
struct FindLackingRow {
  CrsArrays<Scalar> of, in;
  bool mirrored;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const std::int64_t end = of.row_map(row + 1);
    for (std::int64_t k = of.row_map(row); k < end && row < first; ++k) {
      const std::int64_t column = of.entries(k);
      if (!(mirrored ? has_entry(in, column, row) : has_entry(in, row, column)))
        first = row;
    }
  }
};

/// @throws PatternMismatchError if the pattern `in` lacks an entry
template <class Scalar, class ExecutionSpace>
void require_entries(const ExecutionSpace& exec, const CrsArrays<Scalar>& of,
                     const CrsArrays<Scalar>& in, bool mirrored) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t row =
      find_first("Strata::GivenPattern::require_entries", exec, 0, of.rows(),
                 FindLackingRow<Scalar>{of, in, mirrored});
  if (row == no_fault) return;
  const auto columns_of = [](const CrsArrays<Scalar>& A, std::int64_t i) {
    const auto range = A.row_map.template fetch<Memory>(i, i + 2);
    return A.entries.template fetch<Memory>(range[0], range[1]);
  };
  const auto has = [&](std::int64_t i, std::int64_t j) {
    const auto columns = columns_of(in, i);
    return std::binary_search(columns.begin(), columns.end(), j);
  };
  const auto columns = columns_of(of, row);
  const auto lacking =
      std::find_if(columns.begin(), columns.end(), [&](std::int64_t column) {
        return !(mirrored ? has(column, row) : has(row, column));
      });
  const std::string of_row = std::to_string(row),
                    column = std::to_string(*lacking);
  if (mirrored)
    throw PatternMismatchError(
        "pattern",
        "has an entry (" + of_row + ", " + column +
            ") without its mirror image, and the factors are symmetric",
        "pass the pattern of L + L^T, or use incomplete LU", row, column);
  throw PatternMismatchError(
      "pattern", "lacks A's entry in row " + of_row + " and column " + column,
      "pass the pattern of L + U, which contains that of A", row, column);
}

/// Waits for `exec`.
/// @param A  the matrix that will be factorised on the pattern
/// @param diagonal  `absent` if A need not store its diagonal
/// @throws what check_factor_input throws of either, SizeMismatchError,
///   PatternMismatchError
template <class Scalar, class ExecutionSpace>
void check_given_pattern(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                         const CrsArrays<Scalar>& given, ZeroDiagonal diagonal,
                         bool is_symmetric) {
  name_matrix_errors(
      "pattern", [&] { check_factor_input(exec, given, ZeroDiagonal::take); });
  check_factor_input(exec, A, diagonal);
  const std::int64_t rows = A.rows();
  if (given.rows() != rows)
    throw SizeMismatchError("pattern",
                            "has " + std::to_string(given.rows()) +
                                " rows, A has " + std::to_string(rows),
                            "pass the pattern of A's factors");
  require_row_numbers(rows);
  require_entries(exec, A, given, false);
  if (is_symmetric) require_entries(exec, given, given, true);
}

/// Copies a pattern of at least one row to `made`, with values that are not
/// set. Waits for `exec`.
template <class Scalar, class ExecutionSpace>
void copy_given_pattern(const ExecutionSpace& exec,
                        const CrsArrays<Scalar>& given,
                        NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t rows = given.rows();
  const std::string label = "Strata::GivenPattern";
  const IndexOutput row_map = made.make_row_map(label, rows);
  copy_indices(exec, given.row_map, row_map);
  const std::int64_t stored = given.row_map.template fetch<Memory>(rows);
  const IndexOutput entries = made.make_entries(label, stored);
  Kokkos::parallel_for(
      "Strata::GivenPattern::copy",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, stored),
      CopyIndices{given.entries, entries});
  made.make_values(label, stored);
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
