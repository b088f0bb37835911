// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that a host's threads share. A thread that waited for what never comes
// would show as a test that never ends: CTest ends it, and runs the program
// once more with more threads than cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/level_sets/LevelTiles.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "RandomSeed.hpp"
#include "TestGraphs.hpp"

namespace Strata {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Memory = Host::memory_space;
using Detail::TileCosts;
using Detail::TileGraph;
using Detail::TilePlan;
using Detail::TilePlanner;
using TestGraphs::Graph;

/// Rows take so long that every level set may be a band of its own.
TileCosts slow_rows() {
  TileCosts costs;
  costs.row = 1000;
  costs.launch = 1;
  return costs;
}

std::vector<std::pair<std::string, Graph>> graphs() {
  std::vector<std::pair<std::string, Graph>> all;
  for (auto& [name, graph] : TestGraphs::all_graphs())
    if (graph.num_vertices > 0) all.emplace_back(name, graph);
  const unsigned seed = random_seed();
  all.emplace_back("large grid", TestGraphs::grid_graph(40, 40, 12));
  all.emplace_back("long row", TestGraphs::arrow_graph(3000));
  all.emplace_back("long chains",
                   TestGraphs::interleaved_chains(7, 300, false));
  all.emplace_back("any", TestGraphs::random_graph(4000, 3., 4000, seed));
  all.emplace_back("near", TestGraphs::random_graph(6000, 3., 60, seed + 1));
  return all;
}

LevelOrder<Memory> level_order(const Graph& graph) {
  return order_by_level(Host(), graph, WithinLevel::ascending);
}

/// In the order in which tiles begin, what a row needs comes before it. Each
/// row is in one task of one thread, and the permuted rows are those of the
/// threads, one after the other.
void expect_order(const Graph& graph, const TilePlan& plan,
                  const Detail::TileOrder<Memory>& tiles) {
  const int n = graph.num_vertices;
  std::vector<Detail::LevelTask> all;
  int next = 0;
  for (const auto& of_thread : tiles.tasks)
    for (const auto& task : of_thread) {
      ASSERT_EQ(task.first_permuted_row, next);
      ASSERT_GT(task.last_permuted_row, next);
      next = task.last_permuted_row;
      all.push_back(task);
    }
  ASSERT_EQ(next, n);
  ASSERT_EQ(static_cast<int>(tiles.tasks.size()), plan.threads);
  ASSERT_EQ(tiles.sequence.size(), all.size());
  std::vector<char> is_done(n, 0);
  for (const int t : tiles.sequence)
    for (int p = all[t].first_permuted_row; p < all[t].last_permuted_row; ++p) {
      const int v = tiles.order.vertex(p);
      ASSERT_EQ(tiles.order.permuted_row(v), p);
      ASSERT_EQ(tiles.order.length(p), graph.row_map(v + 1) - graph.row_map(v));
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
        ASSERT_TRUE(is_done[graph.entries(k)]) << "row " << v << " needs it";
      ASSERT_FALSE(is_done[v]) << "twice: " << v;
      is_done[v] = 1;
    }
}

/// A task has waited for all that its rows need of other threads, and for
/// nothing but what begins before it.
void expect_waits(const Graph& graph, const Detail::TileOrder<Memory>& tiles) {
  const Host exec;
  const Graph with_values = TestGraphs::with_value_indices(graph, false);
  Detail::LevelTasks<Host> tasks;
  Detail::join_level_tasks(exec, with_values, tiles.order, tiles.tasks, tasks);
  const int threads = tasks.threads;
  if (threads == 1) return;
  std::vector<int> place(tiles.sequence.size()), thread_of(graph.num_vertices),
      done_by(graph.num_vertices);
  for (std::size_t s = 0; s < place.size(); ++s)
    place[tiles.sequence[s]] = static_cast<int>(s);
  const auto for_each_task = [&](const auto& take) {
    for (int u = 0; u < threads; ++u)
      for (int t = tasks.thread_map(u); t < tasks.thread_map(u + 1); ++t)
        take(u, t, tasks.task(t));
  };
  for_each_task([&](int u, int, const Detail::LevelTask& task) {
    for (int p = task.first_permuted_row; p < task.last_permuted_row; ++p) {
      thread_of[tiles.order.vertex(p)] = u;
      done_by[tiles.order.vertex(p)] = task.levels;
    }
  });
  std::vector<std::vector<int>> known(threads, std::vector<int>(threads, 0));
  for_each_task([&](int u, int t, const Detail::LevelTask& task) {
    ASSERT_EQ(task.levels, t - tasks.thread_map(u) + 1);
    for (auto w = task.first_wait; w < task.last_wait; ++w) {
      const auto& wait = tasks.wait(w);
      ASSERT_NE(wait.thread, u);
      ASSERT_GT(wait.levels, known[u][wait.thread]);
      known[u][wait.thread] = wait.levels;
      const int awaited = tasks.thread_map(wait.thread) + wait.levels - 1;
      ASSERT_LT(awaited, tasks.thread_map(wait.thread + 1));
      ASSERT_LT(place[awaited], place[t]);
    }
    for (int p = task.first_permuted_row; p < task.last_permuted_row; ++p) {
      const int v = tiles.order.vertex(p);
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k) {
        const int j = graph.entries(k);
        if (thread_of[j] != u) {
          ASSERT_GE(known[u][thread_of[j]], done_by[j]) << "row " << v;
        }
      }
    }
  });
}

