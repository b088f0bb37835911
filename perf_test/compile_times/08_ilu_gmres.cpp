// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/08_ilu_gmres.cpp with Kokkos Kernels' own spiluk and sptrsv.
// Compiled only, by scripts/compile_times.
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_gmres.hpp>
#include <KokkosSparse_spiluk.hpp>
#include <KokkosSparse_spmv.hpp>
#include <KokkosSparse_sptrsv.hpp>
#include <cstdio>
#include <vector>

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

/// U^-1 L^-1 in the form that KokkosSparse::Experimental::gmres takes.
class IncompleteFactors final
    : public KokkosSparse::Experimental::Preconditioner<Matrix> {
 public:
  explicit IncompleteFactors(const Matrix& A)
      : between_("between", A.numRows()),
        l_rows_("l_rows", A.numRows() + 1),
        u_rows_("u_rows", A.numRows() + 1),
        l_columns_("l_columns", A.nnz()),
        u_columns_("u_columns", A.nnz()),
        l_values_("l_values", A.nnz()),
        u_values_("u_values", A.nnz()) {
    Handle factors;
    factors.create_spiluk_handle(
        KokkosSparse::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1,
        A.numRows(), A.nnz(), A.nnz());
    Sparse::spiluk_symbolic(&factors, 0, A.graph.row_map, A.graph.entries,
                            l_rows_, l_columns_, u_rows_, u_columns_);
    Sparse::spiluk_numeric(&factors, 0, A.graph.row_map, A.graph.entries,
                           A.values, l_rows_, l_columns_, l_values_, u_rows_,
                           u_columns_, u_values_);
    factors.destroy_spiluk_handle();
    using Algorithm = KokkosSparse::Experimental::SPTRSVAlgorithm;
    lower_.create_sptrsv_handle(Algorithm::SEQLVLSCHD_TP1, A.numRows(), true);
    upper_.create_sptrsv_handle(Algorithm::SEQLVLSCHD_TP1, A.numRows(), false);
    KokkosSparse::Experimental::sptrsv_symbolic(&lower_, l_rows_, l_columns_);
    KokkosSparse::Experimental::sptrsv_symbolic(&upper_, u_rows_, u_columns_);
  }

  // y = beta y + alpha U^-1 L^-1 x. Releases of Kokkos Kernels differ in the
  // type of the views: one of the two is what gmres calls.
  void apply(const Kokkos::View<const double*, Space>& x,
             const Kokkos::View<double*, Space>& y, const char* = "N",
             double alpha = 1, double beta = 0) const {
    apply_to(x, y, alpha, beta);
  }
  void apply(
      const Kokkos::View<const double*, Kokkos::Device<Space, Memory>>& x,
      const Kokkos::View<double*, Kokkos::Device<Space, Memory>>& y,
      const char* = "N", double alpha = 1, double beta = 0) const {
    apply_to(x, y, alpha, beta);
  }
  // All is done in the constructor.
  void setParameters() override {}
  void initialize() override {}
  bool isInitialized() const override { return true; }
  void compute() override {}
  bool isComputed() const override { return true; }

 private:
  template <class X, class Y>
  void apply_to(const X& x, const Y& y, double alpha, double beta) const {
    KokkosSparse::Experimental::sptrsv_solve(&lower_, l_rows_, l_columns_,
                                             l_values_, x, between_);
    KokkosSparse::Experimental::sptrsv_solve(&upper_, u_rows_, u_columns_,
                                             u_values_, between_, between_);
    KokkosBlas::axpby(alpha, between_, beta, y);
  }

  Vector between_;
  Kokkos::View<int*, Space> l_rows_, u_rows_, l_columns_, u_columns_;
  Kokkos::View<double*, Space> l_values_, u_values_;
  mutable Handle lower_, upper_;
};

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

Solve solve(Matrix& A, Vector& b, IncompleteFactors* preconditioner) {
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
  Matrix A = convection_diffusion(60);
  Vector b("b", A.numRows());
  Kokkos::deep_copy(b, 1.0);

  IncompleteFactors factors(A);
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
