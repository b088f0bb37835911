// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the values must have the scalar type that the solver or
// matrix was made for
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;

void misuse(Strata::TriangularSolver<double, Space>& solver,
            const Kokkos::View<float*, Space>& values) {
  solver.update_values(Space(), values);
}
