// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/05_conjugate_gradient.cpp with Kokkos Kernels' products, spiluk and
// sptrsv: no preconditioner, the diagonal, and incomplete factors. Compiled
// only, by scripts/compile_times.
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spiluk.hpp>
#include <KokkosSparse_spmv.hpp>
#include <KokkosSparse_sptrsv.hpp>
#include <cmath>
#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double*, Space>;
using Handle =
    KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Space,
                                                     Memory, Memory>;
#if defined(KOKKOSKERNELS_VERSION) && KOKKOSKERNELS_VERSION >= 40600
namespace Sparse = KokkosSparse;
#else
namespace Sparse = KokkosSparse::Experimental;
#endif

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

/// z = M^-1 r.
struct NoPreconditioner {
  void operator()(const Vector& r, const Vector& z) { Kokkos::deep_copy(z, r); }
};
struct Diagonal {
  Vector inverse;
  explicit Diagonal(const Matrix& A) : inverse("inverse", A.numRows()) {
    Kokkos::deep_copy(inverse, 0.25);
  }
  void operator()(const Vector& r, const Vector& z) {
    KokkosBlas::mult(0.0, z, 1.0, inverse, r);
  }
};
struct IncompleteFactors {
  Vector between;
  Kokkos::View<int*, Space> l_rows, u_rows, l_columns, u_columns;
  Kokkos::View<double*, Space> l_values, u_values;
  Handle lower, upper;

  explicit IncompleteFactors(const Matrix& A)
      : between("between", A.numRows()),
        l_rows("l_rows", A.numRows() + 1),
        u_rows("u_rows", A.numRows() + 1),
        l_columns("l_columns", A.nnz()),
        u_columns("u_columns", A.nnz()),
        l_values("l_values", A.nnz()),
        u_values("u_values", A.nnz()) {
    Handle factors;
    factors.create_spiluk_handle(
        KokkosSparse::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1,
        A.numRows(), A.nnz(), A.nnz());
    Sparse::spiluk_symbolic(&factors, 0, A.graph.row_map, A.graph.entries,
                            l_rows, l_columns, u_rows, u_columns);
    Sparse::spiluk_numeric(&factors, 0, A.graph.row_map, A.graph.entries,
                           A.values, l_rows, l_columns, l_values, u_rows,
                           u_columns, u_values);
    factors.destroy_spiluk_handle();
    using Algorithm = KokkosSparse::Experimental::SPTRSVAlgorithm;
    lower.create_sptrsv_handle(Algorithm::SEQLVLSCHD_TP1, A.numRows(), true);
    upper.create_sptrsv_handle(Algorithm::SEQLVLSCHD_TP1, A.numRows(), false);
    KokkosSparse::Experimental::sptrsv_symbolic(&lower, l_rows, l_columns);
    KokkosSparse::Experimental::sptrsv_symbolic(&upper, u_rows, u_columns);
  }
  void operator()(const Vector& r, const Vector& z) {
    KokkosSparse::Experimental::sptrsv_solve(&lower, l_rows, l_columns,
                                             l_values, r, between);
    KokkosSparse::Experimental::sptrsv_solve(&upper, u_rows, u_columns,
                                             u_values, between, z);
  }
};

/// Conjugate gradients; returns the number of iterations, 0 where 1000 are not
/// enough.
template <class Preconditioner>
int solve(const Matrix& A, const Vector& b, const Vector& x,
          Preconditioner&& precondition) {
  const Vector r("r", b.extent(0)), z("z", b.extent(0)), p("p", b.extent(0)),
      q("q", b.extent(0));
  Kokkos::deep_copy(x, 0.0);
  Kokkos::deep_copy(r, b);
  precondition(r, z);
  Kokkos::deep_copy(p, z);
  const double goal = 1e-20 * KokkosBlas::dot(b, b);
  double rz = KokkosBlas::dot(r, z);
  for (int iteration = 1; iteration <= 1000; ++iteration) {
    KokkosSparse::spmv("N", 1.0, A, p, 0.0, q);
    const double alpha = rz / KokkosBlas::dot(p, q);
    KokkosBlas::axpby(alpha, p, 1.0, x);
    KokkosBlas::axpby(-alpha, q, 1.0, r);
    const double norm = KokkosBlas::dot(r, r);
    if (iteration % 50 == 0) std::printf("  %4d  %.3e\n", iteration, norm);
    if (norm <= goal) return iteration;
    precondition(r, z);
    const double previous = rz;
    rz = KokkosBlas::dot(r, z);
    KokkosBlas::axpby(1.0, z, rz / previous, p);
  }
  return 0;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Matrix A = poisson_square(100);
  const Vector b("b", A.numRows()), x("x", A.numRows());
  Kokkos::deep_copy(b, 1.0);
  const int plain = solve(A, b, x, NoPreconditioner());
  const int diagonal = solve(A, b, x, Diagonal(A));
  const int factors = solve(A, b, x, IncompleteFactors(A));
  std::printf("%d, %d and %d iterations\n", plain, diagonal, factors);
  return plain > 0 && diagonal > 0 && factors > 0 ? 0 : 1;
}
