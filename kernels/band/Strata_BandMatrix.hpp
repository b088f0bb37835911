// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_MATRIX_HPP
#define STRATA_BAND_MATRIX_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <detail/Strata_MatrixTypes.hpp>
#include <string>

namespace Strata {

/// A band matrix in LAPACK's storage: entry (i, j) is ab(ku + i - j, j), with
/// kl + ku + 1 rows and n columns; zero where the matrix stores nothing.
template <class Scalar, class MemorySpace>
struct BandMatrix {
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> ab;
  std::int64_t kl = 0, ku = 0;
};

namespace Detail {

/// Widths of the band, and the first row whose entries are out of range.
struct BandExtent {
  static constexpr std::int64_t no_row = INT64_MAX;
  std::int64_t lower = 0, upper = 0, bad_row = no_row;

  KOKKOS_INLINE_FUNCTION void join(const BandExtent& other) {
    if (other.lower > lower) lower = other.lower;
    if (other.upper > upper) upper = other.upper;
    if (other.bad_row < bad_row) bad_row = other.bad_row;
  }
};

template <class Matrix>
struct FindBandExtent {
  using value_type = BandExtent;
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  std::int64_t rows;

  KOKKOS_INLINE_FUNCTION void init(BandExtent& e) const { e = BandExtent(); }
  KOKKOS_INLINE_FUNCTION void join(BandExtent& to,
                                   const BandExtent& from) const {
    to.join(from);
  }
  // Kokkos 3 passes what it joins as volatile.
  KOKKOS_INLINE_FUNCTION void join(volatile BandExtent& to,
                                   const volatile BandExtent& from) const {
    if (from.lower > to.lower) to.lower = from.lower;
    if (from.upper > to.upper) to.upper = from.upper;
    if (from.bad_row < to.bad_row) to.bad_row = from.bad_row;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, BandExtent& e) const {
    BandExtent own;
    for (auto k = row_map(i); k < row_map(i + 1); ++k) {
      const auto j = static_cast<std::int64_t>(entries(k));
      if (j < 0 || j >= rows) own.bad_row = i;
      if (i - j > own.lower) own.lower = i - j;
      if (j - i > own.upper) own.upper = j - i;
    }
    e.join(own);
  }
};

template <class Matrix, class Band>
struct FillBand {
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  typename Matrix::values_type values;
  Band ab;
  std::int64_t upper;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (auto k = row_map(i); k < row_map(i + 1); ++k) {
      const auto j = static_cast<std::int64_t>(entries(k));
      ab(upper + i - j, j) += values(k);
    }
  }
};

}  // namespace Detail

/// The band of a square sparse matrix, as wide as its entries reach. Entries
/// that a row names twice are added up.
///
/// @throws NotSquareError, ColumnRangeError
/// Cost: two passes over A and one over the band. Waits for `exec`.
template <class Matrix>
auto band_matrix(const typename Matrix::execution_space& exec,
                 const Matrix& A) {
  using Scalar = typename Matrix::non_const_value_type;
  using Memory = typename Matrix::memory_space;
  using Rows = typename Detail::MatrixTypes<Matrix>::Rows;
  const auto rows = static_cast<std::int64_t>(A.numRows());
  if (static_cast<std::int64_t>(A.numCols()) != rows)
    throw NotSquareError("A",
                         "has " + std::to_string(rows) + " rows and " +
                             std::to_string(A.numCols()) + " columns",
                         "a band solver takes square matrices");
  Detail::BandExtent extent;
  Kokkos::parallel_reduce(
      "Strata::band_matrix::extent", Rows(exec, 0, rows),
      Detail::FindBandExtent<Matrix>{A.graph.row_map, A.graph.entries, rows},
      extent);
  exec.fence();
  if (extent.bad_row < rows)
    throw ColumnRangeError("A",
                           "a column is not in the matrix in row " +
                               std::to_string(extent.bad_row),
                           "columns are 0 to rows - 1", extent.bad_row);
  BandMatrix<Scalar, Memory> band;
  band.kl = extent.lower;
  band.ku = extent.upper;
  band.ab =
      decltype(band.ab)("Strata::band_matrix", band.kl + band.ku + 1, rows);
  Kokkos::parallel_for(
      "Strata::band_matrix::fill", Rows(exec, 0, rows),
      Detail::FillBand<Matrix, decltype(band.ab)>{
          A.graph.row_map, A.graph.entries, A.values, band.ab, band.ku});
  exec.fence();
  return band;
}

}  // namespace Strata

#endif
