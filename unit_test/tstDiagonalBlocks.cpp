// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_DiagonalBlocks.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/blocks/DiagonalBlockOrder.hpp>

#include "HostMatrix.hpp"
#include "TestGraphs.hpp"

namespace Strata {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Graph = TestGraphs::Graph;
using Crs = KokkosSparse::CrsMatrix<double, int, Space, void, int>;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}
/// Blocks of many sizes, in and across the tiles of the search.
std::vector<std::pair<std::string, Graph>> block_graphs() {
  auto graphs = TestGraphs::all_graphs();
  for (const int n : {1, 31, 32, 33, 255, 256, 257, 8191, 8192, 8193, 20000})
    for (const double degree : {0.0, 0.02, 3.0})
      graphs.emplace_back(
          "random " + std::to_string(n) + " " + std::to_string(degree),
          TestGraphs::random_graph(n, degree, std::max(1, n / 3), 5));
  // A long row among short ones, in a block that is wide.
  std::vector<std::set<int>> dependencies(9000);
  for (int v = 3000; v < 9000; ++v)
    dependencies[v] = {(v * 7) % 3000, v < 6000 ? 1 : v - 3000};
  for (int j = 0; j < 3000; ++j) dependencies[4100].insert(j);
  graphs.emplace_back("long row", TestGraphs::make_graph(dependencies));
  return graphs;
}

TEST(DiagonalBlocks, AreTheLongestRunsWithoutEntries) {
  const Space exec;
  for (const auto& [name, host] : block_graphs()) {
    const auto blocks = find_diagonal_blocks(exec, mirror_graph(exec, host));
    EXPECT_EQ(blocks.start, TestGraphs::plain_blocks(host)) << name;
    if (HasFailure()) return;
  }
  EXPECT_EQ(find_diagonal_blocks(exec, DependencyGraph<Memory>{}).count(), 0);
}

void expect_order(const Graph& host, WithinLevel within) {
  const Space exec;
  const auto graph = mirror_graph(exec, host);
  Detail::WorkPool<Space> pool(exec, 0);
  const auto order =
      Detail::order_by_diagonal_blocks(exec, graph, within, pool);
  const auto start = TestGraphs::plain_blocks(host);
  const auto vertex = on_host(order.vertex);
  const auto permuted_row = on_host(order.permuted_row);
  const auto block_of = on_host(order.level_of);
  const auto length = on_host(order.length);
  const auto map = on_host(order.level_map);
  ASSERT_EQ(order.num_levels(), static_cast<int>(start.size()) - 1);
  ASSERT_EQ(order.num_vertices(), host.num_vertices);
  for (int b = 0; b < order.num_levels(); ++b) {
    ASSERT_EQ(map(b), start[b]);
    ASSERT_EQ(order.sizes.level_map[b], start[b]);
    std::int64_t longest = 0;
    for (int p = start[b]; p < start[b + 1]; ++p) {
      const int v = vertex(p);
      ASSERT_GE(v, start[b]);
      ASSERT_LT(v, start[b + 1]);
      ASSERT_EQ(permuted_row(v), p);
      ASSERT_EQ(block_of(v), b);
      ASSERT_EQ(length(p), host.row_map(v + 1) - host.row_map(v));
      longest = std::max<std::int64_t>(longest, length(p));
      if (p == start[b]) continue;
      if (within == WithinLevel::longest_rows_first) {
        ASSERT_LE(length(p), length(p - 1));
      }
      if (within == WithinLevel::ascending || length(p) == length(p - 1)) {
        ASSERT_GT(v, vertex(p - 1));
      }
    }
    ASSERT_EQ(order.sizes.longest_row[b], longest);
  }
  ASSERT_EQ(map(order.num_levels()), host.num_vertices);
}

TEST(DiagonalBlocks, OrderVerticesAsLevelSetsDo) {
  for (const auto& [name, graph] : block_graphs()) {
    if (graph.num_vertices == 0) continue;
    for (const auto within :
         {WithinLevel::ascending, WithinLevel::longest_rows_first}) {
      SCOPED_TRACE(name + ", order " + std::to_string(int(within)));
      expect_order(graph, within);
      if (HasFailure()) return;
    }
  }
  const Space exec;
  Detail::WorkPool<Space> pool(exec, 0);
  const auto none = Detail::order_by_diagonal_blocks(
      exec, DependencyGraph<Memory>{}, WithinLevel::longest_rows_first, pool);
  EXPECT_EQ(none.num_levels(), 0);
  EXPECT_EQ(none.num_vertices(), 0);
}

