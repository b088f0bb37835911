// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_VECTORS_HPP
#define STRATA_KERNELS_SPMV_SELL_VECTORS_HPP

#include <core/matrix/VectorChecks.hpp>

namespace Strata {
namespace Detail {

/// Most rows, and most columns, of a matrix.
constexpr std::int64_t most_matrix_rows = 2147483646;

/// @throws IndexOverflowError beyond what a 32-bit column can name,
///   SizeMismatchError for a negative number of columns
inline void check_matrix_extents(std::int64_t rows, std::int64_t columns) {
  if (columns < 0)
    throw SizeMismatchError("num_columns",
                            std::to_string(columns) + " is negative",
                            "pass the number of columns");
  if (rows > most_matrix_rows || columns > most_matrix_rows)
    throw IndexOverflowError(
        "matrix",
        std::to_string(rows) + " rows and " + std::to_string(columns) +
            " columns are more than " + std::to_string(most_matrix_rows),
        "cut the matrix into blocks");
}

/// Extents of x and y in y = A x against those of A, and that the two are
/// apart.
/// @throws SizeMismatchError, AliasError
inline void check_product_vectors(std::int64_t rows, std::int64_t columns,
                                  const StridedBlock& x,
                                  const StridedBlock& y) {
  const auto check = [](const char* name, std::int64_t extent,
                        std::int64_t wanted, const char* of) {
    if (extent != wanted)
      throw SizeMismatchError(name,
                              "has " + std::to_string(extent) +
                                  " rows, the matrix " +
                                  std::to_string(wanted) + " " + of,
                              "pass vectors of the matrix's size");
  };
  check("x", x.extent[0], columns, "columns");
  check("y", y.extent[0], rows, "rows");
  if (x.extent[1] != y.extent[1])
    throw SizeMismatchError("y",
                            "has " + std::to_string(y.extent[1]) +
                                " columns, x " + std::to_string(x.extent[1]),
                            "give one result for every vector");
  require_distinct_elements("y", y);
  // Different columns of one array are apart although their ranges meet.
  if (share_elements(x, y))
    throw AliasError("y", "shares memory with x", "pass a vector of its own");
}

}  // namespace Detail
}  // namespace Strata

#endif
