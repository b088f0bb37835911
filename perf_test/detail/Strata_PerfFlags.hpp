// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_FLAGS_HPP
#define STRATA_PERF_FLAGS_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <cerrno>
#include <core/interface/Enumerators.hpp>
#include <cstdint>
#include <cstdlib>
#include <detail/Strata_PerfOptions.hpp>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// A flag of a program, and what takes its value.
struct Flag {
  std::string name;
  std::function<void(const std::string&)> take;
  bool is_switch = false;  ///< it has no value
};
using Flags = std::vector<Flag>;

/// Takes flags (`--flag value` and `--flag=value`) out of argv, and leaves
/// those of Google Benchmark and Kokkos there.
/// @throws OptionError on a flag that is not in `groups`, or without its value
inline void take_flags(int& argc, char** argv,
                       const std::vector<Flags>& groups) {
  Flags known;
  for (const Flags& group : groups)
    known.insert(known.end(), group.begin(), group.end());
  std::vector<std::pair<const Flag*, std::string>> given;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (starts_with(argument, "--benchmark_") ||
        starts_with(argument, "--kokkos-") || starts_with(argument, "--v=")) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name =
        argument == "-h" ? "--help" : argument.substr(0, equals);
    const auto flag =
        std::find_if(known.begin(), known.end(),
                     [&](const Flag& one) { return one.name == name; });
    if (flag == known.end() || (flag->is_switch && equals != std::string::npos))
      throw OptionError(name, "there is no such flag", "see --help");
    std::string value;
    if (equals != std::string::npos)
      value = argument.substr(equals + 1);
    else if (!flag->is_switch && i + 1 < argc)
      value = argv[++i];
    if (value.empty() && !flag->is_switch)
      throw OptionError(name, "its value is missing", "see --help");
    given.emplace_back(&*flag, value);
  }
  argc = kept;
  argv[argc] = nullptr;
  for (const auto& [flag, value] : given) flag->take(value);
}

/// @throws OptionError unless `value` is a whole number from `least` to `most`
inline std::int64_t whole_number(const std::string& flag,
                                 const std::string& value, std::int64_t least,
                                 std::int64_t most) {
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0' || errno != 0 || number < least ||
      number > most)
    throw OptionError(flag,
                      "'" + value + "' is not a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most),
                      "see --help");
  return number;
}

/// @throws OptionError unless `value` is a number from `least` to `most`
inline double real_number(const std::string& flag, const std::string& value,
                          double least, double most) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !(number >= least && number <= most))
    throw OptionError(flag, "'" + value + "' is not a number it can be",
                      "see --help");
  return number;
}

/// The parts of a list with commas between.
inline std::vector<std::string> list_parts(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The names in `all` that `list` names, in the order of `all`; `what` they are
/// the names of.
/// @throws OptionError for one that is not there
inline std::vector<std::string> chosen_names(
    const std::string& list, const std::vector<std::string>& all,
    const std::string& flag, const std::string& what) {
  const auto parts = list_parts(list);
  std::string known;
  for (const auto& name : all) known += ' ' + name;
  for (const auto& part : parts)
    if (std::find(all.begin(), all.end(), part) == all.end())
      throw OptionError(flag, "there is no " + what + " '" + part + "'",
                        "this build has" + known);
  std::vector<std::string> chosen;
  for (const auto& name : all)
    if (std::find(parts.begin(), parts.end(), name) != parts.end())
      chosen.push_back(name);
  return chosen;
}

/// A flag that is there or not.
inline Flag toggle(const std::string& flag, bool& to) {
  return {flag, [&to](const std::string&) { to = true; }, true};
}
inline Flag text(const std::string& flag, std::string& to) {
  return {flag, [&to](const std::string& value) { to = value; }};
}
/// A number, see whole_number() and real_number().
template <class Number>
Flag whole(const std::string& flag, Number& to, std::int64_t least,
           std::int64_t most) {
  return {flag, [=, &to](const std::string& value) {
            to = static_cast<Number>(whole_number(flag, value, least, most));
          }};
}
inline Flag real(const std::string& flag, double& to, double least,
                 double most) {
  return {flag, [=, &to](const std::string& value) {
            to = real_number(flag, value, least, most);
          }};
}
inline Flag wholes(const std::string& flag, std::vector<int>& to,
                   std::int64_t least, std::int64_t most) {
  return {flag, [=, &to](const std::string& value) {
            to.clear();
            for (const auto& part : list_parts(value))
              whole(flag, to.emplace_back(), least, most).take(part);
          }};
}
/// Some of `all`, see chosen_names().
inline Flag names(const std::string& flag, std::vector<std::string>& to,
                  const std::vector<std::string>& all,
                  const std::string& what = "algorithm") {
  return {flag, [=, &to](const std::string& value) {
            to = chosen_names(value, all, flag, what);
          }};
}
/// One of an enumeration's names.
template <class Enum>
Flag choice(const std::string& flag, Enum& to) {
  return {flag, [flag, &to](const std::string& value) {
            for (const Enum one : Detail::enumerators<Enum>())
              if (value == to_string(one)) {
                to = one;
                return;
              }
            throw OptionError(flag, "'" + value + "' is none of its choices",
                              "use " + Detail::enumerator_names<Enum>());
          }};
}

/// Where a program writes for people: standard output, unless Google Benchmark
/// is told to write JSON or CSV there.
inline std::ostream& stream_for_people(int argc, char** argv) {
  bool on_stdout = true;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (starts_with(flag, "--benchmark_format="))
      on_stdout = flag == "--benchmark_format=console";
  }
  return on_stdout ? std::cout : std::cerr;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
