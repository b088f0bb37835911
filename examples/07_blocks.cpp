// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reorders a matrix by level sets, solves with its lower triangle by blocks for
// several right-hand sides, and returns to the order given. Blocks are as few as
// level sets in that order.
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_PermuteRows.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <algorithm>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
  using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;

  const Space exec;
  const auto A = Strata::gallery<Matrix>(exec, "triangulated:120x80");
  const int n = A.numRows(), vectors = 3;

  // L is that of the matrix in the new order, which factors without fill have
  // as well: for these, permute A before incomplete_lu().
  const auto order = Strata::level_permutation(exec, A);
  const auto PA = Strata::permute_symmetric(exec, A, order);
  const auto L = Strata::take_triangle(exec, PA, Strata::Uplo::lower);

  Strata::TriangularOptions options;
  options.algorithm = Strata::Algorithm::blocks;
  options.max_right_hand_sides = vectors;
  const Strata::TriangularSolver solver(exec, L, Strata::Uplo::lower,
                                        Strata::Diag::non_unit, options);
  std::printf("%d rows, %d level sets\n%s", n, order.num_levels,
              to_string(solver.report()).c_str());

  // b and x are in the order given, pb and px in that of the level sets.
  const Vectors b("b", n, vectors), x("x", n, vectors);
  const Vectors pb("pb", n, vectors), px("px", n, vectors);
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(exec, 0, n), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < vectors; ++c) b(i, c) = 1.0 + (i + c) % 7;
      });
  Strata::permute_rows(exec, order, b, pb);
  solver.solve(exec, pb, px);
  Strata::inverse_permute_rows(exec, order, px, x);

  // P^T L P in the order given, applied to x.
  const auto back = Strata::permute_symmetric(
      exec, L, {order.new_row, order.old_row, order.num_levels});
  double worst = 0;
  for (int c = 0; c < vectors; ++c) {
    const auto bc = Kokkos::subview(b, Kokkos::ALL(), c);
    const auto xc = Kokkos::subview(x, Kokkos::ALL(), c);
    exec.fence();
    const double size = KokkosBlas::nrm2(bc);
    KokkosSparse::spmv("N", -1.0, back, xc, 1.0, bc);
    Kokkos::fence();
    worst = std::max(worst, KokkosBlas::nrm2(bc) / size);
  }
  std::printf("largest relative residual: %.2e\n", worst);
  return worst < 1e-14 ? 0 : 1;
}
