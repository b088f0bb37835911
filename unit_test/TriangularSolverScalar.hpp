// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_TRIANGULAR_SOLVER_SCALAR_HPP
#define STRATA_TEST_TRIANGULAR_SOLVER_SCALAR_HPP

#include <KokkosKernels_Handle.hpp>

#include "../perf_test/detail/Strata_SptrsvNames.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {

/// What Kokkos Kernels' sptrsv makes of the same matrix and right-hand side.
template <class Scalar>
std::vector<Scalar> kokkos_kernels_solution(const HostMatrix<Scalar>& A,
                                            Uplo uplo,
                                            const std::vector<Scalar>& b) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Memory = Space::memory_space;
  namespace Names = PerfTest::SptrsvNames;
  KokkosKernels::Experimental::KokkosKernelsHandle<int, int, Scalar, Space,
                                                   Memory, Memory>
      handle;
  const auto matrix = A.template to_device<SolverMatrix<Scalar, Space>>();
  const auto& graph = matrix.graph;
  const auto b_view = to_columns<Scalar, Space>(b, A.rows, 1);
  const Columns<Scalar, Space> x_view("x", A.rows, 1);
  handle.create_sptrsv_handle(
      KokkosSparse::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1,
      static_cast<int>(A.rows), uplo == Uplo::lower);
  Names::symbolic(Names::First(), &handle, graph.row_map, graph.entries);
  Kokkos::fence();
  Names::solve(Names::First(), &handle, graph.row_map, graph.entries,
               matrix.values, Kokkos::subview(b_view, Kokkos::ALL(), 0),
               Kokkos::subview(x_view, Kokkos::ALL(), 0));
  const auto x = to_vector(x_view);
  handle.destroy_sptrsv_handle();
  return x;
}

/// Both solutions have residuals of rounding size, and so agree.
template <class Scalar>
void expect_agreement_with_kokkos_kernels() {
  using Space = Kokkos::DefaultExecutionSpace;
  using Real = typename ScalarParts<Scalar>::Real;
  for (const auto& pattern :
       {random_pattern(700, 5.0, 700, 8), random_pattern(400, 2.0, 5, 9),
        dense_row_pattern(150), power_law_pattern(300)})
    for (const auto uplo : {Uplo::lower, Uplo::upper}) {
      const auto A = make_triangle<Scalar>(pattern, uplo);
      const auto b = random_values<Scalar>(A.rows, 21);
      const auto theirs = kokkos_kernels_solution(A, uplo, b);
      for (const auto& variant : algorithms()) {
        SCOPED_TRACE(pattern.name + ", " + to_string(uplo) + ", " +
                     variant.name);
        const TriangularSolver<Scalar, Space> solver(
            Space(), A.template to_device<SolverMatrix<Scalar, Space>>(), uplo,
            Diag::non_unit, variant.options);
        const auto ours = solve(solver, b);
        for (std::size_t i = 0; i < ours.size(); ++i)
          ASSERT_LE(magnitude(widen(ours[i]) - widen(theirs[i])),
                    2e4 * std::numeric_limits<Real>::epsilon())
              << "row " << i;
      }
    }
}

/// A GPU's warps solve several right-hand sides of tiles together if all warps
/// are busy, as with these blocks (tstTiles). An infinity spoils no other
/// column, and of its own only rows of its block.
template <class Scalar>
void expect_right_hand_sides_together() {
  using Space = Kokkos::DefaultExecutionSpace;
  using Real = typename ScalarParts<Scalar>::Real;
  TriangularOptions options;
  options.algorithm = Algorithm::tiles;
  options.max_right_hand_sides = 32;
  const int size = 64;
  const auto pattern = block_pattern(200, size, 0.5);
  const auto A = make_triangle<Scalar>(pattern, Uplo::lower);
  const auto n = A.rows;
  const TriangularSolver<Scalar, Space> solver(
      Space(), A.template to_device<SolverMatrix<Scalar, Space>>(), Uplo::lower,
      Diag::non_unit, options);
  const HostSystem<Scalar> system{A, Uplo::lower, Diag::non_unit};
  for (const int k : {2, 9, 32, 37}) {
    const auto b = random_values<Scalar>(n * k, 31);
    const auto x = solve(solver, b, k);
    auto spoilt = b;
    spoilt[n + 7] = Scalar(std::numeric_limits<float>::infinity());
    const auto beside = solve(solver, spoilt, k);
    for (int c = 0; c < k; ++c) {
      SCOPED_TRACE("right-hand side " + std::to_string(c) + " of " +
                   std::to_string(k));
      system.expect_solution(&b[n * c], &x[n * c]);
      if (c != 1) system.expect_solution(&b[n * c], &beside[n * c]);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (auto i = n; i < 2 * n; ++i)
      if (i < n + 7 || i >= n + size)
        ASSERT_LE(magnitude(widen(x[i]) - widen(beside[i])),
                  2e4 * std::numeric_limits<Real>::epsilon() *
                      (1 + magnitude(widen(x[i]))))
            << "row " << i - n;
  }
}

}  // namespace SolverTest
}  // namespace Strata

/// The tests that every scalar type has, on the default execution space.
#define STRATA_TEST_TRIANGULAR_SOLVER(NAME, ...)               \
  namespace Strata {                                           \
  namespace SolverTest {                                       \
  using Space = Kokkos::DefaultExecutionSpace;                 \
  TEST(TriangularSolver, NAME##SolvesEveryOperation) {         \
    expect_operations<__VA_ARGS__, Space>();                   \
  }                                                            \
  TEST(TriangularSolver, NAME##SolvesSmallPatterns) {          \
    expect_small_patterns<__VA_ARGS__, Space>();               \
  }                                                            \
  TEST(TriangularSolver, NAME##SolvesLargePatterns) {          \
    expect_large_patterns<__VA_ARGS__, Space>();               \
  }                                                            \
  TEST(TriangularSolver, NAME##AgreesWithKokkosKernels) {      \
    expect_agreement_with_kokkos_kernels<__VA_ARGS__>();       \
  }                                                            \
  TEST(TriangularSolver, NAME##SolvesRightHandSidesTogether) { \
    expect_right_hand_sides_together<__VA_ARGS__>();           \
  }                                                            \
  }                                                            \
  }

#endif
