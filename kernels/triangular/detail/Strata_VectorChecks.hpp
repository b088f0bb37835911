// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_VECTOR_CHECKS_HPP
#define STRATA_VECTOR_CHECKS_HPP

#include <Strata_Error.hpp>
#include <detail/Strata_KokkosCompat.hpp>
#include <detail/Strata_MultiVectorRef.hpp>

namespace Strata {
namespace Detail {

/// First byte of a view's elements and the first past them.
template <class View>
std::pair<std::uintptr_t, std::uintptr_t> byte_range(const View& v) {
  const auto first = reinterpret_cast<std::uintptr_t>(v.data());
  if (v.size() == 0) return {first, first};
  std::size_t last = (v.extent(0) - 1) * v.stride_0();
  if constexpr (View::rank == 2) {
    last += (v.extent(1) - 1) * v.stride_1();
  }
  return {first, first + (last + 1) * sizeof(typename View::value_type)};
}

/// Whether two blocks of the same extents and strides that start `apart`
/// elements apart lie between each other's lines, like two columns of a matrix
/// stored by rows.
inline bool interleaved(std::int64_t apart, std::int64_t rows,
                        std::int64_t columns, std::int64_t row_stride,
                        std::int64_t column_stride) {
  const bool by_rows = columns == 1 || row_stride > column_stride;
  const std::int64_t period = by_rows ? row_stride : column_stride;
  const std::int64_t step = by_rows ? column_stride : row_stride;
  const std::int64_t length = ((by_rows ? columns : rows) - 1) * step + 1;
  if (period < 1) return false;
  const std::int64_t offset = apart % period;
  return offset >= length && period - offset >= length;
}

/// Extents of b and x against the system's `rows`, types and spaces against
/// the solver's, and that x is b or apart from it.
/// @throws SizeMismatchError, AliasError
template <class Scalar, class ExecutionSpace, class B, class X>
void check_vectors(std::int64_t rows, const B& b, const X& x) {
  static_assert(std::is_same<typename B::non_const_value_type, Scalar>::value &&
                    std::is_same<typename X::value_type, Scalar>::value,
                "Strata: b and x must have the solver's scalar type, and x "
                "must not be const");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace,
                                 typename B::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace,
                                     typename X::memory_space>::accessible,
      "Strata: b and x must be accessible from the execution space");
  auto check_rows = [&](const char* name, std::size_t extent) {
    if (static_cast<std::int64_t>(extent) != rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(extent) +
                                  " rows, the system " + std::to_string(rows),
                              "pass vectors of the system's size");
  };
  check_rows("b", b.extent(0));
  check_rows("x", x.extent(0));
  if (num_columns(b) != num_columns(x))
    throw SizeMismatchError(
        "x",
        "has " + std::to_string(num_columns(x)) + " columns, b " +
            std::to_string(num_columns(b)),
        "give one solution vector for every right-hand side");
  const auto from = byte_range(b), to = byte_range(x);
  if (from.first < to.second && to.first < from.second) {
    const auto rb = multi_vector_ref(b);
    const auto rx = multi_vector_ref(x);
    const std::int64_t columns = num_columns(b);
    const bool alike = rb.row_stride == rx.row_stride &&
                       (columns == 1 || rb.column_stride == rx.column_stride);
    const std::uintptr_t bytes =
        from.first < to.first ? to.first - from.first : from.first - to.first;
    const bool apart =
        bytes % sizeof(Scalar) == 0 &&
        interleaved(static_cast<std::int64_t>(bytes / sizeof(Scalar)), rows,
                    columns, rb.row_stride, rb.column_stride);
    if (!alike || (bytes != 0 && !apart))
      throw AliasError("x", "shares part of its memory with b",
                       "pass b itself to solve in place, or separate views");
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
