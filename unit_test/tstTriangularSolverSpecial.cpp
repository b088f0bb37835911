// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scalars.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

template <class Real>
constexpr Real infinity = std::numeric_limits<Real>::infinity();

template <class Scalar>
TriangularSolver<Scalar, Space> make(const HostMatrix<Scalar>& A,
                                     const Operation& operation,
                                     const Variant& variant) {
  auto options = variant.options;
  options.op = operation.op;
  return {Space(), A.template to_device<SolverMatrix<Scalar, Space>>(),
          operation.uplo, operation.diag, options};
}

/// x is finite exactly where substitution's is, and close to it there.
template <class Scalar>
void expect_like_substitution(const TriangularSolver<Scalar, Space>& solver,
                              const HostSystem<Scalar>& system,
                              const std::vector<Scalar>& b) {
  const std::int64_t n = system.A.rows;
  const auto expected = system.solve(b.data());
  for (const int k : {1, 9}) {
    std::vector<Scalar> columns;
    for (int c = 0; c < k; ++c)
      columns.insert(columns.end(), b.begin(), b.end());
    const auto x = solve(solver, columns, k);
    for (std::int64_t i = 0; i < n * k; ++i) {
      const auto& e = expected[i % n];
      ASSERT_EQ(ScalarParts<Scalar>::finite(x[i]),
                ScalarParts<typename ScalarParts<Scalar>::Wide>::finite(e))
          << "row " << i % n << " of " << k << " columns";
      if (ScalarParts<Scalar>::finite(x[i]))
        ASSERT_LE(magnitude(widen(x[i]) - e),
                  1e3 * (1 + magnitude(e)) *
                      std::numeric_limits<
                          typename ScalarParts<Scalar>::Real>::epsilon())
            << "row " << i % n;
    }
  }
}

/// Components that a special number must not leave: 30 chains of 8 rows and 5
/// dense blocks of 12.
template <class Scalar>
void expect_special_numbers_stay_put() {
  using Real = typename ScalarParts<Scalar>::Real;
  const Scalar specials[] = {Scalar(std::numeric_limits<Real>::quiet_NaN()),
                             Scalar(infinity<Real>), Scalar(-infinity<Real>),
                             reserved_nan<Scalar>()};
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern : {chains_pattern(30, 8), block_pattern(5, 12, 1.0)})
    for (const auto& variant : variants())
      for (const auto& special : specials) {
        const auto& operation = all[next++ % all.size()];
        SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " +
                     variant.name);
        auto A =
            make_triangle<Scalar>(pattern, operation.uplo, operation.stored);
        auto b = random_values<Scalar>(A.rows, 5);
        const auto system =
            HostSystem<Scalar>{A, operation.uplo, operation.diag, operation.op};
        auto solver = make(A, operation, variant);
        const auto ordinary = solve(solver, b);
        // In b.
        auto special_b = b;
        for (const int row : {3, 37}) special_b[row] = special;
        expect_like_substitution(solver, system, special_b);
        ASSERT_TRUE(same_bits(solve(solver, b), ordinary))
            << "after a special right-hand side";
        // In the matrix, off the diagonal and on it.
        const auto values = A.values;
        for (const std::int64_t row : {40, 41}) {
          A.values[A.row_map[row]] = special;
          A.values[A.row_map[row + 1] - 1] = special;
        }
        solver.update_values(
            Space(), A.template to_device<SolverMatrix<Scalar, Space>>());
        expect_like_substitution(solver, system, b);
        A.values = values;
        solver.update_values(
            Space(), A.template to_device<SolverMatrix<Scalar, Space>>());
        ASSERT_TRUE(same_bits(solve(solver, b), ordinary))
            << "after a special matrix";
      }
}

TEST(TriangularSolver, DoubleSpecialNumbersStayPut) {
  expect_special_numbers_stay_put<double>();
}
TEST(TriangularSolver, ComplexFloatSpecialNumbersStayPut) {
  expect_special_numbers_stay_put<Kokkos::complex<float>>();
}

/// Every row carries the reserved bits: all are NaN, none is waited for.
template <class Scalar>
void expect_reserved_bits_are_a_value() {
  for (const auto diag : {Diag::non_unit, Diag::unit})
    for (const auto& pattern : {diagonal_pattern(50), chain_pattern(50),
                                random_pattern(300, 3.0, 300, 2)})
      for (const auto& variant : variants()) {
        SCOPED_TRACE(pattern.name + ", " + variant.name);
        const auto A = make_triangle<Scalar>(pattern, Uplo::lower);
        const Operation operation{Uplo::lower, diag, Op::none,
                                  StoredDiagonal::value};
        const auto solver = make(A, operation, variant);
        const auto n = A.rows;
        for (const std::int64_t k : {1, 9}) {
          const auto ordinary = random_values<Scalar>(n * k, 5);
          const auto expected = solve(solver, ordinary, k);
          const std::vector<Scalar> reserved(n * k, reserved_nan<Scalar>());
          for (const auto& x : solve(solver, reserved, k))
            ASSERT_FALSE(ScalarParts<Scalar>::finite(x));
          // What x holds before a solve is no flag either.
          const auto b_view = to_columns<Scalar, Space>(ordinary, n, k);
          const auto x_view = to_columns<Scalar, Space>(reserved, n, k);
          solver.solve(Space(), b_view, x_view);
          ASSERT_TRUE(same_bits(to_vector(x_view), expected));
          // In place.
          solver.solve(Space(), b_view, b_view);
          ASSERT_TRUE(same_bits(to_vector(b_view), expected));
        }
      }
}

