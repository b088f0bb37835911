// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_Triangle.hpp>

#include "HostMatrix.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Complex = Kokkos::complex<double>;
using ComplexCrs =
    KokkosSparse::CrsMatrix<Complex, std::int64_t, Device, void, std::size_t>;
using Strata::MissingDiagonal;
using Strata::Uplo;

template <class Matrix>
auto take(const Matrix& A, Uplo uplo,
          MissingDiagonal missing = MissingDiagonal::leave) {
  return HostMatrix<typename Matrix::value_type>(
      Strata::take_triangle(Device(), A, uplo, missing));
}

TEST(Triangle, HoldsTheEntriesOnItsSideInOrder) {
  for (const auto* spec : {"circuit:700", "lattice:20", "diagonal:9",
                           "arrow:30", "grid3d:1", "random:300x6"}) {
    const auto A = Strata::gallery<Crs>(Device(), spec);
    const HostMatrix<double> full(A);
    for (const auto uplo : {Uplo::lower, Uplo::upper}) {
      HostMatrix<double> expected;
      expected.rows = expected.columns = full.rows;
      for (std::int64_t i = 0; i < full.rows; ++i) {
        for (auto k = full.row_map[i]; k < full.row_map[i + 1]; ++k) {
          const auto j = full.entries[k];
          if (uplo == Uplo::lower ? j > i : j < i) continue;
          expected.entries.push_back(j);
          expected.values.push_back(full.values[k]);
        }
        expected.row_map.push_back(expected.entries.size());
      }
      for (const auto missing : {MissingDiagonal::leave, MissingDiagonal::one,
                                 MissingDiagonal::dominant}) {
        const auto triangle = take(A, uplo, missing);
        EXPECT_EQ(triangle.rows, full.rows);
        EXPECT_EQ(triangle.row_map, expected.row_map) << spec;
        EXPECT_EQ(triangle.entries, expected.entries) << spec;
        EXPECT_EQ(triangle.values, expected.values) << spec;
      }
    }
  }
}

TEST(Triangle, MissingDiagonalIsLeftOrAdded) {
  // Rows 0 and 2 store no diagonal.
  const HostMatrix<double> host(4, 4,
                                {0, 2, -3, 0,  //
                                 5, 7, 0, 0,   //
                                 -4, 0, 0, 6,  //
                                 0, -8, 1, 9});
  const auto A = host.to_device<Crs>();
  using Dense = std::vector<double>;
  const auto expect = [&](Uplo uplo, MissingDiagonal missing,
                          const Dense& dense) {
    const HostMatrix<double> expected(4, 4, dense);
    const auto triangle = take(A, uplo, missing);
    EXPECT_EQ(triangle.row_map, expected.row_map);
    EXPECT_EQ(triangle.entries, expected.entries);
    EXPECT_EQ(triangle.values, expected.values);
  };
  expect(Uplo::lower, MissingDiagonal::leave,
         {0, 0, 0, 0, 5, 7, 0, 0, -4, 0, 0, 0, 0, -8, 1, 9});
  expect(Uplo::lower, MissingDiagonal::one,
         {1, 0, 0, 0, 5, 7, 0, 0, -4, 0, 1, 0, 0, -8, 1, 9});
  expect(Uplo::lower, MissingDiagonal::dominant,
         {1, 0, 0, 0, 5, 7, 0, 0, -4, 0, 5, 0, 0, -8, 1, 9});
  expect(Uplo::upper, MissingDiagonal::leave,
         {0, 2, -3, 0, 0, 7, 0, 0, 0, 0, 0, 6, 0, 0, 0, 9});
  expect(Uplo::upper, MissingDiagonal::one,
         {1, 2, -3, 0, 0, 7, 0, 0, 0, 0, 1, 6, 0, 0, 0, 9});
  expect(Uplo::upper, MissingDiagonal::dominant,
         {6, 2, -3, 0, 0, 7, 0, 0, 0, 0, 7, 6, 0, 0, 0, 9});
}

TEST(Triangle, AddsComplexMagnitudesForADominantDiagonal) {
  const HostMatrix<Complex> host(
      2, 2, {Complex(0, 0), Complex(3, -4), Complex(5, 12), Complex(0, 0)});
  const auto A = host.to_device<ComplexCrs>();
  const auto lower = take(A, Uplo::lower, MissingDiagonal::dominant);
  EXPECT_EQ(lower.entries, (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(lower.values[2], Complex(14, 0));
  const auto upper = take(A, Uplo::upper, MissingDiagonal::dominant);
  EXPECT_EQ(upper.entries, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(upper.values[0], Complex(6, 0));
}

TEST(Triangle, AnEmptyMatrixIsItsOwnTriangle) {
  const auto A = HostMatrix<double>().to_device<Crs>();
  EXPECT_EQ(take(A, Uplo::lower, MissingDiagonal::one).entries.size(), 0u);
}

TEST(Triangle, OnlySquareMatricesHaveOne) {
  const auto A = HostMatrix<double>(2, 3, {1, 0, 2, 0, 3, 0}).to_device<Crs>();
  EXPECT_THROW(take(A, Uplo::lower), Strata::NotSquareError);
}

}  // namespace
