// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TriangularSolverScalar.hpp"

STRATA_TEST_TRIANGULAR_SOLVER(Double, double)
