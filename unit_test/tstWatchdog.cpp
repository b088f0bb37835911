// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Watchdog.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using Strata::Watchdog;

TEST(Watchdog, ReadsTheLimit) {
  EXPECT_EQ(Watchdog::limit_of(nullptr), Watchdog::default_limit);
  EXPECT_EQ(Watchdog::limit_of("0"), 0u);
  EXPECT_EQ(Watchdog::limit_of("17"), 17u);
  EXPECT_EQ(Watchdog::limit_of("864000"), Watchdog::largest_limit);
}

TEST(Watchdog, RefusesWhatIsNoLimit) {
  for (const std::string text :
       {"", "-1", "+1", " 1", "1 ", "1.5", "1s", "soon", "864001", "9999999",
        "99999999999999999999999"}) {
    SCOPED_TRACE("'" + text + "'");
    try {
      Watchdog::limit_of(text.c_str());
      ADD_FAILURE() << "is taken";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + text + "'"),
                std::string::npos)
          << error.what();
    }
  }
}

// check_watchdog.cmake runs the tests below, and no other test does.

/// What a kernel does that waits for an entry of x which never comes; it gives
/// up when the watchdog has had much more than its time.
TEST(Watchdog, DISABLED_WaitsInAKernel) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  Kokkos::View<int, Space> ready("ready");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  Kokkos::parallel_for("Strata::Test::wait_for_ever",
                       Kokkos::RangePolicy<Space>(Space(), 0, 1), [=](int) {
                         while (Kokkos::atomic_fetch_add(&ready(), 0) == 0 &&
                                std::chrono::steady_clock::now() < end)
                           std::this_thread::yield();
                       });
  Space().fence();
}

TEST(Watchdog, DISABLED_TakesTwoSeconds) {
  std::this_thread::sleep_for(std::chrono::seconds(2));
}

}  // namespace
