// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <analysis/merging/MergedLevels.hpp>
#include <core/memory/ToDevice.hpp>
#include <map>
#include <set>
#include <string>

#include "Pairwise.hpp"
#include "RandomSeed.hpp"
#include "TestGraphs.hpp"

namespace Strata {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Detail::RowStatus;
using TestGraphs::Graph;
using TestGraphs::num_values;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Coefficients and dependencies of a row, by replacing whatever may be
/// replaced.
struct Lists {
  std::set<int> coefficients, dependencies;
};
template <class RowStatuses>
Lists replace_all(const Graph& graph, const std::vector<int>& level, int k,
                  const RowStatuses& row_status, int row) {
  Lists lists;
  std::vector<int> next{row};
  while (!next.empty()) {
    const int v = next.back();
    next.pop_back();
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e) {
      const int from = graph.entries(e);
      if (level[from] / k != level[row] / k ||
          row_status(from) == RowStatus::stays)
        lists.dependencies.insert(from);
      else if (lists.coefficients.insert(from).second)
        next.push_back(from);
    }
  }
  return lists;
}

template <class From>
MergedRows<Kokkos::HostSpace> rows_on_host(const MergedRows<From>& rows) {
  MergedRows<Kokkos::HostSpace> host;
  host.recipe_of = on_host(rows.recipe_of);
  host.recipe = on_host(rows.recipe);
  host.begin_of = on_host(rows.begin_of);
  host.value_index.narrow = on_host(rows.value_index.narrow);
  host.values_in_order = rows.values_in_order;
  host.reversed = rows.reversed;
  host.unit = rows.unit;
  host.last_value = rows.last_value;
  return host;
}

/// What a row's program makes of small integers, all diagonals being one,
/// against coefficients replaced one by one.
void expect_program(const Graph& graph, const unsigned char* program,
                    const unsigned char* end, const Lists& lists, int row) {
  const auto number = [](std::int64_t edge) { return double(edge % 5 - 2); };
  ASSERT_EQ(std::size_t(program[0]), lists.coefficients.size());
  ASSERT_EQ(std::size_t(program[1]), lists.dependencies.size());
  int operations = 0;
  std::map<int, double> sums;
  std::vector<double> slot(
      lists.coefficients.size() + lists.dependencies.size(), 0.);
  const int expected = MergedRows<Kokkos::HostSpace>::operations(program);
  const unsigned char* length = program + MergedRows<Kokkos::HostSpace>::head;
  program = length + lists.coefficients.size();
  const auto replace = [&](int v, double by) {
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e) {
      const int from = graph.entries(e);
      const double sign = lists.coefficients.count(from) > 0 ? -1 : 1;
      sums[from] += sign * by * number(e);
      ASSERT_LT(program, end);
      ASSERT_LT(*program, slot.size());
      slot[*program++] += sign * by * number(e);
      ++operations;
    }
  };
  replace(row, 1);
  for (auto t = lists.coefficients.rbegin(); t != lists.coefficients.rend();
       ++t) {
    EXPECT_EQ(*length++, graph.row_map(*t + 1) - graph.row_map(*t));
    replace(*t, sums[*t]);
  }
  EXPECT_EQ(operations, expected);
  std::size_t next = 0;
  for (const auto* list : {&lists.coefficients, &lists.dependencies})
    for (const int v : *list) EXPECT_EQ(slot[next++], sums[v]) << "row " << row;
}

