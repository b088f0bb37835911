// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_GIVEN_PATTERN_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_GIVEN_PATTERN_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/interface/NameMatrixErrors.hpp>
#include <core/matrix/FindColumn.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HermitianMatrix.hpp>
#include <string>

// The pattern of L + U, from a caller.

namespace Strata {
namespace Detail {

/// The first entry of `of` that `in` lacks, or whose mirror image `in` lacks.
template <class Scalar>
struct FindLackingEntry {
  CrsArrays<Scalar> of, in;
  bool mirrored;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const std::int64_t end = of.row_map(row + 1);
    for (std::int64_t k = of.row_map(row); k < end && k < first; ++k) {
      const std::int64_t i = mirrored ? of.entries(k) : row,
                         j = mirrored ? row : of.entries(k),
                         at = first_entry_from(in, i, j);
      if (at == in.row_map(i + 1) || in.entries(at) != j) first = k;
    }
  }
};

/// @throws PatternMismatchError if the pattern `in` lacks an entry
template <class Scalar, class ExecutionSpace>
void require_entries(const ExecutionSpace& exec, const CrsArrays<Scalar>& of,
                     const CrsArrays<Scalar>& in, bool mirrored) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t k =
      find_first("Strata::GivenPattern::require_entries", exec, 0, of.rows(),
                 FindLackingEntry<Scalar>{of, in, mirrored});
  if (k == no_fault) return;
  const auto row_map = of.row_map.template fetch<Memory>(0, of.rows() + 1);
  const std::int64_t row =
      std::upper_bound(row_map.begin(), row_map.end(), k) - row_map.begin() - 1;
  const std::string in_row = " in row " + std::to_string(row),
                    column =
                        std::to_string(of.entries.template fetch<Memory>(k));
  throw PatternMismatchError(
      "pattern",
      mirrored ? "lacks the mirror image of the entry" + in_row +
                     " and column " + column + ", and factors are symmetric"
               : "lacks the entry" + in_row + " and column " + column +
                     " of A as it is permuted",
      mirrored ? "pass the pattern of L + L^T, or use incomplete LU"
               : "pass the pattern of L + U, which contains that of A",
      row, column);
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

}  // namespace Detail
}  // namespace Strata

#endif
