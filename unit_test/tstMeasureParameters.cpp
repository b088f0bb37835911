// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <kernels/triangular/selection/MeasureParameters.hpp>
#include <optional>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Measurement = Strata::Detail::ParameterMeasurement<double, Space>;

TEST(MeasureParameters, NothingIsMeasuredOnceTheTimeIsOver) {
  const Measurement measurement(Space(), 0);
  EXPECT_TRUE(measurement.time_is_over());
  EXPECT_FALSE(measurement.run().has_value());
}

TEST(MeasureParameters, WhatIsMeasuredIsPositive) {
  // Seconds for many tries on a machine that others use.
  const Measurement measurement(Space(),
                                Strata::Detail::is_gpu<Space> ? 10 : 3);
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
