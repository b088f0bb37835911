// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TYPES_HPP
#define STRATA_TYPES_HPP

#include <string>

namespace Strata {

/// The triangle of the matrix that is stored, before any transposition.
enum class Uplo { lower, upper };

/// Whether the diagonal is stored (`non_unit`) or taken to be one (`unit`;
/// stored diagonal entries are then ignored).
enum class Diag { non_unit, unit };

/// op(A) in op(A) x = b.
enum class Op { none, transpose, conjugate_transpose };

inline const char* to_string(Uplo u) {
  return u == Uplo::lower ? "lower" : "upper";
}
inline const char* to_string(Diag d) {
  return d == Diag::unit ? "unit" : "non_unit";
}
inline const char* to_string(Op op) {
  switch (op) {
    case Op::none:
      return "none";
    case Op::transpose:
      return "transpose";
    default:
      return "conjugate_transpose";
  }
}

}  // namespace Strata

#endif
