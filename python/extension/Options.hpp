// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_OPTIONS_HPP
#define STRATA_PYTHON_OPTIONS_HPP

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <Strata_Error.hpp>
#include <Strata_TriangularOptions.hpp>
#include <string>

namespace StrataPython {

namespace nb = nanobind;

/// The int that a float is equal to, or the float itself.
inline nb::object whole_number(nb::handle number) {
  return nb::cast<bool>(number.attr("is_integer")())
             ? nb::object(number.attr("__int__")())
             : nb::borrow(number);
}

/// The option `name` of a dictionary, or `otherwise`. @throws OptionError where
/// it is not of the type
template <class Value>
Value option(const nb::dict& options, const char* name, Value otherwise) {
  if (!options.contains(name)) return otherwise;
  const nb::handle given = options[name];
  Value value{};
  if (nb::try_cast<Value>(given, value)) return value;
  // Such as 1e9.
  if (PyFloat_Check(given.ptr()) &&
      nb::try_cast<Value>(whole_number(given), value))
    return value;
  const bool is_text = std::is_same<Value, std::string>::value;
  throw Strata::OptionError(
      name, nb::cast<std::string>(nb::repr(given)) + " can't be taken",
      is_text ? "pass the name as a string"
              : "pass a number in the range of its type");
}

/// The enumerator of that name. @throws OptionError
template <class Enumerator>
Enumerator enumerator(const char* option, const std::string& name) {
  for (const auto value : Strata::Detail::enumerators<Enumerator>())
    if (name == Strata::Detail::enumerator_name(value)) return value;
  throw Strata::OptionError(
      option, "'" + name + "' is unknown",
      "use " + Strata::Detail::enumerator_names<Enumerator>());
}
template <class Enumerator>
Enumerator option_of(const nb::dict& options, const char* name,
                     Enumerator otherwise) {
  return enumerator<Enumerator>(
      name, option<std::string>(options, name,
                                Strata::Detail::enumerator_name(otherwise)));
}

/// A dictionary of these options' members by name; what is left out has its
/// default.
Strata::TriangularPlanOptions plan_options(const nb::dict& given);
Strata::TriangularOptions triangular_options(const nb::dict& given);

}  // namespace StrataPython

#endif
