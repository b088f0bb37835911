// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the others are but for their misuse: that compiles.
#include <Strata.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double*, Space>;

void use(const Strata::TriangularSolver<double, Space>& solver,
         const Strata::SellMatrix<double, Space>& matrix, const Vector& b,
         const Vector& x) {
  const Space exec;
  solver.solve(exec, b, x);
  matrix.apply(exec, b, x);
}
