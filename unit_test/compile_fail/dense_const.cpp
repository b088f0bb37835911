// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: a dense matrix that is written must not be const
#include <Strata_GaussJordan.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<const double**, Space>;

void misuse(const Matrix& A) { Strata::reduced_row_echelon_form(Space(), A); }
