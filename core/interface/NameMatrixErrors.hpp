// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_NAME_MATRIX_ERRORS_HPP
#define STRATA_CORE_INTERFACE_NAME_MATRIX_ERRORS_HPP

#include <Strata_Error.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Calls `work`, which looks at one of several matrices, and has its exceptions
/// say which: "entries" becomes "U.entries", "matrix" becomes "U".
template <class Error, class... Others, class Work>
void name_errors(const char* name, const Work& work) {
  try {
    if constexpr (sizeof...(Others) > 0) {
      name_errors<Others...>(name, work);
    } else {
      work();
    }
  } catch (const Error& error) {
    const std::string& of = error.argument();
    throw Error(
        of == "matrix" || of == "A" ? name : std::string(name) + "." + of,
        error.problem(), error.remedy(), error.row(), error.value());
  }
}
template <class Work>
void name_matrix_errors(const char* name, const Work& work) {
  name_errors<NotSquareError, RowMapError, ColumnRangeError, UnsortedRowError,
              DuplicateEntryError, WrongTriangleError, MissingDiagonalError,
              ZeroDiagonalError, ScalingError, PrecisionError,
              PatternMismatchError>(name, work);
}

}  // namespace Detail
}  // namespace Strata

#endif
