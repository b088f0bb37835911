// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <chrono>
#include <detail/Strata_MeasureParameters.hpp>
#include <optional>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Measurement = Strata::Detail::ParameterMeasurement<double, Space>;

TEST(MeasureParameters, NothingIsMeasuredOnceTheTimeIsOver) {
  const Measurement measurement(Space(), 0);
  EXPECT_TRUE(measurement.time_is_over());
  EXPECT_FALSE(measurement.run().has_value());
}

/// Also where threads have no core of their own and each launch takes as long
/// as others are given it: a few launches more than the budget are all there
/// may be.
TEST(MeasureParameters, ABusyMachineIsGivenUp) {
  const auto begin = std::chrono::steady_clock::now();
  const Measurement measurement(Space(), 0.02);
  measurement.run();
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LT(taken.count(), 5);
}

TEST(MeasureParameters, WhatIsMeasuredIsPositive) {
  // Many tries on a machine that others use.
  const Measurement measurement(Space(), 10);
  std::optional<Strata::PerformanceParameters> found;
  while (!found && !measurement.time_is_over()) found = measurement.run();
  const auto p =
      found ? *found : Strata::Detail::unmeasured_parameters<Space>();
  for (const double time :
       {p.alpha, p.tau, p.tau_external, p.narrow_level, p.block, p.handover,
        p.pass, p.serial_row, p.serial_entry, p.bytes_per_us})
    EXPECT_GT(time, 0);
}

}  // namespace
