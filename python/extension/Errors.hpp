// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_ERRORS_HPP
#define STRATA_PYTHON_ERRORS_HPP

namespace StrataPython {

/// Has exceptions of the library arrive in Python as the classes of the same
/// names in strata_solvers._errors.
void translate_errors();

}  // namespace StrataPython

#endif
