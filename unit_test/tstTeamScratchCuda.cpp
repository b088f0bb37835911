// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch of teams. The test of this file needs the CUDA backend: each launch
// there asks for its own, up to all that the device has.
#include <gtest/gtest.h>

#include <algorithm>
#include <core/device/Launch.hpp>
#include <vector>

namespace Strata {
namespace Detail {
namespace {

using Space = Kokkos::Cuda;
using Memory = Space::memory_space;

/// Fills the scratch, and adds up what other threads have put there.
struct SumScratch {
  int words;
  Kokkos::View<double*, Memory> sum;  // a team's
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    int* const scratch =
        static_cast<int*>(team.team_scratch(0).get_shmem(4 * words));
    for (int k = team.team_rank(); k < words; k += team.team_size())
      scratch[k] = k % 1000 + team.league_rank();
    team.team_barrier();
    double mine = 0;
    for (int k = team.team_rank(); k < words; k += team.team_size())
      mine += scratch[words - 1 - k];
    mine = team_sum(team, mine);
    if (team.team_rank() == 0) sum(team.league_rank()) = mine;
  }
};

/// The first launch of a kernel decides nothing for later ones.
TEST(TeamScratch, IsWhatEachLaunchAsksFor) {
  const Space exec;
  int most = Kokkos::TeamPolicy<Space>::scratch_size_max(0);
  if (STRATA_ENABLE_CUDA_NATIVE) {
    ASSERT_EQ(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               exec.cuda_device()),
        cudaSuccess);
  }
  constexpr int teams = 300;
  const Kokkos::View<double*, Memory> sum("sum", teams);
  for (const int wanted : {0, 1024, 48 * 1024 - 64, 60 * 1024, most - 1024,
                           40 * 1024, most / 2, 0, most - 1024}) {
    const int bytes = std::min(wanted, most - 1024);
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    const int words = bytes / 4;
    Kokkos::deep_copy(sum, -1);
    EXPECT_NO_THROW((run_teams<1, 256>("Strata::Test::scratch", exec, teams,
                                       SumScratch{words, sum},
                                       static_cast<std::size_t>(bytes))));
    exec.fence();
    double expected = 0;
    for (int k = 0; k < words; ++k) expected += k % 1000;
    const auto found =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum);
    for (int t = 0; t < teams; ++t)
      ASSERT_EQ(found(t), expected + static_cast<double>(t) * words);
  }
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
