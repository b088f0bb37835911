// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Algorithm 3 of Picciau et al. (2017) followed line by line, beside
// split_component and partition().
#include <gtest/gtest.h>

#include <Strata_Partition.hpp>
#include <algorithm>
#include <functional>
#include <numeric>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

/// ASSOCIATE_SUBG, which our copy of the paper does not define: given the
/// numbers of vertices of all sub-graphs and the one a vertex is meant for, the
/// one it goes to, or -1 for an error. Numbers are from 0.
using Associate = std::function<int(const std::vector<int>& sizes, int p)>;

Associate next_with_room(int max_rows) {
  return [=](const std::vector<int>& sizes, int p) {
    for (; p < int(sizes.size()); ++p)
      if (sizes[p] < max_rows) return p;
    return -1;
  };
}
Associate error_when_full(int max_rows) {
  return [=](const std::vector<int>& sizes, int p) {
    return sizes[p] < max_rows ? p : -1;
  };
}

int half(int num_init) { return num_init / 2; }
int one_less(int num_init) { return num_init - 1; }

struct Split {
  std::vector<int> subgraph_of;
  /// The numbers of starting sub-graphs that were tried; the last one succeeded
  /// unless it is 0.
  std::vector<int> tried;
  bool success() const { return tried.back() > 0; }
};

/// The whole graph is taken for one component, vertices go by number. Where the
/// printed text can't be followed to the letter: a try begins with empty
/// sub-graphs (line 12 goes to line 5, they are emptied in line 1), starting
/// vertices are not taken again in line 17, and line 9 deals to n_init
/// sub-graphs.
Split algorithm3(const Graph& graph, int num_split, const Associate& associate,
                 int (*fewer)(int) = half) {
  const int n = graph.num_vertices;
  std::vector<std::vector<int>> parents(n), children(n);
  for (int i = 0; i < n; ++i)
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      parents[i].push_back(graph.entries(k));
      children[graph.entries(k)].push_back(i);
    }
  std::vector<int> roots;
  for (int v = 0; v < n; ++v)
    if (parents[v].empty()) roots.push_back(v);
  Split split;
  for (int num_init = std::min(num_split, int(roots.size()));;
       num_init = fewer(num_init)) {
    split.tried.push_back(num_init);
    if (num_init == 0) return split;
    auto& of = split.subgraph_of;
    of.assign(n, -1);
    std::vector<int> sizes(num_split, 0), next;
    const auto place = [&](int k, int p) {
      p = associate(sizes, p);
      if (p < 0) return false;
      ++sizes[p];
      of[k] = p;
      for (int v : children[k])
        if (std::all_of(parents[v].begin(), parents[v].end(),
                        [&](int j) { return of[j] >= 0; }))
          next.push_back(v);
      return true;
    };
    bool error = false;
    int p = -1;
    for (int k : roots) {
      p = p + 1 < num_init ? p + 1 : 0;
      error = error || !place(k, p);
    }
    while (!error && !next.empty()) {
      std::vector<int> current;
      current.swap(next);
      std::sort(current.begin(), current.end());
      for (int k : current) {
        int highest = 0;
        for (int j : parents[k]) highest = std::max(highest, of[j]);
        error = error || !place(k, highest);
      }
    }
    if (!error &&
        std::none_of(of.begin(), of.end(), [](int g) { return g < 0; }))
      return split;
  }
}

int fewest(const Graph& graph, int max_rows) {
  return (graph.num_vertices + max_rows - 1) / max_rows;
}

/// Vertices by number, as in algorithm3.
Subgraphs by_number(const Graph& graph, int max_rows) {
  return subgraphs_from_map(
      graph, Detail::split_large_components(
                 graph, find_level_sets(graph),
                 Detail::pack_whole_components(graph, max_rows), max_rows,
                 Detail::SortCriterion::natural));
}

