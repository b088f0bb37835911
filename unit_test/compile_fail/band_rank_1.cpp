// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the band must be a Kokkos::View of rank 2 (diagonals x
// columns), or of rank 3 for a batch
#include <Strata_BandSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Kokkos::View<double*, Space>& diagonals) {
  const Strata::BandSolver solver(Space(), diagonals, 1, 1);
}
