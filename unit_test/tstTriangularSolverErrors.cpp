// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scalars.hpp"
#include "TriangularSolverCases.hpp"
#include "VectorBlock.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Solver = TriangularSolver<double, Space>;
using Host = HostMatrix<double>;

// Unsigned offsets, so that a decrease is no small negative number; signed
// ordinals, so that columns can be negative.
using RowMap = Kokkos::View<std::size_t*, Memory>;
using Entries = Kokkos::View<int*, Memory>;
using Values = Kokkos::View<double*, Memory>;

template <class View, class T>
View to_view(const std::vector<T>& from) {
  View view("view", from.size());
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t k = 0; k < from.size(); ++k)
    host(k) = static_cast<typename View::value_type>(from[k]);
  Kokkos::deep_copy(view, host);
  return view;
}

Solver make(const Host& A, Uplo uplo, Diag diag = Diag::non_unit,
            const TriangularOptions& options = {}) {
  return Solver(Space(), to_view<RowMap>(A.row_map),
                to_view<Entries>(A.entries), to_view<Values>(A.values), uplo,
                diag, options);
}

void expect_message(const Error& error, const std::string& argument,
                    const std::string& problem) {
  EXPECT_EQ(error.argument(), argument);
  EXPECT_NE(error.problem().find(problem), std::string::npos) << error.what();
  EXPECT_FALSE(error.remedy().empty());
  EXPECT_EQ(error.what(), "Strata: " + error.argument() + ": " +
                              error.problem() + "; " + error.remedy());
}

struct Expected {
  std::string argument;
  std::int64_t row;
  std::string value;
  std::string problem;
};

/// The same error under every operation and of every algorithm.
template <class Fault>
void expect_fault(const Host& A, Uplo uplo, const Expected& expected,
                  Diag diag = Diag::non_unit) {
  for (const auto op : {Op::none, Op::transpose, Op::conjugate_transpose})
    for (const auto& variant : algorithms()) {
      SCOPED_TRACE(expected.problem);
      auto options = variant.options;
      options.op = op;
      try {
        make(A, uplo, diag, options);
        ADD_FAILURE() << "no error";
      } catch (const Fault& error) {
        expect_message(error, expected.argument, expected.problem);
        EXPECT_EQ(error.row(), expected.row);
        EXPECT_EQ(error.value(), expected.value);
      }
    }
}

/// Rows 0 to 4: 0 | 0 1 | 1 2 | 0 3 | 0 1 2 4.
Host lower_matrix() {
  Host A;
  A.rows = A.columns = 5;
  A.row_map = {0, 1, 3, 5, 7, 11};
  A.entries = {0, 0, 1, 1, 2, 0, 3, 0, 1, 2, 4};
  A.values.assign(11, 2.0);
  return A;
}

TEST(TriangularSolver, TheMatrixOfTheErrorTestsIsSound) {
  EXPECT_NO_THROW(make(lower_matrix(), Uplo::lower));
}

TEST(TriangularSolver, RefusesFaultyRowMaps) {
  auto A = lower_matrix();
  A.row_map[0] = 1;
  expect_fault<RowMapError>(A, Uplo::lower,
                            {"row_map", 0, "1", "row 0 spans [1, 1) of 11"});
  A = lower_matrix();
  A.row_map[3] = 2;
  expect_fault<RowMapError>(A, Uplo::lower,
                            {"row_map", 2, "2", "row 2 spans [3, 2)"});
  A = lower_matrix();
  A.row_map[5] = 12;
  expect_fault<RowMapError>(A, Uplo::lower,
                            {"row_map", 4, "12", "row 4 spans [7, 12)"});
  A = lower_matrix();
  A.row_map[4] = 1 << 30;
  expect_fault<RowMapError>(A, Uplo::lower,
                            {"row_map", 3, "1073741824", "row 3 spans"});
  A = lower_matrix();
  A.row_map[1] = -3;
  expect_fault<RowMapError>(A, Uplo::lower,
                            {"row_map", 0, "-3", "row 0 spans"});
}

TEST(TriangularSolver, RefusesFaultyColumns) {
  auto A = lower_matrix();
  A.entries[5] = -1;
  expect_fault<ColumnRangeError>(
      A, Uplo::lower,
      {"entries", 3, "-1", "column -1 in row 3 is outside [0, 5)"});
  A = lower_matrix();
  A.entries[10] = 5;
  expect_fault<ColumnRangeError>(
      A, Uplo::lower, {"entries", 4, "5", "column 5 in row 4 is outside"});
  // The first faulty row is named, and the worst fault of it.
  A.entries[6] = 77;
  expect_fault<ColumnRangeError>(A, Uplo::lower,
                                 {"entries", 3, "77", "column 77 in row 3"});
}

