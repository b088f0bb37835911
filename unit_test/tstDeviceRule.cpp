// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule that chooses the algorithm on a GPU. Strata_fit_choice checks that
// its thresholds are the fitted ones, and what it costs on measured systems.
#include <gtest/gtest.h>

#include <kernels/triangular/selection/DeviceRule.hpp>
#include <random>

namespace Strata {
namespace {

using Detail::DeviceFeatures;
using Detail::DeviceRule;

/// A system on an H100, without tiles unless they may invert.
DeviceFeatures on_h100(double rows, double entries, int levels, int merged,
                       double near, bool may_invert = false) {
  // Of rows as long as the mean.
  const auto longest = static_cast<std::int64_t>(entries / (rows + 1)) + 1;
  return {rows, entries, longest, levels, merged,    1,
          near, 1024,    32,      132,    may_invert};
}
bool takes_subgraphs(const DeviceFeatures& f) {
  return DeviceRule::choose(f).algorithm == Algorithm::sync_free_subgraphs;
}

TEST(DeviceRule, ChoosesOneOfThreeAndSaysWhy) {
  std::mt19937 random(5);
  const auto below = [&](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  int subgraphs = 0, tiles = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    const int levels = 1 + below(turn % 2 == 0 ? 30 : 3000);
    const double rows = double(levels) * (1 + below(turn % 3 == 0 ? 20 : 5000));
    DeviceFeatures f = on_h100(rows, rows * below(60), levels, 1 + below(15),
                               below(100) / 100.);
    if (turn % 5 == 0) f.merged_levels = 1;
    f.may_invert = turn % 7 != 0;
    const auto found = DeviceRule::choose(f), again = DeviceRule::choose(f);
    EXPECT_EQ(found.algorithm, again.algorithm);
    EXPECT_EQ(found.reason, again.reason);
    EXPECT_FALSE(found.reason.empty());
    if (takes_subgraphs(f)) {
      ++subgraphs;
      EXPECT_GT(levels, 1);
    } else if (found.algorithm == Algorithm::tiles) {
      ++tiles;
      EXPECT_GT(levels, 1);
      EXPECT_TRUE(f.may_invert);
    } else {
      EXPECT_EQ(found.algorithm, Algorithm::sync_free);
    }
  }
  EXPECT_GT(tiles, 100);
  EXPECT_GT(subgraphs, 400);
  EXPECT_LT(subgraphs, 3600);
}

TEST(DeviceRule, TilesAreForNarrowLevelSetsOfLongRows) {
  const auto takes_tiles = [](const DeviceFeatures& f) {
    return DeviceRule::choose(f).algorithm == Algorithm::tiles;
  };
  // As many entries for a row as a warp has lanes, and three tenths more.
  EXPECT_TRUE(takes_tiles(on_h100(10000, 420000, 1000, 1, 0.5, true)));
  EXPECT_FALSE(takes_tiles(on_h100(10000, 410000, 1000, 1, 0.5, true)));
  EXPECT_FALSE(takes_tiles(on_h100(200000, 8400000, 1000, 1, 0.5, true)));
  // Fewer, with some long rows: a complete factor.
  DeviceFeatures factor = on_h100(20000, 400000, 700, 6, 0.6, true);
  EXPECT_FALSE(takes_tiles(factor));
  factor.longest_row = 400;
  EXPECT_TRUE(takes_tiles(factor));
  factor.may_invert = false;
  EXPECT_FALSE(takes_tiles(factor));
  // Several right-hand sides of a small system of many level sets.
  DeviceFeatures small = on_h100(10000, 30000, 100, 1, 0.3, true);
  EXPECT_FALSE(takes_tiles(small));
  small.columns = 8;
  EXPECT_TRUE(takes_tiles(small));
  small.columns = 32;
  EXPECT_FALSE(takes_tiles(small));
}

TEST(DeviceRule, SubgraphsAreForNarrowLevelSets) {
  // Twelve and more merged level sets of a sub-graph, near rows.
  EXPECT_TRUE(takes_subgraphs(on_h100(20000, 60000, 1000, 4, 0.5)));
  EXPECT_FALSE(takes_subgraphs(on_h100(22000, 66000, 1000, 4, 0.5)));
  EXPECT_FALSE(takes_subgraphs(on_h100(20000, 60000, 1000, 4, 0.2)));
  // Rows of a few to a level set, however far.
  EXPECT_TRUE(takes_subgraphs(on_h100(3000, 9000, 1000, 4, 0)));
  // Without entries there is no path.
  EXPECT_FALSE(takes_subgraphs(on_h100(1e6, 0, 1, 1, 0)));
  EXPECT_FALSE(takes_subgraphs(on_h100(0, 0, 0, 1, 0)));
}

TEST(DeviceRule, SubgraphsAreForLongRowsAndForManyComponents) {
  EXPECT_TRUE(takes_subgraphs(on_h100(20000, 20000 * 31, 400, 4, 0.4)));
  EXPECT_FALSE(takes_subgraphs(on_h100(20000, 20000 * 30, 400, 4, 0.4)));
  EXPECT_TRUE(takes_subgraphs(on_h100(300000, 900000, 84, 3, 0.99)));
  EXPECT_FALSE(takes_subgraphs(on_h100(300000, 900000, 84, 3, 0.85)));
  EXPECT_FALSE(takes_subgraphs(on_h100(30000, 90000, 84, 3, 0.99)));
}

TEST(DeviceRule, WithoutMergingSubgraphsAreForWiderLevelSets) {
  const auto unmerged = [](double rows, double of_row, int levels,
                           double near) {
    return takes_subgraphs(on_h100(rows, of_row * rows, levels, 1, near));
  };
  EXPECT_TRUE(unmerged(1000000, 2, 1999, 0.5));   // grid2d:1000
  EXPECT_FALSE(unmerged(1000000, 3, 298, 0.66));  // grid3d:100
  EXPECT_TRUE(unmerged(17758, 3, 174, 0.3));      // memplus
  EXPECT_FALSE(unmerged(17758, 3, 174, 0.2));
  EXPECT_FALSE(unmerged(10240, 4, 13, 0.5));  // few level sets
  // Near rows, and long ones.
  EXPECT_TRUE(unmerged(300000, 3, 20, 0.9));
  EXPECT_TRUE(unmerged(2000, 80, 200, 0.1));
  EXPECT_FALSE(unmerged(1000, 0, 1, 1));
}

TEST(DeviceRule, RowsThatAreLongButNotTooLongAreForSubgraphs) {
  auto memplus = on_h100(17758, 54196, 174, 3, 0.25);
  memplus.longest_row = 144;
  EXPECT_TRUE(takes_subgraphs(memplus));
  memplus.longest_row = 100;
  EXPECT_FALSE(takes_subgraphs(memplus));
  memplus.longest_row = 300;
  EXPECT_FALSE(takes_subgraphs(memplus));
}

TEST(DeviceRule, SeveralRightHandSidesAreForSubgraphsIfThoseHaveLevelSets) {
  const auto of_columns = [](double rows, int levels, double near,
                             std::int64_t longest) {
    auto f = on_h100(rows, 3 * rows, levels, 1, near);
    f.columns = 32;
    f.longest_row = longest;
    return takes_subgraphs(f);
  };
  EXPECT_TRUE(of_columns(1138, 21, 0.5, 11));        // 1138_bus
  EXPECT_FALSE(of_columns(100000, 319, 0.7, 1773));  // circuit:100000
  EXPECT_TRUE(of_columns(100000, 319, 0.7, 600));
  EXPECT_FALSE(of_columns(1000000, 298, 0.66, 4));  // grid3d:100
  EXPECT_TRUE(of_columns(1000000, 298, 0.9, 4));
  EXPECT_FALSE(of_columns(1000, 1, 0.9, 1));
}

/// What is wide on one card is narrow on another.
TEST(DeviceRule, ThresholdsAreInUnitsOfTheDevice) {
  // As much scratch again holds level sets of as many rows again.
  for (const double factor : {0.25, 0.5, 2., 4.})
    for (const double width : {5., 10., 20., 22., 40., 100.}) {
      const auto one = on_h100(1000 * width, 3000 * width, 1000, 4, 0.5);
      auto other =
          on_h100(1000 * width * factor, 3000 * width * factor, 1000, 4, 0.5);
      other.subgraph_rows = static_cast<int>(1024 * factor);
      EXPECT_EQ(takes_subgraphs(one), takes_subgraphs(other)) << width;
    }
  // Half the multiprocessors are full with half the rows.
  auto half = on_h100(150000, 450000, 84, 3, 0.99);
  EXPECT_FALSE(takes_subgraphs(half));
  half.multiprocessors = 66;
  EXPECT_TRUE(takes_subgraphs(half));
  // Wider warps take longer rows.
  auto long_rows = on_h100(20000, 20000 * 40, 400, 4, 0.4);
  EXPECT_TRUE(takes_subgraphs(long_rows));
  long_rows.lanes = 64;
  EXPECT_FALSE(takes_subgraphs(long_rows));
}

}  // namespace
}  // namespace Strata
