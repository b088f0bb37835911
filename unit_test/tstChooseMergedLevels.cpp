// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the number of merged level sets is chosen from.
#include <gtest/gtest.h>

#include <algorithm>
#include <kernels/triangular/merging/ChooseMergedLevels.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "TestGraphs.hpp"

namespace Strata {
namespace {

using namespace Detail;
using Space = Kokkos::DefaultExecutionSpace;
using TestGraphs::Graph;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Level sets of a system as the model sees them.
LevelSizes random_sizes(std::mt19937& random, bool long_rows, bool narrow) {
  const auto below = [&](int most) {
    return std::uniform_int_distribution<int>(1, most)(random);
  };
  LevelSizes sizes;
  sizes.num_levels = below(300);
  for (int l = 0; l < sizes.num_levels; ++l) {
    const int rows = below(narrow ? 200 : 5000),
              longest = below(long_rows ? 9000 : 40);
    sizes.level_map.push_back(sizes.level_map.back() + rows);
    sizes.longest_row.push_back(longest);
  }
  return sizes;
}
MergingModel model_of(const LevelSizes& sizes, double cache) {
  // Rows half as long as the longest of their level set.
  std::int64_t edges = 0;
  for (int l = 0; l < sizes.num_levels; ++l)
    edges += sizes.rows(l) * sizes.longest_row[l] / 2 + 1;
  return {edges, sizes, sizeof(double), 32, cache};
}

/// Calls `look` for many systems, in a cache and beyond it.
template <class Look>
void for_systems(const Look& look) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 60; ++turn) {
    const LevelSizes sizes = random_sizes(random, turn % 4 == 0, turn % 3 == 0);
    for (const double cache : {0., 5e7, 1e12})
      look(model_of(sizes, cache), random);
  }
}
double share(std::mt19937& random) {
  return std::uniform_real_distribution<double>(0.1, 1)(random);
}

TEST(ChooseMergedLevels, NeighboursNeverTakeLonger) {
  for_systems([](const MergingModel& model, std::mt19937& random) {
    for (const bool in_blocks : {false, true}) {
      const NeighbourShares scattered{share(random), share(random)};
      NeighbourShares closer = scattered;
      closer.new_rows *= share(random);
      closer.new_dependencies *= share(random);
      const double us = model.apart(in_blocks, scattered);
      EXPECT_LE(us, model.apart(in_blocks, {}));
      EXPECT_LE(model.apart(in_blocks, closer), us);
      if (!in_blocks) {
        EXPECT_LT(model.apart(in_blocks, closer), us);
      }
      const LevelsCandidate merged{4, 20, 3, 0.1};
      EXPECT_LT(model.merged(merged, closer), model.merged(merged, scattered));
      EXPECT_LE(model.merged(merged, scattered), model.merged(merged, {}));
    }
  });
}

/// Of a system that the cache holds, bytes take less.
TEST(ChooseMergedLevels, ACacheHidesBytes) {
  std::mt19937 random(9);
  for (int turn = 0; turn < 60; ++turn) {
    const LevelSizes sizes = random_sizes(random, turn % 4 == 0, turn % 3 == 0);
    const NeighbourShares neighbours{share(random), share(random)};
    const LevelsCandidate merged{4, 20, 3, 0.1};
    const auto none = model_of(sizes, 0), all = model_of(sizes, 1e12);
    EXPECT_LE(all.apart(false, neighbours), none.apart(false, neighbours));
    EXPECT_LE(all.merged(merged, neighbours), none.merged(merged, neighbours));
  }
}

/// Of a system that the cache holds: beyond it, longer waits hide more bytes.
TEST(ChooseMergedLevels, LongRowsAndThoseThatStayTakeLonger) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 60; ++turn) {
    const LevelSizes sizes = random_sizes(random, turn % 4 == 0, turn % 3 == 0);
    const auto model = model_of(sizes, 1e12);
    const NeighbourShares neighbours{share(random), share(random)};
    const double us = model.merged({4, 20, 3, 0.1}, neighbours);
    EXPECT_LT(us, model.merged({4, 20, 3, 0.2}, neighbours));
    EXPECT_LE(us, model.merged({4, 40, 3, 0.1}, neighbours));
    EXPECT_LE(us, model.merged({4, 20, 9, 0.1}, neighbours));
    EXPECT_LT(model.plan_bytes({4, 20, 3, 0}, true),
              model.plan_bytes({4, 20, 3, 0}, false));
    EXPECT_LT(model.plan_bytes({4, 20, 3, 0}, true),
              model.plan_bytes({4, 40, 3, 0}, true));
  }
}

