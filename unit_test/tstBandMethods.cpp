// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <kernels/band/BandChecks.hpp>
#include <kernels/band/TileDissection.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "RandomSeed.hpp"

namespace Strata {
namespace BandTest {
namespace {

/// Lists of tasks and products are numbered by int.
TEST(BandSolver, RefusesDissectionsOfTooManyProducts) {
  Detail::BandRef<double> A;
  A.size = 1 << 30;
  A.lower = A.upper = 100;
  A.batch = 1;
  BandOptions options;
  options.method = BandMethod::nested_dissection;
  options.tile = 32;
  EXPECT_THROW(Detail::check_band_options(options, A), OptionError);
  options.tile = 0;
  EXPECT_NO_THROW(Detail::check_band_options(options, A));
  EXPECT_EQ(Detail::choose_tile(false, options.method, A), 64);
  A.lower = 1000;
  EXPECT_THROW(Detail::check_band_options(options, A), OptionError);
  options.method = BandMethod::tiles;
  EXPECT_NO_THROW(Detail::check_band_options(options, A));
}

/// On a device of 132 multiprocessors.
TEST(BandSolver, ChoosesTheMethodBySizes) {
  struct Case {
    std::int64_t size, lower, upper;
    int batch, columns;
    BandMethod expected;
  };
  constexpr auto tiles = BandMethod::tiles,
                 dissection = BandMethod::nested_dissection;
  for (const Case& c :
       {Case{20000, 100, 100, 1, 0, dissection},
        Case{20000, 100, 100, 1, 1000, dissection},
        Case{20000, 1000, 1000, 1, 0, tiles}, Case{20000, 0, 100, 1, 0, tiles},
        Case{20000, 300, 1, 1, 0, dissection}, Case{400, 100, 100, 1, 0, tiles},
        Case{20000, 100, 100, 20, 0, tiles},
        Case{20000, 100, 100, 20, 4, dissection},
        Case{20000, 100, 100, 200, 4, tiles},
        Case{20000, 64, 64, 1, 0, dissection},
        Case{20000, 64, 64, 1, 128, dissection},
        Case{20000, 64, 64, 1, 129, dissection},
        Case{20000, 64, 64, 200, 0, tiles},
        Case{20000, 0, 5, 66, 0, dissection}, Case{20000, 0, 5, 67, 0, tiles},
        Case{20000, 0, 0, 1, 0, tiles}, Case{1 << 30, 600, 600, 1, 0, tiles}}) {
    Detail::BandRef<double> A;
    A.size = c.size, A.lower = c.lower, A.upper = c.upper, A.batch = c.batch;
    BandOptions options;
    options.max_right_hand_sides = c.columns;
    EXPECT_EQ(Detail::choose_on_device(132, options, A), c.expected)
        << c.size << ' ' << c.lower << ' ' << c.upper << ' ' << c.batch << ' '
        << c.columns;
  }
}

/// Small tiles where steps decide, large ones where products do.
TEST(BandSolver, ChoosesTilesBySizes) {
  struct Case {
    BandMethod method;
    std::int64_t size, side;
    int batch, on_device, on_host;
  };
  constexpr auto tiles = BandMethod::tiles,
                 dissection = BandMethod::nested_dissection;
  for (const Case& c : {Case{tiles, 20000, 1500, 1, 32, 32},
                        Case{tiles, 20000, 1501, 1, 64, 32},
                        Case{dissection, 20000, 300, 1, 32, 32},
                        Case{dissection, 20000, 400, 1, 64, 32},
                        Case{dissection, 20000, 300, 2, 64, 32},
                        Case{dissection, 1 << 23, 64, 1, 32, 32},
                        Case{dissection, 1 << 30, 100, 1, 64, 64}}) {
    Detail::BandRef<double> A;
    A.size = c.size, A.lower = A.upper = c.side, A.batch = c.batch;
    SCOPED_TRACE(std::string(to_string(c.method)) + ' ' +
                 std::to_string(c.size) + ' ' + std::to_string(c.side));
    EXPECT_EQ(Detail::choose_tile(true, c.method, A), c.on_device);
    EXPECT_EQ(Detail::choose_tile(false, c.method, A), c.on_host);
  }
}

using Detail::TileDissection;

struct Lists {
  int blocks, below, above;
};
std::vector<Lists> all_lists() {
  std::mt19937 random(random_seed());
  std::vector<Lists> all{{1, 0, 0}, {1, 1, 1}, {2, 0, 0}, {3, 1, 1},
                         {4, 3, 3}, {9, 3, 3}, {40, 1, 1}};
  for (int i = 0; i < 40; ++i)
    all.push_back({static_cast<int>(random() % 150 + 1),
                   static_cast<int>(random() % 6),
                   static_cast<int>(random() % 6)});
  return all;
}

TileDissection made_lists(int blocks, int below, int above) {
  TileDissection lists(blocks, below, above);
  const int tiles = lists.num_tiles();
  lists.make();
  EXPECT_EQ(lists.tasks.size(), static_cast<std::size_t>(tiles));
  return lists;
}

/// So that whoever takes tasks by tickets waits for lower tickets only.
TEST(TileDissection, TasksAndRowsComeAfterThoseThatTheyNeed) {
  for (const Lists& l : all_lists()) {
    SCOPED_TRACE(std::to_string(l.blocks) + " block rows, " +
                 std::to_string(l.below) + " below, " +
                 std::to_string(l.above) + " above");
    const auto lists = made_lists(l.blocks, l.below, l.above);
    for (int task = 0; task < lists.num_tiles(); ++task) {
      const auto& now = lists.tasks[task];
      for (int t = 0; t < now.terms; ++t) {
        const auto& term = lists.terms[now.first_term + t];
        EXPECT_LT(std::max(term.first, term.second), task);
      }
      if ((now.kind & 3) == TileDissection::lower) {
        EXPECT_LT(now.other, task);
      }
    }
    std::set<int> done;
    for (const auto& row : lists.forward) {
      for (int t = 0; t < row.links; ++t)
        EXPECT_EQ(done.count(lists.links[row.first_link + t].second), 1u);
      EXPECT_TRUE(done.insert(row.block).second);
    }
    EXPECT_EQ(done.size(), static_cast<std::size_t>(l.blocks));
    for (const auto& row : lists.backward) {
      for (int t = 0; t < row.links; ++t)
        EXPECT_EQ(done.count(lists.links[row.first_link + t].second), 1u)
            << "which comes earlier, going back";
      done.erase(row.block);
    }
  }
}

/// Faults of pivots are noted by the place of a block row in `forward`.
TEST(TileDissection, DiagonalTasksTellTheirStep) {
  for (const Lists& l : all_lists()) {
    const auto lists = made_lists(l.blocks, l.below, l.above);
    for (const auto& row : lists.forward) {
      const auto& task = lists.tasks[row.diagonal];
      EXPECT_EQ(task.kind & 3, TileDissection::diagonal);
      EXPECT_EQ(lists.forward[task.other].block, row.block);
    }
  }
}

/// So that a team that takes a task or a block row seldom waits, and meanwhile
/// has what it can do behind it.
TEST(TileDissection, WhatIsThereFirstComesFirst) {
  for (const Lists& l : all_lists()) {
    SCOPED_TRACE(std::to_string(l.blocks) + " block rows, " +
                 std::to_string(l.below) + " below, " +
                 std::to_string(l.above) + " above");
    const auto lists = made_lists(l.blocks, l.below, l.above);
    int earlier = 0;
    std::vector<int> depth(lists.num_tiles(), 1);
    for (int task = 0; task < lists.num_tiles(); ++task) {
      const auto& now = lists.tasks[task];
      int last = -1;
      for (int t = 0; t < now.terms; ++t) {
        const auto& term = lists.terms[now.first_term + t];
        const int there = std::max(term.first, term.second);
        EXPECT_LE(last, there);
        last = there;
        depth[task] = std::max(depth[task], depth[there] + 1);
      }
      if ((now.kind & 3) == TileDissection::lower)
        depth[task] = std::max(depth[task], depth[now.other] + 1);
      EXPECT_LE(earlier, depth[task]);
      earlier = depth[task];
    }
    const auto expect_order = [&](auto row, const auto end, bool by_depth) {
      std::vector<int> step(l.blocks), level(l.blocks, 0);
      int now = 0, before = 0;
      for (; row != end; ++row, ++now) {
        int last = -1;
        for (int t = 0; t < row->links; ++t) {
          const int other = lists.links[row->first_link + t].second;
          EXPECT_LT(last, step[other]);
          last = step[other];
          level[row->block] = std::max(level[row->block], level[other] + 1);
        }
        if (by_depth) {
          EXPECT_LE(before, level[row->block]);
        }
        before = level[row->block];
        step[row->block] = now;
      }
    };
    expect_order(lists.forward.begin(), lists.forward.end(), true);
    expect_order(lists.backward.rbegin(), lists.backward.rend(), false);
  }
}

/// The lists carried out with tiles of one element.
TEST(TileDissection, ListsAreAnLuOfTheBand) {
  std::mt19937 random(random_seed());
  std::uniform_real_distribution<double> number(-1, 1);
  for (const Lists& l : all_lists()) {
    SCOPED_TRACE(std::to_string(l.blocks) + " block rows, " +
                 std::to_string(l.below) + " below, " +
                 std::to_string(l.above) + " above");
    const auto lists = made_lists(l.blocks, l.below, l.above);
    const int n = l.blocks, columns = l.below + 1 + l.above;
    std::vector<double> tile(lists.num_tiles(), 0.0), x(n), b(n, 0.0);
    for (double& value : x) value = number(random);
    for (int i = 0; i < n; ++i)
      for (int d = 0; d < columns; ++d) {
        const int j = i + d - l.below;
        if (j < 0 || j >= n) continue;
        const double value = i == j ? columns : number(random);
        tile[lists.band[i * columns + d]] = value;
        b[i] += value * x[j];
      }
    for (int task = 0; task < lists.num_tiles(); ++task) {
      const auto& now = lists.tasks[task];
      if (!(now.kind & TileDissection::in_band)) {
        EXPECT_EQ(tile[task], 0);
      }
      for (int t = 0; t < now.terms; ++t) {
        const auto& term = lists.terms[now.first_term + t];
        tile[task] -= tile[term.first] * tile[term.second];
      }
      if ((now.kind & 3) == TileDissection::diagonal)
        tile[task] = 1 / tile[task];
      else if ((now.kind & 3) == TileDissection::lower)
        tile[task] *= tile[now.other];
    }
    for (const auto& row : lists.forward)
      for (int t = 0; t < row.links; ++t) {
        const auto& link = lists.links[row.first_link + t];
        b[row.block] -= tile[link.first] * b[link.second];
      }
    for (auto row = lists.backward.rbegin(); row != lists.backward.rend();
         ++row) {
      for (int t = 0; t < row->links; ++t) {
        const auto& link = lists.links[row->first_link + t];
        b[row->block] -= tile[link.first] * b[link.second];
      }
      b[row->block] *= tile[row->diagonal];
    }
    for (int i = 0; i < n; ++i) EXPECT_NEAR(b[i], x[i], 1e-12);
  }
}

/// What it is for: the longest chain of tasks grows as the logarithm of the
/// band's length, and tiles and products are few.
TEST(TileDissection, LongBandsHaveFewDependentSteps) {
  for (const int width : {1, 2, 5}) {
    for (const int blocks : {200, 1600}) {
      const auto lists = made_lists(blocks, width, width);
      EXPECT_LE(lists.num_tiles(), blocks * (4.5 * width + 2));
      EXPECT_LE(lists.terms.size(),
                static_cast<std::size_t>(blocks) * 8 * width * width);
      std::vector<int> depth(lists.num_tiles(), 1);
      int deepest = 0;
      for (int task = 0; task < lists.num_tiles(); ++task) {
        const auto& now = lists.tasks[task];
        const auto follow = [&](int earlier) {
          depth[task] = std::max(depth[task], depth[earlier] + 1);
        };
        for (int t = 0; t < now.terms; ++t) {
          follow(lists.terms[now.first_term + t].first);
          follow(lists.terms[now.first_term + t].second);
        }
        if ((now.kind & 3) == TileDissection::lower) follow(now.other);
        deepest = std::max(deepest, depth[task]);
      }
      // A block row of the chain has a diagonal tile and one beside it.
      const double levels = std::log2(double(blocks) / width);
      EXPECT_LE(deepest, 2 * width * (levels + 1));
      // So of a solve, one block row after the other.
      std::vector<int> step(blocks, 1);
      int last = 0;
      const auto follow_links = [&](const TileDissection::Row& row) {
        for (int t = 0; t < row.links; ++t)
          step[row.block] =
              std::max(step[row.block],
                       step[lists.links[row.first_link + t].second] + 1);
        last = std::max(last, step[row.block]);
      };
      for (const auto& row : lists.forward) follow_links(row);
      EXPECT_LE(last, width * (levels + 1));
      step.assign(blocks, 1);
      last = 0;
      for (auto row = lists.backward.rbegin(); row != lists.backward.rend();
           ++row)
        follow_links(*row);
      EXPECT_LE(last, width * (levels + 1));
    }
  }
}

}  // namespace
}  // namespace BandTest
}  // namespace Strata
