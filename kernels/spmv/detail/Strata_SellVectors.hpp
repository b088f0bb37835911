// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SELL_VECTORS_HPP
#define STRATA_SELL_VECTORS_HPP

#include <detail/Strata_VectorChecks.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace, class Values>
void check_value_view() {
  static_assert(
      std::is_same<typename Values::non_const_value_type, Scalar>::value,
      "Strata: values must have the matrix's scalar type");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace,
                                 typename Values::memory_space>::accessible,
      "Strata: the matrix must be accessible from the execution space");
  static_assert(
      !std::is_same<typename Values::array_layout, Kokkos::LayoutStride>::value,
      "Strata: the values of a matrix must be contiguous");
}

/// Types and spaces of the three views of a CRS matrix.
template <class Scalar, class ExecutionSpace, class RowMap, class Entries,
          class Values>
void check_matrix_views() {
  static_assert(RowMap::rank == 1 && Entries::rank == 1 && Values::rank == 1,
                "Strata: row map, entries and values are views of rank 1");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace,
                                 typename RowMap::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<
              ExecutionSpace, typename Entries::memory_space>::accessible,
      "Strata: the matrix must be accessible from the execution space");
  check_value_view<Scalar, ExecutionSpace, Values>();
}

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

/// Extents of x and y in y = A x against those of A, types, spaces, and that
/// the two are apart.
/// @throws SizeMismatchError, AliasError
template <class Scalar, class ExecutionSpace, class X, class Y>
void check_product_vectors(std::int64_t rows, std::int64_t columns, const X& x,
                           const Y& y) {
  static_assert(std::is_same<typename X::non_const_value_type, Scalar>::value &&
                    std::is_same<typename Y::value_type, Scalar>::value,
                "Strata: x and y must have the matrix's scalar type, and y "
                "must not be const");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace,
                                 typename X::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace,
                                     typename Y::memory_space>::accessible,
      "Strata: x and y must be accessible from the execution space");
  const auto check = [](const char* name, std::size_t extent,
                        std::int64_t wanted, const char* of) {
    if (static_cast<std::int64_t>(extent) != wanted)
      throw SizeMismatchError(name,
                              "has " + std::to_string(extent) +
                                  " rows, the matrix " +
                                  std::to_string(wanted) + " " + of,
                              "pass vectors of the matrix's size");
  };
  check("x", x.extent(0), columns, "columns");
  check("y", y.extent(0), rows, "rows");
  if (num_columns(x) != num_columns(y))
    throw SizeMismatchError("y",
                            "has " + std::to_string(num_columns(y)) +
                                " columns, x " + std::to_string(num_columns(x)),
                            "give one result for every vector");
  require_distinct_elements("y", y);
  // Different columns of one array are apart although their ranges meet.
  if (share_elements(x, y))
    throw AliasError("y", "shares memory with x", "pass a vector of its own");
}

}  // namespace Detail
}  // namespace Strata

#endif
