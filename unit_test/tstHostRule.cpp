// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `automatic` chooses on a host, which depends on sizes and the number of
// threads alone: nothing is timed.
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_Triangle.hpp>
#include <cmath>
#include <kernels/triangular/selection/HostRule.hpp>
#include <string>

#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Detail::HostRule;
using Exec = Kokkos::DefaultHostExecutionSpace;
using Matrix = SolverMatrix<double, Exec>;

bool shares(double rows, double entries, int levels, std::int64_t columns,
            int threads) {
  return HostRule::why_not_level_sets(rows, entries, levels, columns, threads)
      .empty();
}

/// Lower triangles of grids in three dimensions with `side` points on a side.
bool shares_grid(int side, std::int64_t columns, int threads) {
  const double rows = double(side) * side * side;
  return shares(rows, 3 * rows, 3 * side - 2, columns, threads);
}

TEST(HostRule, SharesLargeWideSystemsAmongManyThreads) {
  for (const int threads : {1, 2, 4, 7, 8, 16, 64}) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(shares_grid(160, 1, threads), threads >= 8);
    EXPECT_EQ(shares_grid(200, 1, threads), threads >= 8);
    // Short, long but narrow, long rows of narrow level sets, and without rows.
    EXPECT_FALSE(shares_grid(40, 1, threads));
    EXPECT_FALSE(shares(1e7, 1e7, 10000000, 1, threads));
    EXPECT_FALSE(shares(1e6, 5e6, 20000, 1, threads));
    EXPECT_FALSE(shares(216000, 2.7e6, 414, 1, threads));
    EXPECT_FALSE(shares(0, 0, 0, 1, threads));
  }
}

/// Larger, wider and fewer right-hand sides: what is shared stays shared.
TEST(HostRule, HasOneBorder) {
  for (const int threads : {8, 12, 16, 48})
    for (double rows = 1e4; rows < 1e8; rows *= 1.7)
      for (int levels = 1; levels < rows; levels *= 7)
        for (const std::int64_t columns : {1, 2, 5, 12, 48, 1000}) {
          if (!shares(rows, 4 * rows, levels, columns, threads)) continue;
          EXPECT_TRUE(shares(2 * rows, 8 * rows, levels, columns, threads));
          EXPECT_TRUE(shares(rows, 5 * rows, levels, columns, threads));
          EXPECT_TRUE(
              shares(rows, 4 * rows, (levels + 1) / 2, columns, threads));
          EXPECT_TRUE(
              shares(rows, 4 * rows, levels, (columns + 1) / 2, threads));
          EXPECT_LE(4 * columns, threads);
        }
}

TEST(HostRule, SharesRightHandSidesOfLongSolves) {
  EXPECT_FALSE(HostRule::shares_columns(1, 16, 1e8, 1e9));
  EXPECT_FALSE(HostRule::shares_columns(100, 1, 1e8, 1e9));
  EXPECT_FALSE(HostRule::shares_columns(8, 16, 2700, 8000));
  EXPECT_TRUE(HostRule::shares_columns(1000, 16, 2700, 8000));
  EXPECT_FALSE(HostRule::shares_columns(8, 2, 64000, 190000));
  EXPECT_TRUE(HostRule::shares_columns(40, 2, 64000, 190000));
}

class HostChoice : public testing::Test {
 public:
  static Matrix triangle(const std::string& name, Uplo uplo) {
    const Exec exec;
    return take_triangle(exec, gallery<Matrix>(exec, name), uplo);
  }
  static TriangularReport report(const Matrix& A, Uplo uplo,
                                 const TriangularOptions& options) {
    return TriangularSolver<double, Exec>(Exec(), A, uplo, Diag::non_unit,
                                          options)
        .report();
  }
};

TEST_F(HostChoice, IsTheRules) {
  const int threads = Detail::host_threads(Exec());
  for (const char* name :
       {"grid3d:40", "grid3d:12", "grid2d:60", "chain:3000", "diagonal:5000",
        "random:30000x3", "circuit:20000", "arrow:900", "triangulated:129x65",
        "block_diagonal:8x600:0.01"})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
      for (const int columns : {1, 2, 40})
        for (const Op op : {Op::none, Op::transpose}) {
          SCOPED_TRACE(std::string(name) + ", " + std::to_string(columns));
          TriangularOptions options;
          options.max_right_hand_sides = columns;
          options.op = op;
          const Matrix A = triangle(name, uplo);
          const auto found = report(A, uplo, options);
          // None of these takes one thread more than 4 ms.
          EXPECT_EQ(found.algorithm, Algorithm::substitution);
          ASSERT_EQ(found.candidates.size(), 1u);
          const std::string why = HostRule::why_not_level_sets(
              double(A.numRows()), double(A.nnz() - A.numRows()), found.levels,
              columns, threads);
          ASSERT_FALSE(why.empty());
          EXPECT_EQ(found.reason, "level_sets is left out: " + why);
        }
}

/// CTest runs this with eight threads, too, which share the level sets. Answers
/// are those of substitution.
TEST_F(HostChoice, TakesWideLevelSetsForManyThreads) {
  const int threads = Detail::host_threads(Exec());
  const Matrix A = triangle("random:700000x2", Uplo::lower);
  for (const int columns : {1, 2, 9}) {
    TriangularOptions options;
    options.max_right_hand_sides = columns;
    const TriangularSolver<double, Exec> solver(Exec(), A, Uplo::lower,
                                                Diag::non_unit, options);
    const bool shared =
        threads >= HostRule::least_threads && 4 * columns <= threads;
    EXPECT_EQ(solver.report().algorithm,
              shared ? Algorithm::level_sets : Algorithm::substitution)
        << to_string(solver.report());
    options.algorithm = Algorithm::substitution;
    const TriangularSolver<double, Exec> serial(Exec(), A, Uplo::lower,
                                                Diag::non_unit, options);
    const std::vector<double> b(std::size_t(A.numRows()) * columns, 1);
    const auto x = solve(solver, b, columns), y = solve(serial, b, columns);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], y[i], 1e-12 * std::abs(y[i])) << i;
  }
}

/// Systems with level sets that all threads share, between narrow ones.
TEST_F(HostChoice, LevelSetsByNameAreRight) {
  for (const char* name : {"grid3d:40", "random:30000x3", "diagonal:5000"})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      const Matrix A = triangle(name, uplo);
      const auto n = std::size_t(A.numRows());
      TriangularOptions options;
      options.algorithm = Algorithm::level_sets;
      const TriangularSolver<double, Exec> shared(Exec(), A, uplo,
                                                  Diag::non_unit, options);
      options.algorithm = Algorithm::substitution;
      const TriangularSolver<double, Exec> serial(Exec(), A, uplo,
                                                  Diag::non_unit, options);
      for (const int columns : {1, 3, 8, 17}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(columns));
        std::vector<double> b(n * columns);
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + double(i % 7);
        const auto x = solve(shared, b, columns), y = solve(serial, b, columns);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(x[i], y[i], 1e-12 * (1 + std::abs(y[i]))) << i;
        EXPECT_EQ(x, solve(shared, b, columns));
      }
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
