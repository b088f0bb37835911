// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_FLAGS_HPP
#define STRATA_PERF_FLAGS_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <detail/Strata_PerfOptions.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Flags and their values in the order given.
using Flags = std::vector<std::pair<std::string, std::string>>;

/// Takes `known` flags (`--flag value` and `--flag=value`) and `switches`,
/// which have no value and neither has --help, out of argv; leaves the flags of
/// Google Benchmark and Kokkos there.
/// @throws OptionError on a flag that nobody knows, or without its value
inline Flags take_flags(int& argc, char** argv,
                        const std::vector<std::string>& known,
                        const std::vector<std::string>& switches = {}) {
  const auto is_one_of = [](const std::vector<std::string>& all,
                            const std::string& flag) {
    return std::find(all.begin(), all.end(), flag) != all.end();
  };
  Flags flags;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (starts_with(argument, "--benchmark_") ||
        starts_with(argument, "--kokkos-") || starts_with(argument, "--v=")) {
      argv[kept++] = argv[i];
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      flags.emplace_back("--help", "");
      continue;
    }
    if (is_one_of(switches, argument)) {
      flags.emplace_back(argument, "");
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    if (!is_one_of(known, flag))
      throw OptionError(flag, "there is no such flag", "see --help");
    std::string value;
    if (equals != std::string::npos)
      value = argument.substr(equals + 1);
    else if (i + 1 < argc)
      value = argv[++i];
    if (value.empty())
      throw OptionError(flag, "its value is missing", "see --help");
    flags.emplace_back(flag, value);
  }
  argc = kept;
  argv[argc] = nullptr;
  return flags;
}

/// @throws OptionError unless `value` is a whole number from `least` to `most`
template <class Number = int>
Number whole_number(const std::string& flag, const std::string& value,
                    Number least, Number most) {
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0' || errno != 0 || number < least ||
      number > most)
    throw OptionError(flag,
                      "'" + value + "' is not a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most),
                      "see --help");
  return static_cast<Number>(number);
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
    const std::string& flag = "--algorithms",
    const std::string& what = "algorithm") {
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

inline void check_scalar_name(const std::string& value) {
  if (value != "float" && value != "double" && value != "complex_float" &&
      value != "complex_double")
    throw OptionError("--scalar", "'" + value + "' is not a scalar type",
                      "use float, double, complex_float or complex_double");
}

/// The flags in `own`, and those of `common`.
inline std::vector<std::string> with_flags(
    std::vector<std::string> own, const std::vector<std::string>& common) {
  own.insert(own.end(), common.begin(), common.end());
  return own;
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