TEST(TriangularSolver, RefusesDuplicateEntries) {
  auto A = lower_matrix();
  A.entries[8] = 0;
  const Expected expected{"entries", 4, "0",
                          "column 0 in row 4 is stored twice"};
  expect_fault<DuplicateEntryError>(A, Uplo::lower, expected);
  expect_fault<DuplicateEntryError>(A, Uplo::lower, expected, Diag::unit);
  // Apart from each other in an unsorted row: seen after the sort.
  A = lower_matrix();
  std::swap(A.entries[8], A.entries[10]);
  A.entries[9] = 0;
  expect_fault<DuplicateEntryError>(A, Uplo::lower, expected);
  expect_fault<DuplicateEntryError>(A, Uplo::lower, expected, Diag::unit);
  // The diagonal twice.
  A = lower_matrix();
  A.entries[5] = 3;
  expect_fault<DuplicateEntryError>(
      A, Uplo::lower, {"entries", 3, "3", "column 3 in row 3 is stored twice"});
}

TEST(TriangularSolver, UnsortedRowsAreSortedOrRefused) {
  auto A = lower_matrix();
  for (std::size_t k = 0; k < A.values.size(); ++k) A.values[k] = 2.0 + k;
  const auto sorted = A;
  std::swap(A.entries[7], A.entries[10]);
  std::swap(A.values[7], A.values[10]);
  std::swap(A.entries[3], A.entries[4]);
  std::swap(A.values[3], A.values[4]);
  for (const auto op : {Op::none, Op::transpose}) {
    TriangularOptions options;
    options.op = op;
    expect_solver(make(A, Uplo::lower, Diag::non_unit, options),
                  HostSystem<double>{sorted, Uplo::lower, Diag::non_unit, op});
  }
}

TEST(TriangularSolver, RefusesEntriesOfTheOtherTriangle) {
  auto A = lower_matrix();
  A.entries[2] = 4;
  expect_fault<WrongTriangleError>(
      A, Uplo::lower,
      {"entries", 1, "4", "column 4 in row 1 is not in the lower triangle"});
  expect_fault<WrongTriangleError>(
      lower_matrix(), Uplo::upper,
      {"entries", 1, "0", "column 0 in row 1 is not in the upper triangle"});
}

TEST(TriangularSolver, TakesEitherTriangleOfAFullMatrix) {
  const int n = 90;
  const auto lower =
      make_triangle<double>(random_pattern(n, 4.0, n, 3), Uplo::lower);
  const auto upper =
      make_triangle<double>(random_pattern(n, 4.0, n, 4), Uplo::upper);
  Host full;
  full.rows = full.columns = n;
  for (int i = 0; i < n; ++i) {
    full.entries.insert(full.entries.end(),
                        lower.entries.begin() + lower.row_map[i],
                        lower.entries.begin() + lower.row_map[i + 1]);
    full.values.insert(full.values.end(),
                       lower.values.begin() + lower.row_map[i],
                       lower.values.begin() + lower.row_map[i + 1]);
    // The diagonal comes from `lower`.
    full.entries.insert(full.entries.end(),
                        upper.entries.begin() + upper.row_map[i] + 1,
                        upper.entries.begin() + upper.row_map[i + 1]);
    full.values.insert(full.values.end(),
                       upper.values.begin() + upper.row_map[i] + 1,
                       upper.values.begin() + upper.row_map[i + 1]);
    full.row_map.push_back(static_cast<std::int64_t>(full.entries.size()));
  }
  for (const auto uplo : {Uplo::lower, Uplo::upper})
    for (const auto diag : {Diag::non_unit, Diag::unit})
      for (const auto op : {Op::none, Op::transpose})
        for (const auto& variant : algorithms()) {
          SCOPED_TRACE(variant.name);
          auto options = variant.options;
          options.op = op;
          options.take_triangle = true;
          expect_solver(make(full, uplo, diag, options),
                        HostSystem<double>{full, uplo, diag, op});
        }
}

