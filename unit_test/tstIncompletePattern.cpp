// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_IncompletePattern.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <kernels/factorization/IncompletePatternImplementation.hpp>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Complex = Kokkos::complex<double>;
using Host = HostMatrix<double>;

constexpr int largest_level = std::numeric_limits<int>::max();

/// Columns by row.
using Pattern = std::vector<std::vector<std::int64_t>>;

/// The pattern by the rule of sums over a dense array of levels.
template <class Scalar>
Pattern dense_reference(const HostMatrix<Scalar>& A, int level) {
  const auto n = static_cast<std::size_t>(A.rows);
  constexpr std::int64_t infinite = std::int64_t{1} << 40;
  std::vector<std::int64_t> of(n * n, infinite);
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      of[i * n + static_cast<std::size_t>(A.entries[k])] = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = k + 1; j < n; ++j)
        of[i * n + j] =
            std::min(of[i * n + j], of[i * n + k] + of[k * n + j] + 1);
  Pattern pattern(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (of[i * n + j] <= level)
        pattern[i].push_back(static_cast<std::int64_t>(j));
  return pattern;
}

/// The same, row by row, without what is above the level: for larger matrices.
template <class Scalar>
Pattern sparse_reference(const HostMatrix<Scalar>& A, int level) {
  std::vector<std::map<std::int64_t, std::int64_t>> of(A.rows);
  Pattern pattern(A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    auto& row = of[i];
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      row[A.entries[k]] = 0;
    // Insertions come behind the iterator.
    for (auto k = row.begin(); k != row.end() && k->first < i; ++k)
      for (auto j = of[k->first].upper_bound(k->first); j != of[k->first].end();
           ++j) {
        const auto sum = k->second + j->second + 1;
        if (sum > level) continue;
        const auto at = row.emplace(j->first, sum).first;
        at->second = std::min(at->second, sum);
      }
    for (const auto& [column, own] : row) pattern[i].push_back(column);
  }
  return pattern;
}

template <class Scalar>
void expect_filled(const HostMatrix<Scalar>& from,
                   const HostMatrix<Scalar>& made, const Pattern& wanted) {
  ASSERT_EQ(made.rows, from.rows);
  ASSERT_EQ(made.columns, from.rows);
  ASSERT_EQ(made.row_map.front(), 0);
  for (std::int64_t i = 0; i < made.rows; ++i) {
    ASSERT_EQ(Pattern::value_type(made.entries.begin() + made.row_map[i],
                                  made.entries.begin() + made.row_map[i + 1]),
              wanted[i])
        << "row " << i;
    for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k) {
      const Scalar* const value = from.find(i, made.entries[k]);
      const Scalar zero(0);
      ASSERT_EQ(
          std::memcmp(&made.values[k], value ? value : &zero, sizeof(Scalar)),
          0)
          << "row " << i << ", column " << made.entries[k];
    }
  }
}

/// Slots of a table in scratch: the usual ones, and so few that searches go
/// through several rounds with tables in memory.
const int slot_counts[] = {0, 2, 32};

/// Compares the pattern of each level with the reference, entry by entry.
template <class Matrix, class Scalar>
void expect_patterns(const HostMatrix<Scalar>& from,
                     const std::vector<int>& levels) {
  const auto A = from.template to_device<Matrix>();
  for (const int level : levels) {
    SCOPED_TRACE("level " + std::to_string(level));
    const auto wanted = from.rows <= 150 ? dense_reference(from, level)
                                         : sparse_reference(from, level);
    expect_filled(
        from,
        HostMatrix<Scalar>(Strata::incomplete_pattern(Device(), A, level)),
        wanted);
    for (const int slots : slot_counts) {
      SCOPED_TRACE(std::to_string(slots) + " slots");
      Strata::Detail::NewCrsMatrix<Matrix> made;
      Strata::Detail::IncompletePattern<Scalar, Device>::make(
          Device(), Strata::Detail::crs_arrays(A), level, made, {}, slots);
      expect_filled(from, HostMatrix<Scalar>(made.matrix("made")), wanted);
    }
    if (testing::Test::HasFailure()) return;
  }
}

