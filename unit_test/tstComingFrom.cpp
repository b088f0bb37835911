// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_Sptrsv.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>

#include "HostMatrix.hpp"

// Every line of code on Strata's side of the tables of docs/coming_from.md is
// here (check_coming_from.cmake looks for it), in an order that works.

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double*, Space>;
using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;

Matrix triangle() {
  return Strata::take_triangle(Space(),
                               Strata::gallery<Matrix>(Space(), "grid2d:20"),
                               Strata::Uplo::lower);
}

/// ||b - op(A) x|| over ||b||, by plain loops.
template <class B, class X>
double residual(const Matrix& A, const B& b, const X& x,
                bool transposed = false) {
  const HostMatrix<double> host(A);
  const auto h_b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  const auto h_x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  std::vector<double> r(h_b.data(), h_b.data() + h_b.extent(0));
  double size = 0;
  for (const double v : r) size += v * v;
  for (std::int64_t i = 0; i < host.rows; ++i)
    for (auto k = host.row_map[i]; k < host.row_map[i + 1]; ++k) {
      const auto j = host.entries[k];
      if (transposed)
        r[j] -= host.values[k] * h_x(i);
      else
        r[i] -= host.values[k] * h_x(j);
    }
  double sum = 0;
  for (const double v : r) sum += v * v;
  return std::sqrt(sum / size);
}

class ComingFrom : public testing::Test {
 protected:
  const Matrix A = triangle();
  const Vector b{"b", 400}, x{"x", 400};
  void SetUp() override { Kokkos::deep_copy(b, 1.0); }
  void expect_solved() const { EXPECT_LT(residual(A, b, x), 1e-14); }
};

TEST_F(ComingFrom, CallsByTheNamesOfKokkosKernelsSolve) {
  const auto row_map = A.graph.row_map;
  const auto entries = A.graph.entries;
  const auto values = A.values;
  const auto n = A.numRows();
  // clang-format off
  using Handle = Strata::Experimental::KokkosKernelsHandle<int, int, double, Space, Memory, Memory>;
  Handle handle;
  handle.create_sptrsv_handle(Strata::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1, n, true);
  Strata::sptrsv_symbolic(&handle, row_map, entries, values);
  handle.get_sptrsv_handle()->set_values_fixed(true);
  Strata::sptrsv_solve(&handle, row_map, entries, values, b, x);
  handle.destroy_sptrsv_handle();
  // clang-format on
  Kokkos::fence();
  expect_solved();
}

TEST_F(ComingFrom, CallsInPlaceOfKokkosKernelsSolve) {
  const auto row_map = A.graph.row_map;
  const auto entries = A.graph.entries;
  const auto values = A.values;
  const Kokkos::View<const double*, Space> new_values = values;
  const Space exec;
  Strata::TriangularOptions options;
  // clang-format off
  Strata::TriangularSolver<double, Space> solver;
  options.algorithm = Strata::Algorithm::automatic;
  solver = Strata::TriangularSolver(exec, row_map, entries, values, Strata::Uplo::lower, Strata::Diag::non_unit, options);
  solver.solve(exec, b, x);
  exec.fence();
  expect_solved();
  solver.update_values(exec, new_values);
  solver.solve(exec, b, x);
  exec.fence();
  expect_solved();
  const Strata::TriangularSolver unit(exec, row_map, entries, values, Strata::Uplo::lower, Strata::Diag::unit);
  EXPECT_EQ(unit.report().entries, A.nnz() - 400);
  const int levels = solver.report().levels;
  EXPECT_EQ(levels, 39);
  EXPECT_NE(to_string(solver.report().algorithm), nullptr);
  solver = {};
  // clang-format on
}

TEST_F(ComingFrom, CallsInPlaceOfCusparseSolve) {
  // Arrays of the device.
  const int* const offsets = A.graph.row_map.data();
  const int* const columns = A.graph.entries.data();
  const double* const numbers = A.values.data();
  const int n = 400, nnz = static_cast<int>(A.nnz());
  Strata::TriangularOptions options;
  const Vector scaled("scaled", n);
  // clang-format off
#ifdef KOKKOS_ENABLE_CUDA
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  {
  const Kokkos::Cuda exec(stream);
#else
  {
  const Space exec;
#endif
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const int*, Space, Unmanaged> row_map(offsets, n + 1), entries(columns, nnz);
  const Kokkos::View<const double*, Space, Unmanaged> values(numbers, nnz);
  const Kokkos::View<const double*, Space, Unmanaged> rhs(b.data(), n);
  options.max_right_hand_sides = 8;
  Strata::TriangularSolver<double, Space> solver(exec, row_map, entries, values, Strata::Uplo::lower, Strata::Diag::non_unit, options);
  solver.solve(exec, rhs, x);
  exec.fence();
  expect_solved();
  solver.update_values(exec, values);
  options.op = Strata::Op::transpose;
  const Strata::TriangularSolver transposed(exec, row_map, entries, values, Strata::Uplo::lower, Strata::Diag::non_unit, options);
  transposed.solve(exec, b, x);
  exec.fence();
  EXPECT_LT(residual(A, b, x, true), 1e-14);
  options = {};
  const int k = 8;
  const Block B("B", n, k), X("X", n, k);
  Kokkos::deep_copy(exec, B, 1.0);
  solver.solve(exec, B, X);
  exec.fence();
  for (int c = 0; c < k; ++c)
    EXPECT_LT(residual(A, b, Kokkos::subview(X, Kokkos::ALL(), c)), 1e-14);
  options.take_triangle = true;
  const auto full = Strata::gallery<Matrix>(exec, "grid2d:20");
  const Strata::TriangularSolver of_full(exec, full, Strata::Uplo::lower, Strata::Diag::non_unit, options);
  of_full.solve(exec, b, x);
  exec.fence();
  expect_solved();
  try {
    const Vector zeros("zeros", nnz);
    const Strata::TriangularSolver bad(exec, row_map, entries, zeros, Strata::Uplo::lower, Strata::Diag::non_unit);
    ADD_FAILURE() << "solved";
  } catch (const Strata::ZeroDiagonalError& error) {
    EXPECT_EQ(error.row(), 0);
  }
  }
#ifdef KOKKOS_ENABLE_CUDA
  cudaStreamDestroy(stream);
#endif
  // clang-format on
}

}  // namespace
