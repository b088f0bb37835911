// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_REF_HPP
#define STRATA_KERNELS_DENSE_DENSE_REF_HPP

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// A matrix stored by columns: element (i, j) at data[i + j * ld].
template <class Scalar>
struct DenseRef {
  Scalar* data = nullptr;
  std::int64_t ld = 0;

  KOKKOS_INLINE_FUNCTION Scalar& operator()(std::int64_t i,
                                            std::int64_t j) const {
    return data[i + j * ld];
  }
  /// The matrix from element (i, j) on.
  KOKKOS_INLINE_FUNCTION DenseRef from(std::int64_t i, std::int64_t j) const {
    return {data + i + j * ld, ld};
  }
};

/// store(k, load(k)) for k = begin, begin + step, ... below `end`, in groups of
/// `together`: all loads of a group are under way before its first store, which
/// a compiler can't arrange where the two might meet in memory.
template <int together, class Load, class Store>
KOKKOS_INLINE_FUNCTION void copy_together(int begin, int end, int step,
                                          const Load& load,
                                          const Store& store) {
  using Value = decltype(load(0));
  for (int k = begin; k < end; k += together * step) {
    Value held[together];
    STRATA_IMPL_UNROLL
    for (int t = 0; t < together; ++t)
      if (k + t * step < end) held[t] = load(k + t * step);
    STRATA_IMPL_UNROLL
    for (int t = 0; t < together; ++t)
      if (k + t * step < end) store(k + t * step, held[t]);
  }
}

/// Columns of a panel, and rows of the triangular tiles that are solved in
/// registers: as many as fit with one row a thread.
template <class Scalar>
inline constexpr int panel_width = sizeof(Scalar) > 8 ? 16 : 32;

}  // namespace Detail
}  // namespace Strata

#endif