/// Values that all differ, of whatever scalar.
template <class Scalar>
HostMatrix<Scalar> matrix_of(
    const std::vector<std::set<std::int64_t>>& columns) {
  HostMatrix<Scalar> host;
  host.rows = host.columns = static_cast<std::int64_t>(columns.size());
  host.row_map.assign(1, 0);
  for (const auto& row : columns) {
    for (const auto j : row) {
      host.entries.push_back(j);
      host.values.push_back(Scalar(1 + static_cast<float>(host.values.size())));
    }
    host.row_map.push_back(static_cast<std::int64_t>(host.entries.size()));
  }
  return host;
}

using Columns = std::vector<std::set<std::int64_t>>;

Columns diagonal(std::int64_t rows) {
  Columns columns(rows);
  for (std::int64_t i = 0; i < rows; ++i) columns[i].insert(i);
  return columns;
}

/// Up to `most` entries a row beside the diagonal, or 0; and `long_rows` rows
/// with an entry in two columns of three.
Columns random_columns(std::int64_t rows, std::int64_t most, bool symmetric,
                       int long_rows) {
  auto& random = Strata::generator();
  Columns columns = diagonal(rows);
  const auto any = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(below));
  };
  const auto add = [&](std::int64_t i, std::int64_t j) {
    columns[i].insert(j);
    if (symmetric) columns[j].insert(i);
  };
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t left = any(most + 1); left > 0; --left) add(i, any(rows));
  for (; long_rows > 0; --long_rows) {
    const std::int64_t i = any(rows);
    for (std::int64_t j = 0; j < rows; ++j)
      if (any(3) > 0) add(i, j);
  }
  return columns;
}

const std::vector<int> all_levels{0, 1, 2, 3, 4, 1000, largest_level};

template <class Matrix>
void expect_random_patterns(int times) {
  using Scalar = typename Matrix::value_type;
  for (int time = 0; time < times; ++time)
    for (const std::int64_t rows : {1, 2, 7, 40, 110})
      for (const std::int64_t most : {1, 2, 4})
        for (const bool symmetric : {false, true}) {
          SCOPED_TRACE(std::to_string(rows) + " rows of up to " +
                       std::to_string(most) + " entries, symmetric " +
                       std::to_string(symmetric));
          const int long_rows = most == 2 ? time % 3 : 0;
          expect_patterns<Matrix>(matrix_of<Scalar>(random_columns(
                                      rows, most, symmetric, long_rows)),
                                  all_levels);
          if (testing::Test::HasFailure()) return;
        }
}

TEST(IncompletePattern, IsThatOfTheRuleOfSums) {
  expect_random_patterns<Crs>(4);
}
TEST(IncompletePattern, IsThatOfTheRuleOfSumsInFloat) {
  expect_random_patterns<
      KokkosSparse::CrsMatrix<float, int, Device, void, std::size_t>>(1);
}
TEST(IncompletePattern, IsThatOfTheRuleOfSumsInComplexFloat) {
  expect_random_patterns<KokkosSparse::CrsMatrix<Kokkos::complex<float>, int,
                                                 Device, void, std::int64_t>>(
      1);
}
TEST(IncompletePattern, IsThatOfTheRuleOfSumsWithComplexValuesAndWideIndices) {
  expect_random_patterns<KokkosSparse::CrsMatrix<Complex, std::int64_t, Device,
                                                 void, std::size_t>>(1);
}

/// A short path over a large vertex must not hide a longer one over small ones:
/// 9 - 7 - 5 does not count for (9, 5), 9 - 1 - 2 - 5 does, from level 2 on.
TEST(IncompletePattern, ALongerPathOverSmallerVerticesCounts) {
  auto columns = diagonal(10);
  columns[9].insert({7, 1});
  columns[7].insert(5);
  columns[1].insert(2);
  columns[2].insert(5);
  const auto host = matrix_of<double>(columns);
  const auto A = host.to_device<Crs>();
  for (const int level : {0, 1, 2, 3}) {
    const Host made(Strata::incomplete_pattern(Device(), A, level));
    EXPECT_EQ(made.find(9, 5) != nullptr, level >= 2) << level;
    EXPECT_EQ(made.find(9, 2) != nullptr, level >= 1) << level;
  }
  expect_patterns<Crs>(host, all_levels);
}