TEST(TriangularSolver, RefusesFaultyDiagonals) {
  auto A = lower_matrix();
  A.values[4] = 0;
  expect_fault<ZeroDiagonalError>(
      A, Uplo::lower, {"values", 2, "0", "diagonal entry in row 2 is zero"});
  A.values[4] = -0.0;
  EXPECT_THROW(make(A, Uplo::lower), ZeroDiagonalError);
  EXPECT_NO_THROW(make(A, Uplo::lower, Diag::unit));
  A = lower_matrix();
  A.row_map = {0, 1, 3, 5, 6, 10};
  A.entries.erase(A.entries.begin() + 6);
  A.values.pop_back();
  expect_fault<MissingDiagonalError>(
      A, Uplo::lower, {"matrix", 3, "", "no diagonal entry in row 3"});
  EXPECT_NO_THROW(make(A, Uplo::lower, Diag::unit));
  // An empty row.
  A = lower_matrix();
  A.row_map = {0, 0, 2, 4, 6, 10};
  A.entries.erase(A.entries.begin());
  A.values.pop_back();
  expect_fault<MissingDiagonalError>(
      A, Uplo::lower, {"matrix", 0, "", "no diagonal entry in row 0"});
}

TEST(TriangularSolver, RefusesExtentsThatDontFit) {
  const auto A = lower_matrix();
  try {
    Solver(Space(), to_view<RowMap>(A.row_map), to_view<Entries>(A.entries),
           Values("short", 10), Uplo::lower, Diag::non_unit);
    ADD_FAILURE() << "no error";
  } catch (const SizeMismatchError& error) {
    expect_message(error, "values", "has 10 elements for 11 entries");
  }
  // Nothing is read of an array that claims too many rows.
  const auto row_map = to_view<RowMap>(A.row_map);
  try {
    Solver(Space(), RowMap(row_map.data(), std::size_t{1} << 31),
           to_view<Entries>(A.entries), to_view<Values>(A.values), Uplo::lower,
           Diag::non_unit);
    ADD_FAILURE() << "no error";
  } catch (const IndexOverflowError& error) {
    expect_message(error, "matrix", "2147483647 rows");
  }
}

TEST(TriangularSolver, RefusesMatricesThatAreNotSquare) {
  Host A = lower_matrix();
  A.columns = 6;
  try {
    Solver(Space(), A.to_device<SolverMatrix<double, Space>>(), Uplo::lower,
           Diag::non_unit);
    ADD_FAILURE() << "no error";
  } catch (const NotSquareError& error) {
    expect_message(error, "matrix", "has 5 rows and 6 columns");
  }
}

TEST(TriangularSolver, RefusesOptionsThatCantBeHonoured) {
  const auto expect = [](const char* name, const auto& member, int value) {
    for (const auto& variant : algorithms()) {
      auto options = variant.options;
      member(options) = value;
      try {
        make(lower_matrix(), Uplo::lower, Diag::non_unit, options);
        ADD_FAILURE() << "no error";
      } catch (const OptionError& error) {
        expect_message(error, name, "is " + std::to_string(value));
      }
    }
  };
  using Options = TriangularOptions;
  expect(
      "experimental.max_subgraph_rows",
      [](Options& o) -> int& { return o.experimental.max_subgraph_rows; }, -1);
  expect(
      "experimental.team_size",
      [](Options& o) -> int& { return o.experimental.team_size; }, -8);
  for (const int value : {0, -1})
    expect(
        "max_right_hand_sides",
        [](Options& o) -> int& { return o.max_right_hand_sides; }, value);
  if (on_gpu<Space>) {
    TriangularOptions options;
    options.algorithm = Algorithm::subgraphs;
    options.experimental.team_size = 4096;
    EXPECT_THROW(make(lower_matrix(), Uplo::lower, Diag::non_unit, options),
                 OptionError);
  }
  EXPECT_THROW(algorithm_from_string("fastest"), OptionError);
  for (const auto& variant : algorithms())
    EXPECT_EQ(algorithm_from_string(variant.name), variant.options.algorithm);
  EXPECT_EQ(algorithm_from_string("automatic"), Algorithm::automatic);
}

/// Calls solve with views that don't fit: `Fault`, and x as it was.
template <class Fault, class B, class X>
void expect_refused(const Solver& solver, const B& b, const X& x,
                    const std::string& argument, const std::string& problem) {
  try {
    solver.solve(Space(), b, x);
    ADD_FAILURE() << "no error: " << problem;
  } catch (const Fault& error) {
    expect_message(error, argument, problem);
  }
}

