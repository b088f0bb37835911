// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the row map and the entries must be Kokkos::View objects of
// rank 1
#include <Strata_TriangularSolver.hpp>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const std::vector<int>& row_map, const std::vector<int>& entries,
            const std::vector<double>& values) {
  const Space exec;
  const Strata::TriangularSolver solver(exec, row_map, entries, values,
                                        Strata::Uplo::lower,
                                        Strata::Diag::non_unit);
}
