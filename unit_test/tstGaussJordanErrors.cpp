// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faulty input raises the exception that names it, and nothing is written.
#include "DenseCases.hpp"

namespace Strata {
namespace DenseTest {
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
using Elimination = GaussJordan<double, Space>;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

Matrix view_of(const HostDense<double>& a) {
  return to_view<double, Kokkos::LayoutLeft>(a);
}

/// Runs `work`, which has to throw an Exception, and returns that.
template <class Exception, class Work>
Exception thrown_by(const Work& work) {
  try {
    work();
  } catch (const Exception& error) {
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    throw;
  }
  ADD_FAILURE() << "no exception";
  throw std::logic_error("no exception");
}

TEST(GaussJordan, RefusesValuesThatAreNotFinite) {
  Elimination elimination(SolverTest::dense_options());
  for (const double bad : {infinity, -infinity, not_a_number}) {
    auto a = random_dense<double>(70, 70, 1);
    auto b = random_dense<double>(70, 2, 2);
    a(69, 40) = bad;
    a(3, 55) = bad;  // a later column
    const Matrix A = view_of(a), x = view_of(b);
    const auto reduced =
        thrown_by<NotFiniteError>([&] { elimination.reduce(Space(), A); });
    EXPECT_EQ(reduced.argument(), "A");
    EXPECT_EQ(reduced.row(), 69);
    EXPECT_EQ(reduced.value(), "40");
    EXPECT_EQ(thrown_by<NotFiniteError>([&] {
                elimination.solve(Space(), A, x, x);
              }).row(),
              69);
    EXPECT_EQ(thrown_by<NotFiniteError>([&] {
                elimination.invert(Space(), A, A);
              }).row(),
              69);
    EXPECT_TRUE(from_view(A).same_bits(a));
    EXPECT_TRUE(from_view(x).same_bits(b));

    a(69, 40) = a(3, 55) = 1;
    b(7, 1) = bad;
    const Matrix rhs = view_of(b);
    const auto of_b = thrown_by<NotFiniteError>(
        [&] { elimination.solve(Space(), view_of(a), rhs, rhs); });
    EXPECT_EQ(of_b.argument(), "b");
    EXPECT_EQ(of_b.row(), 7);
    EXPECT_EQ(of_b.value(), "1");
    EXPECT_TRUE(from_view(rhs).same_bits(b));
  }
}

TEST(GaussJordan, NamesTheColumnOfSingularMatrices) {
  Elimination elimination(SolverTest::dense_options());
  for (const int n : {1, 2, 33, 64, 150, 300})
    for (const int column : {0, n / 2, n - 1}) {
      SCOPED_TRACE(std::to_string(n) + ", column " + std::to_string(column));
      // Exact in elimination: upper triangular rows in another order.
      HostDense<double> a(n, n);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i <= j; ++i)
          if (i < j || j != column) a((i + 5) % n, j) = i == j ? 2 : 1;
      const auto b = random_dense<double>(n, 1, 3);
      const Matrix A = view_of(a), x = view_of(b);
      const auto error = thrown_by<SingularError>(
          [&] { elimination.solve(Space(), A, x, x); });
      EXPECT_EQ(error.row(), column);
      EXPECT_NE(
          std::string(error.what()).find("column " + std::to_string(column)),
          std::string::npos);
      EXPECT_EQ(thrown_by<SingularError>([&] {
                  elimination.invert(Space(), A, A);
                }).row(),
                column);
      EXPECT_TRUE(from_view(A).same_bits(a));
      EXPECT_TRUE(from_view(x).same_bits(b));
      EXPECT_EQ(elimination.reduce(Space(), A).rank, n - 1);
    }
}

TEST(GaussJordan, RefusesOverflowOnTheWay) {
  Elimination elimination(SolverTest::dense_options());
  // In the matrix, and in the right-hand side only.
  HostDense<double> a(2, 2), b(2, 1);
  a(0, 0) = 1;
  a(1, 0) = -1;
  a(0, 1) = a(1, 1) = 1.7e308;
  b(0, 0) = 1;
  const Matrix A = view_of(a), x = view_of(b);
  EXPECT_EQ(thrown_by<FactorizationError>([&] {
              elimination.solve(Space(), A, x, x);
            }).value(),
            "1");
  thrown_by<FactorizationError>([&] { elimination.invert(Space(), A, A); });
  EXPECT_TRUE(from_view(A).same_bits(a));
  EXPECT_TRUE(from_view(x).same_bits(b));
  // Without a tolerance of its own, as the largest column sum overflows.
  thrown_by<FactorizationError>([&] { reduced_row_echelon_form(Space(), A,
                                                                  SolverTest::dense_options()); });
  EXPECT_TRUE(from_view(A).same_bits(a));
  GaussJordanOptions exact = SolverTest::dense_options();
  exact.tolerance = 0;
  thrown_by<FactorizationError>(
      [&] { reduced_row_echelon_form(Space(), A, exact); });
  EXPECT_TRUE(from_view(A).same_bits(a));

  HostDense<double> tiny(1, 1), large(1, 1);
  tiny(0, 0) = 1e-300;
  large(0, 0) = 1e300;
  const Matrix rhs = view_of(large);
  EXPECT_EQ(thrown_by<FactorizationError>([&] {
              elimination.solve(Space(), view_of(tiny), rhs, rhs);
            }).row(),
            0);
  EXPECT_TRUE(from_view(rhs).same_bits(large));
}

/// As many elements as BLAS looks at on a host, in all layouts.
TEST(GaussJordan, FindsWhatIsNotFiniteInLargerMatrices) {
  const int n = 153;
  Elimination elimination(SolverTest::dense_options());
  auto a = random_dense<double>(n, n, 1);
  const Matrix x("X", n, n);
  for (const int row : {0, 77, n - 1})
    for (const int column : {0, 7, 8, n - 1}) {
      const double kept = a(row, column);
      a(row, column) = infinity;
      const auto rows = to_view<double, Kokkos::LayoutRight>(a);
      for (const auto& error :
           {thrown_by<NotFiniteError>(
                [&] { elimination.invert(Space(), rows, x); }),
            thrown_by<NotFiniteError>(
                [&] { elimination.invert(Space(), view_of(a), x); })}) {
        EXPECT_EQ(error.row(), row);
        EXPECT_EQ(error.value(), std::to_string(column));
      }
      a(row, column) = kept;
    }
  // Elimination overflows in the last column, then the inverse.
  HostDense<double> growing(n, n), small(n, n);
  for (int i = 0; i < n; ++i) growing(i, i) = small(i, i) = 1;
  growing(n - 1, 0) = -1;
  growing(0, n - 1) = growing(n - 1, n - 1) = 1.7e308;
  EXPECT_EQ(thrown_by<FactorizationError>([&] {
              elimination.invert(Space(), view_of(growing), x);
            }).value(),
            std::to_string(n - 1));
  small(5, 5) = 1e-310;
  EXPECT_LE(thrown_by<FactorizationError>([&] {
              elimination.invert(Space(), view_of(small), x);
            }).row(),
            5);
  for (const double value : from_view(x).values) ASSERT_EQ(value, 0.0);
}

TEST(GaussJordan, RefusesSizesAndOptionsThatDoNotFit) {
  Elimination elimination(SolverTest::dense_options());
  const Matrix wide("A", 3, 4), square("A", 3, 3), four("x", 4, 1),
      three("x", 3, 1), pair("x", 3, 2);
  EXPECT_EQ(thrown_by<NotSquareError>([&] {
              elimination.solve(Space(), wide, three, three);
            }).argument(),
            "A");
  EXPECT_EQ(thrown_by<NotSquareError>([&] {
              elimination.invert(Space(), wide, wide);
            }).argument(),
            "A");
  EXPECT_EQ(thrown_by<SizeMismatchError>([&] {
              elimination.solve(Space(), square, four, three);
            }).argument(),
            "b");
  EXPECT_EQ(thrown_by<SizeMismatchError>([&] {
              elimination.solve(Space(), square, three, four);
            }).argument(),
            "x");
  EXPECT_EQ(thrown_by<SizeMismatchError>([&] {
              elimination.solve(Space(), square, three, pair);
            }).argument(),
            "x");
  EXPECT_EQ(thrown_by<SizeMismatchError>([&] {
              elimination.invert(Space(), square, wide);
            }).argument(),
            "X");
  // Elements to be written that have no place of their own.
  using Strided =
      Kokkos::View<double**, Kokkos::LayoutStride, Matrix::memory_space>;
  const Strided rows_in_one(square.data(), Kokkos::LayoutStride(3, 0, 3, 3));
  EXPECT_EQ(thrown_by<AliasError>([&] {
              elimination.solve(Space(), square, rows_in_one, rows_in_one);
            }).argument(),
            "x");
  EXPECT_EQ(thrown_by<AliasError>([&] {
              elimination.invert(Space(), square, rows_in_one);
            }).argument(),
            "X");
  EXPECT_EQ(thrown_by<AliasError>([&] {
              elimination.reduce(Space(), rows_in_one);
            }).argument(),
            "A");
  // Nothing to do, and nothing wrong with that.
  const Matrix none("none", 0, 0), no_columns("none", 3, 0);
  elimination.solve(Space(), none, Matrix("b", 0, 2), Matrix("x", 0, 2));
  elimination.solve(Space(), square, no_columns, no_columns);
  elimination.invert(Space(), none, none);

  GaussJordanOptions options = SolverTest::dense_options();
  options.pivot_columns = 5;
  EXPECT_EQ(thrown_by<OptionError>([&] {
              reduced_row_echelon_form(Space(), wide, options);
            }).argument(),
            "pivot_columns");
  for (const int stripe : {-32, 1, 33, 544}) {
    GaussJordanOptions bad = SolverTest::dense_options();
    bad.stripe = stripe;
    EXPECT_EQ(thrown_by<OptionError>([&] { Elimination{bad}; }).argument(),
              "stripe");
  }
  for (const double tolerance : {infinity, not_a_number}) {
    GaussJordanOptions bad = SolverTest::dense_options();
    bad.tolerance = tolerance;
    EXPECT_EQ(thrown_by<OptionError>([&] { Elimination{bad}; }).argument(),
              "tolerance");
  }
}

}  // namespace
}  // namespace DenseTest
}  // namespace Strata