TEST(Algorithm3, SplitsTenVerticesAsByHand) {
  // By hand, vertices and sub-graphs from 0, n_max = 4, 3 sub-graphs, n_init =
  // min(3, 2 starting vertices) = 2. Vertices 0 and 1 start sub-graphs 0 and 1;
  // 2 follows 0; 3 and 4 follow 1; 5 needs 2 and 4 and follows 4, which fills
  // sub-graph 1; 6 and 7 find it full and go to 2, where 8 and 9 follow.
  const auto graph = TestGraphs::ten_vertices();
  const std::vector<int> of_four{0, 1, 0, 1, 1, 1, 2, 2, 2, 2};
  // n_max = 3: 4 fills sub-graph 1; 5 and 6 go to 2, which 7 fills; 8 and 9 go
  // to 3.
  const std::vector<int> of_three{0, 1, 0, 1, 1, 2, 2, 2, 3, 3};
  // n_max = 5: 6 fills sub-graph 1, the last, and 7 finds no room: n_init = 1,
  // and the generations fill one sub-graph after the other.
  const std::vector<int> of_five{0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  const auto four = by_number(graph, 4);
  EXPECT_EQ(four.subgraph_of, of_four);
  EXPECT_EQ(four.num_levels, 3);
  EXPECT_EQ(four.internal_edges, 6);
  EXPECT_EQ(four.external_edges, 4);
  EXPECT_EQ(by_number(graph, 3).subgraph_of, of_three);
  EXPECT_EQ(by_number(graph, 5).subgraph_of, of_five);
  EXPECT_EQ(algorithm3(graph, 3, next_with_room(4)).subgraph_of, of_four);
  EXPECT_EQ(algorithm3(graph, 4, next_with_room(3)).subgraph_of, of_three);
  const auto five = algorithm3(graph, 2, next_with_room(5));
  EXPECT_EQ(five.subgraph_of, of_five);
  EXPECT_EQ(five.tried, (std::vector<int>{2, 1}));
}

TEST(Algorithm3, SplitComponentFollowsEachLine) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    const int n = graph.num_vertices;
    if (n == 0) continue;
    const auto levels = find_level_sets(graph);
    const auto order =
        Detail::split_order(graph, levels, std::vector<int>(n, 0), 1,
                            Detail::SortCriterion::natural);
    const int roots = levels.level_map[1];
    for (const int max_rows : {1, 2, 3, 5, 17, 100}) {
      SCOPED_TRACE(name + ", " + std::to_string(max_rows));
      const int num_split = fewest(graph, max_rows);
      const auto expected =
          algorithm3(graph, num_split, next_with_room(max_rows));
      ASSERT_TRUE(expected.success());
      std::vector<int> subgraph_of(n, -1);
      EXPECT_EQ(Detail::split_component(graph, {order.data(), n, roots},
                                        num_split, max_rows, 0, subgraph_of),
                expected.tried.back());
      EXPECT_EQ(subgraph_of, expected.subgraph_of);
    }
  }
}

TEST(Algorithm3, HalvesAndDoesNotDecrement) {
  // Four starting vertices, a chain of twelve from the last of them whose end
  // needs the others, too; four sub-graphs of four. Four starts leave the chain
  // one sub-graph, two starts leave two places before it, one or three fit.
  std::vector<std::set<int>> sources(16);
  sources[4] = {3};
  for (int v = 5; v < 16; ++v) sources[v] = {v - 1};
  sources[15] = {0, 1, 2, 14};
  const auto graph = TestGraphs::make_graph(sources);
  const auto halved = algorithm3(graph, 4, next_with_room(4));
  const auto decremented = algorithm3(graph, 4, next_with_room(4), one_less);
  EXPECT_EQ(halved.tried, (std::vector<int>{4, 2, 1}));
  EXPECT_EQ(decremented.tried, (std::vector<int>{4, 3}));
  ASSERT_NE(halved.subgraph_of, decremented.subgraph_of);
  EXPECT_EQ(by_number(graph, 4).subgraph_of, halved.subgraph_of);
}

TEST(Algorithm3, GuaranteeRestsOnTheNextSubgraphWithRoom) {
  // Where a full sub-graph is an error, no number of starts is enough.
  const auto ten = TestGraphs::ten_vertices();
  for (const int max_rows : {3, 4, 5}) {
    SCOPED_TRACE(max_rows);
    EXPECT_FALSE(
        algorithm3(ten, fewest(ten, max_rows), error_when_full(max_rows))
            .success());
    EXPECT_TRUE(algorithm3(ten, fewest(ten, max_rows), next_with_room(max_rows))
                    .success());
  }
  // Sub-graphs that nothing starts stay empty then: a component with one
  // starting vertex is split into none but itself.
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    const int n = graph.num_vertices;
    if (n < 2 || find_level_sets(graph).level_map[1] != 1) continue;
    SCOPED_TRACE(name);
    EXPECT_TRUE(algorithm3(graph, 1, error_when_full(n)).success());
    for (int max_rows = n - 1; max_rows > 0; max_rows /= 2)
      EXPECT_FALSE(
          algorithm3(graph, fewest(graph, max_rows), error_when_full(max_rows))
              .success());
  }
}

}  // namespace
