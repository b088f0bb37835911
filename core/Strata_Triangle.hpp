// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGLE_HPP
#define STRATA_TRIANGLE_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_Types.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/scalar/Modulus.hpp>

namespace Strata {

/// What take_triangle() does with a row that stores no diagonal entry: nothing,
/// add a one, or add one plus the sum of the magnitudes of the row's entries in
/// the triangle (which keeps the solution of a system bounded).
enum class MissingDiagonal { leave, one, dominant };

namespace Detail {

template <>
struct EnumeratorNames<MissingDiagonal> {
  static constexpr const char* list[] = {"leave", "one", "dominant"};
};

/// The entries of a CRS matrix that belong to one of its triangles.
template <class CrsMatrix>
struct TriangleRows {
  typename CrsMatrix::row_map_type row_map;
  typename CrsMatrix::index_type entries;
  bool lower, complete;

  KOKKOS_INLINE_FUNCTION bool holds(std::int64_t row,
                                    std::int64_t column) const {
    return lower ? column <= row : column >= row;
  }
  KOKKOS_INLINE_FUNCTION bool adds_diagonal(std::int64_t row) const {
    if (!complete) return false;
    for (auto k = row_map(row); k < row_map(row + 1); ++k)
      if (static_cast<std::int64_t>(entries(k)) == row) return false;
    return true;
  }
  /// Length of a row of the triangle.
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    std::int64_t length = adds_diagonal(row);
    for (auto k = row_map(row); k < row_map(row + 1); ++k)
      length += holds(row, entries(k));
    return length;
  }
};

template <class CrsMatrix>
struct FillTriangle {
  using Types = MatrixTypes<CrsMatrix>;
  TriangleRows<CrsMatrix> rows;
  typename CrsMatrix::values_type from;
  bool dominant;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    using Scalar = typename Types::Scalar;
    const bool adds = rows.adds_diagonal(row);
    auto place = row_map(row) + (adds && !rows.lower ? 1 : 0);
    Scalar diagonal(1);
    for (auto k = rows.row_map(row); k < rows.row_map(row + 1); ++k) {
      if (!rows.holds(row, rows.entries(k))) continue;
      entries(place) = rows.entries(k);
      values(place) = from(k);
      if (dominant) diagonal += modulus(static_cast<Scalar>(from(k)));
      ++place;
    }
    if (!adds) return;
    const auto at = rows.lower ? place : row_map(row);
    entries(at) = static_cast<typename Types::Ordinal>(row);
    values(at) = diagonal;
  }
};

/// take_triangle() of a matrix that has been checked.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> triangle_of(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    Uplo uplo, MissingDiagonal missing = MissingDiagonal::leave) {
  using Types = MatrixTypes<CrsMatrix>;
  const auto rows = static_cast<std::int64_t>(A.numRows());
  const TriangleRows<CrsMatrix> triangle{A.graph.row_map, A.graph.entries,
                                         uplo == Uplo::lower,
                                         missing != MissingDiagonal::leave};
  auto row_map = make_unfilled<typename Types::RowMap>(
      "Strata::Triangle::row_map", rows + 1);
  const std::int64_t stored = scan_row_lengths("Strata::Triangle::count::rows",
                                               exec, rows, triangle, row_map);
  auto entries = make_unfilled<typename Types::Entries>(
      "Strata::Triangle::entries", stored);
  auto values =
      make_unfilled<typename Types::Values>("Strata::Triangle::values", stored);
  Kokkos::parallel_for(
      "Strata::Triangle::fill::rows", typename Types::Rows(exec, 0, rows),
      FillTriangle<CrsMatrix>{triangle, A.values,
                              missing == MissingDiagonal::dominant, row_map,
                              entries, values});
  exec.fence();
  return typename Types::Matrix("Strata::triangle", A.numRows(), A.numCols(),
                                stored, values, row_map, entries);
}

}  // namespace Detail

/// The lower or upper triangle of a square matrix, diagonal included, as a
/// matrix of its own in the same memory space; A may be const-valued or
/// unmanaged, the triangle is neither. A's order within a row is kept, an
/// added diagonal entry is the last of a lower row and the first of an upper
/// one. Works on `exec` and returns when the triangle is complete.
///
/// @throws NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError,
///   OptionError for an `uplo` or `missing` that there is not, MemoryError
/// Cost: four passes over the entries of A, one of which checks them.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> take_triangle(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    Uplo uplo, MissingDiagonal missing = MissingDiagonal::leave) {
  Detail::require_enumerator("uplo", uplo);
  Detail::require_enumerator("missing", missing);
  return Detail::with_memory_errors("a triangle of a matrix", [&] {
    Detail::check_square_matrix(exec, A);
    return Detail::triangle_of(exec, A, uplo, missing);
  });
}

}  // namespace Strata

#endif
