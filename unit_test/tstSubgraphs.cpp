// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Partition.hpp>
#include <Strata_Subgraphs.hpp>
#include <numeric>

#include "PlanCheck.hpp"
#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

Partition split(const Graph& graph, int max_rows) {
  return partition(graph, find_level_sets(graph), max_rows);
}

const auto all_criteria = Detail::enumerators<Detail::SortCriterion>();

/// Smallest vertex of each vertex's component, by plain search.
std::vector<int> components_by_search(const Graph& graph) {
  const int n = graph.num_vertices;
  std::vector<std::vector<int>> beside(n);
  for (int i = 0; i < n; ++i)
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      beside[i].push_back(graph.entries(k));
      beside[graph.entries(k)].push_back(i);
    }
  std::vector<int> of(n, -1);
  for (int v = 0; v < n; ++v) {
    if (of[v] >= 0) continue;
    std::vector<int> open{v};
    of[v] = v;
    while (!open.empty()) {
      const int u = open.back();
      open.pop_back();
      for (int w : beside[u])
        if (of[w] < 0) {
          of[w] = v;
          open.push_back(w);
        }
    }
  }
  return of;
}

TEST(Subgraphs, AreFeasibleForEveryGraphAndSize) {
  for (const auto& [name, graph] : TestGraphs::all_graphs())
    for (const int max_rows : {1, 2, 4, 7, 64, 1000}) {
      SCOPED_TRACE(name + ", " + std::to_string(max_rows));
      const auto s = split(graph, max_rows).subgraphs;
      EXPECT_TRUE(is_feasible(graph, s, max_rows));

      // Only vertices without edges are set aside.
      const auto of = components_by_search(graph);
      std::vector<int> size(of.size(), 0);
      for (int c : of) ++size[c];
      std::vector<int> alone;
      for (int v = 0; v < graph.num_vertices; ++v)
        if (size[v] == 1) alone.push_back(v);
      EXPECT_EQ(s.isolated, alone);
      EXPECT_LE(s.largest(), max_rows);
    }
}

TEST(Subgraphs, ThePartitionOfTheSmallestPredictionIsKept) {
  const PerformanceParameters parameters;
  std::set<std::string> kept;
  for (const auto& [name, graph] : TestGraphs::all_graphs())
    for (const int max_rows : {2, 7, 64}) {
      SCOPED_TRACE(name + ", " + std::to_string(max_rows));
      const auto levels = find_level_sets(graph);
      const auto best = partition(graph, levels, max_rows, parameters);
      const auto predict = [&, &graph = graph](const Subgraphs& s) {
        return predict_subgraphs(parameters, s, count_slots(graph, s));
      };
      EXPECT_EQ(best.predicted_us, predict(best.subgraphs));
      const auto whole = Detail::pack_whole_components(graph, max_rows);
      if (whole.sizes.empty()) {
        EXPECT_EQ(best.criterion, "whole components");
        continue;
      }
      bool found = false;
      for (const auto criterion : all_criteria) {
        const auto s = subgraphs_from_map(
            graph, Detail::split_large_components(graph, levels, whole,
                                                  max_rows, criterion));
        EXPECT_LE(best.predicted_us, predict(s));
        if (best.criterion == Detail::enumerator_name(criterion)) {
          EXPECT_EQ(best.subgraphs.subgraph_of, s.subgraph_of);
          found = true;
        }
      }
      EXPECT_TRUE(found) << best.criterion;
      kept.insert(best.criterion);
    }
  EXPECT_GT(kept.size(), 2u);
}

TEST(Subgraphs, WholeComponentsStayTogether) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    const auto of = components_by_search(graph);
    std::vector<int> size(of.size(), 0);
    for (int c : of) ++size[c];
    const auto s = split(graph, 100).subgraphs;
    for (int v = 0; v < graph.num_vertices; ++v)
      if (size[of[v]] > 1 && size[of[v]] <= 100) {
        EXPECT_EQ(s.subgraph_of[v], s.subgraph_of[of[v]]);
        EXPECT_EQ(s.level_of[s.subgraph_of[v]], 0);
      }
  }
}

TEST(Subgraphs, PacksSmallComponents) {
  // 200 chains of 5.
  const auto s =
      split(TestGraphs::interleaved_chains(200, 5, false), 100).subgraphs;
  EXPECT_EQ(s.count, 10);
  EXPECT_EQ(s.num_levels, 1);
  EXPECT_EQ(s.external_edges, 0);
}

