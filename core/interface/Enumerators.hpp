// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_ENUMERATORS_HPP
#define STRATA_CORE_INTERFACE_ENUMERATORS_HPP

#include <Strata_Error.hpp>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

/// The names of an enumeration's values, which count from 0, as `list`.
/// Specialised beside each enumeration that a caller passes.
template <class Enum>
struct EnumeratorNames;

/// Values of an enumeration that have got a name while the program runs, beside
/// those of the list: none, unless it is specialised.
template <class Enum>
struct AddedEnumerators {
  /// Null where `value` has no name.
  static const char* name(Enum) { return nullptr; }
  static std::vector<Enum> values() { return {}; }
};

/// Those of the list.
template <class Enum>
constexpr std::size_t num_enumerators() {
  return std::extent<decltype(EnumeratorNames<Enum>::list)>::value;
}

/// The name of `value`, null where it has none.
template <class Enum>
const char* find_enumerator_name(Enum value) {
  const auto number = static_cast<std::underlying_type_t<Enum>>(value);
  if (number >= 0 && static_cast<std::size_t>(number) < num_enumerators<Enum>())
    return EnumeratorNames<Enum>::list[static_cast<std::size_t>(number)];
  return AddedEnumerators<Enum>::name(value);
}

/// Whether `value` is one of the enumeration's values: a cast makes others.
template <class Enum>
bool is_enumerator(Enum value) {
  return find_enumerator_name(value) != nullptr;
}

/// The name of `value`, "unknown" where it has none.
template <class Enum>
const char* enumerator_name(Enum value) {
  const char* const name = find_enumerator_name(value);
  return name ? name : "unknown";
}

/// All values, in the order of the list.
template <class Enum>
std::vector<Enum> enumerators() {
  std::vector<Enum> all;
  for (std::size_t k = 0; k < num_enumerators<Enum>(); ++k)
    all.push_back(static_cast<Enum>(k));
  const auto added = AddedEnumerators<Enum>::values();
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

/// All names, as a sentence lists them.
template <class Enum>
std::string enumerator_names() {
  const auto all = enumerators<Enum>();
  std::string names;
  for (std::size_t k = 0; k < all.size(); ++k)
    names += (k == 0               ? ""
              : k + 1 < all.size() ? ", "
                                   : " or ") +
             std::string(enumerator_name(all[k]));
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
/// The name of an enumerator of any of the library's enumerations, "unknown"
/// where it has none.
template <class Enum, class = decltype(Detail::EnumeratorNames<Enum>::list)>
const char* to_string(Enum value) {
  return Detail::enumerator_name(value);
}

}  // namespace Strata

#endif
