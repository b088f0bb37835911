// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/01_solve.cpp with Kokkos Kernels' own sptrsv. Compiled only, by
// scripts/compile_times.
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#include <KokkosSparse_sptrsv.hpp>
#include <cstdio>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double*, Space>;

/// Lower triangle of 7-point differences on n x n x n points.
Matrix lower_triangle_of_grid(int n) {
  std::vector<int> row_map(1, 0), entries;
  std::vector<double> values;
  const auto add = [&](bool inside, int column, double value) {
    if (!inside) return;
    entries.push_back(column);
    values.push_back(value);
  };
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const int row = (z * n + y) * n + x;
        add(z > 0, row - n * n, -1);
        add(y > 0, row - n, -1);
        add(x > 0, row - 1, -1);
        add(true, row, 6);
        row_map.push_back(static_cast<int>(entries.size()));
      }
  return Matrix("L", n * n * n, n * n * n, static_cast<int>(entries.size()),
                values.data(), row_map.data(), entries.data());
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Matrix L = lower_triangle_of_grid(40);
  const Vector b("b", L.numRows()), x("x", L.numRows());
  Kokkos::deep_copy(b, 1.0);

  KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Space,
                                                   Memory, Memory>
      handle;
  handle.create_sptrsv_handle(
      KokkosSparse::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1, L.numRows(),
      true);
  KokkosSparse::Experimental::sptrsv_symbolic(&handle, L.graph.row_map,
                                              L.graph.entries);
  KokkosSparse::Experimental::sptrsv_solve(&handle, L.graph.row_map,
                                           L.graph.entries, L.values, b, x);
  handle.destroy_sptrsv_handle();

  const double size = KokkosBlas::nrm2(b);
  KokkosSparse::spmv("N", -1.0, L, x, 1.0, b);
  Kokkos::fence();
  const double residual = KokkosBlas::nrm2(b) / size;
  std::printf("relative residual: %.2e\n", residual);
  return residual < 1e-14 ? 0 : 1;
}
