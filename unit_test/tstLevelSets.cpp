// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_LevelSets.hpp>
#include <Strata_PlanCheck.hpp>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

TEST(LevelSets, AgreeWithRelaxation) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    const auto sets = find_level_sets(graph);
    EXPECT_TRUE(are_level_sets(graph, sets));

    // Longest paths by raising levels until nothing changes.
    std::vector<int> level(graph.num_vertices, 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = graph.num_vertices - 1; i >= 0; --i)
        for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
          if (level[i] <= level[graph.entries(k)]) {
            level[i] = level[graph.entries(k)] + 1;
            changed = true;
          }
    }
    EXPECT_EQ(level, sets.level_of);
  }
}

TEST(LevelSets, KnownNumbers) {
  EXPECT_EQ(find_level_sets(Graph{}).num_levels, 0);
  EXPECT_EQ(find_level_sets(TestGraphs::make_graph({{}})).num_levels, 1);
  EXPECT_EQ(find_level_sets(TestGraphs::chain_graph(50)).num_levels, 50);
  EXPECT_EQ(find_level_sets(TestGraphs::arrow_graph(50)).num_levels, 2);
  EXPECT_EQ(find_level_sets(TestGraphs::grid_graph(10, 20)).num_levels, 29);
  EXPECT_EQ(find_level_sets(TestGraphs::grid_graph(5, 6, 7)).num_levels, 16);
}

TEST(LevelSets, CheckSeesEveryFault) {
  const auto graph = TestGraphs::grid_graph(6, 5);
  const auto good = find_level_sets(graph);
  ASSERT_TRUE(are_level_sets(graph, good));
  const auto broken = [&](auto&& spoil) {
    auto sets = good;
    spoil(sets);
    return !are_level_sets(graph, sets);
  };
  EXPECT_TRUE(broken([](LevelSets& s) { ++s.level_of[7]; }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.level_of.pop_back(); }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.vertices.pop_back(); }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.vertices[3] = -1; }));
  EXPECT_TRUE(
      broken([](LevelSets& s) { std::swap(s.vertices[1], s.vertices[2]); }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.vertices[2] = s.vertices[1]; }));
  EXPECT_TRUE(broken([](LevelSets& s) { ++s.level_map[2]; }));
  EXPECT_TRUE(broken([](LevelSets& s) { --s.level_map.back(); }));
  EXPECT_TRUE(broken([](LevelSets& s) { ++s.num_levels; }));
}

}  // namespace