TEST(ChooseMergedLevels, TakesTheNumberThatIsAskedFor) {
  const Space exec;
  const auto graph = TestGraphs::chain_graph(3000);
  TriangularAnalysis<Space> analysis;
  analysis.graph = mirror_graph(Space(), graph);
  analysis.find_order(exec);
  const auto any = [](std::size_t) { return true; };
  const auto choose = [&](int asked, const auto& may_have) {
    return choose_merged_levels<double>(exec, analysis, asked, 60000.,
                                        may_have);
  };
  for (const int asked : {1, 5}) {
    const auto found = choose(asked, any);
    EXPECT_EQ(found.levels, asked);
    EXPECT_TRUE(found.worthwhile.empty());
  }
  // A chain gains from any number, if there is memory for it.
  const auto best = choose(0, any);
  EXPECT_GT(best.levels, 1);
  EXPECT_GT(best.fewer(best.levels - 1), 1);
  EXPECT_LT(best.fewer(best.levels - 1), best.levels);
  EXPECT_EQ(best.fewer(1), 1);
  const auto none = choose(0, [](std::size_t) { return false; });
  EXPECT_EQ(none.levels, 1);
}

/// What the sample should say where it has all rows.
struct Expected {
  int rows = 0, dependencies = 0, new_rows = 0, new_dependencies = 0;
};
template <class Vertices>
Expected expected(const Graph& graph, const Vertices& vertex,
                  const std::vector<int>& level_of, int a_sector) {
  std::vector<int> place(graph.num_vertices);
  for (int p = 0; p < graph.num_vertices; ++p) place[vertex(p)] = p;
  Expected all;
  for (int p = 0; p < graph.num_vertices; ++p) {
    std::vector<std::vector<int>> sectors(2);
    for (const int back : {0, 1}) {
      if (back > p || level_of[vertex(p - back)] != level_of[vertex(p)])
        continue;
      const int v = vertex(p - back);
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
        sectors[back].push_back(place[graph.entries(k)] / a_sector);
    }
    const int v = vertex(p);
    const bool begins = p == 0 || level_of[vertex(p - 1)] != level_of[v];
    ++all.rows;
    all.new_rows += begins || graph.row_of(vertex(p - 1)) / a_sector !=
                                  graph.row_of(v) / a_sector;
    for (std::size_t e = 0; e < std::min<std::size_t>(64, sectors[0].size());
         ++e) {
      ++all.dependencies;
      all.new_dependencies +=
          e >= sectors[1].size() || sectors[0][e] != sectors[1][e];
    }
  }
  return all;
}

TEST(ChooseMergedLevels, TheSampleTellsOfNeighbours) {
  auto graphs = TestGraphs::all_graphs();
  graphs.emplace_back("long arrow", TestGraphs::arrow_graph(900));
  graphs.emplace_back("far chains",
                      TestGraphs::interleaved_chains(300, 3, false));
  bool reversed = false;
  int with_neighbours = 0, without = 0;
  for (const auto& [name, given] : graphs) {
    if (given.num_vertices < 2) continue;
    ASSERT_LE(given.num_vertices, 1024);
    const Graph graph =
        TestGraphs::in_order(given, reversed = !reversed, false);
    const Space exec;
    const auto device = mirror_graph(Space(), graph);
    const auto order =
        order_by_level(exec, device, WithinLevel::longest_rows_first);
    const auto vertex = on_host(order.vertex);
    const std::vector<int> level_of = find_level_sets(graph).level_of;
    for (const std::size_t scalar : {4, 8, 16, 64})
      for (const int first : {1, 3}) {
        WorkPool<Space> pool(exec, std::size_t{1} << 20);
        const NeighbourShares found =
            sample_merged_levels(exec, device, order, {{first, 2, 5}, 3},
                                 scalar, pool)
                .neighbours;
        const Expected all =
            expected(graph, vertex, level_of,
                     scalar > 32 ? 1 : 32 / static_cast<int>(scalar));
        EXPECT_DOUBLE_EQ(found.new_rows, double(all.new_rows) / all.rows)
            << name;
        if (all.dependencies == 0) {
          EXPECT_EQ(found.new_dependencies, 1) << name;
          continue;
        }
        EXPECT_DOUBLE_EQ(found.new_dependencies,
                         double(all.new_dependencies) / all.dependencies)
            << name;
        (found.new_dependencies < 0.5 ? with_neighbours : without) += 1;
      }
  }
  EXPECT_GT(with_neighbours, 0);
  EXPECT_GT(without, 0);
}

}  // namespace
}  // namespace Strata