TEST(Subgraphs, FirstFitFillsTheFirstBinWithRoom) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const int capacity = 10 + trial;
    std::vector<int> sizes(trial * 7);
    for (int& size : sizes)
      size = std::uniform_int_distribution<int>(1, capacity)(random);
    std::vector<int> expected, filled;
    for (int size : sizes) {
      std::size_t bin = 0;
      while (bin < filled.size() && filled[bin] + size > capacity) ++bin;
      if (bin == filled.size()) filled.push_back(0);
      filled[bin] += size;
      expected.push_back(int(bin));
    }
    EXPECT_EQ(Detail::pack_first_fit(sizes, capacity), expected);
  }
}

TEST(Subgraphs, LargeComponentsGetTheFewestSubgraphs) {
  // A chain must be cut into runs, each on a level of its own.
  const auto chain = TestGraphs::chain_graph(95);
  const auto s = split(chain, 10).subgraphs;
  EXPECT_EQ(s.count, 10);
  EXPECT_EQ(s.num_levels, 10);
  EXPECT_EQ(s.external_edges, 9);
  for (int v = 0; v < 95; ++v) EXPECT_EQ(s.subgraph_of[v], v / 10);

  // The document's example, n_max = 4: some of the edges become internal.
  const auto ten = TestGraphs::ten_vertices();
  const auto t = split(ten, 4).subgraphs;
  EXPECT_TRUE(is_feasible(ten, t, 4));
  EXPECT_EQ(t.count, 3);
  EXPECT_GT(t.internal_edges, 0);
}

TEST(Subgraphs, SplitOrderIsTheOneOfAlgorithm3) {
  // Follows V_next as the document has it, container by container.
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    const int n = graph.num_vertices;
    std::vector<std::vector<int>> children(n);
    std::vector<int> missing(n, 0), height(n, 0);
    for (int i = n - 1; i >= 0; --i)
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        children[graph.entries(k)].push_back(i);
        height[graph.entries(k)] =
            std::max(height[graph.entries(k)], height[i] + 1);
        ++missing[i];
      }
    const auto parents = missing;
    for (const auto criterion : all_criteria) {
      const auto key = [&](int v) {
        const int c = int(children[v].size());
        switch (criterion) {
          case Detail::SortCriterion::fewest_children:
            return c;
          case Detail::SortCriterion::most_children:
            return -c;
          case Detail::SortCriterion::most_parents:
            return -parents[v];
          case Detail::SortCriterion::longest_path:
            return -height[v];
          default:
            return 0;
        }
      };
      auto left = parents;
      std::vector<int> expected, next;
      for (int v = 0; v < n; ++v)
        if (left[v] == 0) next.push_back(v);
      while (!next.empty()) {
        std::sort(next.begin(), next.end(), [&](int a, int b) {
          return std::make_pair(key(a), a) < std::make_pair(key(b), b);
        });
        std::vector<int> after;
        for (int v : next) {
          expected.push_back(v);
          for (int c : children[v])
            if (--left[c] == 0) after.push_back(c);
        }
        next = after;
      }
      EXPECT_EQ(Detail::split_order(graph, find_level_sets(graph),
                                    std::vector<int>(n, 0), 1, criterion),
                expected);
    }
  }
}

TEST(Subgraphs, HalvesTheStartUntilItFits) {
  // Sixteen roots dealt out to as many sub-graphs as there may be; a chain
  // from the last fills every later one, and runs out of room.
  std::vector<std::set<int>> sources(80);
  for (int v = 0; v < 16; ++v) sources[16].insert(v);
  for (int v = 17; v < 80; ++v) sources[v] = {v - 1};
  const auto graph = TestGraphs::make_graph(sources);
  std::vector<int> order(80), subgraph_of(80, -1);
  std::iota(order.begin(), order.end(), 0);
  EXPECT_EQ(Detail::split_component(graph, {order.data(), 80, 16}, 8, 10, 0,
                                    subgraph_of),
            1);
  EXPECT_TRUE(is_feasible(graph, subgraphs_from_map(graph, subgraph_of), 10));

  // With twice the sub-graphs a larger start succeeds.
  EXPECT_GT(Detail::split_component(graph, {order.data(), 80, 16}, 16, 10, 0,
                                    subgraph_of),
            1);
  EXPECT_TRUE(is_feasible(graph, subgraphs_from_map(graph, subgraph_of), 10));

  EXPECT_THROW(Detail::split_component(graph, {order.data(), 80, 16}, 7, 10, 0,
                                       subgraph_of),
               PartitionError);
}