int blocks_of(const Crs& A, Uplo uplo) {
  TriangleInput input;
  input.uplo = uplo;
  input.take_triangle = true;
  return find_diagonal_blocks(
             Space(), triangle_graph(Space(), A.graph.row_map, A.graph.entries,
                                     A.values, A.numCols(), input))
      .count();
}

TEST(LevelPermutation, MakesEachLevelSetADiagonalBlock) {
  const Space exec;
  for (const auto* spec :
       {"grid2d:25", "grid3d:7", "triangulated:20x13", "lattice:30",
        "circuit:900", "diagonal:50", "chain:40", "random:500x2"}) {
    SCOPED_TRACE(spec);
    const auto A = gallery<Crs>(exec, spec);
    const HostMatrix<double> a(A);
    for (const auto pattern :
         {LevelPattern::lower, LevelPattern::upper, LevelPattern::symmetric}) {
      const auto permutation = level_permutation(exec, A, pattern);
      const auto old_row = on_host(permutation.old_row);
      const auto new_row = on_host(permutation.new_row);
      ASSERT_EQ(permutation.size(), A.numRows());
      for (int i = 0; i < permutation.size(); ++i) {
        ASSERT_GE(old_row(i), 0);
        ASSERT_LT(old_row(i), permutation.size());
        ASSERT_EQ(new_row(old_row(i)), i);
      }
      const auto B = permute_symmetric(exec, A, permutation);
      const HostMatrix<double> b(B);
      ASSERT_EQ(b.entries.size(), a.entries.size());
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_map[i]; k < a.row_map[i + 1]; ++k) {
          const double* value =
              b.find(new_row(i), new_row(static_cast<int>(a.entries[k])));
          ASSERT_TRUE(value) << i << ", " << a.entries[k];
          ASSERT_EQ(*value, a.values[k]);
        }
      // Neighbouring level sets may happen to make one block.
      if (pattern != LevelPattern::upper) {
        EXPECT_LE(blocks_of(B, Uplo::lower), permutation.num_levels);
      }
      if (pattern != LevelPattern::lower) {
        EXPECT_LE(blocks_of(B, Uplo::upper), permutation.num_levels);
      }
      if (pattern == LevelPattern::lower) {
        EXPECT_EQ(blocks_of(B, Uplo::lower), permutation.num_levels);
      }
      // The inverse permutation gives A back.
      const HostMatrix<double> back(permute_symmetric(
          exec, B,
          Permutation<Memory>{permutation.new_row, permutation.old_row, 0}));
      EXPECT_EQ(back.row_map, a.row_map);
      EXPECT_EQ(back.entries, a.entries);
      EXPECT_EQ(back.values, a.values);
      if (HasFailure()) return;
    }
    if (std::string(spec) == "circuit:900") continue;
    const auto permutation = level_permutation(exec, A);
    const auto factors =
        incomplete_lu(exec, permute_symmetric(exec, A, permutation));
    EXPECT_LE(blocks_of(factors.L, Uplo::lower), permutation.num_levels);
    EXPECT_LE(blocks_of(factors.U, Uplo::upper), permutation.num_levels);
  }
}

TEST(LevelPermutation, TakesEmptyAndRefusesUnfit) {
  const Space exec;
  EXPECT_EQ(
      level_permutation(exec, HostMatrix<double>().to_device<Crs>()).size(), 0);
  const auto one = HostMatrix<double>(1, 1, {2.}).to_device<Crs>();
  const auto permutation = level_permutation(exec, one);
  EXPECT_EQ(permutation.num_levels, 1);
  const auto wide = HostMatrix<double>(1, 2, {1., 2.}).to_device<Crs>();
  EXPECT_THROW(level_permutation(exec, wide), NotSquareError);
  EXPECT_THROW(permute_symmetric(exec, wide, permutation), NotSquareError);
  const auto two = HostMatrix<double>(2, 2, {1., 0., 0., 1.}).to_device<Crs>();
  EXPECT_THROW(permute_symmetric(exec, two, permutation), SizeMismatchError);
}

}  // namespace
}  // namespace Strata