void expect_plan(const Graph& graph, const LevelOrder<Memory>& order,
                 const TilePlan& plan) {
  const auto tiles =
      Detail::make_tile_order(Host(), graph, order.level_of, plan);
  expect_order(graph, plan, tiles);
  if (!testing::Test::HasFatalFailure()) expect_waits(graph, tiles);
}

TEST(LevelTiles, ComeAfterWhatTheyNeed) {
  for (const auto& [name, graph] : graphs()) {
    const auto order = level_order(graph);
    for (const int threads : {1, 2, 3, 7, 16}) {
      const TilePlanner<Host> planner(Host(), graph, order, threads,
                                      slow_rows());
      SCOPED_TRACE(name + ", " + std::to_string(threads) + " threads");
      expect_plan(graph, order, planner.best());
      if (threads > 1)
        for (const int blocks_of_one : {1, 3, 4})
          for (const int bands_of_one : {1, 2, 5})
            expect_plan(graph, order,
                        planner.plan(threads, blocks_of_one, bands_of_one));
      if (HasFatalFailure()) return;
    }
  }
}

/// Merged tiles are what larger ones would have been.
TEST(LevelTiles, MergedOnesHaveAllRowsAndNeeds) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const auto order = level_order(graph);
    const TilePlanner<Host> planner(Host(), graph, order, 3, slow_rows());
    const TileGraph& fine = planner.tiles();
    const TileGraph merged = Detail::merge_tiles(fine, 2, 3);
    ASSERT_EQ(merged.blocks, 6);
    ASSERT_EQ(merged.bands, (fine.bands + 2) / 3);
    double rows = 0, entries = 0;
    for (int t = 0; t < merged.num_tiles(); ++t) {
      rows += merged.rows[t];
      entries += merged.entries[t];
    }
    EXPECT_EQ(rows, graph.num_vertices);
    EXPECT_EQ(entries, graph.num_edges());
    // Of each block, the last band of each other one that has been needed.
    std::vector<int> known(merged.blocks);
    for (int b = 0; b < merged.blocks; ++b) {
      std::fill(known.begin(), known.end(), -1);
      for (int l = 0; l < merged.bands; ++l) {
        const int t = merged.tile(b, l);
        for (auto k = merged.need_map[t]; k < merged.need_map[t + 1]; ++k) {
          ASSERT_LT(merged.need[k].block, b);
          ASSERT_LE(merged.need[k].band, l);
          known[merged.need[k].block] =
              std::max(known[merged.need[k].block], merged.need[k].band);
        }
        for (int fine_block = 2 * b; fine_block < 2 * b + 2; ++fine_block)
          for (int fine_band = 3 * l;
               fine_band < std::min(3 * l + 3, fine.bands); ++fine_band) {
            const int f = fine.tile(fine_block, fine_band);
            for (auto k = fine.need_map[f]; k < fine.need_map[f + 1]; ++k) {
              const auto& need = fine.need[k];
              if (need.band < 0 || need.block / 2 == b) continue;
              ASSERT_GE(known[need.block / 2], need.band / 3);
            }
          }
      }
    }
  }
}

/// A schedule takes no less than the longest path and its threads' work, and a
/// grid is worth sharing.
TEST(LevelTiles, PredictionsAreBounded) {
  const Graph grid = TestGraphs::grid_graph(300, 300);
  const auto order = level_order(grid);
  TileCosts costs;
  costs.handover = 100;
  for (const int threads : {1, 2, 4, 8, 16}) {
    const TilePlan plan =
        TilePlanner<Host>(Host(), grid, order, threads, costs).best();
    EXPECT_LE(plan.threads, threads);
    EXPECT_GE(plan.threads, std::min(threads, 4));
    EXPECT_GE(plan.predicted,
              TilePlanner<Host>::least(costs, grid.num_vertices,
                                       double(grid.num_edges()), plan.threads));
    EXPECT_LT(
        plan.predicted,
        2.5 * TilePlanner<Host>::least(costs, grid.num_vertices,
                                       double(grid.num_edges()), plan.threads));
  }
  // A chain is left to one thread, as are few rows.
  const Graph chain = TestGraphs::chain_graph(30000);
  EXPECT_EQ(TilePlanner<Host>(Host(), chain, level_order(chain), 16, costs)
                .best()
                .threads,
            1);
  const Graph few = TestGraphs::grid_graph(20, 20);
  EXPECT_EQ(TilePlanner<Host>(Host(), few, level_order(few), 16, costs)
                .best()
                .threads,
            1);
}

template <class Scalar>
class LevelTilesSolve : public testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(LevelTilesSolve, Scalars);

