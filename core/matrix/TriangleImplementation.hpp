// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_TRIANGLE_IMPLEMENTATION_HPP
#define STRATA_CORE_MATRIX_TRIANGLE_IMPLEMENTATION_HPP

#include <Strata_Triangle.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/scalar/Modulus.hpp>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<TakeTriangle> : std::true_type {};

/// The entries of a CRS matrix that belong to one of its triangles.
struct TriangleRows {
  IndexArray row_map, entries;
  bool lower, complete;

  KOKKOS_INLINE_FUNCTION bool holds(std::int64_t row,
                                    std::int64_t column) const {
    return lower ? column <= row : column >= row;
  }
  KOKKOS_INLINE_FUNCTION bool adds_diagonal(std::int64_t row) const {
    if (!complete) return false;
    const std::int64_t end = row_map(row + 1);
    for (std::int64_t k = row_map(row); k < end; ++k)
      if (entries(k) == row) return false;
    return true;
  }
  /// Length of a row of the triangle.
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    std::int64_t length = adds_diagonal(row);
    const std::int64_t end = row_map(row + 1);
    for (std::int64_t k = row_map(row); k < end; ++k)
      length += holds(row, entries(k));
    return length;
  }
};

template <class Scalar>
struct FillTriangle {
  TriangleRows rows;
  const Scalar* from;
  bool dominant;
  IndexOutput row_map, entries;
  Scalar* values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const bool adds = rows.adds_diagonal(row);
    std::int64_t place = row_map(row) + (adds && !rows.lower ? 1 : 0);
    Scalar diagonal(1);
    const std::int64_t end = rows.row_map(row + 1);
    for (std::int64_t k = rows.row_map(row); k < end; ++k) {
      const std::int64_t column = rows.entries(k);
      if (!rows.holds(row, column)) continue;
      entries.set(place, column);
      values[place] = from[k];
      if (dominant) diagonal += modulus(from[k]);
      ++place;
    }
    if (!adds) return;
    const std::int64_t at = rows.lower ? place : row_map(row);
    entries.set(at, row);
    values[at] = diagonal;
  }
};

/// Where the arrays of a new triangle are.
template <class Scalar>
struct NewTriangle {
  CrsArrays<Scalar> arrays;
  Scalar* values;

  /// The same pattern with values in other memory.
  NewTriangle with_values(Scalar* other) const {
    NewTriangle made = *this;
    made.arrays.values = made.values = other;
    return made;
  }
};

/// A triangle of a matrix that has been checked.
template <class Scalar, class ExecutionSpace>
NewTriangle<Scalar> triangle_of(const ExecutionSpace& exec,
                                const CrsArrays<Scalar>& A, Uplo uplo,
                                MissingDiagonal missing,
                                NewMatrix<Scalar>& made) {
  const std::int64_t rows = A.rows();
  const TriangleRows triangle{A.row_map, A.entries, uplo == Uplo::lower,
                              missing != MissingDiagonal::leave};
  const IndexOutput row_map =
      made.make_row_map("Strata::Triangle::row_map", rows);
  const std::int64_t stored = scan_row_lengths("Strata::Triangle::count::rows",
                                               exec, rows, triangle, row_map);
  const IndexOutput entries =
      made.make_entries("Strata::Triangle::entries", stored);
  Scalar* const values = made.make_values("Strata::Triangle::values", stored);
  for_each_index("Strata::Triangle::fill::rows", exec, rows,
                 FillTriangle<Scalar>{triangle, A.values,
                                      missing == MissingDiagonal::dominant,
                                      row_map, entries, values});
  exec.fence();
  return {{row_map, entries, values, static_cast<std::size_t>(stored), rows},
          values};
}

template <class Scalar, class ExecutionSpace>
void make_triangle(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                   Uplo uplo, MissingDiagonal missing,
                   NewMatrix<Scalar>& made) {
  require_enumerator("uplo", uplo);
  require_enumerator("missing", missing);
  with_memory_errors("a triangle of a matrix", [&] {
    check_square_matrix(exec, A);
    triangle_of(exec, A, uplo, missing, made);
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
