// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_LATE_STATUS_HPP
#define STRATA_TEST_LATE_STATUS_HPP

// CTest runs tests that include this file with STRATA_TEST_LATE_STATUS=1 as
// well: hosts then learn of the end of a solve as late as from a device. Such a
// run fails if no iteration has been enqueued after the end of a solve.

#include <gtest/gtest.h>

#include <cstdlib>
#include <kernels/krylov/solve/KrylovMonitor.hpp>
#include <string>

namespace Strata {
namespace SolverTest {

class LateStatus : public testing::Environment {
 public:
  void SetUp() override {
    const char* const said = std::getenv("STRATA_TEST_LATE_STATUS");
    late().wanted = said != nullptr && std::string(said) == "1";
  }
  void TearDown() override {
    if (late().wanted) {
      EXPECT_GT(late().iterations.load(), 0) << "every end was known at once";
    }
  }

 private:
  static Detail::LateKrylovStatus& late() { return Detail::late_krylov_status; }
};
static testing::Environment* const late_status =
    testing::AddGlobalTestEnvironment(new LateStatus);

}  // namespace SolverTest
}  // namespace Strata

#endif
