// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_DiagonalBlocks.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_TriangleGraph.hpp>
#include <kernels/triangular/blocks/BlockSubstitution.hpp>

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
template <class T>
auto on_host(const T* data, std::int64_t count) {
  return on_host(Kokkos::View<const T*, Memory>(data, count));
}

/// From the definition, every entry looked at.
std::vector<int> plain_blocks(const Graph& graph) {
  std::vector<int> start{0};
  for (int v = 0; v < graph.num_vertices; ++v)
    for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
      if (graph.entries(k) >= start.back()) {
        start.push_back(v);
        break;
      }
  if (graph.num_vertices > 0) start.push_back(graph.num_vertices);
  return start;
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
    EXPECT_EQ(blocks.start, plain_blocks(host)) << name;
    if (HasFailure()) return;
  }
  EXPECT_EQ(find_diagonal_blocks(exec, DependencyGraph<Memory>{}).count(), 0);
}

/// The plan of a graph holds each entry once, where its block's layout says.
void expect_plan(const Graph& host, int lanes, Detail::EllLimits limits) {
  const Space exec;
  const auto graph = mirror_graph(exec, host);
  const int n = host.num_vertices;
  const std::int64_t num_values = 3 * (host.num_edges() + n) + 1;
  Detail::EllAnalysis<Space> analysis(exec, n, host.num_edges(), false, limits,
                                      lanes);
  analysis.enqueue(exec, graph);
  analysis.fetch(exec);
  const auto start = plain_blocks(host);
  ASSERT_EQ(analysis.num_blocks(), static_cast<int>(start.size()) - 1);
  ASSERT_EQ(analysis.found(Detail::EllHead::edges), host.num_edges());
  const std::int64_t slots = analysis.found(Detail::EllHead::num_slots);

  Detail::EllPlan<Memory> plan;
  Kokkos::View<Detail::EllBlock*, Memory> block("block", start.size());
  Kokkos::View<unsigned*, Memory> row("row", n);
  Kokkos::View<int*, Memory> dependency("dependency", slots), count("count", n);
  Kokkos::View<std::int64_t*, Memory> first("first", n);
  plan.block = block.data();
  plan.row = row.data();
  plan.dependency = dependency.data();
  plan.long_first = first.data();
  plan.long_count = count.data();
  plan.value_index = Detail::ValueIndex<Memory>("origin", slots, num_values);
  plan.diagonal_value_index =
      Detail::ValueIndex<Memory>("diagonal", n, num_values);
  // A slot that nobody fills shows.
  Kokkos::deep_copy(dependency, -7);
  Kokkos::deep_copy(plan.value_index.narrow, 12345u);
  analysis.fill(
      exec, plan,
      {graph.diagonal_value_index.data(), false, false, host.reversed});
  exec.fence();

  const auto blocks = on_host(block);
  const auto rows = on_host(row);
  const auto dependencies = on_host(dependency);
  const auto firsts = on_host(first);
  const auto counts = on_host(count);
  Detail::ValueIndex<Kokkos::HostSpace> origin, diagonal;
  origin.narrow = on_host(plan.value_index.narrow);
  diagonal.narrow = on_host(plan.diagonal_value_index.narrow);
  std::vector<char> used(slots, 0);
  const auto expect_entry = [&](std::int64_t slot, std::int64_t k) {
    ASSERT_LT(slot, slots);
    ASSERT_FALSE(used[slot]) << "slot " << slot;
    used[slot] = 1;
    ASSERT_EQ(dependencies(slot), host.entries(k));
    ASSERT_EQ(origin(slot), host.value_index(k));
  };
  std::int64_t apart = 0, in_blocks = 0;
  std::vector<int> wide;
  for (std::size_t b = 0; b + 1 < start.size(); ++b) {
    const auto& k = blocks(b);
    ASSERT_EQ(k.first_row, start[b]);
    ASSERT_EQ(k.rows, start[b + 1] - start[b]);
    const std::int64_t entries =
        host.row_map(start[b + 1]) - host.row_map(start[b]);
    const int per_row = 1 << k.log_lanes();
    ASSERT_LE(per_row, lanes);
    ASSERT_GE(k.stride, k.lanes());
    if (k.stride >= 32 && k.steps() > 0) {
      ASSERT_EQ(k.stride % 8, 0);
      ASSERT_EQ(k.first_slot % 8, 0) << "columns begin on a sector";
    }
    // The bound on padding that the documents state.
    const double few = k.rows > 1024 ? 0 : std::min(32. * k.rows, 16. * 1024);
    ASSERT_LE(double(k.steps()) * k.stride,
              1.83 * std::max(2. * double(entries) + 4. * k.rows, few));
    in_blocks += std::int64_t{k.steps()} * k.stride;
    bool any_apart = false;
    if (k.lanes() > limits.lanes || entries > limits.entries)
      wide.push_back(static_cast<int>(b));
    for (int r = 0; r < k.rows; ++r) {
      const int v = k.first_row + r;
      ASSERT_EQ(static_cast<int>(rows(v)), host.row_of(v));
      ASSERT_EQ(diagonal(v), host.diagonal_value_index(v));
      const auto begin = host.row_map(v), end = host.row_map(v + 1);
      const std::int64_t own = k.first_slot + r * per_row;
      const bool is_apart =
          k.steps() > 0 && dependencies(own) == Detail::ell_long_row;
      for (int e = 0; e < k.steps() * per_row; ++e) {
        const std::int64_t slot =
            own + std::int64_t{e / per_row} * k.stride + e % per_row;
        if (!is_apart && begin + e < end) {
          expect_entry(slot, begin + e);
        } else {
          ASSERT_EQ(dependencies(slot), is_apart && e == 0
                                            ? Detail::ell_long_row
                                            : Detail::ell_padding);
          ASSERT_EQ(origin(slot), -1);
          used[slot] = 1;
        }
      }
      any_apart = any_apart || is_apart;
      if (is_apart) {
        ASSERT_EQ(counts(v), end - begin);
        ASSERT_GT(counts(v),
                  std::min<std::int64_t>(1024, 2 * entries / k.rows));
        apart += counts(v);
        for (auto e = begin; e < end; ++e)
          expect_entry(firsts(v) + e - begin, e);
      } else {
        ASSERT_LE(end - begin, k.steps() * per_row);
      }
    }
    ASSERT_EQ(k.has_long_rows(), any_apart);
  }
  for (std::int64_t slot = 0; slot < slots; ++slot)
    if (!used[slot]) {
      ASSERT_EQ(dependencies(slot), Detail::ell_padding);
      ASSERT_EQ(origin(slot), -1) << "values are taken for every slot";
    }
  EXPECT_LE(slots, in_blocks + apart + 7 * std::int64_t(start.size()));
  ASSERT_EQ(analysis.wide().size(), wide.size());
  for (std::size_t w = 0; w < wide.size(); ++w) {
    const auto& k = analysis.wide()[w];
    EXPECT_EQ(k.block, wide[w]);
    EXPECT_EQ(k.first_row, blocks(wide[w]).first_row);
    EXPECT_EQ(k.rows, blocks(wide[w]).rows);
    EXPECT_EQ(k.lanes, blocks(wide[w]).lanes());
  }
}

