// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_FRAGMENTS_HPP
#define STRATA_TEST_FRAGMENTS_HPP

#include <Strata_BandSolver.hpp>
#include <Strata_FactorSolver.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IlutPattern.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_IncompletePattern.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_MemoryPool.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <cstdio>

/// Names that fragments of code in the documents may use: listings.py makes a
/// class derived from this one of each.
struct Fragments {
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
  using Vector = Kokkos::View<double*, Space>;

  /// 4 on the diagonal and -1 elsewhere, so that incomplete Cholesky takes it.
  static Matrix laplacian(const Space& exec) {
    const Matrix made = Strata::gallery<Matrix>(exec, "grid2d:10");
    const auto in = [](const auto& view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    const auto row_map = in(made.graph.row_map);
    const auto entries = in(made.graph.entries);
    const auto values = in(made.values);
    for (int i = 0; i < made.numRows(); ++i)
      for (int k = row_map(i); k < row_map(i + 1); ++k)
        values(k) = entries(k) == i ? 4 : -1;
    Kokkos::deep_copy(made.values, values);
    return made;
  }

  const Space exec{};
  const Matrix A = laplacian(exec);
  const Matrix L = Strata::take_triangle(exec, A, Strata::Uplo::lower);
  const int n = L.numRows();
  const Vector b{"b", static_cast<std::size_t>(n)};
  const Vector x{"x", static_cast<std::size_t>(n)};
};

#endif