TEST(IncompletePattern, ChainsFillWhereTheyLeadOverSmallVertices) {
  // Up and down by number, and with the ends of an edge far apart.
  const std::int64_t n = 120;
  auto up = diagonal(n), ring = diagonal(n), both = diagonal(n),
       jumps = diagonal(n);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    up[i].insert(i + 1);
    ring[i].insert(i + 1);
    both[i].insert(i + 1);
    both[i + 1].insert(i);
    jumps[i * 7 % n].insert((i + 1) * 7 % n);
  }
  ring[n - 1].insert(0);
  for (const auto& columns : {up, ring, both, jumps})
    expect_patterns<Crs>(matrix_of<double>(columns), all_levels);
  // From row n - 1 to column j in j + 1 edges.
  const Host made(Strata::incomplete_pattern(
      Device(), matrix_of<double>(ring).to_device<Crs>(), 50));
  EXPECT_EQ(made.row_map[n] - made.row_map[n - 1], 52);
}

Columns arrow(std::int64_t rows, std::int64_t hub) {
  auto columns = diagonal(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    columns[i].insert(hub);
    columns[hub].insert(i);
  }
  return columns;
}

TEST(IncompletePattern, ArrowsFillFromTheFirstRowAndNotFromTheLast) {
  for (const std::int64_t hub : {0, 60, 119})
    expect_patterns<Crs>(matrix_of<double>(arrow(120, hub)), {0, 1, 2, 200});
  // Rows that outgrow scratch of any size.
  const std::int64_t n = 9000;
  const auto host = matrix_of<double>(arrow(n, n - 1));
  const Host made(
      Strata::incomplete_pattern(Device(), host.to_device<Crs>(), 3));
  EXPECT_EQ(made.entries, host.entries);
  EXPECT_EQ(made.row_map, host.row_map);
  EXPECT_EQ(made.values, host.values);
  const std::int64_t full = 1200;
  const auto from_first = matrix_of<double>(arrow(full, 0));
  EXPECT_EQ(Strata::incomplete_pattern(Device(), from_first.to_device<Crs>(), 1)
                .nnz(),
            full * full);
}

TEST(IncompletePattern, RowsOfAllSizesAreSearchedTogether) {
  // Rows of a few entries, and some whose search leads to thousands.
  auto columns = random_columns(6000, 2, false, 0);
  for (const std::int64_t i : {2500, 4000, 5999})
    for (std::int64_t j = i % 3; j < 6000; j += 3) columns[i].insert(j);
  expect_patterns<Crs>(matrix_of<double>(columns), {1, 2});
}

TEST(IncompletePattern, OfGalleryMatrices) {
  for (const std::string spec :
       {"grid2d:30", "grid2d9:20", "grid3d:9", "triangulated:20x13",
        "circuit:700", "band:200", "random:500x3", "block_diagonal:4x60:0.2"}) {
    SCOPED_TRACE(spec);
    expect_patterns<Crs>(Host(Strata::gallery<Crs>(Device(), spec)),
                         {0, 1, 2, 4});
  }
}

TEST(IncompletePattern, LevelZeroIsACopyWithMemoryOfItsOwn) {
  const auto host = matrix_of<double>(random_columns(300, 5, false, 2));
  const auto A = host.to_device<Crs>();
  const auto made = Strata::incomplete_pattern(Device(), A, 0);
  EXPECT_NE(made.values.data(), A.values.data());
  EXPECT_NE(made.graph.entries.data(), A.graph.entries.data());
  const Host copy(made);
  EXPECT_EQ(copy.row_map, host.row_map);
  EXPECT_EQ(copy.entries, host.entries);
  EXPECT_EQ(copy.values, host.values);
}

TEST(IncompletePattern, ValuesKeepTheirBits) {
  auto host = matrix_of<double>(arrow(6, 0));
  host.values[0] = 0;  // a diagonal entry
  host.values[1] = std::nan("7");
  host.values[2] = -0.;
  host.values[3] = std::numeric_limits<double>::infinity();
  expect_patterns<Crs>(host, {0, 1, 2});
}

TEST(IncompletePattern, OfAConstValuedMatrix) {
  const auto host = matrix_of<double>(random_columns(50, 3, false, 0));
  const auto A = host.to_device<Crs>();
  using Const = KokkosSparse::CrsMatrix<const double, const int, Device,
                                        Kokkos::MemoryTraits<Kokkos::Unmanaged>,
                                        const int>;
  const Const borrowed("A", A.numRows(), A.numCols(), A.nnz(), A.values,
                       A.graph.row_map, A.graph.entries);
  const Crs made = Strata::incomplete_pattern(Device(), borrowed, 2);
  expect_filled(host, Host(made), dense_reference(host, 2));
}

