// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_sptrsv_registered: strata_perf_sptrsv with an algorithm from
// outside of the library. This file is compiled with the benchmark's sources.
#include <Kokkos_Core.hpp>
#include <unit_test/RowByRow.hpp>

namespace {

template <class Scalar>
using Registration =
    RowByRow::Registration<Scalar, Kokkos::DefaultExecutionSpace>;

/// Registers it before main.
const bool is_registered = [] {
  using Strata::Experimental::register_algorithm;
  const char* const name = "row_by_row";
  register_algorithm<Registration<float>>(name);
  register_algorithm<Registration<double>>(name);
  register_algorithm<Registration<Kokkos::complex<float>>>(name);
  register_algorithm<Registration<Kokkos::complex<double>>>(name);
  return true;
}();

}  // namespace