/// @param unmerged  by vertex, RowStatus::stays: the row has to stay; or empty
/// @param list_words  null, or becomes the length of the lists of all merged
///                    rows that others of their group may depend on
/// @returns merged rows
int expect_merged(const Graph& graph, int k,
                  const std::vector<int>& unmerged = {},
                  std::int64_t* list_words = nullptr) {
  const Space exec;
  const auto device = mirror_graph(exec, graph);
  const auto sets = find_level_sets(graph);
  const auto order = order_by_level(exec, device, WithinLevel::ascending);
  Detail::WorkPool<Space> pool(exec, 0);
  // What is made does not depend on what a sample says of rows that stay.
  const bool some_stay = k % 2 == 0;
  const auto have_to_stay =
      Detail::to_device<int, Space::memory_space>("unmerged", unmerged);
  const auto has_to_stay = [&](int v) {
    return !unmerged.empty() && unmerged[v] == RowStatus::stays;
  };
  const auto made = merge_levels(
      exec, device, order, k, num_values(graph), 8, WithinLevel::ascending,
      pool, unmerged.empty() ? nullptr : have_to_stay.data(), some_stay);
  exec.fence();
  if (!made.exist()) return 0;
  const auto row_map = on_host(made.graph.row_map);
  const auto entries = on_host(made.graph.entries);
  const auto coefficient_map = on_host(made.coefficient_map);
  const auto coefficient = on_host(made.coefficient);
  const auto row_status = on_host(made.row_status);
  const auto permuted_row = on_host(made.order.permuted_row);
  const auto level = on_host(made.order.level_of);
  const auto vertex = on_host(made.order.vertex);
  const auto rows = rows_on_host(made.rows);
  const auto recipe_bytes =
      on_host(Kokkos::View<const std::int64_t*, Space::memory_space>(
          made.recipe_bytes, 1))(0);
  EXPECT_EQ(rows.value_index.size(),
            graph.values_in_order ? 0 : graph.num_edges() + graph.num_vertices);
  int merged = 0;
  std::map<std::string, unsigned> place_of;  // of programs
  // Levels follow from groups and from depths in these.
  std::vector<int> depth(std::size_t(graph.num_vertices), 0);
  std::map<std::pair<int, int>, int> level_at;
  for (int v = 0; v < graph.num_vertices; ++v) {
    EXPECT_EQ(vertex(permuted_row(v)), v);
    const int p = permuted_row(v);
    const auto row = rows.row(graph.row_of(v));
    EXPECT_EQ(row.diagonal < 0 ? -1 : rows(row.diagonal),
              graph.diagonal_value_index(v));
    int at = row.first;
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e)
      EXPECT_EQ(rows(at++), graph.value_index(e));
    const int following =
        p + 1 < graph.num_vertices ? graph.row_of(vertex(p + 1)) : -1;
    EXPECT_EQ(at, rows.end(graph.row_of(v), following));
    Lists found;
    int last = -1;
    for (auto e = row_map(v); e < row_map(v + 1); ++e) {
      const int j = entries(e);
      EXPECT_LT(last, j) << "ascending";
      last = j;
      found.dependencies.insert(j);
      EXPECT_LT(level(j), level(v)) << "of vertex " << v;
      if (sets.level_of[j] / k == sets.level_of[v] / k)
        depth[v] = std::max(depth[v], depth[j] + 1);
      EXPECT_LT(permuted_row(j), permuted_row(v));
    }
    EXPECT_EQ(
        level_at.emplace(std::pair(sets.level_of[v] / k, depth[v]), level(v))
            .first->second,
        level(v));
    last = -1;
    for (auto t = coefficient_map(v); t < coefficient_map(v + 1); ++t) {
      EXPECT_LT(last, coefficient(t)) << "ascending";
      last = coefficient(t);
      found.coefficients.insert(last);
    }
    const auto status_of = [&](int u) { return row_status(u); };
    const auto all = replace_all(graph, sets.level_of, k, status_of, v);
    if (row_status(v) == RowStatus::merged) {
      ++merged;
      if (list_words && sets.level_of[v] % k + 1 < k)
        *list_words += static_cast<std::int64_t>(all.coefficients.size() +
                                                 all.dependencies.size());
      EXPECT_EQ(found.coefficients, all.coefficients) << "of vertex " << v;
      EXPECT_EQ(found.dependencies, all.dependencies) << "of vertex " << v;
      EXPECT_NE(rows.recipe_at(p), nullptr);
      if (!rows.recipe_at(p)) return merged;
      expect_program(graph, rows.recipe_at(p),
                     rows.recipe.data() + recipe_bytes, found, v);
      const std::string program(
          reinterpret_cast<const char*>(rows.recipe_at(p)),
          rows.head + found.coefficients.size() +
              static_cast<std::size_t>(rows.operations(rows.recipe_at(p))));
      EXPECT_EQ(place_of.emplace(program, rows.recipe_of(p)).first->second,
                rows.recipe_of(p))
          << "the program of row " << v << " is there twice";
    } else {
      EXPECT_EQ(rows.recipe_at(p), nullptr);
      EXPECT_TRUE(found.coefficients.empty());
      EXPECT_EQ(found.dependencies,
                std::set<int>(graph.entries.data() + graph.row_map(v),
                              graph.entries.data() + graph.row_map(v + 1)));
      EXPECT_EQ(row_status(v) == RowStatus::as_it_was,
                all.coefficients.empty() && !has_to_stay(v));
      // It would be too long, if only for a lane that has it to itself.
      if (row_status(v) == RowStatus::stays && !has_to_stay(v)) {
        const std::int64_t own = graph.row_map(v + 1) - graph.row_map(v);
        EXPECT_TRUE(int(all.coefficients.size()) >= Detail::max_coefficients ||
                    std::int64_t(all.dependencies.size()) >
                        std::min<std::int64_t>(
                            3 * own + 24, Detail::max_dependencies_of_lane))
            << "vertex " << v;
      }
    }
  }
  int before = -1;
  for (const auto& [place, number] : level_at) {
    EXPECT_EQ(number, before + 1);
    before = number;
  }
  EXPECT_LE(made.order.num_levels(), sets.num_levels);
  return merged;
}

