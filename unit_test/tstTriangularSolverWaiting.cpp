// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows, chunks and sub-graphs that wait for each other, far more of them than
// the device runs at once. A defect would show as a test that never ends: CTest
// ends it, and runs the program once more with more threads than cores.
#include "Pairwise.hpp"
#include "TriangularSolverCases.hpp"
#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Solver = TriangularSolver<double, Space>;

/// Small teams and sub-graphs on top of the usual variants.
std::vector<Variant> crowded_variants() {
  auto all = variants();
  for (const int rows : {1, 2, 65}) {
    TriangularOptions options;
    options.algorithm = Algorithm::subgraphs;
    options.experimental.max_subgraph_rows = rows;
    options.experimental.team_size = rows;
    all.push_back({"sub-graphs of " + std::to_string(rows), options});
  }
  return all;
}

/// Every row waits for the last rows before it as well as for the first ones.
Pattern near_and_far_pattern(int rows) {
  Pattern pattern = empty_pattern("near and far", rows);
  for (int i = 1; i < rows; ++i) {
    std::set<int> columns{i - 1, i / 2, i / 3, 0};
    pattern.rows[i].assign(columns.begin(), columns.end());
  }
  return pattern;
}

/// Every variant on every pattern, and each of them with every number of
/// right-hand sides.
TEST(TriangularSolver, WaitingEndsOnEveryPattern) {
  const struct {
    Pattern pattern;
    Uplo uplo;
  } systems[] = {
      {chain_pattern(400), Uplo::lower},
      {chains_pattern(3, 120), Uplo::upper},
      {wave_pattern({900, 1, 700, 1, 1, 800, 2, 1}), Uplo::lower},
      {wave_pattern(std::vector<int>(120, 4)), Uplo::upper},
      // Level sets that the threads of a host share, one after the other.
      {wave_pattern(std::vector<int>(20, 300)), Uplo::lower},
      {near_and_far_pattern(400), Uplo::lower},
  };
  const auto variants = crowded_variants();
  const std::int64_t numbers[] = {1, 2, 40};
  const Space exec;
  for (const auto& one : pairwise_cases({6, int(variants.size()), 3})) {
    const auto& [pattern, uplo] = systems[one[0]];
    const auto& variant = variants[one[1]];
    const std::int64_t k = numbers[one[2]];
    SCOPED_TRACE(pattern.name + ", " + to_string(uplo) + ", " + variant.name);
    const auto A = make_triangle<double>(pattern, uplo);
    const Solver solver(exec, A.to_device<SolverMatrix<double, Space>>(), uplo,
                        Diag::non_unit, variant.options);
    expect_solver(solver, HostSystem<double>{A, uplo, Diag::non_unit});
    const auto b = random_values<double>(A.rows * k, 1);
    const auto b_view = to_columns<double, Space>(b, A.rows, k);
    const Columns<double, Space> x_view("x", A.rows, k);
    for (int i = 0; i < 5; ++i) solver.solve(exec, b_view, x_view);
    EXPECT_TRUE(same_bits(to_vector(x_view), solve(solver, b, k)));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TriangularSolver, ThousandsOfSolvesHaveTheSameBits) {
  const auto A =
      make_triangle<double>(random_pattern(60, 2.0, 20, 8), Uplo::lower);
  for (const auto& variant : algorithms()) {
    SCOPED_TRACE(variant.name);
    const Solver solver(Space(), A.to_device<SolverMatrix<double, Space>>(),
                        Uplo::lower, Diag::non_unit, variant.options);
    const auto b = random_values<double>(60, 1);
    const auto expected = solve(solver, b);
    const auto b_view = to_columns<double, Space>(b, 60, 1);
    const Columns<double, Space> x_view("x", 60, 1);
    const Space exec;
    for (int i = 0; i < 3000; ++i) solver.solve(exec, b_view, x_view);
    EXPECT_TRUE(same_bits(to_vector(x_view), expected));
  }
}

#if defined(KOKKOS_ENABLE_OPENMP) && KOKKOS_VERSION >= 40000 && \
    KOKKOS_VERSION < 50000
/// A plan for all threads, solved by an instance that has fewer, by one of a
/// caller's own threads, and by both.
TEST(TriangularSolver, SolvesWithFewerThreadsThanPlanned) {
  using OpenMP = Kokkos::OpenMP;
  const OpenMP all;
  if (all.concurrency() < 2) GTEST_SKIP() << "one thread";
  const auto A = make_triangle<double>(wave_pattern(std::vector<int>(20, 300)),
                                       Uplo::lower);
  for (const auto algorithm :
       {Algorithm::level_sets, Algorithm::sync_free, Algorithm::tiles}) {
    SCOPED_TRACE(to_string(algorithm));
    TriangularOptions options;
    options.algorithm = algorithm;
    const TriangularSolver<double, OpenMP> solver(
        all, A.to_device<SolverMatrix<double, OpenMP>>(), Uplo::lower,
        Diag::non_unit, options);
    const auto b = random_values<double>(A.rows, 1);
    const auto b_view = to_columns<double, OpenMP>(b, A.rows, 1);
    const auto solved_by = [&](const OpenMP& exec, bool in_region) {
      const Columns<double, OpenMP> x("x", A.rows, 1);
      if (in_region) {
#pragma omp parallel num_threads(2)
#pragma omp master
        solver.solve(exec, b_view, x);
      } else {
        solver.solve(exec, b_view, x);
      }
      exec.fence();
      return to_vector(x);
    };
    const auto expected = solved_by(all, false);
    EXPECT_TRUE(same_bits(solved_by(all, true), expected));
    const int levels = omp_get_max_active_levels();
    const auto parts = Kokkos::Experimental::partition_space(all, 1, 1);
    EXPECT_TRUE(same_bits(solved_by(parts[0], false), expected));
    omp_set_max_active_levels(2);
    EXPECT_TRUE(same_bits(solved_by(parts[0], true), expected));
    omp_set_max_active_levels(levels);
  }
}
#endif

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
