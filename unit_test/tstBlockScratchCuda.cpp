// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch of blocks that are launched without Kokkos. The test of this file
// needs the CUDA backend: blocks of a host have none.
#include <gtest/gtest.h>

#include <detail/Strata_KokkosCompat.hpp>
#include <vector>

namespace Strata {
namespace Detail {
namespace {

using Space = Kokkos::Cuda;
using Memory = Space::memory_space;

/// Fills the scratch, and adds up what other threads have put there.
struct SumScratch {
  int words;
  Kokkos::View<double*, Memory> sum;  // a block's
  KOKKOS_INLINE_FUNCTION void operator()(const ThreadBlock& block) const {
    int* const scratch = static_cast<int*>(block.scratch());
    for (int k = block.rank(); k < words; k += block.size())
      scratch[k] = k % 1000 + block.number();
    block.barrier();
    double mine = 0;
    for (int k = block.rank(); k < words; k += block.size())
      mine += scratch[words - 1 - k];
    mine = block.sum(mine);
    if (block.rank() == 0) sum(block.number()) = mine;
  }
};

/// The first launch of a kernel decides nothing for later ones.
TEST(BlockScratch, IsWhatEachLaunchAsksFor) {
  const Space exec;
  int most = 0;
  ASSERT_EQ(
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                             exec.cuda_device()),
      cudaSuccess);
  constexpr int blocks = 300;
  const Kokkos::View<double*, Memory> sum("sum", blocks);
  for (const int bytes : {0, 1024, 48 * 1024 - 64, 60 * 1024, most - 1024,
                          40 * 1024, most / 2, 0, most - 1024}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    const int words = bytes / 4;
    Kokkos::deep_copy(sum, -1);
    EXPECT_NO_THROW((run_blocks<1, 256>("Strata::Test::scratch", exec, blocks,
                                        SumScratch{words, sum},
                                        static_cast<std::size_t>(bytes))));
    exec.fence();
    double expected = 0;
    for (int k = 0; k < words; ++k) expected += k % 1000;
    const auto found =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum);
    for (int b = 0; b < blocks; ++b)
      ASSERT_EQ(found(b), expected + static_cast<double>(b) * words);
  }
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
