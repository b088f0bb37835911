// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_Triangle.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Complex = Kokkos::complex<double>;
using ComplexCrs =
    KokkosSparse::CrsMatrix<Complex, std::int64_t, Device, void, std::size_t>;

/// |(L U - A)_ij| <= 10 m eps (|L||U|)_ij for every entry of A, m the entries
/// of its longest row; and the factors' patterns.
template <class Matrix>
void expect_factors(const std::string& name, const Matrix& A) {
  using Scalar = typename Matrix::value_type;
  using Real = RealOf<Scalar>;
  const auto factors = Strata::incomplete_lu(Device(), A);
  const HostMatrix<Scalar> a(A), l(factors.L), u(factors.U);
  ASSERT_EQ(l.rows, a.rows);
  ASSERT_EQ(u.rows, a.rows);
  ASSERT_EQ(l.entries.size() + u.entries.size(), a.entries.size() + a.rows);
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    longest = std::max<std::int64_t>(longest, a.row_map[i + 1] - a.row_map[i]);
  const double most = 10. * longest * std::numeric_limits<Real>::epsilon();
  // Row i of the product, by column.
  std::vector<Complex> product(a.rows);
  std::vector<double> size(a.rows, 0);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    // The triangles of A's pattern, sorted, with a unit diagonal in L.
    ASSERT_EQ(l.entries[l.row_map[i + 1] - 1], i);
    ASSERT_EQ(l.values[l.row_map[i + 1] - 1], Scalar(1));
    ASSERT_EQ(u.entries[u.row_map[i]], i);
    const auto for_each_product = [&](const auto& f) {
      for (auto m = l.row_map[i]; m < l.row_map[i + 1]; ++m)
        for (auto q = u.row_map[l.entries[m]]; q < u.row_map[l.entries[m] + 1];
             ++q)
          f(u.entries[q], Complex(l.values[m]) * Complex(u.values[q]));
    };
    for_each_product([&](std::int64_t column, const Complex& of_both) {
      product[column] += of_both;
      size[column] += Kokkos::abs(of_both);
    });
    auto at_l = l.row_map[i], at_u = u.row_map[i];
    for (auto k = a.row_map[i]; k < a.row_map[i + 1]; ++k) {
      const auto j = a.entries[k];
      if (j < i) {
        ASSERT_EQ(l.entries[at_l++], j) << name << " row " << i;
      } else {
        ASSERT_EQ(u.entries[at_u++], j) << name << " row " << i;
      }
      ASSERT_LE(Kokkos::abs(product[j] - Complex(a.values[k])), most * size[j])
          << name << " entry " << i << ", " << j;
    }
    for_each_product([&](std::int64_t column, const Complex&) {
      product[column] = 0;
      size[column] = 0;
    });
  }
}

const char* const graphs[] = {
    "grid2d:25",          "grid2d9:12",   "grid3d:9",
    "triangulated:20x13", "lattice:20",   "cubed_sphere:2",
    "diagonal:100",       "band:300",     "circuit:900",
    "gene:150",           "chain:200",    "chain:1",
    "arrow:90",           "random:500x5", "block_diagonal:4x60:0.2"};

template <class Matrix>
void expect_factors_of_gallery() {
  for (const std::string spec : graphs)
    expect_factors(spec, Strata::gallery<Matrix>(Device(), spec));
}

TEST(IncompleteLu, ProductIsTheMatrixOnItsPattern) {
  expect_factors_of_gallery<Crs>();
}
TEST(IncompleteLu, ProductIsTheMatrixInFloat) {
  expect_factors_of_gallery<
      KokkosSparse::CrsMatrix<float, int, Device, void, int>>();
}
TEST(IncompleteLu, ProductIsTheMatrixInComplexFloat) {
  expect_factors_of_gallery<KokkosSparse::CrsMatrix<
      Kokkos::complex<float>, int, Device, void, std::size_t>>();
}
TEST(IncompleteLu, ProductIsTheMatrixWithComplexValuesAndWideIndices) {
  expect_factors_of_gallery<ComplexCrs>();
}

/// A matrix with a dominant diagonal and, in each row, up to `most` entries
/// more anywhere: without symmetry.
Crs random_matrix(std::int64_t rows, std::int64_t most, unsigned seed) {
  std::mt19937 random(seed);
  HostMatrix<double> host;
  host.rows = host.columns = rows;
  host.row_map.assign(1, 0);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::set<std::int64_t> columns{i};
    for (auto left = static_cast<std::int64_t>(random() % (most + 1)); left > 0;
         --left)
      columns.insert(static_cast<std::int64_t>(random() % rows));
    for (const auto j : columns) {
      host.entries.push_back(j);
      host.values.push_back(j == i ? 2. * double(most + 1) : value(random));
    }
    host.row_map.push_back(static_cast<std::int64_t>(host.entries.size()));
  }
  return host.to_device<Crs>();
}