TEST(MergedLevels, HoldWhatReplacingGives) {
  auto graphs = TestGraphs::all_graphs();
  graphs.erase(
      std::remove_if(graphs.begin(), graphs.end(),
                     [](const auto& g) { return g.second.num_vertices == 0; }),
      graphs.end());
  const int levels[] = {2, 3, 5, 16};
  enum { shuffled, in_order, in_order_of_unit };
  int merged[] = {0, 0, 0};
  for (const auto& one : pairwise_cases({int(graphs.size()), 4, 3, 2})) {
    const auto& [name, given] = graphs[one[0]];
    const int k = levels[one[1]];
    const int values = one[2];
    const bool reversed = one[3] == 1;
    SCOPED_TRACE(name + ", " + std::to_string(k) + " at a time");
    merged[values] += expect_merged(
        values == shuffled
            ? TestGraphs::with_value_indices(given, reversed)
            : TestGraphs::in_order(given, reversed, values == in_order_of_unit),
        k);
    if (testing::Test::HasFailure()) return;
  }
  for (const int rows : merged) EXPECT_GT(rows, 1000);
}

/// Chunks hold rows of lists of about one length.
TEST(MergedLevels, RanksAskForTheLanesOfTheLongerList) {
  for (const int max_steps : {4, 8}) {
    const Detail::ListsRank rank{max_steps};
    int before = 0;
    for (const int dependencies :
         {0, 1, 3, 8, 9, 16, 17, 40, 128, 255, 256, 70000})
      for (const int coefficients : {0, 1, 5, 8, 9, 20, 33, 60}) {
        const int longer = std::max(coefficients, dependencies);
        const int made = rank(coefficients, dependencies);
        EXPECT_GE(rank.counted_length(made), longer);
        EXPECT_EQ(rank.log_lanes(rank.counted_length(made)),
                  rank.log_lanes(longer));
        for (const int longest : {longer, longer + 1, 2 * longer, 300})
          if (longest >= longer) {
            EXPECT_LE(made, rank.at_most(longest))
                << coefficients << ' ' << dependencies;
          }
        if (coefficients == 0) {
          EXPECT_GE(made, before);
          before = made;
        }
      }
    EXPECT_GT(rank(9, 5), rank(8, 5));
    EXPECT_GT(rank(0, max_steps + 1), rank(max_steps, max_steps));
  }
}

TEST(MergedLevels, ChainsHaveFewer) {
  const auto chain =
      TestGraphs::with_value_indices(TestGraphs::chain_graph(96), false);
  const Space exec;
  const auto graph = mirror_graph(exec, chain);
  const auto order = order_by_level(exec, graph, WithinLevel::ascending);
  for (const int k : {2, 4, 8}) {
    Detail::WorkPool<Space> pool(exec, 0);
    const auto made = merge_levels(exec, graph, order, k, num_values(chain), 8,
                                   WithinLevel::ascending, pool);
    exec.fence();
    EXPECT_EQ(made.order.num_levels(), 96 / k);
    EXPECT_EQ(expect_merged(chain, k), 96 - 96 / k);
  }
}

/// Chains of rows that stay: whether one does depends on whether others do.
TEST(MergedLevels, RowsThatStayAreFoundInAnyNumberOfPasses) {
  for (const int own : {7, 20, 40})
    for (const int k : {3, 4, 8, 16, 24, 40}) {
      if (own * k > 1000) continue;  // takes long
      SCOPED_TRACE(testing::Message() << own << ", " << k << " at a time");
      std::vector<std::set<int>> dependencies;
      for (int chain = 0; chain < 2; ++chain)
        for (int row = 0, last = -1; row < 3 * k; ++row) {
          const int first = int(dependencies.size());
          dependencies.resize(dependencies.size() + std::size_t(own));
          std::set<int> roots;
          if (last >= 0) roots.insert(last);
          for (int i = 0; i < own; ++i) roots.insert(first + i);
          last = int(dependencies.size());
          dependencies.push_back(roots);
        }
      EXPECT_GT(expect_merged(TestGraphs::with_value_indices(
                                  TestGraphs::make_graph(dependencies), false),
                              k),
                k);
      if (HasFailure()) return;
    }
}

