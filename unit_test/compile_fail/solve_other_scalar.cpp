// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the elements of b and x must have the scalar type of the
// solver's matrix
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::TriangularSolver<double, Space>& solver,
            const Kokkos::View<float*, Space>& b,
            const Kokkos::View<double*, Space>& x) {
  solver.solve(Space(), b, x);
}
