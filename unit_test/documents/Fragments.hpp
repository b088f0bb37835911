// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_FRAGMENTS_HPP
#define STRATA_TEST_FRAGMENTS_HPP

#include <Strata_BandSolver.hpp>
#include <Strata_FactorSolver.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Gmres.hpp>
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

  const Space exec{};
  const Matrix A = Strata::gallery<Matrix>(exec, "poisson:5");
  const Matrix L = Strata::take_triangle(exec, A, Strata::Uplo::lower);
  const int n = L.numRows();
  const Vector b{"b", static_cast<std::size_t>(n)};
  const Vector x{"x", static_cast<std::size_t>(n)};
};

#endif
