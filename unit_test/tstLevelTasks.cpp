// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a host's threads share level sets. A thread that waited for what never
// comes would show as a test that never ends: CTest ends it, and runs the
// program once more with more threads than cores.
#include <gtest/gtest.h>

#include <analysis/packing/MakeRowChunks.hpp>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/level_sets/LevelTasks.hpp>
#include <limits>
#include <random>
#include <vector>

#include "RandomSeed.hpp"
#include "TestGraphs.hpp"

namespace Strata {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Tasks = Detail::LevelTasks<Host>;
using TestGraphs::Graph;

/// Level sets of these widths; every vertex needs up to `degree` of the one
/// before, anywhere in it.
Graph waves(const std::vector<int>& widths, int degree, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::set<int>> dependencies;
  int before = 0, begin = 0;
  for (const int width : widths) {
    for (int i = 0; i < width; ++i) {
      dependencies.emplace_back();
      if (begin == 0) continue;
      std::uniform_int_distribution<int> any(before, begin - 1);
      for (int d = 0; d < degree; ++d) dependencies.back().insert(any(random));
    }
    before = begin;
    begin += width;
  }
  return TestGraphs::make_graph(dependencies);
}

std::vector<std::pair<std::string, Graph>> graphs() {
  auto all = TestGraphs::all_graphs();
  const unsigned seed = random_seed();
  all.emplace_back("wide", waves(std::vector<int>(40, 500), 3, seed));
  all.emplace_back(
      "wide and narrow",
      waves({1, 700, 1, 1, 300, 900, 2, 1, 1, 1, 2000, 150, 1}, 2, seed + 1));
  all.emplace_back("large grid", TestGraphs::grid_graph(40, 40, 12));
  all.emplace_back("long row", TestGraphs::arrow_graph(3000));
  all.emplace_back("star", TestGraphs::star_graph(3000));
  all.emplace_back("any", TestGraphs::random_graph(5000, 4., 5000, seed + 2));
  return all;
}

struct Plan {
  Graph graph;
  LevelOrder<Kokkos::HostSpace> order;
  Tasks tasks;
};

Plan make_plan(const Graph& graph, int threads) {
  const Host exec;
  Plan plan{TestGraphs::with_value_indices(graph, false),
            order_by_level(exec, graph, WithinLevel::ascending),
            {}};
  const auto chunks = make_row_chunks(exec, plan.graph, plan.order,
                                      TestGraphs::num_values(plan.graph), 1, 4,
                                      DependencyNumbering::permuted_row);
  plan.tasks =
      Detail::make_level_tasks(exec, plan.graph, plan.order, chunks, threads);
  return plan;
}

/// Every row is in one task, a thread's tasks follow each other in level sets,
/// and what a row needs of another thread has been waited for, and no more than
/// is done before its level set.
void expect_complete(const Plan& plan, int threads) {
  const Tasks& tasks = plan.tasks;
  const int n = plan.graph.num_vertices;
  ASSERT_GE(tasks.threads, 1);
  ASSERT_LE(tasks.threads, threads);
  std::vector<int> thread_of(n, -1), levels_after(n, -1);
  for (int u = 0; u < tasks.threads; ++u)
    for (int t = tasks.thread_map(u); t < tasks.thread_map(u + 1); ++t)
      for (int p = tasks.task(t).first_permuted_row;
           p < tasks.task(t).last_permuted_row; ++p) {
        ASSERT_EQ(thread_of[p], -1) << "permuted row " << p << " twice";
        thread_of[p] = u;
        levels_after[p] = tasks.task(t).levels;
      }
  for (int p = 0; p < n; ++p)
    ASSERT_GE(thread_of[p], 0) << "permuted row " << p;
  const auto level = [&plan](int p) {
    return plan.order.level_of(plan.order.vertex(p));
  };
  for (int u = 0; u < tasks.threads; ++u) {
    int levels = 0;
    std::vector<int> known(tasks.threads, 0);
    for (int t = tasks.thread_map(u); t < tasks.thread_map(u + 1); ++t) {
      const auto& task = tasks.task(t);
      ASSERT_LT(task.first_permuted_row, task.last_permuted_row);
      const int first_level = level(task.first_permuted_row);
      ASSERT_GE(first_level, levels);
      ASSERT_EQ(task.levels, level(task.last_permuted_row - 1) + 1);
      levels = task.levels;
      if (tasks.threads > 1)
        for (auto w = task.first_wait; w < task.last_wait; ++w) {
          const auto& wait = tasks.wait(w);
          ASSERT_NE(wait.thread, u);
          ASSERT_GT(wait.levels, known[wait.thread]);
          ASSERT_LE(wait.levels, first_level);
          known[wait.thread] = wait.levels;
        }
      for (int p = task.first_permuted_row; p < task.last_permuted_row; ++p) {
        const int v = plan.order.vertex(p);
        for (auto k = plan.graph.row_map(v); k < plan.graph.row_map(v + 1);
             ++k) {
          const int dependency = plan.order.permuted_row(plan.graph.entries(k));
          if (thread_of[dependency] == u) {
            ASSERT_LT(dependency, p);
          } else {
            ASSERT_GE(known[thread_of[dependency]], levels_after[dependency]);
          }
        }
      }
    }
  }
}

/// Solves with made-up values as often as there are `starts`, each with the
/// counters at that number before, and compares with a plain loop.
void expect_solutions(const Plan& plan, int columns,
                      const std::vector<unsigned>& starts) {
  using Values = Kokkos::View<double*, Kokkos::HostSpace>;
  const Host exec;
  const int n = plan.graph.num_vertices;
  const auto entries = plan.graph.num_edges();
  const Kokkos::View<unsigned*, Kokkos::HostSpace> row("row", n);
  const Kokkos::View<int*, Kokkos::HostSpace> dependency("dependency", entries);
  const Values value("value", entries), diagonal("diagonal", n),
      by_permuted_row("by permuted_row", n), b("b", std::size_t(n) * columns),
      x("x", b.extent(0));
  std::mt19937 random(random_seed());
  std::uniform_real_distribution<double> any(-0.3, 0.3);
  std::vector<double> expected(b.extent(0));
  for (std::size_t i = 0; i < expected.size(); ++i) b(i) = 1 + any(random);
  for (int p = 0; p < n; ++p) {
    const int v = plan.order.vertex(p);
    row(p) = static_cast<unsigned>(v);
    diagonal(p) = 1 + any(random);
    for (int c = 0; c < columns; ++c) expected[c * n + v] = b(c * n + v);
    auto slot = plan.tasks.first_slot(p);
    for (auto k = plan.graph.row_map(v); k < plan.graph.row_map(v + 1); ++k) {
      const int j = plan.graph.entries(k);
      value(slot) = any(random);
      dependency(slot) = plan.order.permuted_row(j);
      for (int c = 0; c < columns; ++c)
        expected[c * n + v] -= value(slot) * expected[c * n + j];
      ++slot;
    }
    for (int c = 0; c < columns; ++c) expected[c * n + v] *= diagonal(p);
  }
  Detail::RowSystem<double, Host> system{};
  system.row = row;
  system.dependency = dependency;
  system.value = value;
  system.diagonal = diagonal;
  system.divide = false;
  system.b = {b.data(), 1, n};
  system.x = {x.data(), 1, n};
  const int most = Detail::LevelSetSolve<double, Host>::team_warps(exec);
  const int team = most < plan.tasks.threads ? 1 : plan.tasks.threads;
  for (const unsigned start : starts) {
    for (int u = 0; plan.tasks.threads > 1 && u < plan.tasks.threads; ++u)
      plan.tasks.done(u * Tasks::apart) = start;
    Kokkos::deep_copy(x, std::numeric_limits<double>::quiet_NaN());
    Kokkos::deep_copy(by_permuted_row,
                      std::numeric_limits<double>::quiet_NaN());
    Kokkos::parallel_for("solve", Kokkos::TeamPolicy<Host>(exec, 1, team),
                         Detail::LevelTaskRun<double, Host>{
                             system, plan.tasks, by_permuted_row, n, columns});
    exec.fence();
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(x(i), expected[i], 1e-9 * (1 + std::abs(expected[i])))
          << "row " << i % n << ", column " << i / n << ", team of " << team;
    for (int u = 0; team > 1 && u < team; ++u)
      ASSERT_EQ(plan.tasks.done(u * Tasks::apart),
                start + static_cast<unsigned>(plan.tasks.num_levels));
  }
}

TEST(LevelTasks, AreWaitedForWhereNeeded) {
  for (const auto& [name, graph] : graphs())
    for (const int threads : {1, 2, 3, 7, 16, 64}) {
      SCOPED_TRACE(name + ", " + std::to_string(threads) + " threads");
      expect_complete(make_plan(graph, threads), threads);
      if (HasFatalFailure()) return;
    }
}

TEST(LevelTasks, ShareWideLevelSetsOnly) {
  const Graph wide = waves(std::vector<int>(10, 4000), 2, 1);
  EXPECT_EQ(make_plan(wide, 16).tasks.threads, 16);
  EXPECT_EQ(make_plan(wide, 16).tasks.task.extent(0), 160u);
  EXPECT_EQ(make_plan(wide, 1).tasks.threads, 1);
  const Graph narrow = waves(std::vector<int>(500, 3), 2, 1);
  EXPECT_EQ(make_plan(narrow, 16).tasks.threads, 1);
  EXPECT_EQ(make_plan(narrow, 16).tasks.task.extent(0), 1u);
  // Narrow ones between wide ones are one task of the first thread.
  const Tasks turns = make_plan(waves({4000, 1, 1, 1, 4000}, 2, 1), 4).tasks;
  EXPECT_EQ(turns.threads, 4);
  EXPECT_EQ(turns.task.extent(0), 9u);
  EXPECT_EQ(turns.task(turns.thread_map(0) + 1).levels, 4);
}

/// Parts of a level set have about as much work each, rows of one length or
/// not.
TEST(LevelTasks, AreOfOneSize) {
  std::vector<std::set<int>> dependencies(3000);
  for (int i = 1000; i < 3000; ++i)
    for (int j = 0; j < (i < 1100 ? 100 : 1); ++j)
      dependencies[i].insert((i + 7 * j) % 1000);
  const Plan plan = make_plan(TestGraphs::make_graph(dependencies), 8);
  ASSERT_EQ(plan.tasks.threads, 8);
  const double all = Detail::LevelShares::work(2000, 100 * 100 + 1900);
  for (int u = 0; u < 8; ++u) {
    const auto& task = plan.tasks.task(plan.tasks.thread_map(u) + 1);
    const double work = Detail::LevelShares::work(
        task.last_permuted_row - task.first_permuted_row,
        double(plan.tasks.first_slot(task.last_permuted_row) -
               plan.tasks.first_slot(task.first_permuted_row)));
    EXPECT_NEAR(work, all / 8, 102) << "thread " << u;
  }
}

TEST(LevelTasks, SolveWithEveryTeam) {
  const int most = Detail::LevelSetSolve<double, Host>::team_warps(Host());
  const unsigned last = std::numeric_limits<unsigned>::max();
  for (const auto& [name, graph] : graphs())
    for (const int threads : {1, 2, most, most + 1}) {
      SCOPED_TRACE(name + ", " + std::to_string(threads) + " threads");
      const Plan plan = make_plan(graph, threads);
      for (const int columns : {1, 7})
        expect_solutions(plan, columns, {0, 5, last - 3, last});
      if (HasFatalFailure()) return;
    }
}

/// Threads that take turns row by row of a few, thousands of times.
TEST(LevelTasks, ThousandsOfSolvesAreRight) {
  const int most = Detail::LevelSetSolve<double, Host>::team_warps(Host());
  const Plan plan =
      make_plan(waves(std::vector<int>(30, 150), 2, random_seed()), most);
  std::vector<unsigned> starts;
  for (unsigned i = 0; i < 2000; ++i) starts.push_back(i * 2000003u);
  expect_solutions(plan, 1, starts);
}

}  // namespace
}  // namespace Strata
