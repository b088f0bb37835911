// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_NAME_MATRIX_ERRORS_HPP
#define STRATA_CORE_INTERFACE_NAME_MATRIX_ERRORS_HPP

#include <Strata_Error.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Calls `work`, which looks at one of several matrices, and has its exceptions
/// say which: "entries" becomes "U.entries", "matrix" becomes "U".
template <class Work>
void name_matrix_errors(const std::string& name, const Work& work) {
  try {
    work();
  } catch (MatrixError& error) {
    const std::string& of = error.argument();
    error.restate(of == "matrix" || of == "A" ? name : name + "." + of,
                  error.problem(), error.row());
    throw;
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
