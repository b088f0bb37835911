// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <iostream>

#include "RandomSeed.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    Strata::RandomSeed::instance();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  testing::UnitTest::GetInstance()->listeners().Append(
      new Strata::SeedReporter);  // theirs from now on
  Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
