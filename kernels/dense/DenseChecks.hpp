// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_CHECKS_HPP
#define STRATA_KERNELS_DENSE_DENSE_CHECKS_HPP

#include <Strata_Error.hpp>
#include <Strata_GaussJordanOptions.hpp>
#include <cmath>
#include <core/matrix/TriangleCheck.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <kernels/dense/DenseCopies.hpp>
#include <kernels/dense/Elimination.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// @throws OptionError
inline void check_gauss_jordan_options(const GaussJordanOptions& options) {
  if (std::isnan(options.tolerance) || std::isinf(options.tolerance))
    throw OptionError("tolerance", "is not a finite number",
                      "pass a number, or a negative one for the default");
  if (options.stripe < 0 || options.stripe % 32 != 0 || options.stripe > 512)
    throw OptionError("stripe", "is " + std::to_string(options.stripe),
                      "pass a multiple of 32 up to 512, or 0 for a number that "
                      "suits");
}

/// Checks that the sizes of a matrix fit. @throws IndexOverflowError
inline void check_dense_matrix(const StridedBlock& A, const char* name) {
  // Columns of the workspace and of products are counted in int.
  constexpr std::int64_t most = 1 << 30;
  for (const std::int64_t extent : {A.extent[0], A.extent[1]})
    if (extent > most)
      throw IndexOverflowError(
          name, "has " + std::to_string(extent) + " rows or columns",
          "pass at most " + std::to_string(most));
}

/// @throws OptionError
inline std::int64_t pivot_column_count(const GaussJordanOptions& options,
                                       std::int64_t columns) {
  if (options.pivot_columns > columns)
    throw OptionError("pivot_columns",
                      "is " + std::to_string(options.pivot_columns) +
                          ", the matrix has " + std::to_string(columns) +
                          " columns",
                      "pass at most that, or -1 for all");
  return options.pivot_columns < 0 ? columns : options.pivot_columns;
}

/// @throws NotSquareError
inline void check_square(const StridedBlock& A) {
  require_square("A", A.extent[0], A.extent[1],
                 "pass a square matrix, or use reduced_row_echelon_form");
}

/// @throws SizeMismatchError, AliasError
inline void check_same_extents(const StridedBlock& A, const StridedBlock& X) {
  if (A.extent[0] != X.extent[0] || A.extent[1] != X.extent[1])
    throw SizeMismatchError("X",
                            "is " + std::to_string(X.extent[0]) + " x " +
                                std::to_string(X.extent[1]) + ", A " +
                                std::to_string(A.extent[0]) + " x " +
                                std::to_string(A.extent[1]),
                            "pass a view of A's extents, or A itself");
  require_distinct_elements("X", X);
}

/// @throws SizeMismatchError, AliasError
inline void check_right_hand_sides(const StridedBlock& A, const StridedBlock& b,
                                   const StridedBlock& x) {
  check_vector_sizes(A.extent[0], b, x);
  require_distinct_elements("x", x);
}

/// @throws NotFiniteError for the first such value of [A | b].
inline void require_finite_input(const DenseInspection& found,
                                 std::int64_t rows, std::int64_t columns) {
  if (found.not_finite == DenseInspection::nowhere) return;
  const std::int64_t row = found.not_finite % rows;
  const std::int64_t column = found.not_finite / rows;
  const bool in_a = column < columns;
  throw NotFiniteError(in_a ? "A" : "b",
                       "the entry in row " + std::to_string(row) + ", column " +
                           std::to_string(in_a ? column : column - columns) +
                           " is infinite or not a number",
                       "pass finite values", row,
                       std::to_string(in_a ? column : column - columns));
}

/// @throws FactorizationError where elimination left the range of numbers.
inline void require_no_overflow(int column) {
  if (column == EliminationStatus::none) return;
  throw FactorizationError(
      "A",
      "elimination makes values beyond the range of numbers by column " +
          std::to_string(column),
      "scale the rows of A, or use a scalar type of a wider range", -1,
      std::to_string(column));
}
inline void require_finite_result(const DenseInspection& found,
                                  std::int64_t rows) {
  if (found.not_finite == DenseInspection::nowhere) return;
  const std::int64_t row = found.not_finite % rows;
  throw FactorizationError(
      "A",
      "row " + std::to_string(row) +
          " of the result is beyond the range of numbers",
      "scale the rows of A and of the right-hand sides, or use a scalar type "
      "of a wider range",
      row);
}

/// @throws SingularError, FactorizationError
inline void require_regular(const Pivots& pivots) {
  // What follows a missing pivot means nothing.
  if (pivots.overflow <= pivots.lacking) require_no_overflow(pivots.overflow);
  if (pivots.lacking == EliminationStatus::none) return;
  throw SingularError(
      "A",
      "column " + std::to_string(pivots.lacking) +
          " has no pivot: it depends on the columns before it",
      "pass a regular matrix, or see its rank with reduced_row_echelon_form",
      pivots.lacking);
}

}  // namespace Detail
}  // namespace Strata

#endif
