// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata.hpp>

// Templates warn where they are instantiated.
using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;

Matrix lower_triangle(const Space& exec, const Matrix& A) {
  return Strata::take_triangle(exec, A, Strata::Uplo::lower);
}
