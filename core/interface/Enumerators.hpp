// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_ENUMERATORS_HPP
#define STRATA_CORE_INTERFACE_ENUMERATORS_HPP

#include <Strata_Error.hpp>
#include <cstddef>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

/// The names of an enumeration's values, which count from 0, as `list`.
/// Specialised beside each enumeration that a caller passes.
template <class Enum>
struct EnumeratorNames;

template <class Enum>
constexpr std::size_t num_enumerators() {
  return std::extent<decltype(EnumeratorNames<Enum>::list)>::value;
}

/// Whether `value` is one of the enumeration's values: a cast makes others.
template <class Enum>
bool is_enumerator(Enum value) {
  const auto number = static_cast<std::underlying_type_t<Enum>>(value);
  return number >= 0 &&
         static_cast<std::size_t>(number) < num_enumerators<Enum>();
}

/// The name of `value`, "unknown" where it has none.
template <class Enum>
const char* enumerator_name(Enum value) {
  return is_enumerator(value)
             ? EnumeratorNames<Enum>::list[static_cast<std::size_t>(value)]
             : "unknown";
}

/// All names, as a sentence lists them.
template <class Enum>
std::string enumerator_names() {
  constexpr std::size_t count = num_enumerators<Enum>();
  std::string names;
  for (std::size_t k = 0; k < count; ++k)
    names += (k == 0          ? ""
              : k + 1 < count ? ", "
                              : " or ") +
             std::string(EnumeratorNames<Enum>::list[k]);
  return names;
}

/// @throws OptionError that names the argument, the number and the names that
///   there are, unless `value` is one of the enumeration's values
template <class Enum>
void require_enumerator(const char* argument, Enum value) {
  if (is_enumerator(value)) return;
  const auto number = static_cast<std::underlying_type_t<Enum>>(value);
  throw OptionError(argument,
                    "is " + std::to_string(number) + ", which has no name",
                    "pass " + enumerator_names<Enum>());
}

}  // namespace Detail
}  // namespace Strata

#endif
