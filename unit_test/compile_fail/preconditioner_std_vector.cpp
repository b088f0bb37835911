// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the matrix must be a KokkosSparse::CrsMatrix
#include <Strata_IncompleteFactorization.hpp>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const std::vector<double>& A) {
  const Strata::IncompleteFactorization M(Space(), A,
                                          Strata::Factorization::incomplete_lu);
}
