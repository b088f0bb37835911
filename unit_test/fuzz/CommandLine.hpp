// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_COMMAND_LINE_HPP
#define STRATA_FUZZ_COMMAND_LINE_HPP

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace Strata {
namespace Fuzz {

/// What a driver was asked for.
struct CommandLine {
  std::string program;
  std::uint64_t seed_from = 1, seed_to = UINT64_MAX;
  /// After which no further seed is begun; 0: none is left out.
  double seconds = 0;
  /// After which a case is ended, and has failed; 0: never.
  unsigned case_seconds = 60;
  /// The one seed of --seed is run, and described.
  bool single = false;
  bool self_test = false, help = false;
  /// Cases whose description does not have this text in it are left out.
  std::string only;
  /// Kokkos' name of the only backend to run on; empty for all.
  std::string backend;

  /// The command that runs one seed again.
  std::string repeat(std::uint64_t seed) const {
    std::string command = program + " --seed " + std::to_string(seed);
    if (!backend.empty()) command += " --backend " + backend;
    return command;
  }
};

inline const char* usage() {
  return "options:\n"
         "  --seed-from A --seed-to B  the seeds, both included\n"
         "  --seconds S                begin no seed after S seconds\n"
         "  --case-seconds S           a case that takes longer is a failure\n"
         "                             (default: 60; 0: none is)\n"
         "  --seed N                   run that seed only and describe it\n"
         "  --only TEXT                cases with TEXT in their description\n"
         "  --backend NAME             on Serial, OpenMP or Cuda only\n"
         "  --self-test                spoil answers; the checks must notice\n";
}

inline double parsed_number(const std::string& option,
                            const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(value >= 0))
    throw std::runtime_error(option + " '" + text + "' is not a number");
  return value;
}
inline std::uint64_t parsed_seed(const std::string& option,
                                 const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0)
    throw std::runtime_error(option + " '" + text + "' is not a seed");
  return value;
}

/// @throws std::runtime_error for what can't be understood
inline CommandLine parse_command_line(int argc, char** argv) {
  CommandLine found;
  found.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(option + " needs a value");
      return argv[++i];
    };
    if (option == "--seed-from") {
      found.seed_from = parsed_seed(option, value());
    } else if (option == "--seed-to") {
      found.seed_to = parsed_seed(option, value());
    } else if (option == "--seconds") {
      found.seconds = parsed_number(option, value());
    } else if (option == "--case-seconds") {
      found.case_seconds =
          static_cast<unsigned>(parsed_number(option, value()));
    } else if (option == "--seed") {
      found.seed_from = found.seed_to = parsed_seed(option, value());
      found.single = true;
    } else if (option == "--only") {
      found.only = value();
    } else if (option == "--backend") {
      found.backend = value();
    } else if (option == "--self-test") {
      found.self_test = true;
    } else if (option == "--help" || option == "-h") {
      found.help = true;
    } else if (option.rfind("--kokkos", 0) != 0) {
      throw std::runtime_error("unknown option " + option);
    }
  }
  return found;
}

}  // namespace Fuzz
}  // namespace Strata

#endif