TEST(TriangularSolver, DoubleReservedBitsAreAValue) {
  expect_reserved_bits_are_a_value<double>();
}
TEST(TriangularSolver, ComplexFloatReservedBitsAreAValue) {
  expect_reserved_bits_are_a_value<Kokkos::complex<float>>();
}

/// Rows scaled so far that the reciprocal of the diagonal leaves the normal
/// range: the system is divided by its diagonal then, and solved all the same.
TEST(TriangularSolver, DividesByDiagonalsWithoutAReciprocal) {
  for (const double scale : {1e-309, -3e-311, 4e307, -7e307})
    for (const auto& operation : operations()) {
      if (operation.diag == Diag::unit || operation.op != Op::none) continue;
      auto A = make_triangle<double>(random_pattern(200, 3.0, 50, 6),
                                     operation.uplo);
      auto b = random_values<double>(200, 4);
      for (std::int64_t i = 0; i < A.rows; i += 3) {
        for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
          A.values[k] *= scale;
        b[i] *= scale;
      }
      const auto expected =
          HostSystem<double>{A, operation.uplo, Diag::non_unit}.solve(b.data());
      for (const auto& variant : variants()) {
        SCOPED_TRACE(operation.name() + ", " + variant.name);
        const auto x = solve(make(A, operation, variant), b);
        // Subnormal products have few digits: 1e-311 has about twelve.
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(x[i], expected[i], 1e-10) << "row " << i;
      }
    }
}

// l / d is not a number in these rows, but b - l x and its quotient are.
TEST(TriangularSolver, SolvesWhereEntriesOverTheDiagonalAreOutOfRange) {
  struct Case {
    double entry, diagonal, b0, b1, x1;
  };
  for (const Case& c :
       {Case{1e200, 1e-200, 0, 1, 1e200},
        Case{1e200, 1e-200, 1e-300, 1e-150, -1e100},
        Case{1e10, 1e-300, 0, 0, 0}, Case{1e-200, 1e200, 1e300, 0, -1e-100}}) {
    const HostMatrix<double> A(2, 2, {1, 0, c.entry, c.diagonal});
    const HostMatrix<double> ordinary(2, 2, {1, 0, 1, 1});
    const auto operation = operations()[0];
    for (const auto& variant : variants()) {
      SCOPED_TRACE(variant.name);
      const auto x =
          solve(make(A, operation, variant), std::vector<double>{c.b0, c.b1});
      EXPECT_EQ(x[0], c.b0);
      EXPECT_NEAR(x[1], c.x1, 1e-12 * std::abs(c.x1));

      auto solver = make(ordinary, operation, variant);
      const auto extreme = A.to_device<SolverMatrix<double, Space>>();
      if (solver.report().merged_levels > 1) {
        // Some of them.
        try {
          solver.update_values(Space(), extreme);
        } catch (const ScalingError&) {
          const auto before = solve(solver, std::vector<double>{1, 3});
          EXPECT_EQ(before[1], 2);
          continue;
        }
        const auto after = solve(solver, std::vector<double>{c.b0, c.b1});
        EXPECT_NEAR(after[1], c.x1, 1e-12 * std::abs(c.x1));
      } else {
        solver.update_values(Space(), extreme);
        const auto after = solve(solver, std::vector<double>{c.b0, c.b1});
        EXPECT_NEAR(after[1], c.x1, 1e-12 * std::abs(c.x1));
      }
    }
  }
}

TEST(TriangularSolver, ReciprocalsComeBackWithOrdinaryValues) {
  const auto A =
      make_triangle<double>(random_pattern(90, 3.0, 50, 6), Uplo::lower);
  auto tiny = A;
  tiny.values[0] = 4e-320;
  const auto b = random_values<double>(90, 4);
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    auto solver = make(A, operations()[0], variant);
    const auto x = solve(solver, b);
    try {
      solver.update_values(Space(),
                           tiny.to_device<SolverMatrix<double, Space>>());
      EXPECT_FALSE(std::isfinite(solve(solver, b)[0]));
    } catch (const ScalingError&) {
      // Merged rows can't take it.
      EXPECT_GT(solver.report().merged_levels, 1);
      EXPECT_TRUE(same_bits(solve(solver, b), x));
    }
    solver.update_values(Space(), A.to_device<SolverMatrix<double, Space>>());
    EXPECT_TRUE(same_bits(solve(solver, b), x));
  }
}

TEST(TriangularSolver, ZeroRightHandSideGivesZero) {
  for (const auto& variant : variants())
    for (const auto& operation : operations()) {
      SCOPED_TRACE(operation.name() + ", " + variant.name);
      const auto A = make_triangle<double>(power_law_pattern(200),
                                           operation.uplo, operation.stored);
      const auto solver = make(A, operation, variant);
      for (const int k : {1, 9})
        for (const double x : solve(solver, std::vector<double>(200 * k), k))
          ASSERT_EQ(x, 0.0);
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