TEST(TriangularSolver, RefusesVectorsThatDontFit) {
  for (const auto& variant : algorithms()) {
    SCOPED_TRACE(variant.name);
    const auto solver =
        make(lower_matrix(), Uplo::lower, Diag::non_unit, variant.options);
    const auto expect = [&](int b_rows, int b_columns, int x_rows,
                            int x_columns, const std::string& argument,
                            const std::string& problem) {
      const Columns<double, Space> b("b", b_rows, b_columns);
      const auto before = random_values<double>(x_rows * x_columns, 3);
      const auto x = to_columns<double, Space>(before, x_rows, x_columns);
      expect_refused<SizeMismatchError>(solver, b, x, argument, problem);
      EXPECT_TRUE(same_bits(to_vector(x), before));
    };
    expect(4, 1, 5, 1, "b", "has 4 rows, the system 5");
    expect(6, 1, 5, 1, "b", "has 6 rows, the system 5");
    expect(5, 2, 3, 2, "x", "has 3 rows, the system 5");
    expect(5, 2, 5, 3, "x", "has 3 columns, b 2");
    expect(5, 1, 5, 0, "x", "has 0 columns, b 1");
    const Values b("b", 5);
    const Columns<double, Space> x("x", 5, 2);
    expect_refused<SizeMismatchError>(solver, b, x, "x", "has 2 columns, b 1");
  }
}

TEST(TriangularSolver, RefusesVectorsThatShareMemory) {
  const auto solver = make(lower_matrix(), Uplo::lower);
  const auto before = random_values<double>(60, 3);
  const Values memory = to_view<Values>(before);
  double* const at = memory.data();
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, Memory>;
  using Strided2 = Kokkos::View<double**, Kokkos::LayoutStride, Memory>;
  using Left = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
  using Right = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  const auto refused = [&](const auto& b, const auto& x) {
    expect_refused<AliasError>(solver, b, x, "x",
                               "shares part of its memory with b");
  };
  const auto stride = [&](int first, int by) {
    return Strided(at + first, Kokkos::LayoutStride(5, by));
  };
  const auto strides = [&](int first, int rows, int columns) {
    return Strided2(at + first, Kokkos::LayoutStride(5, rows, 2, columns));
  };
  refused(Values(at, 5), Values(at + 1, 5));
  refused(Values(at + 4, 5), Values(at, 5));
  refused(Values(at, 5), stride(0, 2));
  refused(stride(0, 3), stride(0, 2));
  refused(stride(0, 3), stride(6, 3));
  refused(Left(at, 5, 2), Right(at, 5, 2));
  refused(Left(at, 5, 3), Left(at + 5, 5, 3));
  refused(Left(at, 5, 2), Left(at + 1, 5, 2));
  refused(strides(0, 4, 1), strides(1, 4, 1));
  refused(strides(0, 1, 12), strides(4, 1, 12));
  refused(strides(0, 4, 1), strides(7, 4, 1));
  // The start of x is not an element of b, their bytes overlap all the same.
  const auto bytes = reinterpret_cast<char*>(at);
  refused(Values(at, 5),
          Values(reinterpret_cast<double*>(bytes + sizeof(double) / 2), 5));
  Kokkos::fence();
  const auto after =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.data()));

  // Two elements of x in one place; b may be one number for all rows.
  const auto repeated = [&](const auto& b, const auto& x) {
    expect_refused<AliasError>(solver, b, x, "x", "lead to one element twice");
  };
  repeated(Values(at, 5), stride(10, 0));
  repeated(stride(10, 0), stride(10, 0));
  repeated(strides(0, 1, 5), strides(20, 1, 4));
  repeated(strides(0, 1, 5), strides(20, 1, 0));
  Kokkos::fence();
  const auto still =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), still.data()));
  EXPECT_NO_THROW(solver.solve(Space(), stride(0, 0), Values(at + 10, 5)));
  Kokkos::fence();
  Kokkos::deep_copy(memory, to_view<Values>(before));

  // Neighbours and interleaved blocks share nothing.
  const auto accepted = [&](const auto& b, const auto& x) {
    EXPECT_NO_THROW(solver.solve(Space(), b, x));
    Kokkos::fence();
  };
  accepted(Values(at, 5), Values(at + 5, 5));
  accepted(stride(0, 3), stride(1, 3));
  accepted(stride(8, 3), stride(0, 3));
  accepted(strides(0, 4, 1), strides(2, 4, 1));
  accepted(strides(6, 4, 1), strides(0, 4, 1));
  accepted(strides(0, 1, 12), strides(5, 1, 12));
  accepted(Left(at, 5, 2), Left(at + 10, 5, 2));
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
