// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the scalar type must be float, double,
// Kokkos::complex<float> or Kokkos::complex<double>
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<int, int, Space, void, int>;
using Vector = Kokkos::View<int*, Space>;

void misuse(const Matrix& L, const Vector& b, const Vector& x) {
  const Space exec;
  const Strata::TriangularSolver solver(exec, L, Strata::Uplo::lower,
                                        Strata::Diag::non_unit);
  solver.solve(exec, b, x);
}