TEST(IncompleteLu, ProductIsTheMatrixOnRandomPatterns) {
  const unsigned seed = Strata::random_seed();
  // On a GPU groups of 8 to 32 lanes with 1 to 8 entries each, and rows longer
  // than these.
  int at = 0;
  for (const auto& [rows, most] : {std::pair{2000, 3},
                                   {1500, 12},
                                   {700, 40},
                                   {900, 100},
                                   {400, 250},
                                   {1300, 1250}}) {
    SCOPED_TRACE(std::to_string(rows) + " rows of up to " +
                 std::to_string(most) + " entries");
    expect_factors("random", random_matrix(rows, most, seed + at++));
  }
}

/// Short rows, and some rows and columns of up to `longest` entries more, as
/// the supply nets of a circuit; with a dominant diagonal.
template <class Matrix>
Matrix matrix_with_hubs(std::int64_t rows, int hubs, std::int64_t longest,
                        unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::set<std::int64_t>> columns(rows);
  const auto any_row = [&] {
    return static_cast<std::int64_t>(random() % rows);
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    columns[i].insert(i);
    for (auto left = random() % 4; left > 0; --left)
      columns[i].insert(any_row());
  }
  for (int h = 0; h < hubs; ++h) {
    const std::int64_t hub = any_row();
    for (std::int64_t left = longest / (h + 1); left > 0; --left) {
      const std::int64_t other = any_row();
      columns[hub].insert(other);
      columns[other].insert(hub);
    }
  }
  using Scalar = typename Matrix::value_type;
  HostMatrix<Scalar> host;
  host.rows = host.columns = rows;
  host.row_map.assign(1, 0);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (const auto j : columns[i]) {
      host.entries.push_back(j);
      host.values.push_back(
          Scalar(i == j ? 1. + static_cast<double>(columns[i].size())
                        : value(random)));
    }
    host.row_map.push_back(static_cast<std::int64_t>(host.entries.size()));
  }
  return host.template to_device<Matrix>();
}

TEST(IncompleteLu, AFewLongRowsAreFactorised) {
  const unsigned seed = Strata::random_seed();
  // A GPU takes these entry by entry: 20 rows of up to 60 entries, and rows
  // with upper parts of more than 255.
  for (const int longest : {60, 600, 3000}) {
    SCOPED_TRACE(longest);
    expect_factors("hubs", matrix_with_hubs<Crs>(4000, 20, longest, seed));
    expect_factors("hubs",
                   matrix_with_hubs<ComplexCrs>(3000, 15, longest, seed + 1));
  }
}

TEST(IncompleteLu, MoreTasksThanTeamsAreFactorised) {
  expect_factors("grid3d:40", Strata::gallery<Crs>(Device(), "grid3d:40"));
}

TEST(IncompleteLu, RowsLongerThanScratchAreFactorised) {
  expect_factors("arrow", Strata::gallery<Crs>(Device(), "arrow:7000"));
}

/// All entries stored, with `value(i, j)`.
template <class Value>
Crs dense_matrix(std::int64_t rows, const Value& value) {
  HostMatrix<double> host;
  host.rows = host.columns = rows;
  host.row_map.assign(1, 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < rows; ++j) {
      host.entries.push_back(j);
      host.values.push_back(value(i, j));
    }
    host.row_map.push_back(static_cast<std::int64_t>(host.entries.size()));
  }
  return host.to_device<Crs>();
}

TEST(IncompleteLu, RowsThatJustFitRegistersAreFactorised) {
  for (const int rows :
       {8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 255, 256, 257}) {
    const auto A = dense_matrix(rows, [&](std::int64_t i, std::int64_t j) {
      return i == j ? 2. * rows
                    : 0.1 * static_cast<double>((7 * i + 3 * j) % 11) - 0.5;
    });
    expect_factors(std::to_string(rows), A);
  }
}

TEST(IncompleteLu, TheFirstOfSeveralFaultsIsNamed) {
  for (const int rows : {20, 50, 100, 200, 300}) {
    const int first = rows / 2, second = rows - 3;
    const auto A = dense_matrix(rows, [&](std::int64_t i, std::int64_t j) {
      // Row 0 takes the pivots of the two to zero.
      const bool to_zero = (i == 0 && (j == first || j == second)) ||
                           (j == 0 && (i == first || i == second));
      return i == j || to_zero ? 1. : 0.;
    });
    try {
      Strata::incomplete_lu(Device(), A);
      FAIL() << rows;
    } catch (const Strata::FactorizationError& error) {
      EXPECT_EQ(error.row(), first) << rows;
      EXPECT_NE(std::string(error.what()).find("pivot"), std::string::npos)
          << error.what();
    }
  }
}

TEST(IncompleteLu, ADeviceRefusesRowsThatItCantNumber) {
  // A dense first row.
  const auto factorise = [](int rows) {
    HostMatrix<double> host;
    host.rows = host.columns = rows;
    for (int j = 0; j < rows; ++j) {
      host.entries.push_back(j);
      host.values.push_back(1 + j);
    }
    host.row_map = {0, rows};
    for (int i = 1; i < rows; ++i) {
      host.entries.push_back(i);
      host.values.push_back(2);
      host.row_map.push_back(rows + i);
    }
    const auto factors = Strata::incomplete_lu(Device(), host.to_device<Crs>());
    EXPECT_EQ(HostMatrix<double>(factors.U).values, host.values);
  };
  factorise(65535);
  if (!on_gpu<Device>) return factorise(65536);
  try {
    factorise(65536);
    FAIL() << "not refused";
  } catch (const Strata::IndexOverflowError& error) {
    EXPECT_EQ(error.argument(), "A");
    EXPECT_NE(error.problem().find("a row of 65536 entries"), std::string::npos)
        << error.what();
  }
}