TEST(Subgraphs, RefusesBadMaps) {
  const auto graph = TestGraphs::chain_graph(4);
  EXPECT_THROW(subgraphs_from_map(graph, {0, 0, 0}), PartitionError);
  EXPECT_THROW(subgraphs_from_map(graph, {1, 1, 0, 0}), PartitionError);
  EXPECT_THROW(subgraphs_from_map(graph, {0, 0, 0, -1}), PartitionError);
  EXPECT_THROW(subgraphs_from_map(graph, {-1, 0, 0, 0}), PartitionError);
  EXPECT_THROW(subgraphs_from_map(graph, {0, 0, 0, -2}), PartitionError);
  EXPECT_THROW(subgraphs_from_map(graph, {0, 0, 0, 4}), PartitionError);
  const auto s = subgraphs_from_map(graph, {0, 0, 3, 3});
  EXPECT_EQ(s.count, 2);
  EXPECT_EQ(s.num_levels, 2);
  EXPECT_EQ(s.internal_edges, 2);
  EXPECT_DOUBLE_EQ(s.external_share(), 1. / 3);
}

TEST(Subgraphs, RefusesBadArguments) {
  const auto graph = TestGraphs::chain_graph(4);
  const auto refused = [&](int max_rows, PerformanceParameters parameters) {
    try {
      partition(graph, find_level_sets(graph), max_rows, parameters);
    } catch (const OptionError& e) {
      return e.argument();
    }
    return std::string();
  };
  EXPECT_EQ(refused(0, {}), "max_rows");
  PerformanceParameters impossible;
  impossible.alpha = 0;
  EXPECT_EQ(refused(1, impossible), "PerformanceParameters::alpha");
}

TEST(Subgraphs, CheckSeesEveryFault) {
  const auto graph = TestGraphs::random_graph(120, 1.2, 30, 11);
  const auto good = split(graph, 20).subgraphs;
  ASSERT_TRUE(is_feasible(graph, good, 20));
  ASSERT_GT(good.num_levels, 1);
  ASSERT_FALSE(good.isolated.empty());
  EXPECT_FALSE(is_feasible(graph, good, good.largest() - 1));
  const auto broken = [&](auto&& spoil) {
    auto s = good;
    spoil(s);
    return !is_feasible(graph, s, 20);
  };
  EXPECT_TRUE(broken([](auto& s) { s.subgraph_of[s.vertices[0]] = 1; }));
  EXPECT_TRUE(broken([](auto& s) { ++s.local_index[s.vertices[3]]; }));
  EXPECT_TRUE(broken([](auto& s) { std::swap(s.vertices[0], s.vertices[1]); }));
  EXPECT_TRUE(broken([](auto& s) { s.vertices[0] = s.vertices[1]; }));
  EXPECT_TRUE(broken([](auto& s) { s.vertices[0] = -1; }));
  EXPECT_TRUE(broken([](auto& s) { s.isolated[0] = s.vertices[0]; }));
  EXPECT_TRUE(broken([](auto& s) { s.isolated[0] = 120; }));
  EXPECT_TRUE(broken([](auto& s) { s.isolated.pop_back(); }));
  EXPECT_TRUE(broken([](auto& s) { ++s.vertex_map[1]; }));
  EXPECT_TRUE(broken([](auto& s) { ++s.level_of[0]; }));
  EXPECT_TRUE(broken([](auto& s) { ++s.level_map[1]; }));
  EXPECT_TRUE(broken([](auto& s) { ++s.num_levels; }));
  EXPECT_TRUE(broken([](auto& s) { std::swap(s.order[0], s.order.back()); }));
  EXPECT_TRUE(broken([](auto& s) { s.order[0] = -1; }));
  EXPECT_TRUE(broken([](auto& s) { ++s.internal_edges; }));

  // Sub-graphs exchanged wholesale: edges then lead backwards.
  const auto chain = TestGraphs::chain_graph(4);
  auto s = subgraphs_from_map(chain, {0, 0, 1, 1});
  s.subgraph_of = {1, 1, 0, 0};
  s.vertices = {2, 3, 0, 1};
  EXPECT_FALSE(is_feasible(chain, s, 2));
}

}  // namespace
