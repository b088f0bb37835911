// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of Kokkos Kernels' sptrsv, in another namespace: KokkosSparse and
// KokkosKernels became Strata, nothing else changed.
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Sptrsv.hpp>
#include <Strata_Triangle.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultExecutionSpace;
  using Memory = Space::memory_space;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
  using Vector = Kokkos::View<double*, Space>;

  const Space exec;
  const auto L = Strata::take_triangle(
      exec, Strata::gallery<Matrix>(exec, "grid2d:200"), Strata::Uplo::lower);
  const Vector b("b", L.numRows()), x("x", L.numRows());
  Kokkos::deep_copy(b, 1.0);

  using Handle =
      Strata::Experimental::KokkosKernelsHandle<int, int, double, Space, Memory,
                                                Memory>;
  Handle handle;
  handle.create_sptrsv_handle(
      Strata::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1, L.numRows(), true);
  Strata::sptrsv_symbolic(&handle, L.graph.row_map, L.graph.entries);
  // One line worth adding: without this promise, every solve packs the values
  // anew, for they may have changed.
  handle.get_sptrsv_handle()->set_values_fixed(true);
  for (int i = 0; i < 3; ++i)
    Strata::sptrsv_solve(&handle, L.graph.row_map, L.graph.entries, L.values, b,
                         x);
  exec.fence();

  const double size = KokkosBlas::nrm2(b);
  KokkosSparse::spmv("N", -1.0, L, x, 1.0, b);
  exec.fence();
  const double residual = KokkosBlas::nrm2(b) / size;
  std::printf("%d rows in %d level sets, relative residual %.2e\n",
              static_cast<int>(L.numRows()),
              static_cast<int>(handle.get_sptrsv_handle()->get_num_levels()),
              residual);
  handle.destroy_sptrsv_handle();
  return residual < 1e-14 ? 0 : 1;
}
