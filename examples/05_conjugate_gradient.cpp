// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Poisson problem on a square, solved by conjugate gradients without a
// preconditioner and with several: what each saves in iterations.
#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double*, Space>;

/// 5-point differences of -Laplace u on n x n points, u = 0 around them.
Matrix poisson_square(int n) {
  const int rows = n * n;
  Kokkos::View<int*, Space> row_map("row_map", rows + 1);
  Kokkos::View<int*, Space> entries("entries", 5 * rows - 4 * n);
  Kokkos::View<double*, Space> values("values", 5 * rows - 4 * n);
  const auto h_row_map = Kokkos::create_mirror_view(row_map);
  const auto h_entries = Kokkos::create_mirror_view(entries);
  const auto h_values = Kokkos::create_mirror_view(values);
  int k = 0;
  const auto put = [&](bool inside, int column, double value) {
    if (!inside) return;
    h_entries(k) = column;
    h_values(k++) = value;
  };
  for (int i = 0; i < rows; ++i) {
    const int x = i % n, y = i / n;
    put(y > 0, i - n, -1);
    put(x > 0, i - 1, -1);
    put(true, i, 4);
    put(x < n - 1, i + 1, -1);
    put(y < n - 1, i + n, -1);
    h_row_map(i + 1) = k;
  }
  Kokkos::deep_copy(row_map, h_row_map);
  Kokkos::deep_copy(entries, h_entries);
  Kokkos::deep_copy(values, h_values);
  return Matrix("poisson", rows, rows, k, values, row_map, entries);
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Space exec;
  const Matrix crs = poisson_square(100);
  const Vector b("b", crs.numRows()), x("x", crs.numRows());
  Kokkos::deep_copy(b, 1.0);

  const Strata::SellMatrix A(exec, crs);
  std::printf("%lld rows, %.1f %% padding, %lld of %lld chunks on diagonals\n",
              static_cast<long long>(A.rows()), 100 * A.report().padding(),
              static_cast<long long>(A.report().diagonal_chunks),
              static_cast<long long>(A.report().chunks));

  Strata::CgOptions options;
  options.relative_tolerance = 1e-10;
  options.progress = [](int iteration, double norm) {
    if (iteration % 50 == 0) std::printf("  %4d  %.3e\n", iteration, norm);
    return true;  // false would stop the solve
  };
  Strata::ConjugateGradient<double, Space> solver(exec, A.rows(), options);

  bool all = true;
  const auto report = [&](const char* name, const Strata::CgResult& result) {
    std::printf("%s: %s after %d iterations, relative residual %.1e\n", name,
                to_string(result.status), result.iterations,
                result.residual_norm / result.rhs_norm);
    all = all && result.converged();
    Kokkos::deep_copy(x, 0.0);
  };
  report("no preconditioner", solver.solve(exec, A, b, x));
  report("diagonal",
         solver.solve(exec, A, Strata::JacobiPreconditioner(exec, crs), b, x));
  // In the order of the rows, and colour by colour: short chains of rows that
  // wait for each other, and with two colours half of the iterations.
  for (const auto order :
       {Strata::FactorOrder::natural, Strata::FactorOrder::coloured}) {
    Strata::IncompleteFactorizationOptions how;
    how.order = order;
    const Strata::IncompleteFactorization M(
        exec, crs, Strata::Factorization::incomplete_cholesky, how);
    report(order == Strata::FactorOrder::natural
               ? "incomplete Cholesky, natural order"
               : "incomplete Cholesky, coloured",
           solver.solve(exec, A, M, b, x));
  }
  return all ? 0 : 1;
}
