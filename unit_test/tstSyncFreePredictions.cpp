// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What predictions of the algorithms without barriers are made from, and how
// they depend on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <analysis/merging/MergedLevels.hpp>
#include <kernels/triangular/level_sets/Prediction.hpp>
#include <kernels/triangular/sync_free/Prediction.hpp>
#include <kernels/triangular/sync_free_subgraphs/Prediction.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "PackedSubgraphsCheck.hpp"
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

/// Level sets of a system as predictions see them.
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
    sizes.edges.push_back(std::int64_t{rows} * longest / 2 + 1);
  }
  return sizes;
}
/// On a device.
SolveFeatures features(const LevelSizes& sizes, double cache,
                       int right_hand_sides = 1) {
  std::int64_t edges = 0;
  for (const std::int64_t e : sizes.edges) edges += e;
  return {PerformanceParameters(), edges, sizes, sizeof(double), 132, 32,
          right_hand_sides,        cache};
}

/// Calls `look` for many systems, in a cache and beyond it.
template <class Look>
void for_systems(const Look& look) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 60; ++turn) {
    const LevelSizes sizes = random_sizes(random, turn % 4 == 0, turn % 3 == 0);
    for (const double cache : {0., 5e7, 1e12})
      look(features(sizes, cache, turn % 5 == 0 ? 8 : 1), random);
  }
}
double share(std::mt19937& random) {
  return std::uniform_real_distribution<double>(0.1, 1)(random);
}

TEST(SyncFreePredictions, NeighboursNeverPredictLonger) {
  for_systems([](const SolveFeatures& f, std::mt19937& random) {
    for (const bool in_blocks : {false, true}) {
      const NeighbourShares scattered{share(random), share(random), 0};
      NeighbourShares closer = scattered;
      closer.new_rows *= share(random);
      closer.new_dependencies *= share(random);
      const double us = predict_sync_free(f, in_blocks, scattered);
      EXPECT_LE(us, predict_sync_free(f, in_blocks));
      EXPECT_LE(predict_sync_free(f, in_blocks, closer), us);
      if (!in_blocks) {
        EXPECT_LT(predict_sync_free(f, in_blocks, closer), us);
      }
      const LevelsCandidate merged{4, 20, 3, 0.1};
      EXPECT_LT(predict_merged_sync_free(f, merged, closer),
                predict_merged_sync_free(f, merged, scattered));
      EXPECT_LE(predict_merged_sync_free(f, merged, scattered),
                predict_merged_sync_free(f, merged));
    }
  });
}

/// Whose right-hand sides are apart in memory: measured on systems of one to
/// eight million rows, where launches took 2.4 to 6 times as long.
TEST(SyncFreePredictions, ManyRightHandSidesOfWideLevelSetsWantNoLaunches) {
  for (const int rows : {7000, 40000})
    for (const int columns : {32, 128}) {
      LevelSizes sizes;
      sizes.num_levels = 141;
      for (int l = 0; l < sizes.num_levels; ++l) {
        sizes.level_map.push_back(sizes.level_map.back() + rows);
        sizes.longest_row.push_back(9);
        sizes.edges.push_back(std::int64_t{4} * rows);
      }
      const auto f = features(sizes, 5e7, columns);
      EXPECT_GT(predict_level_sets(f, 8, 8), predict_sync_free(f, false));
    }
}

TEST(SyncFreePredictions, BytesPassDuringWaitsNoLongerThanTheyLast) {
  for_systems([](const SolveFeatures& f, std::mt19937& random) {
    const double bytes = 100 * share(random), waits = 10 * share(random);
    const double us = f.beside_waits(bytes, waits);
    EXPECT_LT(us, bytes);
    EXPECT_GE(us, 0.999 * SolveFeatures::beside_waiting * bytes);
    EXPECT_LE(f.beside_waits(bytes, 2 * waits), us);
    if (f.is_in_shared_cache())
      EXPECT_DOUBLE_EQ(us, SolveFeatures::beside_waiting * bytes);
    else
      EXPECT_GE(us, bytes - 3.001 * waits);
    EXPECT_EQ(f.is_in_shared_cache(),
              4 * f.bytes_us * f.p.bytes_per_us <= 3 * f.cache);
  });
}

