// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Partition.hpp>
#include <Strata_PlanCheck.hpp>
#include <Strata_Subgraphs.hpp>
#include <numeric>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

Partition split(const Graph& graph, const PartitionOptions& options) {
  return partition(graph, find_level_sets(graph), options);
}

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
    for (const int max_rows : {1, 2, 4, 7, 64, 1000})
      for (const auto method :
           {PartitionMethod::automatic, PartitionMethod::heuristic,
            PartitionMethod::level_bands, PartitionMethod::picciau_2017}) {
        SCOPED_TRACE(name + ", " + std::to_string(max_rows));
        PartitionOptions options;
        options.max_rows = max_rows;
        options.concurrency = max_rows % 3 * 8;
        options.method = method;
        options.work_limit = 20 * (graph.num_vertices + graph.num_edges());
        const auto result = split(graph, options);
        const auto& s = result.subgraphs;
        EXPECT_TRUE(is_feasible(graph, s, max_rows));

        // Only vertices without edges are set aside.
        const auto of = components_by_search(graph);
        std::vector<int> size(of.size(), 0);
        for (int c : of) ++size[c];
        std::vector<int> alone;
        int connected = 0, largest = 0;
        for (int v = 0; v < graph.num_vertices; ++v) {
          if (size[v] == 1) alone.push_back(v);
          if (size[v] > 1) ++connected;
          if (size[v] > 1) largest = std::max(largest, size[v]);
        }
        EXPECT_EQ(s.isolated, alone);
        EXPECT_EQ(s.num_components, connected);
        EXPECT_EQ(s.largest_component, largest);
        EXPECT_LE(s.largest(), max_rows);

        // The one taken is the best of those tried.
        ASSERT_FALSE(result.candidates.empty());
        const auto& chosen = result.candidates[result.chosen];
        for (const auto& other : result.candidates)
          EXPECT_LE(chosen.predicted_us, other.predicted_us);
        EXPECT_EQ(chosen.subgraphs, s.count);
        EXPECT_EQ(chosen.levels, s.num_levels);
        EXPECT_EQ(chosen.external_share, s.external_share());
      }
}

TEST(Subgraphs, WholeComponentsStayTogether) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    const auto of = components_by_search(graph);
    std::vector<int> size(of.size(), 0);
    for (int c : of) ++size[c];
    PartitionOptions options;
    options.max_rows = 100;
    options.work_limit = 0;
    const auto result = split(graph, options);
    EXPECT_EQ(result.candidates.size(), 1u);
    const auto& s = result.subgraphs;
    for (int v = 0; v < graph.num_vertices; ++v)
      if (size[of[v]] > 1 && size[of[v]] <= 100) {
        EXPECT_EQ(s.subgraph_of[v], s.subgraph_of[of[v]]);
        EXPECT_EQ(s.level_of[s.subgraph_of[v]], 0);
      }
  }
}

