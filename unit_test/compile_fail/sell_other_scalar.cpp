// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the elements of x and y must have the scalar type of the
// matrix
#include <Strata_SellMatrix.hpp>

using Space = Kokkos::DefaultExecutionSpace;

void misuse(const Strata::SellMatrix<double, Space>& matrix,
            const Kokkos::View<float*, Space>& x,
            const Kokkos::View<double*, Space>& y) {
  matrix.apply(Space(), x, y);
}
