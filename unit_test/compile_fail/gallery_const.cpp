// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: a matrix that is made is not const-valued and has no memory
// traits
#include <Strata_Gallery.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<const double, int, Space, void, int>;

Matrix misuse() { return Strata::gallery<Matrix>(Space(), "grid2d:9"); }
