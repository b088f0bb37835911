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

/// A system on an H100, with rows as long as the mean.
DeviceFeatures on_h100(double rows, double entries, int levels, int merged) {
  const auto longest = static_cast<std::int64_t>(entries / (rows + 1)) + 1;
  return {rows, entries, longest, levels, merged, 1, 32, 132, true};
}
/// @param steps  of the chain of tiles
bool takes_tiles(const DeviceFeatures& f, int steps = 1) {
  return DeviceRule::choose(f, [&] { return steps; }).algorithm ==
         Algorithm::tiles;
}

TEST(DeviceRule, ChoosesOneOfTwoAndSaysWhy) {
  std::mt19937 random(5);
  const auto below = [&](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  int tiles = 0, one_by_one = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    const int levels = 1 + below(turn % 2 == 0 ? 30 : 3000);
    const double rows = double(levels) * (1 + below(turn % 3 == 0 ? 20 : 5000));
    DeviceFeatures f = on_h100(rows, rows * below(60), levels, 1 + below(15));
    if (turn % 5 == 0) f.merged_levels = 1;
    if (turn % 4 == 0) f.columns = 1 + below(40);
    f.may_invert = turn % 7 != 0;
    const int steps = 1 + below(levels);
    const auto count = [&] { return steps; };
    const auto found = DeviceRule::choose(f, count),
               again = DeviceRule::choose(f, count);
    EXPECT_EQ(found.algorithm, again.algorithm);
    EXPECT_EQ(found.reason, again.reason);
    EXPECT_FALSE(found.reason.empty());
    if (takes_tiles(f, steps)) {
      ++tiles;
      EXPECT_GT(levels, 1);
      EXPECT_TRUE(f.may_invert);
    } else {
      ++one_by_one;
      EXPECT_EQ(found.algorithm, Algorithm::sync_free);
    }
  }
  EXPECT_GT(tiles, 400);
  EXPECT_GT(one_by_one, 400);
}

TEST(DeviceRule, TilesAreForShorterChains) {
  // A step of `sync_free` takes as long as 1.3 of tiles.
  const DeviceFeatures f = on_h100(22000, 22000, 1000, 4);
  EXPECT_TRUE(takes_tiles(f, 325));
  EXPECT_FALSE(takes_tiles(f, 326));
  EXPECT_TRUE(takes_tiles(on_h100(22000, 22000, 1000, 1), 1300));
  // Few steps are enough if a row has 102.4 entries or more.
  DeviceFeatures longer = on_h100(22000, 22000, 24, 4);
  EXPECT_FALSE(takes_tiles(longer, 27));
  longer.longest_row = 102;
  EXPECT_FALSE(takes_tiles(longer, 27));
  longer.longest_row = 103;
  EXPECT_TRUE(takes_tiles(longer, 27));
  EXPECT_FALSE(takes_tiles(longer, 28));
  // Nobody waits.
  EXPECT_FALSE(takes_tiles(on_h100(10, 0, 1, 1)));
  EXPECT_FALSE(takes_tiles(on_h100(0, 0, 0, 1)));
  // Componentwise.
  DeviceFeatures row_by_row = f;
  row_by_row.may_invert = false;
  EXPECT_FALSE(takes_tiles(row_by_row, 10));
}

/// A pass over the pattern takes its time.
TEST(DeviceRule, TilesAreCountedWhereTheyMayWin) {
  const auto counts = [](const DeviceFeatures& f) {
    int times = 0;
    DeviceRule::choose(f, [&] {
      ++times;
      return 1;
    });
    return times;
  };
  EXPECT_EQ(counts(on_h100(800e3, 1e6, 1000, 1)), 1);
  DeviceFeatures wide = on_h100(801e3, 1e6, 1000, 1);
  EXPECT_EQ(counts(wide), 0);
  wide.longest_row = 103;
  EXPECT_EQ(counts(wide), 1);
  wide.rows = 7200e3;
  EXPECT_EQ(counts(wide), 1);
  wide.rows = 7201e3;
  EXPECT_EQ(counts(wide), 0);
  // Few steps, merged or not.
  EXPECT_EQ(counts(on_h100(1000, 2000, 4, 1)), 0);
  EXPECT_EQ(counts(on_h100(1000, 2000, 5, 1)), 1);
  DeviceFeatures merged = on_h100(1000, 2000, 20, 5);
  EXPECT_EQ(counts(merged), 0);
  // Few level sets, if rows are long.
  merged.longest_row = 103;
  EXPECT_EQ(counts(merged), 1);
  merged.levels = 4;
  merged.merged_levels = 1;
  EXPECT_EQ(counts(merged), 0);
  DeviceFeatures columns = on_h100(5000, 9000, 100, 1);
  columns.columns = 2;
  EXPECT_EQ(counts(columns), 0);
}

TEST(DeviceRule, TilesAreForColumnsSideBySide) {
  // 12,672 rows of all columns to a level set.
  DeviceFeatures f = on_h100(100000, 300000, 100, 1);
  EXPECT_FALSE(takes_tiles(f));
  f.columns = 12;
  EXPECT_TRUE(takes_tiles(f));
  f.columns = 13;
  EXPECT_FALSE(takes_tiles(f));
  f.longest_row = 1759;
  EXPECT_FALSE(takes_tiles(f));
  f.longest_row = 1760;
  EXPECT_TRUE(takes_tiles(f));
}

/// What is wide on one card is narrow on another.
TEST(DeviceRule, ThresholdsAreInUnitsOfTheDevice) {
  // Wider warps take wider level sets, and longer rows.
  DeviceFeatures narrow = on_h100(1000e3, 1e6, 1000, 1);
  EXPECT_FALSE(takes_tiles(narrow));
  narrow.lanes = 64;
  EXPECT_TRUE(takes_tiles(narrow));
  DeviceFeatures of_long_rows = on_h100(2e6, 4e6, 700, 6);
  of_long_rows.longest_row = 150;
  EXPECT_TRUE(takes_tiles(of_long_rows));
  of_long_rows.lanes = 64;
  EXPECT_FALSE(takes_tiles(of_long_rows));
  // Half the multiprocessors have room for half the columns.
  DeviceFeatures columns = on_h100(100000, 300000, 100, 1);
  columns.columns = 12;
  EXPECT_TRUE(takes_tiles(columns));
  columns.multiprocessors = 66;
  EXPECT_FALSE(takes_tiles(columns));
  columns.columns = 6;
  EXPECT_TRUE(takes_tiles(columns));
}

}  // namespace
}  // namespace Strata
