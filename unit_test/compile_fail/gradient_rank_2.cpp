// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: b and x must be views of rank 1: this solver takes one
// right-hand side
#include <Strata_ConjugateGradient.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(Strata::ConjugateGradient<double, Space>& solver,
            const Strata::SellMatrix<double, Space>& A,
            const Kokkos::View<double**, Space>& b) {
  solver.solve(Space(), A, b, b);
}
