// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix whose values change and whose pattern stays, as in time stepping:
// analysed once, then given new values before each solve.
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosBlas1_scal.hpp>
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
  const auto U = Strata::take_triangle(
      exec, Strata::gallery<Matrix>(exec, "triangulated:200x100"),
      Strata::Uplo::upper);
  const Vector b("b", U.numRows()), x("x", U.numRows());

  Strata::TriangularSolver solver(exec, U, Strata::Uplo::upper,
                                  Strata::Diag::non_unit);
  std::printf("analysis: %.0f us\n", solver.report().analysis_us);

  double worst = 0;
  for (int step = 1; step <= 5; ++step) {
    KokkosBlas::scal(U.values, 1.0 / step, U.values);
    Kokkos::fence();
    Kokkos::Timer timer;
    // Compares the pattern with the analysed one; solver.update_values(exec,
    // U.values) would take the caller's word for it.
    solver.update_values(exec, U);
    const double us = timer.seconds() * 1e6;

    Kokkos::deep_copy(b, 1.0);
    solver.solve(exec, b, x);
    const double size = KokkosBlas::nrm2(b);
    KokkosSparse::spmv("N", -1.0, U, x, 1.0, b);
    exec.fence();
    const double residual = KokkosBlas::nrm2(b) / size;
    std::printf("step %d: new values %.0f us, relative residual %.2e\n", step,
                us, residual);
    if (!(residual <= worst)) worst = residual;
  }
  return worst < 1e-14 ? 0 : 1;
}
