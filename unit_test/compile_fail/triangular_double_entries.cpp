// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the row map (offsets) and the entries (zero-based columns)
// must be integers
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Kokkos::View<int*, Space>& row_map,
            const Kokkos::View<double*, Space>& values) {
  const Space exec;
  const Strata::TriangularSolver solver(exec, row_map, values, values,
                                        Strata::Uplo::lower,
                                        Strata::Diag::non_unit);
}
