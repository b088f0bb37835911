// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: x is written: its elements must not be const
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::TriangularSolver<double, Space>& solver,
            const Kokkos::View<const double*, Space>& b,
            const Kokkos::View<const double*, Space>& x) {
  solver.solve(Space(), b, x);
}