PackedFeatures random_packed(std::mt19937& random) {
  const auto below = [&](int most) {
    return std::uniform_int_distribution<int>(1, most)(random);
  };
  PackedFeatures packed;
  packed.critical_steps = below(5000);
  packed.team_steps = below(9000);
  packed.concurrency = below(600);
  packed.step_cost = 1 + 0.35 * (below(2) - 1);
  packed.merged_levels = below(4);
  packed.entries_a_step = below(20);
  packed.coefficients = 0.5 * below(30);
  packed.subgraphs = below(700);
  packed.imports = below(900000);
  return packed;
}

TEST(SyncFreePredictions, SubgraphsSideBySideNeverPredictLonger) {
  constexpr int teams = 4;
  for_systems([&](const SolveFeatures& f, std::mt19937& random) {
    const PackedFeatures packed = random_packed(random);
    const auto us = [&](const auto& change, bool bands = false) {
      PackedFeatures changed = packed;
      changed.bands = bands;
      change(changed);
      return predict_sync_free_subgraphs(f, changed, teams);
    };
    const auto as_they_are = [](PackedFeatures&) {};
    const double now = us(as_they_are), in_bands = us(as_they_are, true);
    EXPECT_GE(now, least_of_team(f));
    const auto more_together = [](PackedFeatures& p) { p.concurrency *= 2; };
    EXPECT_LE(us(more_together), now);
    if (f.columns == 1 && packed.concurrency < 132 * teams) {
      EXPECT_LT(us(more_together), now);
    }
    EXPECT_EQ(us(more_together, true), in_bands);
    // No more run at once than the device has room for.
    EXPECT_EQ(us([&](PackedFeatures& p) { p.concurrency = 1e6; }),
              us([&](PackedFeatures& p) { p.concurrency = 132 * teams; }));
    const auto more_imports = [](PackedFeatures& p) { p.imports *= 2; };
    EXPECT_GE(us(more_imports), now);
    EXPECT_GE(us(more_imports, true), in_bands);
    EXPECT_GT(us([](PackedFeatures& p) { p.critical_steps += 100; }), now);
    EXPECT_GT(us([](PackedFeatures& p) { p.team_steps *= 2; }), now);
    const double longer_sums = us([](PackedFeatures& p) { ++p.coefficients; });
    if (f.columns == 1)
      EXPECT_GT(longer_sums, now);
    else
      EXPECT_EQ(longer_sums, now);
    const double wider = us([](PackedFeatures& p) { p.entries_a_step *= 4; });
    if (f.columns == 1)
      EXPECT_LT(wider, now);
    else
      EXPECT_EQ(wider, now);
  });
}

/// Sub-graphs whose longest path is beyond the limit of steps are predicted to
/// take longer than that time, whatever else is known of them.
TEST(SyncFreePredictions, TheLimitOfStepsLosesNoBetterSubgraphs) {
  constexpr int teams = 4;
  for_systems([&](const SolveFeatures& f, std::mt19937& random) {
    for (const bool bands : {false, true}) {
      PackedFeatures packed = random_packed(random);
      packed.bands = bands;
      const double us = predict_sync_free_subgraphs(f, packed, teams);
      const int most = most_steps_within(f, bands, packed.latency, teams, us);
      EXPECT_GE(most, packed.critical_steps);
      packed.critical_steps = most + 1;
      EXPECT_GT(predict_sync_free_subgraphs(f, packed, teams), us);
      EXPECT_EQ(most_steps_within(f, bands, packed.latency, teams, 0), 0);
    }
  });
}

