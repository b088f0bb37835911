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
  EXPECT_EQ(
      Detail::choose_tile<Kokkos::DefaultHostExecutionSpace>(options.method, A),
      64);
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
                 cyclic = BandMethod::cyclic_reduction,
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
        Case{20000, 64, 64, 1, 129, cyclic}, Case{20000, 64, 64, 200, 0, tiles},
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

/// So that whoever takes tasks by tickets waits for lower tickets only.
TEST(TileDissection, TasksAndRowsComeAfterThoseThatTheyNeed) {
  for (const Lists& l : all_lists()) {
    SCOPED_TRACE(std::to_string(l.blocks) + " block rows, " +
                 std::to_string(l.below) + " below, " +
                 std::to_string(l.above) + " above");
    const TileDissection lists(l.blocks, l.below, l.above);
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

/// The lists carried out with tiles of one element.
TEST(TileDissection, ListsAreAnLuOfTheBand) {
  std::mt19937 random(random_seed());
  std::uniform_real_distribution<double> number(-1, 1);
  for (const Lists& l : all_lists()) {
    SCOPED_TRACE(std::to_string(l.blocks) + " block rows, " +
                 std::to_string(l.below) + " below, " +
                 std::to_string(l.above) + " above");
    const TileDissection lists(l.blocks, l.below, l.above);
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
      const TileDissection lists(blocks, width, width);
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