TEST(IncompletePattern, AnEmptyMatrixHasAnEmptyPattern) {
  const auto made = Strata::incomplete_pattern(
      Device(), HostMatrix<double>().to_device<Crs>(), 3);
  EXPECT_EQ(made.numRows(), 0);
  EXPECT_EQ(made.nnz(), 0);
}

/// LU without pivoting, by the textbook.
std::vector<double> full_lu(const Host& A) {
  const std::int64_t n = A.rows;
  std::vector<double> lu(n * n, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      lu[i * n + A.entries[k]] = A.values[k];
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < i; ++k) {
      lu[i * n + k] /= lu[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j)
        lu[i * n + j] -= lu[i * n + k] * lu[k * n + j];
    }
  return lu;
}

TEST(IncompletePattern, OfFullLevelHasTheFactorsOfACompleteElimination) {
  auto& random = Strata::generator();
  std::uniform_real_distribution<double> value(-1, 1);
  for (const std::int64_t n : {1, 5, 30, 90})
    for (const bool symmetric : {false, true}) {
      Host host = matrix_of<double>(random_columns(n, 4, symmetric, 1));
      for (std::int64_t i = 0; i < n; ++i)
        for (auto k = host.row_map[i]; k < host.row_map[i + 1]; ++k)
          host.values[k] =
              host.entries[k] == i ? 2. * double(n) : value(random);
      const auto pattern = Strata::incomplete_pattern(
          Device(), host.to_device<Crs>(), static_cast<int>(n));
      const auto factors = Strata::incomplete_lu(Device(), pattern);
      const Host l(factors.L), u(factors.U);
      const auto wanted = full_lu(host);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const double* const at = j < i ? l.find(i, j) : u.find(i, j);
          ASSERT_NEAR(at ? *at : 0, wanted[i * n + j], 1e-13 * double(n))
              << n << " rows, entry " << i << ", " << j;
        }
    }
}

TEST(IncompletePattern, IsTheSameEachTime) {
  const auto A =
      matrix_of<double>(random_columns(3000, 3, false, 2)).to_device<Crs>();
  const Host first(Strata::incomplete_pattern(Device(), A, 2));
  for (int time = 0; time < 5; ++time) {
    const Host again(Strata::incomplete_pattern(Device(), A, 2));
    EXPECT_EQ(again.row_map, first.row_map);
    EXPECT_EQ(again.entries, first.entries);
  }
}

template <class Error>
void expect_error(const Host& host, std::int64_t row) {
  for (const int level : {0, 2}) {
    try {
      Strata::incomplete_pattern(Device(), host.to_device<Crs>(), level);
      ADD_FAILURE() << "a pattern is made";
    } catch (const Error& error) {
      EXPECT_EQ(error.row(), row) << error.what();
    }
  }
}

TEST(IncompletePattern, MatricesThatHaveNoneAreErrors) {
  expect_error<Strata::NotSquareError>(Host(2, 3, {1, 0, 0, 0, 1, 0}), -1);
  expect_error<Strata::MissingDiagonalError>(
      Host(3, 3, {1, 0, 0, 1, 0, 1, 0, 0, 1}), 1);
  const Host host(3, 3, {1, 1, 0, 1, 2, 1, 0, 1, 3});
  Host bad = host;
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

TEST(IncompletePattern, ANegativeLevelIsAnError) {
  const auto A = matrix_of<double>(arrow(4, 0)).to_device<Crs>();
  for (const int level : {-1, std::numeric_limits<int>::min()}) {
    try {
      Strata::incomplete_pattern(Device(), A, level);
      ADD_FAILURE() << "a pattern is made";
    } catch (const Strata::OptionError& error) {
      EXPECT_EQ(error.argument(), "level");
    }
  }
}

TEST(IncompletePattern, MoreEntriesThanOffsetsCountAreAnError) {
  const auto A = matrix_of<double>(arrow(20, 0)).to_device<Crs>();
  const auto make = [&](std::int64_t largest) {
    Strata::Detail::NewCrsMatrix<Crs> made;
    made.largest_offset = largest;
    Strata::Detail::IncompletePattern<double, Device>::make(
        Device(), Strata::Detail::crs_arrays(A), 1, made);
    return made.matrix("made").nnz();
  };
  EXPECT_EQ(make(400), 400);
  EXPECT_THROW(make(399), Strata::IndexOverflowError);
}

}  // namespace
