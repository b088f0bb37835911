// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solvers by sync_free whose level sets are merged all over the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <analysis/merging/MergedLevels.hpp>
#include <analysis/packing/MakeRowChunks.hpp>
#include <core/device/NotReady.hpp>
#include <core/scalar/Modulus.hpp>
#include <cstdint>
#include <kernels/triangular/merging/MergedGrowth.hpp>
#include <kernels/triangular/sync_free/SyncFreeAlgorithm.hpp>
#include <limits>
#include <set>
#include <string>

#include "Pairwise.hpp"
#include "TestGraphs.hpp"
#include "TriangularPatterns.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using TestGraphs::num_values;

TriangularOptions together(int levels) {
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = levels;
  return options;
}

/// New values are those of a new solver, and solve as substitution does. As
/// many level sets as are asked for are merged.
template <class Scalar>
void expect_new_values(const Pattern& pattern, int levels, bool upper, Op op) {
  auto options = together(levels);
  options.op = op;
  const auto uplo = upper ? Uplo::upper : Uplo::lower;
  using Matrix = SolverMatrix<Scalar, Space>;
  const auto make = [&](const HostMatrix<Scalar>& A, TriangularOptions chosen) {
    return TriangularSolver<Scalar, Space>(
        Space(), A.template to_device<Matrix>(), uplo, Diag::non_unit, chosen);
  };
  const auto A = make_triangle<Scalar>(pattern, uplo);
  auto other = A;
  const auto factor = random_values<Scalar>(other.values.size(), 77);
  for (std::size_t k = 0; k < factor.size(); ++k)
    other.values[k] *= Scalar(1) + Scalar(0.25) * factor[k];
  auto solver = make(A, options);
  ASSERT_EQ(solver.report().merged_levels, levels)
      << to_string(solver.report());
  solver.update_values(Space(), other.template to_device<Matrix>());
  const auto b = random_values<Scalar>(A.rows, 6);
  const auto x = solve(solver, b);
  EXPECT_TRUE(same_bits(x, solve(make(other, options), b)));
  options.algorithm = Algorithm::substitution;
  const auto expected = solve(make(other, options), b);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error = std::max(error, double(Detail::modulus(x[i] - expected[i])));
    size = std::max(size, double(Detail::modulus(expected[i])));
  }
  constexpr bool is_double = std::is_same<Scalar, double>::value;
  EXPECT_LE(error, (is_double ? 1e-11 : 1e-3) * size);
}

/// However many keys there are: arrays do not overlap, and what is cleared is
/// what was found, and growth if that is asked for.
TEST(GrowthWorkspace, HasRoomForAll) {
  using Memory = Kokkos::HostSpace;
  using Workspace = Detail::GrowthWorkspace<Memory>;
  const Kokkos::DefaultHostExecutionSpace exec;
  for (std::int64_t keys = 1; keys < 6; ++keys) {
    Workspace workspace(keys);
    EXPECT_EQ(workspace.own_bytes(), 0u);
    workspace.reserve();
    std::int64_t* const found = workspace.found();
    float *const growth = workspace.growth(), *const spread =
                                                  workspace.spread();
    EXPECT_EQ(static_cast<void*>(growth), found + Workspace::found_size);
    EXPECT_EQ(spread, growth + keys);
    EXPECT_EQ(reinterpret_cast<const char*>(found) + workspace.own_bytes(),
              reinterpret_cast<const char*>(spread + keys));
    std::fill(growth, spread + keys, 1.f);
    found[0] = found[2] = 7;
    workspace.clear(exec, false);
    EXPECT_EQ(found[0] | found[1] | found[2], 0);
    EXPECT_EQ(growth[0], 1.f);
    workspace.clear(exec, true);
    EXPECT_EQ(growth[0], 0.f);
    EXPECT_EQ(growth[keys - 1], 0.f);
    EXPECT_EQ(spread[0], 1.f);
    workspace.reserve();
    EXPECT_EQ(workspace.found(), found);
  }
}

