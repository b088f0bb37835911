// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TYPES_HPP
#define STRATA_TYPES_HPP

#include <core/interface/Enumerators.hpp>

namespace Strata {

/// The triangle of the matrix that is stored, before any transposition.
enum class Uplo { lower, upper };

/// Whether the diagonal is stored (`non_unit`) or taken to be one (`unit`;
/// stored diagonal entries are then ignored).
enum class Diag { non_unit, unit };

/// op(A) in op(A) x = b.
enum class Op { none, transpose, conjugate_transpose };

namespace Detail {
template <>
struct EnumeratorNames<Uplo> {
  static constexpr const char* list[] = {"lower", "upper"};
};
template <>
struct EnumeratorNames<Diag> {
  static constexpr const char* list[] = {"non_unit", "unit"};
};
template <>
struct EnumeratorNames<Op> {
  static constexpr const char* list[] = {"none", "transpose",
                                         "conjugate_transpose"};
};
}  // namespace Detail

}  // namespace Strata

#endif
