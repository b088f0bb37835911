// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_ROW_CHUNKS_ROW_SYSTEM_HPP
#define STRATA_KERNELS_TRIANGULAR_ROW_CHUNKS_ROW_SYSTEM_HPP

#include <analysis/packing/RowChunk.hpp>
#include <core/matrix/MultiVectorRef.hpp>

namespace Strata {
namespace Detail {

/// What kernels read of rows in chunks, with the right-hand sides and solutions
/// of one solve.
template <class Scalar, class ExecutionSpace>
struct RowSystem {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<const RowChunk*, Memory> chunk;
  Kokkos::View<const unsigned*, Memory> row;
  Kokkos::View<const int*, Memory> dependency;
  Kokkos::View<const Scalar*, Memory> value;
  Kokkos::View<const Scalar*, Memory> diagonal;
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  KOKKOS_INLINE_FUNCTION Scalar finish(const Scalar& sum,
                                       int permuted_row) const {
    return divide ? sum / diagonal(permuted_row) : sum * diagonal(permuted_row);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
