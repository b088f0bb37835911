// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_MATRIX_HPP
#define STRATA_BAND_MATRIX_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix/PatternCheck.hpp>

namespace Strata {

/// A band matrix in LAPACK's storage: entry (i, j) is ab(ku + i - j, j), with
/// kl + ku + 1 rows and n columns; zero where the matrix stores nothing.
template <class Scalar, class MemorySpace>
struct BandMatrix {
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> ab;
  std::int64_t kl = 0, ku = 0;
};

namespace Detail {

/// Widths of the band.
struct BandExtent {
  std::int64_t lower = 0, upper = 0;

  KOKKOS_INLINE_FUNCTION void join(const BandExtent& other) {
    if (other.lower > lower) lower = other.lower;
    if (other.upper > upper) upper = other.upper;
  }
};

template <class Matrix>
struct FindBandExtent {
  using value_type = BandExtent;
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;

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
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, BandExtent& e) const {
    BandExtent own;
    for (auto k = row_map(i); k < row_map(i + 1); ++k) {
      const auto j = static_cast<std::int64_t>(entries(k));
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
/// @throws NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError,
///   IndexOverflowError
/// Cost: three passes over A and one over the band. Waits for `exec`.
template <class Matrix>
auto band_matrix(const typename Matrix::execution_space& exec,
                 const Matrix& A) {
  using Scalar = typename Matrix::non_const_value_type;
  using Memory = typename Matrix::memory_space;
  using Rows = typename Detail::MatrixTypes<Matrix>::Rows;
  const auto rows = static_cast<std::int64_t>(A.numRows());
  Detail::check_square_matrix(exec, A);
  Detail::BandExtent extent;
  Kokkos::parallel_reduce(
      "Strata::band_matrix::extent", Rows(exec, 0, rows),
      Detail::FindBandExtent<Matrix>{A.graph.row_map, A.graph.entries}, extent);
  exec.fence();
  BandMatrix<Scalar, Memory> band;
  band.kl = extent.lower;
  band.ku = extent.upper;
  const std::int64_t diagonals = band.kl + band.ku + 1;
  constexpr auto most_elements =
      INT64_MAX / static_cast<std::int64_t>(sizeof(Scalar));
  if (rows > 0 && diagonals > most_elements / rows)
    throw IndexOverflowError("A",
                             "a band of " + std::to_string(diagonals) +
                                 " diagonals and " + std::to_string(rows) +
                                 " columns has more bytes than can be counted",
                             "reorder the rows, so that the band is narrower");
  band.ab = decltype(band.ab)("Strata::band_matrix", diagonals, rows);
  Kokkos::parallel_for(
      "Strata::band_matrix::fill", Rows(exec, 0, rows),
      Detail::FillBand<Matrix, decltype(band.ab)>{
          A.graph.row_map, A.graph.entries, A.values, band.ab, band.ku});
  exec.fence();
  return band;
}

}  // namespace Strata

#endif
