// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kokkos Kernels' GMRES on a nonsymmetric system, without a preconditioner and
// with an incomplete LU factorisation whose two triangles Strata solves. Needs
// Kokkos Kernels 4.0 or later, which has GMRES.
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_gmres.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_KokkosKernelsPreconditioner.hpp>
#include <cstdio>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double*, Space>;

using Preconditioner = Strata::KokkosKernelsPreconditioner<Matrix>;

/// Diffusion and a wind across a grid of n x n points, upwind differences.
Matrix convection_diffusion(int n) {
  const double wind_x = 0.6, wind_y = 0.3;
  std::vector<int> row_map(1, 0), entries;
  std::vector<double> values;
  const auto add = [&](bool inside, int column, double value) {
    if (!inside) return;
    entries.push_back(column);
    values.push_back(value);
  };
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int row = y * n + x;
      add(y > 0, row - n, -1 - wind_y);
      add(x > 0, row - 1, -1 - wind_x);
      add(true, row, 4 + wind_x + wind_y);
      add(x < n - 1, row + 1, -1);
      add(y < n - 1, row + n, -1);
      row_map.push_back(static_cast<int>(entries.size()));
    }
  return Matrix("A", n * n, n * n, static_cast<int>(entries.size()),
                values.data(), row_map.data(), entries.data());
}

struct Solve {
  int iterations;
  double residual;  // ||b - A x|| / ||b||
};

Solve solve(Matrix& A, Vector& b, Preconditioner* preconditioner) {
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Space,
                                                       Memory, Memory>;
  Handle handle;
  handle.create_gmres_handle(50, 1e-8);
  Vector x("x", b.extent(0));
  KokkosSparse::Experimental::gmres(&handle, A, b, x, preconditioner);
  const int iterations = handle.get_gmres_handle()->get_num_iters();
  handle.destroy_gmres_handle();

  const Vector r("r", b.extent(0));
  Kokkos::deep_copy(r, b);
  KokkosSparse::spmv("N", -1.0, A, x, 1.0, r);
  Kokkos::fence();
  return {iterations, KokkosBlas::nrm2(r) / KokkosBlas::nrm2(b)};
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  // gmres works on the default instance.
  const Space exec;
  Matrix A = convection_diffusion(60);
  Vector b("b", A.numRows());
  Kokkos::deep_copy(b, 1.0);

  // The two triangles of an incomplete LU factorisation, for gmres.
  const Strata::IncompleteFactorization lu(
      exec, A, Strata::Factorization::incomplete_lu);
  Preconditioner factors(exec, lu);
  const Solve without = solve(A, b, nullptr);
  const Solve with = solve(A, b, &factors);
  std::printf("%d rows\n", static_cast<int>(A.numRows()));
  std::printf("GMRES(50):            %4d iterations, relative residual %.1e\n",
              without.iterations, without.residual);
  std::printf("GMRES(50) with ILU(0): %3d iterations, relative residual %.1e\n",
              with.iterations, with.residual);
  const bool right = without.residual < 1.1e-8 && with.residual < 1.1e-8 &&
                     2 * with.iterations < without.iterations;
  return right ? 0 : 1;
}
