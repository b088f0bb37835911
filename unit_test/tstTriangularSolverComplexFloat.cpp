// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TriangularSolverScalar.hpp"

STRATA_TEST_TRIANGULAR_SOLVER(ComplexFloat, Kokkos::complex<float>)
