// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosSparse_spmv.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Spiluk.hpp>
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

TEST(ComingFromSpiluk, CallsByTheNamesOfKokkosKernelsFactorise) {
  const auto A = Strata::gallery<Matrix>(Space(), "grid2d:20");
  const Kokkos::View<const int*, Space> row_map = A.graph.row_map,
                                        entries = A.graph.entries;
  const Kokkos::View<const double*, Space> values = A.values;
  const int n = A.numRows(), room = 10 * n, fill_lev = 2;
  using Indices = Kokkos::View<int*, Space>;
  const Indices L_row_map("L_row_map", n + 1), U_row_map("U_row_map", n + 1);
  Indices L_entries("L_entries", room), U_entries("U_entries", room);
  Strata::Experimental::KokkosKernelsHandle<int, int, double, Space, Memory,
                                            Memory>
      handle;
  // clang-format off
  handle.create_spiluk_handle(Strata::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1, n, room, room);
  Strata::spiluk_symbolic(&handle, fill_lev, row_map, entries, L_row_map, L_entries, U_row_map, U_entries);
  Kokkos::resize(L_entries, handle.get_spiluk_handle()->get_nnzL());
  Kokkos::resize(U_entries, handle.get_spiluk_handle()->get_nnzU());
  const Vector L_values("L_values", L_entries.extent(0)), U_values("U_values", U_entries.extent(0));
  Strata::spiluk_numeric(&handle, fill_lev, row_map, entries, values, L_row_map, L_entries, L_values, U_row_map, U_entries, U_values);
  const auto expect_factors = [&] {
    // L (U e) = A e on a grid, but for what the level leaves out.
    const Matrix L("L", n, n, L_values.extent(0), L_values, L_row_map, L_entries);
    const Matrix U("U", n, n, U_values.extent(0), U_values, U_row_map, U_entries);
    const Vector ones("ones", n), y("y", n), b("b", n);
    Kokkos::deep_copy(ones, 1.0);
    KokkosSparse::spmv("N", 1.0, U, ones, 0.0, y);
    KokkosSparse::spmv("N", 1.0, L, y, 0.0, b);
    Kokkos::fence();
    const double left_out = residual(A, b, ones);
    EXPECT_LT(left_out, 0.1);
    EXPECT_GT(left_out, 0);
  };
  expect_factors();
  Kokkos::deep_copy(L_values, 0.0);
  Kokkos::deep_copy(U_values, 0.0);
  const std::vector<Space> spaces(1);
  const std::vector<decltype(handle)*> handles{&handle};
  const std::vector<Kokkos::View<const int*, Space>> row_maps{row_map}, entries_of_all{entries};
  const std::vector<Kokkos::View<const double*, Space>> values_of_all{values};
  const std::vector<Indices> L_row_maps{L_row_map}, U_row_maps{U_row_map}, L_entries_of_all{L_entries}, U_entries_of_all{U_entries};
  const std::vector<Vector> L_values_of_all{L_values}, U_values_of_all{U_values};
  Strata::Experimental::spiluk_numeric_streams(spaces, handles, fill_lev, row_maps, entries_of_all, values_of_all, L_row_maps, L_entries_of_all, L_values_of_all, U_row_maps, U_entries_of_all, U_values_of_all);
  expect_factors();
  handle.destroy_spiluk_handle();
  // clang-format on
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
