// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_Triangle.hpp>
#include <cmath>
#include <kernels/factorization/IncompleteLuImplementation.hpp>
#include <limits>
#include <type_traits>

#include "HostMatrix.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Complex = Kokkos::complex<double>;
using ComplexCrs =
    KokkosSparse::CrsMatrix<Complex, std::int64_t, Device, void, std::size_t>;

template <class Matrix>
void expect_factors(const std::string& spec, std::int64_t work_bytes = 0) {
  using Scalar = typename Matrix::value_type;
  const auto A = Strata::gallery<Matrix>(Device(), spec);
  const auto factors = Strata::incomplete_lu(Device(), A, work_bytes);
  const HostMatrix<Scalar> a(A), l(factors.L), u(factors.U);
  ASSERT_EQ(l.rows, a.rows);
  ASSERT_EQ(u.rows, a.rows);
  ASSERT_EQ(l.entries.size() + u.entries.size(), a.entries.size() + a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    // The triangles of A's pattern, sorted, with a unit diagonal in L.
    ASSERT_EQ(l.entries[l.row_map[i + 1] - 1], i);
    ASSERT_EQ(l.values[l.row_map[i + 1] - 1], Scalar(1));
    ASSERT_EQ(u.entries[u.row_map[i]], i);
    auto at_l = l.row_map[i], at_u = u.row_map[i];
    for (auto k = a.row_map[i]; k < a.row_map[i + 1]; ++k) {
      const auto j = a.entries[k];
      if (j < i) {
        ASSERT_EQ(l.entries[at_l++], j) << spec << " row " << i;
      } else {
        ASSERT_EQ(u.entries[at_u++], j) << spec << " row " << i;
      }
      // (L U)_ij over the entries of row i of L.
      Scalar product(0);
      double size = 0;
      for (auto m = l.row_map[i]; m < l.row_map[i + 1]; ++m)
        if (const Scalar* value = u.find(l.entries[m], j)) {
          product += l.values[m] * *value;
          size += Kokkos::abs(Complex(l.values[m] * *value));
        }
      ASSERT_LE(Kokkos::abs(Complex(product - a.values[k])), 1e-13 * size)
          << spec << " entry " << i << ", " << j;
    }
  }
}

TEST(IncompleteLu, ProductIsTheMatrixOnItsPattern) {
  for (const auto* spec :
       {"grid2d:25", "grid2d9:12", "grid3d:9", "triangulated:20x13",
        "lattice:20", "cubed_sphere:2", "diagonal:100", "band:300",
        "circuit:900", "gene:150", "chain:200", "chain:1", "arrow:90",
        "random:500x5", "block_diagonal:4x60:0.2"})
    expect_factors<Crs>(spec);
}

TEST(IncompleteLu, FactorisesComplexValuesAndWideIndices) {
  for (const auto* spec : {"grid3d:6", "circuit:400", "lattice:12"})
    expect_factors<ComplexCrs>(spec);
}

TEST(IncompleteLu, LittleWorkSpaceChangesNothing) {
  // A row at a time, or about ten.
  for (const std::int64_t work_bytes : {1, 10 * 320 * 4})
    for (const auto* spec : {"cubed_sphere:2", "diagonal:320", "gene:150"})
      expect_factors<Crs>(spec, work_bytes);
}

TEST(IncompleteLu, ADenseMatrixIsFactorisedWhole) {
  const HostMatrix<double> host(3, 3, {4, 2, 1, 8, 5, 4, 4, 5, 9});
  const auto factors = Strata::incomplete_lu(Device(), host.to_device<Crs>());
  EXPECT_EQ(HostMatrix<double>(factors.L).values,
            (std::vector<double>{1, 2, 1, 1, 3, 1}));
  EXPECT_EQ(HostMatrix<double>(factors.U).values,
            (std::vector<double>{4, 2, 1, 1, 2, 2}));
}

