// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_MATRIX_HPP
#define STRATA_BAND_MATRIX_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/SharedElements.hpp>

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
};

/// For expect_compiled.
struct BandOfMatrix;

// In kernels/band/BandMatrixImplementation.hpp.

/// Checks a matrix and finds how far its entries reach. Waits for `exec`.
template <class Scalar, class ExecutionSpace>
BandExtent find_band_extent(const ExecutionSpace& exec,
                            const CrsArrays<Scalar>& A);
/// Adds the entries of a matrix to its band, which is zero and has as many
/// diagonals as find_band_extent() has found. Waits for `exec`.
template <class Scalar, class ExecutionSpace>
void fill_band(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
               const BandExtent& extent, const StridedBlock& ab);

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
  BandMatrix<Scalar, typename Matrix::memory_space> band;
  if constexpr (Detail::ExpectScalar<Scalar>::value) {
    Detail::expect_compiled<Detail::BandOfMatrix, Scalar,
                            typename Matrix::execution_space>();
    const auto arrays = Detail::crs_arrays(A);
    const auto extent = Detail::find_band_extent(exec, arrays);
    band.kl = extent.lower;
    band.ku = extent.upper;
    band.ab = decltype(band.ab)("Strata::band_matrix",
                                extent.lower + extent.upper + 1, arrays.rows());
    Detail::fill_band(exec, arrays, extent, Detail::strided_block(band.ab));
  }
  return band;
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/band/BandMatrixImplementation.hpp>
#endif

#endif
