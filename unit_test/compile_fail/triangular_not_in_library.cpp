// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: libstrata was built without this scalar type: add it to
// Strata_SCALARS where Strata is configured, or include the implementation of
// this class
#undef STRATA_LIBRARY
#undef STRATA_LIBRARY_FLOAT
#undef STRATA_LIBRARY_DOUBLE
#undef STRATA_LIBRARY_COMPLEX_FLOAT
#undef STRATA_LIBRARY_COMPLEX_DOUBLE
#define STRATA_LIBRARY 1
#define STRATA_LIBRARY_FLOAT 0
#define STRATA_LIBRARY_DOUBLE 1
#define STRATA_LIBRARY_COMPLEX_FLOAT 0
#define STRATA_LIBRARY_COMPLEX_DOUBLE 0
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<float, int, Space, void, int>;
using Vector = Kokkos::View<float*, Space>;

void misuse(const Matrix& L, const Vector& b, const Vector& x) {
  const Space exec;
  const Strata::TriangularSolver solver(exec, L, Strata::Uplo::lower,
                                        Strata::Diag::non_unit);
  solver.solve(exec, b, x);
}
