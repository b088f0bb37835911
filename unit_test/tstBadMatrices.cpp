// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whoever takes a CRS matrix looks at all of it before reading anything through
// it.
#include <gtest/gtest.h>

#include <Strata_BandMatrix.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_IncompletePattern.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangleGraph.hpp>
#include <Strata_TriangularSolver.hpp>
#include <functional>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

namespace Strata {
namespace {

using Host = HostMatrix<double>;
using Exec = Kokkos::DefaultExecutionSpace;
using Narrow = KokkosSparse::CrsMatrix<double, int, Exec, void, int>;
/// Offsets without a sign: -1 is a huge one.
using Wide =
    KokkosSparse::CrsMatrix<double, std::int64_t, Exec, void, std::size_t>;

template <class Matrix>
struct Entry {
  std::string name;
  std::function<void(const Matrix&)> call;
};

template <class Matrix>
Permutation<typename Matrix::memory_space> identity(std::int64_t n) {
  Permutation<typename Matrix::memory_space> p;
  p.old_row = decltype(p.old_row)("old_row", n);
  p.new_row = decltype(p.new_row)("new_row", n);
  const auto host = Kokkos::create_mirror_view(p.old_row);
  for (std::int64_t i = 0; i < n; ++i) host(i) = static_cast<int>(i);
  Kokkos::deep_copy(p.old_row, host);
  Kokkos::deep_copy(p.new_row, host);
  return p;
}

template <class Matrix>
std::vector<Entry<Matrix>> entries_of_all_types() {
  const Exec exec;
  return {{"take_triangle, lower",
           [=](const Matrix& A) { take_triangle(exec, A, Uplo::lower); }},
          {"take_triangle, upper",
           [=](const Matrix& A) {
             take_triangle(exec, A, Uplo::upper, MissingDiagonal::dominant);
           }},
          {"band_matrix", [=](const Matrix& A) { band_matrix(exec, A); }},
          {"permute_symmetric",
           [=](const Matrix& A) {
             permute_symmetric(exec, A, identity<Matrix>(A.numRows()));
           }},
          {"level_permutation",
           [=](const Matrix& A) { level_permutation(exec, A); }},
          {"triangle_graph",
           [=](const Matrix& A) {
             TriangleInput input;
             input.take_triangle = true;
             triangle_graph(exec, A.graph.row_map, A.graph.entries, A.values,
                            static_cast<std::int64_t>(A.numCols()), input);
           }},
          {"SellMatrix",
           [=](const Matrix& A) { SellMatrix<double, Exec>(exec, A); }},
          {"JacobiPreconditioner", [=](const Matrix& A) {
             JacobiPreconditioner<double, Exec>(exec, A);
           }}};
}

template <class Matrix>
std::vector<Entry<Matrix>> all_entries() {
  const Exec exec;
  auto entries = entries_of_all_types<Matrix>();
  entries.push_back(
      {"incomplete_lu", [=](const Matrix& A) { incomplete_lu(exec, A); }});
  entries.push_back({"incomplete_pattern",
                     [=](const Matrix& A) { incomplete_pattern(exec, A, 1); }});
  entries.push_back(
      {"colour_rows", [=](const Matrix& A) { colour_rows(exec, A); }});
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured})
    entries.push_back(
        {std::string("IncompleteFactorization, ") + to_string(order),
         [=](const Matrix& A) {
           IncompleteFactorization<double, Exec>(
               exec, A, Factorization::incomplete_cholesky, in_order(order));
         }});
  for (const auto algorithm :
       {Algorithm::automatic, Algorithm::substitution, Algorithm::blocks})
    for (const auto op : {Op::none, Op::transpose})
      entries.push_back({std::string("TriangularSolver, ") +
                             to_string(algorithm) + ", " + to_string(op),
                         [=](const Matrix& A) {
                           TriangularOptions options;
                           options.take_triangle = true;
                           options.algorithm = algorithm;
                           options.op = op;
                           TriangularSolver<double, Exec>(
                               exec, A, Uplo::lower, Diag::non_unit, options);
                         }});
  return entries;
}

/// `Fault` that names the argument, and the row, of each of the entries.
template <class Fault, class Matrix>
void expect_fault(const std::vector<Entry<Matrix>>& entries, const Host& host,
                  const std::string& argument, std::int64_t row,
                  const std::string& value) {
  const auto A = host.to_device<Matrix>();
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.name);
    try {
      entry.call(A);
      ADD_FAILURE() << "accepted: " << argument << " at row " << row;
    } catch (const Fault& error) {
      EXPECT_EQ(error.argument(), argument) << error.what();
      EXPECT_EQ(error.row(), row) << error.what();
      EXPECT_NE(error.problem().find(value), std::string::npos) << error.what();
      EXPECT_FALSE(error.remedy().empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another exception: " << error.what();
    }
  }
}

