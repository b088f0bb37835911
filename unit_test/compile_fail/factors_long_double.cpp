// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the scalar type must be float, double,
// Kokkos::complex<float> or Kokkos::complex<double>
#include <Strata_IncompleteLu.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<long double, int, Space, void, int>;

void misuse(const Matrix& A) { Strata::incomplete_lu(Space(), A); }
