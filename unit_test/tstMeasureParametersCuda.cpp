// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <kernels/triangular/selection/MeasureParameters.hpp>
#include <optional>

namespace {

using Measurement = Strata::Detail::ParameterMeasurement<double, Kokkos::Cuda>;

TEST(MeasureParameters, NothingIsMeasuredOnceTheTimeIsOver) {
  const Measurement measurement(Kokkos::Cuda(), 0);
  EXPECT_TRUE(measurement.time_is_over());
  EXPECT_FALSE(measurement.run().has_value());
}

TEST(MeasureParameters, WhatIsMeasuredIsPositive) {
  // Seconds for many tries on a machine that others use.
  const Measurement measurement(Kokkos::Cuda(), 10);
  std::optional<Strata::PerformanceParameters> found;
  while (!found && !measurement.time_is_over()) found = measurement.run();
  const auto p = found ? *found : Strata::PerformanceParameters();
  for (const double time :
       {p.alpha, p.tau, p.tau_external, p.narrow_level, p.block, p.handover,
        p.pass, p.serial_row, p.serial_entry, p.bytes_per_us})
    EXPECT_GT(time, 0);
}

}  // namespace
