// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: b and x must be views of the same rank
#include <Strata_BandSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::BandSolver<double, Space>& solver,
            const Kokkos::View<double*, Space>& b,
            const Kokkos::View<double**, Space>& x) {
  solver.solve(Space(), b, x);
}
