// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_validation: measures the automatic choice of triangular solves
// beside all its candidates on a set of systems that it was not fitted to.
// validation_usage() tells the flags.
#include <Kokkos_Core.hpp>
#include <core/device/DeviceInfo.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <detail/Strata_PerfValidation.hpp>
#include <detail/Strata_PerfValidationTable.hpp>
#include <iostream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

/// In the order of the set.
std::vector<std::string> all_families() {
  std::vector<std::string> names;
  for (const auto& system : ValidationSet().systems)
    if (std::find(names.begin(), names.end(), system.family) == names.end())
      names.push_back(system.family);
  return names;
}

std::string validation_usage() {
  std::string families;
  for (const auto& name : all_families()) {
    const std::size_t line = families.size() - (families.rfind('\n') + 1);
    if (families.empty() || line + name.size() > 75)
      families += (families.empty() ? "  " : "\n  ") + name;
    else
      families += ' ' + name;
  }
  return R"(strata_perf_validation: measures the automatic choice of triangular solves
beside all its candidates, and cuSPARSE, on systems that it was not fitted to.

  --families LIST    comma separated; default all (see below)
  --systems TEXT     those with TEXT in their names
  --per-family N     the N systems of each family with the fewest rows
  --scale FACTOR     systems with the first number of their names times FACTOR,
                     0.5 to 2: points along an axis, rows or blocks. Systems
                     whose number stays the same are left out
  --seed N           other random numbers, in the systems and in their orders
                     (default 1)
  --scalar S         float | double (default) | complex_float | complex_double
  --milliseconds T   of timing for each algorithm on each system (default 15);
                     what takes three times as long as the fastest in a first
                     solve gets no more than that
  --accuracy A       rowwise (default) | componentwise: what the automatic choice
                     and all candidates promise
  --list             print families, names and rows of the systems, and end
  --table FILE       a CSV line for each system, written as soon as it is
                     measured; scripts/summarise validation reads it

Flags of Kokkos (--kokkos-...) work as well. Exit code: 0; 1 on a bad flag, a
system that can't be made, or an output that can't be written; 2 where our own
algorithm failed or was wrong.

Families:
)" + families +
         "\n";
}

ValidationOptions parse(int& argc, char** argv) {
  ValidationOptions options;
  for (const auto& [flag, value] : take_flags(
           argc, argv,
           {"--families", "--systems", "--per-family", "--scale", "--seed",
            "--scalar", "--milliseconds", "--accuracy", "--table"},
           {"--list"})) {
    if (flag == "--help") {
      options.help = true;
    } else if (flag == "--list") {
      options.list = true;
    } else if (flag == "--families") {
      options.families = chosen_names(value, all_families(), flag, "family");
    } else if (flag == "--systems") {
      options.text = value;
    } else if (flag == "--per-family") {
      options.per_family = whole_number(flag, value, 1, 1000000);
    } else if (flag == "--scale") {
      options.scale = parse_limit(flag, value, false);
      if (!(options.scale >= 0.5 && options.scale <= 2))
        throw OptionError(flag, "'" + value + "' is not from 0.5 to 2",
                          "see --help");
    } else if (flag == "--seed") {
      options.seed = whole_number(flag, value, 1, 1000000);
    } else if (flag == "--milliseconds") {
      options.milliseconds = parse_limit(flag, value, false);
    } else if (flag == "--accuracy") {
      options.wishes.accuracy = accuracy_name(flag, value);
    } else if (flag == "--scalar") {
      check_scalar_name(value);
      options.scalar = value;
    } else {
      options.table_file = value;
    }
  }
  if (!options.help && chosen_systems(options).empty())
    throw OptionError("--families, --systems", "leave no system", "see --list");
  return options;
}

int run_all(const ValidationOptions& options, std::ostream& people) {
  const auto systems = chosen_systems(options);
  if (options.list) {
    for (const auto& system : systems)
      people << system.family << ' ' << system.name() << ' ' << system.rows
             << '\n';
    require_printed(people);
    return EXIT_SUCCESS;
  }
  TableFile<ValidationResult> table(options.table_file, write_validation_csv);
  people << "device: " << Detail::device_name(Space()) << '\n';
  const auto runner = with_scalar(options.scalar, [&](auto scalar) {
    return make_validation_runner<decltype(scalar)>(options);
  });
  int code = EXIT_SUCCESS;
  for (const auto& system : systems) {
    const ValidationResult result = runner->run(system);
    print_validation(people, result);
    require_printed(people);
    table.append({result});
    bool bad = result.outcome != Outcome::right;
    for (const auto& c : result.candidates)
      bad = bad || c.outcome == Outcome::wrong || c.outcome == Outcome::failed;
    if (result.outcome == Outcome::bad_input)
      code = EXIT_FAILURE;
    else if (bad && code == EXIT_SUCCESS)
      code = 2;
  }
  return code;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_validation", argc, argv, validation_usage,
                   parse, run_all);
}
