// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_VECTOR_COPIES_HPP
#define STRATA_KERNELS_KRYLOV_VECTOR_COPIES_HPP

#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/matrix/SharedElements.hpp>

namespace Strata {
namespace Detail {

template <class Scalar>
struct CopyElements {
  MultiVectorRef<const Scalar> from;
  MultiVectorRef<Scalar> to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to(i, 0) = from(i, 0);
  }
};
template <class Scalar>
struct FillElements {
  Scalar value;
  MultiVectorRef<Scalar> to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to(i, 0) = value;
  }
};

/// A vector without gaps, which is copied and filled faster.
inline bool is_contiguous_vector(const StridedBlock& v) {
  return v.stride[0] == 1 || v.extent[0] < 2;
}
template <class Scalar, class ExecutionSpace>
using BorrowedVector =
    Kokkos::View<Scalar*, typename ExecutionSpace::memory_space,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Scalar, class ExecutionSpace>
BorrowedVector<Scalar, ExecutionSpace> borrowed_vector(const StridedBlock& v) {
  return BorrowedVector<Scalar, ExecutionSpace>(
      reinterpret_cast<Scalar*>(v.first),
      static_cast<std::size_t>(v.extent[0]));
}

/// to = from, for vectors of rank 1 and equal length that are apart. Enqueued
/// on `exec`.
template <class Scalar, class ExecutionSpace>
void copy_vector(const ExecutionSpace& exec, const StridedBlock& from,
                 const StridedBlock& to) {
  if (is_contiguous_vector(from) && is_contiguous_vector(to))
    return Kokkos::deep_copy(
        exec, borrowed_vector<Scalar, ExecutionSpace>(to),
        borrowed_vector<const Scalar, ExecutionSpace>(from));
  Kokkos::parallel_for(
      "Strata::copy_vector", RangeOf<ExecutionSpace>(exec, 0, to.extent[0]),
      CopyElements<Scalar>{multi_vector_ref<const Scalar>(from),
                           multi_vector_ref<Scalar>(to)});
}

/// All elements of a vector of rank 1 become `value`. Enqueued on `exec`.
template <class Scalar, class ExecutionSpace>
void fill_vector(const ExecutionSpace& exec, const StridedBlock& to,
                 const Scalar& value) {
  Kokkos::parallel_for(
      "Strata::fill_vector", RangeOf<ExecutionSpace>(exec, 0, to.extent[0]),
      FillElements<Scalar>{value, multi_vector_ref<Scalar>(to)});
}

}  // namespace Detail
}  // namespace Strata

#endif
