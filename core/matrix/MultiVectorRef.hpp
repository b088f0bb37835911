// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_MULTI_VECTOR_REF_HPP
#define STRATA_CORE_MATRIX_MULTI_VECTOR_REF_HPP

#include <Kokkos_Core.hpp>
#include <core/matrix/SharedElements.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// A view of rank 1 or 2 reduced to a pointer and two strides, so that one
/// kernel serves every layout.
template <class Scalar>
struct MultiVectorRef {
  Scalar* data = nullptr;
  std::int64_t row_stride = 1, column_stride = 0;

  KOKKOS_INLINE_FUNCTION Scalar& operator()(std::int64_t row,
                                            std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
  /// The same from right-hand side `first` on.
  MultiVectorRef from(std::int64_t first) const {
    return {data + first * column_stride, row_stride, column_stride};
  }
};

template <class View>
MultiVectorRef<typename View::value_type> multi_vector_ref(const View& v) {
  static_assert(View::rank == 1 || View::rank == 2,
                "Strata: right-hand sides and solutions are views of rank 1 "
                "or 2");
  MultiVectorRef<typename View::value_type> ref;
  ref.data = v.data();
  ref.row_stride = static_cast<std::int64_t>(v.stride(0));
  if constexpr (View::rank == 2) {
    ref.column_stride = static_cast<std::int64_t>(v.stride(1));
  }
  return ref;
}

/// The same of where a view of rank 1 or 2 lies.
template <class Scalar>
MultiVectorRef<Scalar> multi_vector_ref(const StridedBlock& v) {
  return {reinterpret_cast<Scalar*>(v.first), v.stride[0], v.stride[1]};
}

/// A vector of rank 1 as a view, for Kokkos' copies and fills.
template <class Scalar, class ExecutionSpace>
using StridedVector = Kokkos::View<Scalar*, Kokkos::LayoutStride,
                                   typename ExecutionSpace::memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Scalar, class ExecutionSpace>
StridedVector<Scalar, ExecutionSpace> strided_vector(const StridedBlock& v) {
  // A vector of one element counts as one without gaps.
  const auto count = static_cast<std::size_t>(v.extent[0]);
  const auto stride = static_cast<std::size_t>(count > 1 ? v.stride[0] : 1);
  return StridedVector<Scalar, ExecutionSpace>(
      reinterpret_cast<Scalar*>(v.first), Kokkos::LayoutStride(count, stride));
}

template <class View>
std::int64_t num_columns(const View& v) {
  return View::rank == 1 ? 1 : static_cast<std::int64_t>(v.extent(1));
}

}  // namespace Detail
}  // namespace Strata

#endif
