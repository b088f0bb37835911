// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: b and x must be views of rank 1, or of rank 2 with a column
// for each right-hand side
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::TriangularSolver<double, Space>& solver,
            const Kokkos::View<double***, Space>& b,
            const Kokkos::View<double***, Space>& x) {
  solver.solve(Space(), b, x);
}
