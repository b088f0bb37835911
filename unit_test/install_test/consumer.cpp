// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <Strata.hpp>
#include <Strata_Gallery.hpp>
#include <cstdio>

// Solves the bidiagonal system with 2 on and -1 below the diagonal, whose
// right-hand side makes every unknown 1.
int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int n = 1000;
  Kokkos::View<int*> row_map("row_map", n + 1), entries("entries", 2 * n - 1);
  Kokkos::View<double*> values("values", 2 * n - 1), b("b", n), x("x", n);
  const auto h_row_map = Kokkos::create_mirror_view(row_map);
  const auto h_entries = Kokkos::create_mirror_view(entries);
  const auto h_values = Kokkos::create_mirror_view(values);
  const auto h_b = Kokkos::create_mirror_view(b);
  const auto h_x = Kokkos::create_mirror_view(x);
  int k = 0;
  for (int i = 0; i < n; ++i) {
    if (i > 0) {
      h_entries(k) = i - 1;
      h_values(k++) = -1;
    }
    h_entries(k) = i;
    h_values(k++) = 2;
    h_row_map(i + 1) = k;
    h_b(i) = i > 0 ? 1 : 2;
  }
  Kokkos::deep_copy(row_map, h_row_map);
  Kokkos::deep_copy(entries, h_entries);
  Kokkos::deep_copy(values, h_values);
  Kokkos::deep_copy(b, h_b);

  const Kokkos::DefaultExecutionSpace exec;
  const Strata::TriangularSolver solver(exec, row_map, entries, values,
                                        Strata::Uplo::lower,
                                        Strata::Diag::non_unit);
  solver.solve(exec, b, x);
  Kokkos::deep_copy(h_x, x);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += h_x(i) != 1;
  std::printf("%d of %d unknowns are wrong\n", wrong, n);

  using Matrix = KokkosSparse::CrsMatrix<
      double, int, Kokkos::DefaultExecutionSpace::device_type, void, int>;
  const auto grid = Strata::gallery<Matrix>(exec, "grid2d:7");
  std::printf("the grid has %d rows\n", static_cast<int>(grid.numRows()));
  return wrong == 0 && grid.numRows() == 49 ? 0 : 1;
}
