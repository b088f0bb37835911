// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_DELAYED_STORES_HPP
#define STRATA_TEST_DELAYED_STORES_HPP

// Included ahead of a whole test, this file holds up the stores by which the
// library's threads hand over what others wait for: values that are their own
// flags, flags, and counters. Each of the two words of a complex value is a
// store of its own. Solves must still be right, and the same bits each time.
//
// A test that includes this file fails if no store has been held up.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace Strata {
namespace Test {

#if defined(__CUDACC__) || defined(__HIPCC__)
static __device__ unsigned long long stores_held_up_on_device = 0;
#endif
inline std::atomic<unsigned long long>& stores_held_up_on_host() {
  static std::atomic<unsigned long long> count{0};
  return count;
}

/// How long the store of this moment waits: not at all (0), until others have
/// had a turn (1), or for much longer than a hand-over takes (2).
KOKKOS_INLINE_FUNCTION int delay_of_store(const void* address,
                                          std::uint64_t time) {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(address) / 4 + time;
  bits *= 0x9e3779b97f4a7c15ULL;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9ULL;
  bits ^= bits >> 32;
  return bits % 512 == 0 ? 2 : bits % 8 == 1 ? 1 : 0;
}

KOKKOS_INLINE_FUNCTION void hold_up_store(const void* address) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  const int delay =
      delay_of_store(address, static_cast<std::uint64_t>(clock64()));
  if (delay == 0) return;
#if defined(__CUDA_ARCH__)
  __nanosleep(delay == 1 ? 400 : 40000);
#else
  // About as long, at a clock of 1.7 GHz: 64 clocks times the argument.
  for (int turn = 0; turn < (delay == 1 ? 1 : 100); ++turn)
    __builtin_amdgcn_s_sleep(10);
#endif
  atomicAdd(&stores_held_up_on_device, 1ULL);
#else
  static std::atomic<std::uint64_t> stores{0};
  const int delay =
      delay_of_store(address, stores.fetch_add(1, std::memory_order_relaxed));
  if (delay == 0) return;
  if (delay == 1)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(40));
  stores_held_up_on_host().fetch_add(1, std::memory_order_relaxed);
#endif
}

/// Of the host and of the device together.
inline unsigned long long stores_held_up() {
  unsigned long long count = stores_held_up_on_host().load();
#if defined(__CUDACC__)
  unsigned long long on_device = 0;
  Kokkos::fence();
  if (cudaMemcpyFromSymbol(&on_device, stores_held_up_on_device,
                           sizeof(on_device)) == cudaSuccess)
    count += on_device;
#elif defined(__HIPCC__)
  unsigned long long on_device = 0;
  Kokkos::fence();
  if (hipMemcpyFromSymbol(&on_device, HIP_SYMBOL(stores_held_up_on_device),
                          sizeof(on_device)) == hipSuccess)
    count += on_device;
#endif
  return count;
}

/// Counts the stores held up by the tests of a program.
class DelayedStores : public testing::Environment {
 public:
  void TearDown() override {
    EXPECT_GT(stores_held_up(), 0u) << "no store has been held up";
  }
};
static testing::Environment* const delayed_stores =
    testing::AddGlobalTestEnvironment(new DelayedStores);

}  // namespace Test
}  // namespace Strata

#define STRATA_IMPL_BEFORE_HAND_OVER(address) \
  ::Strata::Test::hold_up_store(address)

#endif
