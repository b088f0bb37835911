// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_VECTOR_CHECKS_HPP
#define STRATA_CORE_MATRIX_VECTOR_CHECKS_HPP

#include <Strata_Error.hpp>
#include <core/device/KokkosVersion.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/SharedElements.hpp>

namespace Strata {
namespace Detail {

/// That x has a place for each of its elements, and is b or has no element of
/// it: columns of one array may lie between each other's elements.
/// @throws AliasError
template <class B, class X>
void check_apart_or_same(const B& b, const X& x) {
  const StridedBlock from = strided_block(b), to = strided_block(x);
  require_distinct_elements("x", to);
  if (!same_elements(from, to) && share_elements(from, to))
    throw AliasError("x", "shares part of its memory with b",
                     "pass b itself to solve in place, or separate views");
}

/// Extents of b and x against the system's `rows`. @throws SizeMismatchError
template <class B, class X>
void check_vector_sizes(std::int64_t rows, const B& b, const X& x) {
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
}

/// The same, and that x is b or apart from it.
/// @throws SizeMismatchError, AliasError
template <class B, class X>
void check_vectors(std::int64_t rows, const B& b, const X& x) {
  check_vector_sizes(rows, b, x);
  check_apart_or_same(b, x);
}

}  // namespace Detail
}  // namespace Strata

#endif
