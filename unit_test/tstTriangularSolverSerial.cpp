// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built where Kokkos has the Serial backend, whatever the default one is.
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

TEST(TriangularSolver, SolvesOnSerialInDouble) {
  expect_operations<double, Kokkos::Serial>();
}
TEST(TriangularSolver, SolvesOnSerialInComplexFloat) {
  expect_small_patterns<Kokkos::complex<float>, Kokkos::Serial>();
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
