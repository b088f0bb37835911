// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: both vectors must have the same scalar type, and the one
// written must not be const
#include <Strata_PermuteRows.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::Permutation<Space::memory_space>& order,
            const Kokkos::View<float*, Space>& from,
            const Kokkos::View<double*, Space>& to) {
  Strata::permute_rows(Space(), order, from, to);
}
