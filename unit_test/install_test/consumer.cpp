// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <Strata_Types.hpp>
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Matrix =
      KokkosSparse::CrsMatrix<double, int, Kokkos::DefaultExecutionSpace>;
  const Matrix a;
  const Strata::NotSquareError e("A", "is not square", "give a square one");
  std::printf("%s %d\n", e.what(), static_cast<int>(a.numRows()));
  return std::strcmp(Strata::to_string(Strata::Uplo::lower), "lower");
}
