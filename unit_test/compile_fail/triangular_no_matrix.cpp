// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the matrix must be a KokkosSparse::CrsMatrix
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Kokkos::View<double**, Space>& dense) {
  const Space exec;
  const Strata::TriangularSolver solver(exec, dense, Strata::Uplo::lower,
                                        Strata::Diag::non_unit);
}
