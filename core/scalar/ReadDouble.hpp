// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_READ_DOUBLE_HPP
#define STRATA_CORE_SCALAR_READ_DOUBLE_HPP

#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include <cstdlib>

namespace Strata {
namespace Detail {

/// std::strtod with a decimal point, whatever the locale of the program says.
/// (C++17's std::from_chars does the same, but GCC before 11 and LLVM's library
/// before 20 have it for integers only.)
inline double read_double(const char* text, char** end) {
  static const locale_t classic = ::newlocale(LC_ALL_MASK, "C", locale_t());
  const locale_t before = ::uselocale(classic);
  const double value = std::strtod(text, end);
  ::uselocale(before);
  return value;
}

}  // namespace Detail
}  // namespace Strata

#endif
