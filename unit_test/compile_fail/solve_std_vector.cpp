// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: b and x must be Kokkos::View objects
#include <Strata_TriangularSolver.hpp>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::TriangularSolver<double, Space>& solver,
            const std::vector<double>& b, std::vector<double>& x) {
  solver.solve(Space(), b, x);
}