TEST(MergedLevelSolver, TakesNewValuesLikeANewSolver) {
  // Short rows, long ones that lanes share, and one that nearly all share.
  const Pattern patterns[] = {
      random_pattern(700, 2.5, 40, 3), random_pattern(400, 9., 25, 4),
      random_pattern(300, 40., 250, 5), chain_pattern(200)};
  const int numbers[] = {2, 3, 4, 8};
  for (const auto& one : pairwise_cases({4, 4, 2, 2, 2})) {
    const auto& pattern = patterns[one[0]];
    const int levels = numbers[one[1]];
    const bool upper = one[2] == 1;
    const Op op = one[3] ? Op::conjugate_transpose : Op::none;
    SCOPED_TRACE(pattern.name + ", " + std::to_string(levels));
    if (one[4])
      expect_new_values<Kokkos::complex<float>>(pattern, levels, upper, op);
    else
      expect_new_values<double>(pattern, levels, upper, op);
  }
}

/// The chunks of a plan of merged level sets: how many have dependencies and
/// coefficients stored as distances, and how many as they are.
struct ChunkCounts {
  int near = 0, far = 0;
};
ChunkCounts count_chunks(const Pattern& pattern, int levels, bool upper) {
  std::vector<std::set<int>> dependencies;
  for (const auto& row : pattern.rows)
    dependencies.emplace_back(row.begin(), row.end());
  const auto host =
      TestGraphs::in_order(TestGraphs::make_graph(dependencies), upper, false);
  const Space exec;
  using Memory = Space::memory_space;
  constexpr int width = Detail::lane_width<Space>;
  constexpr int max_steps = Detail::SyncFreeAlgorithm<double, Space>::max_steps;
  const auto within =
      width > 1 ? WithinLevel::longest_rows_first : WithinLevel::ascending;
  const auto graph = mirror_graph(exec, host);
  const auto order = order_by_level(exec, graph, within);
  Detail::WorkPool<Space> pool(exec, 0);
  const auto made = merge_levels(exec, graph, order, levels, num_values(host),
                                 max_steps, within, pool);
  EXPECT_EQ(made.levels, levels);
  if (!made.exist()) return {};
  const auto plan = Detail::make_row_chunks(
      exec, made.graph, made.order, num_values(host), width, max_steps,
      DependencyNumbering::permuted_row, pool, [](auto&, auto&) {},
      RowCoefficients<Memory>{made.coefficient_map, made.coefficient,
                              made.recipe_bytes});
  exec.fence();
  const auto chunk =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), plan.chunk);
  ChunkCounts counts;
  for (int c = 0; c < plan.num_chunks(); ++c)
    ++(chunk(c).dependencies == RowChunk::whole ? counts.far : counts.near);
  return counts;
}

/// Dependencies and coefficients of many chunks are stored as distances, those
/// of others are too far away.
TEST(MergedLevelSolver, TakesNewValuesOfManyRowsThatReachNearAndFar) {
  const auto pattern = random_pattern(150000, 2., 120000, 11);
  const auto near = random_pattern(150000, 2., 30, 12);
  for (const bool upper : {false, true}) {
    for (const auto& counts :
         {count_chunks(pattern, 2, upper), count_chunks(near, 3, upper)}) {
      EXPECT_GT(counts.far, 100);
      EXPECT_GT(counts.near, 100);
    }
    expect_new_values<double>(pattern, 2, upper, Op::none);
    expect_new_values<double>(near, 3, upper, Op::transpose);
  }
}

/// Rows of so many entries that a warp has one are found where there are few of
/// a depth, and written where there are many: a lane's own lists are shorter
/// than theirs.
TEST(MergedLevelSolver, TakesNewValuesOfManyRowsWithLongOnesAmongThem) {
  auto pattern = random_pattern(150000, 1.5, 200, 13);
  for (int i = 1000; i < pattern.size(); i += 293) {
    pattern.rows[i].clear();
    for (int j = 0; j < 50; ++j) pattern.rows[i].push_back(i - 900 + 17 * j);
  }
  for (const int levels : {2, 3, 6})
    expect_new_values<double>(pattern, levels, levels == 3, Op::none);
}