TEST(MergedLevels, RowsStayThatHaveTo) {
  for (const int k : {2, 3, 6, 17})
    for (const double share : {0.01, 0.3}) {
      const auto graph = TestGraphs::with_value_indices(
          TestGraphs::random_graph(1500, 2.5, 60, 1 + generator()()), false);
      std::vector<int> unmerged(std::size_t(graph.num_vertices), 0);
      for (int& status : unmerged)
        if (std::bernoulli_distribution(share)(generator()))
          status = RowStatus::stays;
      EXPECT_GT(expect_merged(graph, k, unmerged), 100);
      if (HasFailure()) return;
    }
}

/// Level sets of as many rows, each of which has some dependencies in the level
/// sets shortly before; one row of every fifth level set has hundreds.
Graph layered_graph(int layers, int rows, int dependencies_of_row) {
  std::vector<std::set<int>> dependencies(std::size_t(layers) * rows);
  const auto draw = [](int first, int end) {
    return std::uniform_int_distribution<int>(first, end - 1)(generator());
  };
  for (int layer = 1; layer < layers; ++layer)
    for (int i = 0; i < rows; ++i) {
      const int first = layer * rows;
      auto& own = dependencies[first + i];
      own.insert(draw(first - rows, first));
      const int reach = std::max(0, first - 4 * rows);
      for (int d = 1; d < dependencies_of_row; ++d)
        own.insert(draw(reach, first));
      if (i == 0 && layer % 5 == 4)
        for (int d = 0; d < std::min(first, 300); ++d)
          own.insert(first - 1 - d);
    }
  return TestGraphs::make_graph(dependencies);
}

/// A device counts the rows of many depths in one launch, in which they wait
/// for each other: more rows than it works at, lists that there is no room for,
/// rows of more entries than any list has, and others that have to stay.
TEST(MergedLevels, RowsOfManyDepthsWaitForEachOther) {
  const auto grid =
      TestGraphs::with_value_indices(TestGraphs::grid_graph(130, 130), false);
  for (const int k : {6, 7}) EXPECT_GT(expect_merged(grid, k), 10000);
  for (const int k : {5, 8, 16, 17, 20}) {
    for (const double share : {0., 0.03}) {
      const auto graph = TestGraphs::with_value_indices(
          layered_graph(60, 100, k < 10 ? 3 : 2), false);
      std::vector<int> unmerged;
      for (int v = 0; share > 0 && v < graph.num_vertices; ++v)
        unmerged.push_back(std::bernoulli_distribution(share)(generator())
                               ? RowStatus::stays
                               : RowStatus::as_it_was);
      EXPECT_GT(expect_merged(graph, k, unmerged), 1000);
      if (HasFailure()) return;
    }
  }
  // Rows whose neighbours have nearly the same dependencies: long lists.
  constexpr int layers = 60, rows = 100;
  std::vector<std::set<int>> dependencies(layers * rows);
  for (int v = rows; v < layers * rows; ++v)
    for (int back = 1; back <= 3; ++back)
      for (int beside = -2; beside <= 2; ++beside)
        if (v / rows >= back)
          dependencies[v].insert((v / rows - back) * rows +
                                 (v + beside + rows) % rows);
  std::int64_t words = 0;
  EXPECT_GT(expect_merged(TestGraphs::with_value_indices(
                              TestGraphs::make_graph(dependencies), false),
                          6, {}, &words),
            3000);
  EXPECT_GT(words, 32 * layers * rows) << "there is room for all lists";
}

/// With more rows each depth gets a launch of its own.
TEST(MergedLevels, ManyRowsAreCountedDepthByDepth) {
  const auto graph =
      TestGraphs::with_value_indices(layered_graph(12, 8000, 2), false);
  EXPECT_GT(expect_merged(graph, 6), 10000);
}

/// A row of few coefficients has more dependencies than a lane finds by itself.
TEST(MergedLevels, RowsFitHoweverTheyAreFound) {
  constexpr int rows = 6, roots = rows * rows;
  std::vector<std::set<int>> dependencies(2 * roots + rows + 1);
  for (int i = 0; i < roots; ++i) {
    dependencies[roots + i] = {i};
    dependencies[2 * roots + i / rows].insert(roots + i);
  }
  for (int i = 0; i < rows; ++i) dependencies.back().insert(2 * roots + i);
  const auto graph = TestGraphs::with_value_indices(
      TestGraphs::make_graph(dependencies), false);
  EXPECT_EQ(expect_merged(graph, 2), roots + 1);
}

}  // namespace
}  // namespace Strata