/// Sub-graphs of one band are predicted as such, whatever height a band may
/// have, as their work is counted.
TEST(SyncFreePredictions, FewLevelSetsArePredictedAsOneBand) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    if (graph.num_vertices < 2) continue;
    const LevelSets levels = find_level_sets(graph);
    const auto packed_in = [&](int band_levels) {
      const PackingShape shape{band_levels, 40, 4096, 8};
      const PackedSubgraphsTest::GraphSubgraphPacker packer(graph, shape, 4, 8);
      EXPECT_TRUE(packer.possible()) << name;
      return packed_features(packer, shape.latency);
    };
    const PackedFeatures one = packed_in(0);
    EXPECT_FALSE(one.bands);
    EXPECT_GT(one.team_steps, 0);
    EXPECT_EQ(one.coefficients, 0);
    LevelSizes sizes;
    sizes.num_levels = levels.num_levels;
    sizes.level_map = {0, graph.num_vertices};
    sizes.longest_row = {5};
    const SolveFeatures f{PerformanceParameters(),
                          graph.num_edges(),
                          sizes,
                          sizeof(double),
                          132,
                          32,
                          1};
    for (const int band_levels : {levels.num_levels, 1000}) {
      const PackedFeatures high = packed_in(band_levels);
      EXPECT_FALSE(high.bands);
      EXPECT_EQ(predict_sync_free_subgraphs(f, high, 4),
                predict_sync_free_subgraphs(f, one, 4))
          << name;
    }
    if (levels.num_levels > 1) {
      EXPECT_TRUE(packed_in(levels.num_levels - 1).bands) << name;
    }
  }
}

/// A plan that may be made: what it is predicted to take, and its bytes.
struct Plan {
  double us = std::numeric_limits<double>::infinity();
  double bytes = 0;
};
Plan fastest_within(const std::vector<Plan>& plans, double bytes) {
  Plan best;
  for (const Plan& plan : plans)
    if (plan.bytes <= bytes && plan.us < best.us) best = plan;
  return best;
}

/// What memory allows decides about the plans to beat, so that sub-graphs are
/// looked at with less memory and not with more. What is chosen in the end is
/// predicted to take no longer with more memory.
TEST(SyncFreePredictions, MoreMemoryDoesNotMakeForTheSlowerChoice) {
  int looked = 0, left_out = 0, both = 0, chosen = 0;
  for_systems([&](const SolveFeatures& f, std::mt19937& random) {
    const double least = std::max(sync_free_subgraphs_not_below(f), f.begin());
    EXPECT_EQ(sync_free_subgraphs_not_below(f) > 0, f.columns == 1);
    for (const bool near : {false, true})
      for (const bool merging_pays : {false, true}) {
        std::vector<Plan> plans;
        for (int k = 0; k < 4; ++k)
          plans.push_back({4 * least * share(random), share(random)});
        // As small as it may be: it is the last resort.
        plans[0].bytes = 0;
        const Plan subgraphs{std::max(3 * least * share(random),
                                      sync_free_subgraphs_not_below(f)),
                             share(random)};
        bool here = false, not_here = false;
        double before = std::numeric_limits<double>::infinity();
        for (const double allowed : {0., 0.2, 0.4, 0.6, 0.8, 1., 1e9}) {
          Plan best = fastest_within(plans, allowed);
          const bool look =
              sync_free_subgraphs_suit(f, near, merging_pays, best.us);
          (look ? here : not_here) = true;
          if (look) best = fastest_within({best, subgraphs}, allowed);
          EXPECT_LE(best.us, before) << allowed;
          before = best.us;
          chosen += best.us == subgraphs.us;
        }
        looked += here;
        left_out += not_here;
        both += here && not_here;
      }
  });
  for (const int count : {looked, left_out, both, chosen}) EXPECT_GT(count, 20);
}