HostMatrix<double> without_diagonal(const HostMatrix<double>& A) {
  HostMatrix<double> strict;
  strict.rows = A.rows;
  strict.columns = A.columns;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] != i) {
        strict.entries.push_back(A.entries[k]);
        strict.values.push_back(A.values[k]);
      }
    strict.row_map.push_back(static_cast<std::int64_t>(strict.entries.size()));
  }
  return strict;
}

/// A unit diagonal that is not stored, one that is, and values that are not all
/// of the triangle.
TEST(MergedLevelSolver, TakesNewValuesWhereverTheDiagonalIs) {
  const auto pattern = random_pattern(600, 4., 30, 8);
  for (const bool upper : {false, true})
    for (const bool stored : {false, true}) {
      const auto uplo = upper ? Uplo::upper : Uplo::lower;
      auto A = make_triangle<double>(pattern, uplo);
      for (auto& value : A.values) value *= 0.1;
      if (!stored) A = without_diagonal(A);
      auto options = together(4);
      using Matrix = SolverMatrix<double, Space>;
      const auto make = [&] {
        return TriangularSolver<double, Space>(
            Space(), A.template to_device<Matrix>(), uplo, Diag::unit, options);
      };
      auto solver = make();
      ASSERT_EQ(solver.report().merged_levels, 4);
      for (auto& value : A.values) value *= 1.5;
      solver.update_values(Space(), A.template to_device<Matrix>());
      const auto b = random_values<double>(A.rows, 6);
      const auto x = solve(solver, b);
      EXPECT_TRUE(same_bits(x, solve(make(), b)));
      options.algorithm = Algorithm::substitution;
      options.merged_levels = 0;
      const auto expected = solve(make(), b);
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(x[i], expected[i], 1e-11 * (1 + std::abs(expected[i])));
    }
}

/// Rows read elements of b that belong to other rows.
TEST(MergedLevelSolver, MayOverwriteTheRightHandSide) {
  for (const int levels : {0, 2, 8}) {
    const auto A =
        make_triangle<double>(random_pattern(900, 2.5, 40, 3), Uplo::lower);
    const auto solver = make_solver(A, together(levels));
    const auto b = random_values<double>(3 * 900, 5);
    const auto x = solve(solver, b, 3);
    for (int turn = 0; turn < 3; ++turn) {
      const auto both = to_columns<double, Space>(b, 900, 3);
      solver.solve(Space(), both, both);
      EXPECT_TRUE(same_bits(to_vector(both), x));
    }
  }
}

TEST(MergedLevelSolver, LeavesBlocksThatWouldCostDigitsAlone) {
  const auto A = chain(200, 1e5);
  const auto solver = make_solver(A, together(8));
  EXPECT_GT(solver.report().unmerged_rows, 70) << to_string(solver.report());
  EXPECT_EQ(solver.report().algorithm, Algorithm::sync_free);
  // A product that vanishes is nothing beside the other terms.
  const auto small = make_solver(chain(200, 1e-200), together(8));
  EXPECT_EQ(small.report().reason.find("range of normal"), std::string::npos)
      << small.report().reason;
}

/// An entry over the diagonal of the row it needs leaves the range of numbers.
TEST(MergedLevelSolver, LeavesNumbersOutOfRangeAlone) {
  auto A = make_triangle<double>(chain_pattern(3), Uplo::lower);
  A.values = {1e-200, 1e200, 1e250, 1, 1};
  const auto solver = make_solver(A, together(2));
  EXPECT_NE(solver.report().reason.find("none are merged"), std::string::npos)
      << solver.report().reason;
  const auto x = solve(solver, std::vector<double>{1e-250, 0, 0});
  EXPECT_DOUBLE_EQ(x[0], 1e-50);
  EXPECT_DOUBLE_EQ(x[1], -1e-100);
  EXPECT_DOUBLE_EQ(x[2], 1e-100);
}