TEST(DiagonalBlocks, AreStoredInAlignedColumnsWithBoundedPadding) {
  Detail::EllLimits few;
  few.lanes = 40;
  few.entries = 100;
  for (const auto& [name, graph] : block_graphs()) {
    if (graph.num_vertices == 0) continue;
    for (const int lanes : {1, 32})
      for (const bool reversed : {false, true}) {
        SCOPED_TRACE(name + ", lanes " + std::to_string(lanes));
        expect_plan(TestGraphs::with_value_indices(graph, reversed), lanes,
                    lanes == 1 ? Detail::EllLimits() : few);
        if (testing::Test::HasFatalFailure()) return;
      }
  }
}

TEST(DiagonalBlocks, RunsCoverAllBlocksInTheirOrder) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const int blocks = 1 + static_cast<int>(random() % 40);
    std::vector<Detail::WideBlock> wide;
    int rows = 0;
    std::vector<int> size(blocks);
    for (int b = 0; b < blocks; ++b) {
      const bool is_wide = random() % 3 == 0;
      size[b] = 1 + static_cast<int>(random() % (is_wide ? 5000 : 50));
      if (is_wide) wide.push_back({b, rows, size[b], 2 * size[b]});
      rows += size[b];
    }
    const auto runs = Detail::make_block_runs(wide, blocks, rows, false, 2);
    int next = 0, sum = 0;
    std::size_t w = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto& run = runs[i];
      ASSERT_EQ(run.first_block, next);
      ASSERT_GT(run.last_block, run.first_block);
      int in_run = 0, lanes = 0, found = 0, passed = 0;
      for (int b = run.first_block; b < run.last_block; ++b) {
        in_run += size[b];
        const bool is_wide = w < wide.size() && wide[w].block == b;
        passed = is_wide ? 0 : passed + 1;
        if (run.wide) {
          ASSERT_LE(passed, 2);
        }
        if (is_wide) lanes = std::max(lanes, wide[w++].lanes), ++found;
      }
      ASSERT_EQ(found > 0, run.wide);
      ASSERT_EQ(run.most_lanes, lanes);
      ASSERT_EQ(run.rows, in_run);
      if (i > 0) {
        ASSERT_NE(runs[i - 1].wide, run.wide);
      }
      next = run.last_block;
      sum += in_run;
    }
    ASSERT_EQ(next, blocks);
    ASSERT_EQ(sum, rows);
    ASSERT_EQ(w, wide.size());
    const auto irregular = Detail::make_block_runs(wide, blocks, rows, true);
    ASSERT_EQ(irregular.size(), 1u);
    EXPECT_TRUE(irregular[0].wide);
    EXPECT_EQ(irregular[0].blocks(), blocks);
    EXPECT_EQ(irregular[0].rows, rows);
  }
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