TEST(Subgraphs, PacksSmallComponents) {
  // 200 chains of 5: tightly into 10 of 100, or spread over 40 teams.
  const auto graph = TestGraphs::interleaved_chains(200, 5, false);
  PartitionOptions options;
  options.max_rows = 100;
  auto s = split(graph, options).subgraphs;
  EXPECT_EQ(s.count, 10);
  EXPECT_EQ(s.num_levels, 1);
  EXPECT_EQ(s.external_edges, 0);
  options.concurrency = 40;
  s = split(graph, options).subgraphs;
  EXPECT_EQ(s.count, 40);
  EXPECT_EQ(s.largest(), 25);
  options.concurrency = 1000;
  EXPECT_EQ(split(graph, options).subgraphs.count, 200);
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

TEST(Subgraphs, HeuristicMakesTheFewestSubgraphs) {
  // A chain must be cut into runs, each on a level of its own.
  PartitionOptions options;
  options.max_rows = 10;
  options.method = PartitionMethod::heuristic;
  const auto chain = TestGraphs::chain_graph(95);
  const auto s = split(chain, options).subgraphs;
  EXPECT_EQ(s.count, 10);
  EXPECT_EQ(s.num_levels, 10);
  EXPECT_EQ(s.external_edges, 9);
  for (int v = 0; v < 95; ++v) EXPECT_EQ(s.subgraph_of[v], v / 10);

  // The document's example, n_max = 4: some of the edges become internal.
  const auto ten = TestGraphs::ten_vertices();
  options.max_rows = 4;
  const auto t = split(ten, options).subgraphs;
  EXPECT_TRUE(is_feasible(ten, t, 4));
  EXPECT_GE(t.count, 3);
  EXPECT_GT(t.internal_edges, 0);
}

TEST(Subgraphs, BandsRunSideBySideInAGrid) {
  const auto graph = TestGraphs::grid_graph(64, 64);
  PartitionOptions options;
  options.max_rows = 64;
  options.method = PartitionMethod::level_bands;
  const auto bands = split(graph, options).subgraphs;
  options.method = PartitionMethod::heuristic;
  const auto heuristic = split(graph, options).subgraphs;
  EXPECT_EQ(heuristic.num_levels, heuristic.count);
  EXPECT_LT(bands.num_levels, heuristic.num_levels / 2);
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
    for (const auto criterion : sort_criteria) {
      const auto key = [&](int v) {
        const int c = int(children[v].size());
        switch (criterion) {
          case SortCriterion::fewest_children:
            return c;
          case SortCriterion::most_children:
            return -c;
          case SortCriterion::most_parents:
            return -parents[v];
          case SortCriterion::longest_path:
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
  std::int64_t work = 1000000;
  const int num_init =
      Detail::split_component(graph, {order.data(), 80, 16}, 8, 10,
                              Detail::RootDeal::cyclic, 0, subgraph_of, work);
  EXPECT_EQ(num_init, 1);
  EXPECT_LT(work, 1000000 - 3 * 80);
  EXPECT_TRUE(is_feasible(graph, subgraphs_from_map(graph, subgraph_of), 10));

  // With twice the sub-graphs a larger start succeeds.
  EXPECT_GT(
      Detail::split_component(graph, {order.data(), 80, 16}, 16, 10,
                              Detail::RootDeal::cyclic, 0, subgraph_of, work),
      1);
  EXPECT_TRUE(is_feasible(graph, subgraphs_from_map(graph, subgraph_of), 10));

  EXPECT_THROW(
      Detail::split_component(graph, {order.data(), 80, 16}, 7, 10,
                              Detail::RootDeal::cyclic, 0, subgraph_of, work),
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

TEST(Subgraphs, RefusesBadOptions) {
  const auto graph = TestGraphs::chain_graph(4);
  const auto refused = [&](auto&& spoil) {
    PartitionOptions options;
    spoil(options);
    try {
      split(graph, options);
    } catch (const OptionError& e) {
      return e.argument();
    }
    return std::string();
  };
  EXPECT_EQ(refused([](auto& o) { o.max_rows = 0; }),
            "PartitionOptions::max_rows");
  EXPECT_EQ(refused([](auto& o) { o.concurrency = -1; }),
            "PartitionOptions::concurrency");
  EXPECT_EQ(refused([](auto& o) { o.work_limit = -1; }),
            "PartitionOptions::work_limit");
  EXPECT_EQ(refused([](auto& o) { o.parameters.alpha = 0; }),
            "PerformanceParameters::alpha");
}

TEST(Subgraphs, CriteriaHaveNames) {
  for (const auto criterion : sort_criteria)
    EXPECT_EQ(sort_criterion_from_string(to_string(criterion)), criterion);
  EXPECT_EQ(sort_criterion_from_string("automatic"), SortCriterion::automatic);
  EXPECT_THROW(sort_criterion_from_string("best"), OptionError);
}

TEST(Subgraphs, CheckSeesEveryFault) {
  const auto graph = TestGraphs::random_graph(120, 1.2, 30, 11);
  PartitionOptions options;
  options.max_rows = 20;
  const auto good = split(graph, options).subgraphs;
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
