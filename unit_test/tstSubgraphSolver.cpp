// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a solver by sub-graphs makes of its options.
#include <gtest/gtest.h>

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <cmath>

#include "Scalars.hpp"

namespace {

using namespace Strata;
using Exec = Kokkos::DefaultExecutionSpace;
using Matrix =
    KokkosSparse::CrsMatrix<float, int, Exec::device_type, void, int>;
using Solver = TriangularSolver<float, Exec>;

Matrix lower_triangle(const char* name) {
  return take_triangle(Exec(), gallery<Matrix>(Exec(), name), Uplo::lower);
}

TriangularOptions by_subgraphs(int max_rows) {
  TriangularOptions options;
  options.algorithm = Algorithm::subgraphs;
  options.experimental.max_subgraph_rows = max_rows;
  return options;
}

TEST(SubgraphSolver, GivesAllScratchOfTheChipIfItIsAskedFor) {
  constexpr bool on_host = !on_gpu<Exec>;
  const Exec exec;
  // More rows than any device has scratch for, in more than one sub-graph.
  const auto A = lower_triangle("grid2d:300");
  const Solver usual(exec, A, Uplo::lower, Diag::non_unit, by_subgraphs(0));
  const Solver all(exec, A, Uplo::lower, Diag::non_unit, by_subgraphs(1 << 30));
  EXPECT_GE(all.report().max_subgraph_rows, usual.report().max_subgraph_rows);
  EXPECT_LE(all.report().subgraphs, usual.report().subgraphs);
  if (on_host) {
    EXPECT_EQ(all.report().max_subgraph_rows, usual.report().max_subgraph_rows);
  }
  using Vector = Kokkos::View<float*, Exec>;
  const Vector b("b", A.numRows()), x("x", A.numRows()), y("y", A.numRows());
  Kokkos::deep_copy(b, 1.f);
  usual.solve(exec, b, x);
  all.solve(exec, b, y);
  const auto host_x =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  const auto host_y =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int i = 0; i < A.numRows(); ++i)
    ASSERT_NEAR(host_x(i), host_y(i), 1e-5 * std::abs(host_x(i))) << i;
}

TEST(SubgraphSolver, ReportsItsPartition) {
  const auto report_of = [](const char* name) {
    return Solver(Exec(), lower_triangle(name), Uplo::lower, Diag::non_unit,
                  by_subgraphs(700))
        .report();
  };
  const auto grid = report_of("grid2d:50");
  EXPECT_EQ(grid.subgraphs, 4);
  EXPECT_EQ(grid.subgraph_levels, 4);
  EXPECT_GT(grid.external_share, 0);
  EXPECT_EQ(grid.max_subgraph_rows, 700);
  EXPECT_NE(to_string(grid).find("partition: " + grid.partition + "\n"),
            std::string::npos)
      << to_string(grid);
  const auto blocks = report_of("block_diagonal:8x300:0.05");
  EXPECT_EQ(blocks.subgraphs, 4);
  EXPECT_EQ(blocks.subgraph_levels, 1);
  EXPECT_EQ(blocks.external_share, 0);
  EXPECT_EQ(blocks.external_slots, 0);
  EXPECT_EQ(blocks.partition, "whole components");
}

}  // namespace
