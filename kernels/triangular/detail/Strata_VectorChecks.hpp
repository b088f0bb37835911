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
  if constexpr (View::rank == 2) last += (v.extent(1) - 1) * v.stride_1();
  return {first, first + (last + 1) * sizeof(typename View::value_type)};
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
    if (from.first != to.first || rb.row_stride != rx.row_stride ||
        (num_columns(b) > 1 && rb.column_stride != rx.column_stride))
      throw AliasError("x", "shares part of its memory with b",
                       "pass b itself to solve in place, or separate views");
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
