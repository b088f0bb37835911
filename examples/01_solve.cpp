// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves L x = b, where L is the lower triangle of a 7-point Poisson-like
// matrix on a 40 x 40 x 40 grid, and prints the residual.
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
  using Vector = Kokkos::View<double*, Space>;

  const Space exec;
  const auto A = Strata::gallery<Matrix>(exec, "grid3d:40");
  const auto L = Strata::take_triangle(exec, A, Strata::Uplo::lower);
  const Vector b("b", L.numRows()), x("x", L.numRows());
  Kokkos::deep_copy(b, 1.0);

  // Checks and analyses L once; every further solve reuses the plan.
  Strata::TriangularSolver solver(exec, L, Strata::Uplo::lower,
                                  Strata::Diag::non_unit);
  solver.solve(exec, b, x);       // x = L^-1 b, as often as you like
  solver.update_values(exec, L);  // new values, same pattern: no analysis
  std::printf("%s", to_string(solver.report()).c_str());

  // b - L x
  const double size = KokkosBlas::nrm2(b);
  KokkosSparse::spmv("N", -1.0, L, x, 1.0, b);
  exec.fence();
  const double residual = KokkosBlas::nrm2(b) / size;
  std::printf("relative residual: %.2e\n", residual);
  return residual < 1e-14 ? 0 : 1;
}