TEST(MergedLevelSolver, RefusesNewValuesThatWouldCostDigits) {
  const auto good = chain(100, -1), bad = chain(100, -1e5);
  auto solver = make_solver(good, together(8));
  const std::vector<double> b(100, 1);
  const auto x = solve(solver, b);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(x[i], i + 1.);
  EXPECT_THROW(solver.update_values(
                   Space(), bad.to_device<SolverMatrix<double, Space>>()),
               ScalingError);
  EXPECT_TRUE(same_bits(solve(solver, b), x)) << "it has its old values";
  const auto other = chain(100, -0.5, 2);
  solver.update_values(Space(), other.to_device<SolverMatrix<double, Space>>());
  EXPECT_TRUE(
      same_bits(solve(solver, b), solve(make_solver(other, together(8)), b)))
      << "as a new solver";
  auto plain = make_solver(good, together(1));
  plain.update_values(Space(), bad.to_device<SolverMatrix<double, Space>>());
}

/// A number that is none reaches what depends on it, and nothing else; one
/// whose bits are those of values still to come is a NaN like any other.
TEST(MergedLevelSolver, HandsNaNAndInfOn) {
  double not_ready;
  const auto bits = Detail::NotReadyBits<double>::not_ready;
  std::memcpy(&not_ready, &bits, sizeof(not_ready));
  for (const double special :
       {std::nan(""), std::numeric_limits<double>::infinity(), not_ready})
    for (const bool in_matrix : {false, true}) {
      auto A = chain(60, -0.5);
      std::vector<double> b(60, 1);
      (in_matrix ? A.values[A.row_map[31]] : b[31]) = special;
      const auto x = solve(make_solver(A, together(4)), b);
      for (int i = 0; i < 60; ++i)
        EXPECT_EQ(std::isfinite(x[i]), i < 31) << "row " << i;
    }
}

/// No group has more level sets than there are, however many are asked for.
TEST(MergedLevelSolver, MergesNoMoreLevelSetsThanThereAre) {
  const int n = 60, most = std::numeric_limits<int>::max();
  const auto A = chain(n, -0.5);
  const auto b = random_values<double>(n, 4);
  auto options = together(n);
  const auto all = make_solver(A, options);
  EXPECT_EQ(all.report().algorithm, Algorithm::sync_free);
  EXPECT_EQ(all.report().merged_levels, n);
  options.merged_levels = most;
  const auto more = make_solver(A, options);
  EXPECT_EQ(more.report().algorithm, Algorithm::sync_free);
  EXPECT_EQ(more.report().merged_levels, n);
  EXPECT_TRUE(same_bits(solve(more, b), solve(all, b)));
  // One level set leaves nothing to take together.
  const auto diagonal =
      make_triangle<double>(diagonal_pattern(50), Uplo::lower);
  EXPECT_EQ(make_solver(diagonal, together(most)).report().merged_levels, 1);
}

/// Ill-conditioned systems are solved as well as by substitution: backward.
TEST(MergedLevelSolver, KeepsTheResidualSmall) {
  for (const int levels : {2, 3, 6, 12}) {
    const auto A =
        make_triangle<double>(random_pattern(2000, 3.0, 60, 17), Uplo::lower);
    const auto b = random_values<double>(2000, 8);
    const auto x = solve(make_solver(A, together(levels)), b);
    for (std::int64_t i = 0; i < A.rows; ++i) {
      double rest = b[i], size = std::abs(b[i]);
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        rest -= A.values[k] * x[A.entries[k]];
        size += std::abs(A.values[k] * x[A.entries[k]]);
      }
      EXPECT_LE(std::abs(rest), 1e-12 * size) << "row " << i;
    }
  }
}

TEST(MergedLevelSolver, TakesTheMemoryItNeedsOrNone) {
  const auto A = chain(400, -0.5);
  auto options = together(8);
  const auto free = make_solver(A, options);
  options.max_plan_bytes = free.report().plan_bytes;
  EXPECT_EQ(make_solver(A, options).report().plan_bytes,
            free.report().plan_bytes);
  --options.max_plan_bytes;
  EXPECT_THROW(make_solver(A, options), PlanMemoryError);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
