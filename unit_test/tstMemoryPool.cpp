// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks a pool keeps, and which of them it hands out.
#include <gtest/gtest.h>

#include <Strata_MemoryPool.hpp>
#include <core/memory/MemoryPool.hpp>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Strata::Detail::MemoryPool;
using Strata::Detail::PersistentUse;
using Strata::Detail::ScratchUse;

template <class Use>
std::size_t size_of_next(
    std::size_t bytes,
    std::vector<typename MemoryPool<Memory, Use>::Pointer>& held) {
  held.push_back(MemoryPool<Memory, Use>::take("Strata::tstMemoryPool", bytes));
  return held.back()->extent(0);
}
template <class Use>
void give(const std::vector<std::size_t>& sizes) {
  std::vector<typename MemoryPool<Memory, Use>::Pointer> held;
  for (const std::size_t bytes : sizes) size_of_next<Use>(bytes, held);
  // In the order in which they were taken.
  for (auto& block : held) block.reset();
}

TEST(MemoryPool,
     OfScratchTheLargestBlocksAreKeptAndTheSmallestThatFitsIsTaken) {
  for (const auto& sizes :
       std::vector<std::vector<std::size_t>>{{100, 300, 200, 400, 150},
                                             {400, 300, 200, 100},
                                             {200, 200, 300, 400}}) {
    Strata::release_memory_pool<Space>();
    give<ScratchUse>(sizes);
    std::vector<MemoryPool<Memory>::Pointer> held;
    EXPECT_EQ(size_of_next<ScratchUse>(250, held), 300u);
    EXPECT_EQ(size_of_next<ScratchUse>(250, held), 400u);
    EXPECT_EQ(size_of_next<ScratchUse>(50, held), 200u);
    // There is none left.
    EXPECT_EQ(size_of_next<ScratchUse>(50, held), 50u);
  }
}

TEST(MemoryPool, OfPlansTheLastBlocksAreKept) {
  Strata::release_memory_pool<Space>();
  give<PersistentUse>({500, 100, 300, 200, 400});
  std::vector<MemoryPool<Memory, PersistentUse>::Pointer> held;
  for (const std::size_t bytes : {100u, 300u, 200u, 400u})
    EXPECT_EQ(size_of_next<PersistentUse>(bytes, held), bytes);
  EXPECT_EQ(size_of_next<PersistentUse>(70, held), 70u);
}

TEST(MemoryPool, BlocksInUseAreNotHandedOutTwice) {
  Strata::release_memory_pool<Space>();
  give<ScratchUse>({1000});
  std::vector<MemoryPool<Memory>::Pointer> held;
  size_of_next<ScratchUse>(1000, held);
  size_of_next<ScratchUse>(1000, held);
  EXPECT_NE(held[0]->data(), held[1]->data());
}

TEST(MemoryPool, ReleaseFreesWhatIsNotInUse) {
  Strata::release_memory_pool<Space>();
  EXPECT_FALSE(MemoryPool<Memory>::release());
  give<ScratchUse>({1000});
  EXPECT_TRUE(MemoryPool<Memory>::release());
  EXPECT_FALSE(MemoryPool<Memory>::release());
}

}  // namespace