void expect_the_same_bits(const Crs& A) {
  const auto first = Strata::incomplete_lu(Device(), A);
  const HostMatrix<double> l(first.L), u(first.U);
  for (int time = 0; time < 5; ++time) {
    const auto again = Strata::incomplete_lu(Device(), A);
    EXPECT_EQ(HostMatrix<double>(again.L).values, l.values);
    EXPECT_EQ(HostMatrix<double>(again.U).values, u.values);
  }
}

TEST(IncompleteLu, FactorsHaveTheSameBitsEachTime) {
  const unsigned seed = Strata::random_seed();
  expect_the_same_bits(random_matrix(3000, 14, seed));
  expect_the_same_bits(matrix_with_hubs<Crs>(3000, 9, 900, seed));
}

TEST(IncompleteLu, ADenseMatrixIsFactorisedWhole) {
  const HostMatrix<double> host(3, 3, {4, 2, 1, 8, 5, 4, 4, 5, 9});
  const auto factors = Strata::incomplete_lu(Device(), host.to_device<Crs>());
  EXPECT_EQ(HostMatrix<double>(factors.L).values,
            (std::vector<double>{1, 2, 1, 1, 3, 1}));
  EXPECT_EQ(HostMatrix<double>(factors.U).values,
            (std::vector<double>{4, 2, 1, 1, 2, 2}));
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

TEST(IncompleteLu, EntriesOfNoRowAreLeftOut) {
  const auto A = random_matrix(500, 9, Strata::random_seed());
  const auto wanted = Strata::incomplete_lu(Device(), A);
  const std::size_t stored = A.values.extent(0);
  const Crs::index_type::non_const_type entries("entries", stored + 7);
  const Crs::values_type values("values", stored + 7);
  const auto used = Kokkos::make_pair(std::size_t{0}, stored);
  Kokkos::deep_copy(entries, 99999);
  Kokkos::deep_copy(Kokkos::subview(entries, used), A.graph.entries);
  Kokkos::deep_copy(Kokkos::subview(values, used), A.values);
  const Crs more("more", A.numCols(), values,
                 Crs::staticcrsgraph_type(entries, A.graph.row_map));
  const auto found = Strata::incomplete_lu(Device(), more);
  EXPECT_EQ(HostMatrix<double>(found.L).values,
            HostMatrix<double>(wanted.L).values);
  EXPECT_EQ(HostMatrix<double>(found.U).values,
            HostMatrix<double>(wanted.U).values);
  EXPECT_EQ(HostMatrix<double>(found.U).entries,
            HostMatrix<double>(wanted.U).entries);
  EXPECT_EQ(found.U.nnz(), wanted.U.nnz());
}

TEST(IncompleteLu, LargePatternsAreMadeInSeveralLaunches) {
  // Beyond what teams of one launch take.
  expect_factors("diagonal", Strata::gallery<Crs>(Device(), "diagonal:600000"));
  expect_factors("grid", Strata::gallery<Crs>(Device(), "grid2d:750"));
}

TEST(IncompleteLu, OfSeveralFaultsOneIsNamedWhateverFindsItFirst) {
  // Rows of many entries, which many lanes look at.
  constexpr int rows = 300;
  const HostMatrix<double> host(
      rows, rows, std::vector<double>(std::size_t{rows} * rows, 1.));
  const auto at = [](int row, int column) { return row * rows + column; };
  const int row = rows / 2;
  auto bad = host;
  // Unsorted before a column that is named twice.
  std::swap(bad.entries[at(row, 10)], bad.entries[at(row, 11)]);
  bad.entries[at(row, 200)] = 199;
  expect_error<Strata::DuplicateEntryError>(bad, row);
  // A row before that has another fault.
  bad.values[at(row - 1, row - 1)] = 0;
  expect_error<Strata::ZeroDiagonalError>(bad, row - 1);
  // Nothing is said of rows where columns are none.
  bad.entries[at(rows - 1, rows - 1)] = rows;
  expect_error<Strata::ColumnRangeError>(bad, rows - 1);
  bad.row_map[rows - 1] = -1;
  expect_error<Strata::RowMapError>(bad, rows - 2);
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
  // The last pivot is of no row's use.
  expect_error<Strata::FactorizationError>(Host(2, 2, {1, 2, 3, 6}), 1);
}

TEST(IncompleteLu, AMatrixOfNaNsIsRefusedWithoutHanging) {
  const auto A = random_matrix(2000, 9, Strata::random_seed());
  for (const double value : {std::nan(""), reserved_nan<double>()}) {
    HostMatrix<double> host(A);
    for (auto& v : host.values) v = value;
    expect_error<Strata::FactorizationError>(host, 0);
  }
}

}  // namespace
