// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The team that stands for a GPU's where there is none.
#include <gtest/gtest.h>

#include <EmulatedDevice.hpp>

#include <numeric>

namespace Strata {
namespace {

using Emulation::lanes;
using Emulation::Team;

TEST(EmulatedTeam, LanesExchangeValues) {
  std::vector<int> sums(3 * lanes), odd(sums.size()), before(sums.size());
  Team::run(
      int(sums.size()),
      [&](int rank) {
        for (int time = 0; time < 50; ++time) {
          sums[rank] = Detail::lane_group_sum(rank, lanes);
          odd[rank] = int(Detail::lane_ballot(rank % 2 == 1) >> 1 & 3u);
          before[rank] = Detail::lane_up(rank, 1);
          if (Detail::lane_any(rank == lanes + 5) != (rank / lanes == 1))
            sums[rank] = -1;
        }
      },
      1);
  for (int rank = 0; rank < int(sums.size()); ++rank) {
    const int first = rank / lanes * lanes;
    EXPECT_EQ(sums[rank], lanes * first + lanes * (lanes - 1) / 2);
    EXPECT_EQ(odd[rank], 1);
    EXPECT_EQ(before[rank], rank == first ? rank : rank - 1);
  }
  EXPECT_EQ(Detail::lane_read(7, 3), 7) << "a host's thread is alone";
}

TEST(EmulatedTeam, WarpsWaitForValuesAndAtBarriers) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::vector<int> stage(4 * lanes, 0);
    bool right = true;
    int handed_over = 0;
    Team::run(
        int(stage.size()),
        [&](int rank) {
          const int warp = rank / lanes;
          for (int turn = 0; Detail::lane_any(handed_over < warp); ++turn)
            Detail::pause_while_waiting(turn);
          if (rank % lanes == 0) ++handed_over;
          for (int step = 1; step <= 5; ++step) {
            stage[rank] = step;
            Team::current()->barrier();
            for (const int other : stage)
              right = right && (other == step || other == step + 1);
          }
        },
        seed);
    EXPECT_TRUE(right);
    EXPECT_EQ(handed_over, 4);
  }
}

TEST(EmulatedTeam, TellsThatWarpsWaitForEachOther) {
  EXPECT_THROW(Team::run(
                   2 * lanes,
                   [](int rank) {
                     if (rank < lanes) Team::current()->barrier();
                   },
                   1),
               std::runtime_error);
  EXPECT_EQ(Team::current(), nullptr);
}

}  // namespace
}  // namespace Strata
