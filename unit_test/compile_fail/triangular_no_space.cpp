// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the first argument of a solver's constructor must be an
// execution space instance: TriangularSolver(exec, A, uplo, diag)
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;

void misuse(const Matrix& L) {
  const Strata::TriangularSolver solver(L, Strata::Uplo::lower,
                                        Strata::Diag::unit);
}