template <class Matrix>
void expect_all_faults(const std::vector<Entry<Matrix>>& entries) {
  constexpr bool is_signed = std::is_signed<
      typename Matrix::row_map_type::non_const_value_type>::value;
  const Host good = hermitian<double>("grid2d:13");
  const std::int64_t n = good.rows;
  const auto stored = static_cast<std::int64_t>(good.entries.size());
  for (const auto& entry : entries)
    EXPECT_NO_THROW(entry.call(good.to_device<Matrix>())) << entry.name;

  std::uniform_int_distribution<std::int64_t> any(1, n - 2);
  for (int trial = 0; trial < 3; ++trial) {
    const std::int64_t row = any(generator());
    SCOPED_TRACE("row " + std::to_string(row));
    const auto row_map_fault = [&](std::int64_t at, std::int64_t offset,
                                   std::int64_t faulty) {
      Host bad = good;
      bad.row_map[at] = offset;
      expect_fault<RowMapError>(entries, bad, "row_map", faulty,
                                std::to_string(offset));
    };
    row_map_fault(row + 1, std::int64_t{1} << 28, row);
    row_map_fault(row + 1, stored + 1, row);
    if (is_signed) row_map_fault(row + 1, -5, row);
    row_map_fault(row, good.row_map[row + 1] + 1, row);
    for (const std::int64_t column :
         {std::int64_t{-1}, n, std::int64_t{1} << 30}) {
      Host bad = good;
      bad.entries[good.row_map[row]] = column;
      expect_fault<ColumnRangeError>(entries, bad, "entries", row,
                                     std::to_string(column));
    }
  }
  Host bad = good;
  bad.row_map[0] = 1;
  expect_fault<RowMapError>(entries, bad, "row_map", 0, "1");
  if (is_signed) {
    bad.row_map[0] = -3;
    expect_fault<RowMapError>(entries, bad, "row_map", 0, "-3");
  }
  bad = good;
  bad.row_map[n] = stored + 7;
  expect_fault<RowMapError>(entries, bad, "row_map", n - 1,
                            std::to_string(stored + 7));
}

TEST(MatrixCheck, NamesTheRowAtFault) {
  expect_all_faults<Narrow>(all_entries<Narrow>());
}

TEST(MatrixCheck, NamesTheRowAtFaultOfWideIndices) {
  expect_all_faults<Wide>(entries_of_all_types<Wide>());
}

/// The smallest one that was read out of bounds.
TEST(MatrixCheck, RefusesOffsetsFarBeyondTheEntries) {
  Host bad;
  bad.rows = bad.columns = 2;
  bad.row_map = {0, std::int64_t{1} << 28, 3};
  bad.entries = {0, 0, 1};
  bad.values = {1, 2, 3};
  expect_fault<RowMapError>(all_entries<Narrow>(), bad, "row_map", 0,
                            "[0, 268435456) of 3 entries");
}

TEST(MatrixCheck, RefusesTooFewValues) {
  Host bad = hermitian<double>("grid2d:5");
  bad.values.pop_back();
  const auto A = bad.to_device<Narrow>();
  for (const auto& entry : all_entries<Narrow>()) {
    SCOPED_TRACE(entry.name);
    try {
      entry.call(A);
      ADD_FAILURE() << "accepted";
    } catch (const SizeMismatchError& error) {
      EXPECT_EQ(error.argument(), "values") << error.what();
    }
  }
}

TEST(MatrixCheck, LooksAtTheArraysOfMatricesWithoutRows) {
  using RowMap = typename Narrow::row_map_type::non_const_type;
  using Columns = typename Narrow::index_type::non_const_type;
  using Values = typename Narrow::values_type::non_const_type;
  const auto matrix = [](const RowMap& row_map, int entries) {
    return Narrow("bad", 0, 0, entries, Values("values", entries), row_map,
                  Columns("entries", entries));
  };
  RowMap seven("row_map", 1);
  Kokkos::deep_copy(seven, 7);
  for (const auto& entry : all_entries<Narrow>()) {
    SCOPED_TRACE(entry.name);
    EXPECT_NO_THROW(entry.call(matrix(RowMap(), 0)));
    EXPECT_NO_THROW(entry.call(matrix(RowMap("row_map", 1), 0)));
    try {
      entry.call(matrix(seven, 0));
      ADD_FAILURE() << "a row map of {7} is accepted";
    } catch (const RowMapError& error) {
      EXPECT_EQ(error.argument(), "row_map");
      EXPECT_EQ(error.value(), "7");
      EXPECT_EQ(error.row(), -1);
    }
    for (const auto& row_map : {RowMap(), RowMap("row_map", 1)}) {
      try {
        entry.call(matrix(row_map, 5));
        ADD_FAILURE() << "entries are accepted";
      } catch (const SizeMismatchError& error) {
        EXPECT_EQ(error.argument(), "entries");
        EXPECT_NE(error.problem().find("has 5 elements"), std::string::npos);
      }
    }
  }
}

TEST(MatrixCheck, RefusesMoreUnknownsThanAnyMatrixHas) {
  for (const std::int64_t rows :
       {std::int64_t{1} << 62, std::int64_t{2147483647}}) {
    try {
      ConjugateGradient<double, Exec>(Exec(), rows);
      ADD_FAILURE() << "accepted";
    } catch (const IndexOverflowError& error) {
      EXPECT_EQ(error.argument(), "rows");
      EXPECT_NE(error.problem().find(std::to_string(rows)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace Strata