/// Near rows and systems without merged level sets are not packed in vain.
TEST(SyncFreePredictions, NoSubgraphsAreLookedAtThatCannotBeTheFastest) {
  int wide = 0, narrow = 0;
  for_systems([&](const SolveFeatures& f, std::mt19937&) {
    if (f.columns > 1) return;
    const double least = sync_free_subgraphs_not_below(f);
    for (const bool merging_pays : {false, true}) {
      EXPECT_FALSE(
          sync_free_subgraphs_suit(f, true, merging_pays, 0.999 * least));
      EXPECT_TRUE(
          sync_free_subgraphs_suit(f, true, merging_pays, 1.001 * least));
      EXPECT_FALSE(
          sync_free_subgraphs_suit(f, false, merging_pays, 0.999 * least));
    }
    (has_wide_levels(f.rows, f.sizes.num_levels) ? wide : narrow) += 1;
  });
  EXPECT_GT(wide, 0);
  EXPECT_GT(narrow, 0);
}

/// What the sample should say where it has all rows.
struct Expected {
  int rows = 0, dependencies = 0, new_rows = 0, new_dependencies = 0, near = 0;
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
      all.near += v - graph.entries(graph.row_map(v) + e) <= near_row;
    }
  }
  return all;
}

TEST(SyncFreePredictions, TheSampleTellsOfNeighbours) {
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
          EXPECT_EQ(found.near, 0) << name;
          continue;
        }
        EXPECT_DOUBLE_EQ(found.new_dependencies,
                         double(all.new_dependencies) / all.dependencies)
            << name;
        EXPECT_DOUBLE_EQ(found.near, double(all.near) / all.dependencies)
            << name;
        (found.new_dependencies < 0.5 ? with_neighbours : without) += 1;
      }
  }
  EXPECT_GT(with_neighbours, 0);
  EXPECT_GT(without, 0);
}

/// Sub-graphs under way at once: from the steps of rows that have one record
/// each, one row after the other.
double expected_concurrency(const Graph& graph, int subgraphs, int latency) {
  const std::int64_t n = graph.num_vertices;
  std::vector<int> step(n), first(subgraphs, 1 << 30), last(subgraphs, 0);
  int critical = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto g = i * subgraphs / n;
    int newest = 0;
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      const int j = graph.entries(k);
      newest = std::max(
          newest,
          step[j] + (j * std::int64_t{subgraphs} / n == g ? 0 : latency));
    }
    step[i] = newest + 1;
    first[g] = std::min(first[g], step[i]);
    last[g] = std::max(last[g], step[i]);
    critical = std::max(critical, step[i]);
  }
  double spans = 0;
  for (int g = 0; g < subgraphs; ++g) spans += last[g] - first[g] + 1;
  return std::max(1., spans / critical);
}

TEST(SyncFreePredictions, SubgraphsUnderWayAtOnceAreCounted) {
  std::vector<std::set<int>> side_by_side(400);
  for (int v = 0; v < 400; ++v)
    if (v % 50 > 0) side_by_side[v] = {v - 1};
  const std::vector<std::pair<std::string, Graph>> graphs{
      {"chains side by side", TestGraphs::make_graph(side_by_side)},
      {"chain", TestGraphs::chain_graph(330)},
      {"grid", TestGraphs::grid_graph(20, 31)},
      {"cube", TestGraphs::grid_graph(9, 8, 11)},
      {"far chains", TestGraphs::interleaved_chains(100, 6, true)},
      {"no edges", TestGraphs::make_graph(std::vector<std::set<int>>(200))}};
  for (const auto& [name, graph] : graphs)
    for (const int rows : {1000, 100, 50, 16}) {
      PackingShape shape{0, rows, 4096, 8};
      // Four lanes, each of which takes three entries of a row a step.
      const PackedSubgraphsTest::GraphSubgraphPacker packer(graph, shape, 4, 8);
      ASSERT_TRUE(packer.possible()) << name;
      EXPECT_DOUBLE_EQ(
          packer.concurrency(),
          expected_concurrency(graph, packer.num_subgraphs(), shape.latency))
          << name << ", " << rows;
      if (name == "chains side by side" && rows == 50) {
        EXPECT_EQ(packer.concurrency(), 8);
      }
      if (name == "chain") {
        EXPECT_EQ(packer.concurrency(), 1);
      }
    }
}

}  // namespace
}  // namespace Strata
