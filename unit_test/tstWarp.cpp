// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a warp do together, where a warp's lanes are neighbours in
// a wave of the hardware, and as waiting kernels have them.
#include <gtest/gtest.h>

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <vector>

namespace Strata {
namespace Detail {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
constexpr int width = lane_width<Space>;
constexpr int warps = is_gpu<Space> ? 6 : 1, threads = warps * width;
constexpr int teams = 5, most_turns = 24;

/// What a lane gives to others in a turn.
struct Given {
  int first, second, third;
  KOKKOS_FUNCTION bool operator==(const Given& other) const {
    return first == other.first && second == other.second &&
           third == other.third;
  }
};
KOKKOS_FUNCTION unsigned number(int thread, int turn) {
  unsigned n = static_cast<unsigned>(thread * 977 + turn + 1) * 2654435761u;
  n = (n ^ n >> 15) * 2246822519u;
  return n ^ n >> 13;
}
KOKKOS_FUNCTION Given given(int thread, int turn) {
  const auto n = static_cast<int>(number(thread, turn));
  return {n, ~n, thread};
}
/// Lanes with a vote of yes: all, none, or some.
KOKKOS_FUNCTION bool votes(int thread, int turn) {
  return turn % 4 == 0   ? false
         : turn % 4 == 1 ? true
                         : number(thread, turn) % (turn % 4 == 2 ? 2 : 16) == 0;
}
/// Which lane another one reads.
KOKKOS_FUNCTION int source(int lane, int turn) {
  return (lane * 7 + turn) % width;
}
/// Warps of a wave take different numbers of turns.
KOKKOS_FUNCTION int turns_of(int warp) {
  return most_turns - (warp * 5) % most_turns;
}

struct Found {
  Given by_xor, by_read;
  std::int64_t broadcast;
  int up, after_barrier, sum;
  unsigned ballot, largest;
  bool any, broadcast_bit;
};

struct Exchange {
  Kokkos::View<Found*, Memory> found;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = team.team_rank(), lane = rank % width, warp = rank / width;
    const int thread = team.league_rank() * threads + rank;
    int* const scratch = static_cast<int*>(
        team.team_scratch(0).get_shmem(threads * sizeof(int)));
    for (int turn = 0; turn < turns_of(warp); ++turn) {
      const auto n = static_cast<int>(number(thread, turn));
      const Given own = given(thread, turn);
      Found mine;
      mine.by_xor = lane_xor(own, turn % width);
      mine.by_read = lane_read(own, source(lane, turn));
      mine.broadcast =
          lane_broadcast(std::int64_t{n} << 20 | lane, turn % width);
      mine.broadcast_bit = lane_broadcast(n % 2 == 0, turn % width);
      mine.up = lane_up(n, turn % width);
      mine.ballot = lane_ballot(votes(thread, turn));
      mine.any = lane_any(votes(thread, turn));
      mine.largest = lane_max(static_cast<unsigned>(n));
      int group = 1;
      while (group < width && turn >> group & 1) group *= 2;
      mine.sum = lane_group_sum(n % 1000, group);
      scratch[rank] = n;
      lane_barrier();
      mine.after_barrier = scratch[rank - lane + (lane + turn) % width];
      lane_barrier();
      found(thread * most_turns + turn) = mine;
    }
  }
};

void expect_exchanges(const Kokkos::View<Found*, Memory>& on_device) {
  Space().fence();
  const auto found =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), on_device);
  for (int thread = 0; thread < teams * threads; ++thread) {
    const int lane = thread % width, first = thread - lane;
    for (int turn = 0; turn < turns_of(thread % threads / width); ++turn) {
      SCOPED_TRACE("thread " + std::to_string(thread) + ", turn " +
                   std::to_string(turn));
      const auto n = [&](int of) {
        return static_cast<int>(number(first + of, turn));
      };
      const Found& mine = found(thread * most_turns + turn);
      ASSERT_TRUE(mine.by_xor == given(first + (lane ^ turn % width), turn));
      ASSERT_TRUE(mine.by_read == given(first + source(lane, turn), turn));
      const int from = turn % width;
      ASSERT_EQ(mine.broadcast, std::int64_t{n(from)} << 20 | from);
      ASSERT_EQ(mine.broadcast_bit, n(from) % 2 == 0);
      ASSERT_EQ(mine.up, n(lane < from ? lane : lane - from));
      unsigned ballot = 0, largest = 0;
      for (int other = 0; other < width; ++other) {
        if (votes(first + other, turn)) ballot |= 1u << other;
        largest = std::max(largest, static_cast<unsigned>(n(other)));
      }
      ASSERT_EQ(mine.ballot, ballot);
      ASSERT_EQ(mine.any, ballot != 0);
      ASSERT_EQ(mine.largest, largest);
      int group = 1, sum = 0;
      while (group < width && turn >> group & 1) group *= 2;
      for (int other = 0; other < group; ++other)
        sum += n(lane / group * group + other) % 1000;
      ASSERT_EQ(mine.sum, sum);
      ASSERT_EQ(mine.after_barrier, n((lane + turn) % width));
    }
  }
}

Kokkos::View<Found*, Memory> room() {
  return Kokkos::View<Found*, Memory>("found", teams * threads * most_turns);
}

TEST(Warp, LanesExchangeValuesAsNeighbours) {
  const Exchange exchange{room()};
  Kokkos::TeamPolicy<Space> policy(teams, threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(int{threads * sizeof(int)}));
  Kokkos::parallel_for("Strata::Test::exchange", policy,
                       CallForTeam<Exchange, Space>{exchange, teams});
  expect_exchanges(exchange.found);
}

TEST(Warp, LanesExchangeValuesInWaitingKernels) {
  const Exchange exchange{room()};
  run_teams<1, threads>("Strata::Test::exchange", Space(), teams, exchange,
                        threads * sizeof(int));
  expect_exchanges(exchange.found);
}

/// Warps wait for the one before, or for the one after: one of these orders has
/// the earlier one of two neighbours wait for the later one.
struct WaitInTurn {
  Kokkos::View<unsigned*, Memory> value;  // of each warp and lane; 0: not there
  bool backwards;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int lane = team.team_rank() % width, warp = team.team_rank() / width;
    const int place = backwards ? warps - 1 - warp : warp;
    unsigned* const at = value.data() + place * width + lane;
    // A lane alone, then all of them.
    for (int turn = 0; lane % 2 == 0 && load_relaxed(at) == 0; ++turn)
      pause_while_waiting(turn);
    for (int turn = 0; lane_any(load_relaxed(at) == 0); ++turn)
      pause_while_waiting(turn);
    store_relaxed(at + width, load_relaxed(at) + 1);
  }
};

TEST(Warp, WarpsOfATeamWaitForEachOther) {
  for (const bool backwards : {false, true}) {
    SCOPED_TRACE(backwards);
    const Kokkos::View<unsigned*, Memory> value("value", (warps + 1) * width);
    Kokkos::deep_copy(Kokkos::subview(value, std::make_pair(0, width)), 7u);
    run_teams<1, threads>("Strata::Test::wait", Space(), 1,
                          WaitInTurn{value, backwards});
    Space().fence();
    const auto found =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), value);
    for (int lane = 0; lane < width; ++lane)
      EXPECT_EQ(found(warps * width + lane), 7u + warps);
  }
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