/// Solves with made-up values, as often as asked for, and compares with
/// substitution row by row, whose sums have the same order.
template <class Scalar>
void expect_solutions(const Graph& given, const TilePlan& plan, bool reversed,
                      bool divide, int columns, int repetitions) {
  using Detail::modulus;
  using Real = Detail::RealOf<Scalar>;
  using Values = Kokkos::View<Scalar*, Memory>;
  const Host exec;
  const Graph graph = TestGraphs::with_value_indices(given, reversed);
  const int n = graph.num_vertices;
  std::mt19937 random(random_seed());
  std::uniform_real_distribution<double> any(-0.3, 0.3);
  const Values values("values", TestGraphs::num_values(graph));
  for (std::size_t k = 0; k < values.extent(0); ++k)
    values(k) = Scalar(Real(k % 3 == 0 ? 1 + any(random) : any(random)));
  // Rows two apart, columns side by side.
  const Values b("b", std::size_t(2) * n * columns), x("x", b.extent(0));
  std::vector<Scalar> expected(b.extent(0));
  for (std::size_t i = 0; i < expected.size(); ++i)
    b(i) = Scalar(Real(1 + any(random)));
  const std::int64_t row_stride = 2 * columns;
  for (int c = 0; c < columns; ++c)
    for (int v = 0; v < n; ++v) {
      const auto place = [&](int vertex) {
        return graph.row_of(vertex) * row_stride + c;
      };
      Scalar sum(0);
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
        sum += values(graph.value_index(k)) * expected[place(graph.entries(k))];
      const auto d = graph.diagonal_value_index(v);
      const Scalar diagonal = d < 0 ? Scalar(1) : values(d);
      expected[place(v)] = (b(place(v)) - sum) / diagonal;
    }
  Detail::TriangularAnalysis<Host> analysis;
  analysis.graph = graph;
  analysis.num_values = TestGraphs::num_values(graph);
  analysis.find_order(exec);
  Detail::LevelSetSolve<Scalar, Host> solve(exec, analysis, plan);
  solve.set_values(exec, values.data(), divide);
  const auto copy = solve.with_workspace(exec);
  Values first;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    // Every other time in place, and by a copy.
    const bool in_place = repetition % 2 == 1;
    if (in_place)
      Kokkos::deep_copy(x, b);
    else
      Kokkos::deep_copy(x, Scalar(-7));
    const Detail::MultiVectorRef<const Scalar> from{
        in_place ? x.data() : b.data(), row_stride, 1};
    const Detail::MultiVectorRef<Scalar> to{x.data(), row_stride, 1};
    if (repetition % 3 == 2)
      copy->solve(exec, from, to, columns);
    else
      solve.solve(exec, from, to, columns);
    exec.fence();
    if (repetition == 0) {
      first = Values("first", x.extent(0));
      Kokkos::deep_copy(first, x);
    }
    const double tolerance = sizeof(Real) == 4 ? 1e-3 : 1e-10;
    for (int v = 0; v < n; ++v)
      for (int c = 0; c < columns; ++c) {
        const std::int64_t i = v * row_stride + c;
        ASSERT_LE(modulus(x(i) - expected[i]),
                  tolerance * (1 + modulus(expected[i])))
            << "row " << v << ", column " << c << ", solve " << repetition;
        ASSERT_EQ(x(i), first(i)) << "row " << v << ", solve " << repetition;
      }
  }
}

/// Teams of as many threads as there are, and plans for more of them, which the
/// first thread then does alone.
TYPED_TEST(LevelTilesSolve, WithEveryTeam) {
  using Solve = Detail::LevelSetSolve<TypeParam, Host>;
  const int most = Solve::team_warps(Host());
  unsigned turn = 0;
  for (const auto& [name, graph] : graphs()) {
    if (graph.num_edges() == 0) continue;
    const auto order = level_order(graph);
    for (const int threads : {1, 2, most, most + 1}) {
      SCOPED_TRACE(name + ", " + std::to_string(threads) + " threads");
      const TilePlanner<Host> planner(Host(), graph, order, threads,
                                      slow_rows());
      const TilePlan plan =
          threads == 1 ? planner.best() : planner.plan(threads, 1, 1);
      ++turn;
      // A solve by a wrong plan may wait for ever.
      expect_plan(graph, order, plan);
      if (this->HasFatalFailure()) return;
      expect_solutions<TypeParam>(graph, plan, turn % 2 == 1, turn % 4 < 2,
                                  turn % 3 == 0 ? 7 : 1, 6);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Threads that wait for each other every few rows, hundreds of times.
TEST(LevelTiles, HundredsOfSolvesAreRight) {
  const int most = Detail::LevelSetSolve<double, Host>::team_warps(Host());
  const Graph grid = TestGraphs::grid_graph(60, 60);
  if (most == 1) GTEST_SKIP() << "one thread waits for nothing";
  const auto order = level_order(grid);
  const TilePlan plan =
      TilePlanner<Host>(Host(), grid, order, most, slow_rows())
          .plan(most, 1, 1);
  expect_plan(grid, order, plan);
  if (HasFatalFailure()) return;
  expect_solutions<double>(grid, plan, false, false, 1, 300);
}

}  // namespace
}  // namespace Strata