TEST(IncompleteLu, LevelsWiderThanAStepAreCut) {
  // Without dependencies every row is in one level; with room for 10 rows at a
  // time there are 10 steps of it.
  const auto diagonal = Strata::gallery<Crs>(Device(), "diagonal:95");
  const auto steps = Strata::Detail::elimination_steps(
      diagonal.graph.row_map, diagonal.graph.entries, 10);
  ASSERT_EQ(steps.step_start.size(), 11u);
  EXPECT_EQ(steps.step_start[9], 90);
  EXPECT_EQ(steps.step_start[10], 95);

  const auto L = Strata::take_triangle(
      Device(), Strata::gallery<Crs>(Device(), "grid2d:30"),
      Strata::Uplo::lower);
  const HostMatrix<double> host(L);
  const auto cut =
      Strata::Detail::elimination_steps(L.graph.row_map, L.graph.entries, 7);
  ASSERT_EQ(cut.order.size(), 900u);
  std::vector<int> step(900, -1);
  for (std::size_t s = 0; s + 1 < cut.step_start.size(); ++s) {
    EXPECT_LE(cut.step_start[s + 1] - cut.step_start[s], 7);
    for (int k = cut.step_start[s]; k < cut.step_start[s + 1]; ++k)
      step[cut.order[k]] = static_cast<int>(s);
  }
  for (std::int64_t i = 0; i < 900; ++i) {
    ASSERT_GE(step[i], 0);
    for (auto k = host.row_map[i]; k + 1 < host.row_map[i + 1]; ++k)
      ASSERT_LT(step[host.entries[k]], step[i]);
  }
}

TEST(IncompleteLu, AnEmptyMatrixHasEmptyFactors) {
  const auto factors =
      Strata::incomplete_lu(Device(), HostMatrix<double>().to_device<Crs>());
  EXPECT_EQ(factors.L.numRows(), 0);
  EXPECT_EQ(factors.U.nnz(), 0);
}

template <class Error>
void expect_error(const HostMatrix<double>& host, std::int64_t row) {
  try {
    Strata::incomplete_lu(Device(), host.to_device<Crs>());
    ADD_FAILURE() << "factorised";
  } catch (const Error& error) {
    EXPECT_EQ(error.row(), row) << error.what();
  }
}

TEST(IncompleteLu, MatricesThatCantBeFactorisedAreErrors) {
  using Host = HostMatrix<double>;
  expect_error<Strata::NotSquareError>(Host(2, 3, {1, 0, 0, 0, 1, 0}), -1);
  expect_error<Strata::MissingDiagonalError>(
      Host(3, 3, {1, 0, 0, 1, 0, 1, 0, 0, 1}), 1);

  Host host(3, 3, {1, 1, 0, 1, 2, 1, 0, 1, 3});
  Host bad = host;
  bad.values[3] = 0;
  expect_error<Strata::ZeroDiagonalError>(bad, 1);
  bad = host;
  std::swap(bad.entries[3], bad.entries[4]);
  expect_error<Strata::UnsortedRowError>(bad, 1);
  bad = host;
  bad.entries[3] = 0;
  expect_error<Strata::DuplicateEntryError>(bad, 1);
  bad = host;
  bad.entries[6] = 3;
  expect_error<Strata::ColumnRangeError>(bad, 2);
  bad = host;
  bad.entries[2] = -1;
  expect_error<Strata::ColumnRangeError>(bad, 1);
  bad = host;
  bad.row_map[2] = 1;
  expect_error<Strata::RowMapError>(bad, 1);
  bad = host;
  bad.row_map[3] = 99;
  expect_error<Strata::RowMapError>(bad, 2);
}

TEST(IncompleteLu, PivotsThatVanishAndValuesThatOverflowAreErrors) {
  using Host = HostMatrix<double>;
  expect_error<Strata::FactorizationError>(
      Host(3, 3, {2, 1, 0, 4, 2, 1, 0, 1, 3}), 1);
  const double infinity = std::numeric_limits<double>::infinity();
  expect_error<Strata::FactorizationError>(Host(2, 2, {1, 2, 3, infinity}), 1);
  expect_error<Strata::FactorizationError>(Host(2, 2, {1, 2, 3, std::nan("")}),
                                           1);
  expect_error<Strata::FactorizationError>(Host(2, 2, {1e-200, 1, 1e200, 1}),
                                           1);
  // The number that stands in for a lost pivot may also be the pivot.
  const Host million(2, 2, {1, 1, 1, 1000001});
  EXPECT_NO_THROW(Strata::incomplete_lu(Device(), million.to_device<Crs>()));
}

}  // namespace
