// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_VECTOR_CHECKS_HPP
#define STRATA_CORE_MATRIX_VECTOR_CHECKS_HPP

#include <Strata_Error.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/SharedElements.hpp>

namespace Strata {
namespace Detail {

/// That x has a place for each of its elements, and is b or has no element of
/// it: columns of one array may lie between each other's elements.
/// @throws AliasError
inline void check_apart_or_same(const StridedBlock& from,
                                const StridedBlock& to) {
  require_distinct_elements("x", to);
  if (!same_elements(from, to) && share_elements(from, to))
    throw AliasError("x", "shares part of its memory with b",
                     "pass b itself to solve in place, or separate views");
}

/// Extents of b and x, of rank 1 or 2, against the system's `rows`.
/// @throws SizeMismatchError
inline void check_vector_sizes(std::int64_t rows, const StridedBlock& b,
                               const StridedBlock& x) {
  auto check_rows = [&](const char* name, std::int64_t extent) {
    if (extent != rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(extent) +
                                  " rows, the system " + std::to_string(rows),
                              "pass vectors of the system's size");
  };
  check_rows("b", b.extent[0]);
  check_rows("x", x.extent[0]);
  if (b.extent[1] != x.extent[1])
    throw SizeMismatchError(
        "x",
        "has " + std::to_string(x.extent[1]) + " columns, b " +
            std::to_string(b.extent[1]),
        "give one solution vector for every right-hand side");
}

/// The same, and that x is b or apart from it.
/// @throws SizeMismatchError, AliasError
inline void check_vectors(std::int64_t rows, const StridedBlock& b,
                          const StridedBlock& x) {
  check_vector_sizes(rows, b, x);
  check_apart_or_same(b, x);
}

}  // namespace Detail
}  // namespace Strata

#endif
