// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the scalar type must be float, double,
// Kokkos::complex<float> or Kokkos::complex<double>
#include <Strata_GaussJordan.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<long double**, Space>;

void misuse(const Matrix& A, const Matrix& inverse) {
  Strata::gauss_jordan_inverse(Space(), A, inverse);
}
