// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <iostream>

#include "RandomSeed.hpp"
#include "SanitizerOptions.hpp"
#include "Watchdog.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  unsigned limit = 0;
  try {
    Strata::RandomSeed::instance();
    limit = Strata::Watchdog::limit_of_environment();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new Strata::SeedReporter);  // theirs from now on
  listeners.Append(new Strata::Watchdog(limit));
  Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
