// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_validation: measures the automatic choice of triangular solves
// beside all its candidates on a set of systems that it was not fitted to.
// validation_usage() tells the flags.
#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfDevice.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <detail/Strata_PerfValidation.hpp>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

const char* timing_text(const CandidateTime& candidate) {
  if (candidate.outcome == Outcome::wrong ||
      candidate.outcome == Outcome::failed)
    return to_string(candidate.outcome);
  return to_string(candidate.timing);
}

/// Of the system, then of each candidate that has one.
std::string messages(const ValidationResult& result) {
  std::string text = result.message;
  for (const auto& c : result.candidates)
    if (!c.message.empty())
      text += (text.empty() ? "" : "; ") + c.algorithm + ": " + c.message;
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text;
}

/// Those of the system and, for each candidate, its times.
Columns<ValidationResult> validation_columns() {
  using R = ValidationResult;
  Columns<R> columns{
      {"family", "", &R::family},
      {"system", "", &R::system},
      {"scalar", "", &R::scalar},
      {"rhs", "", &R::rhs},
      {"rows", "", &R::rows},
      {"nnz", "", &R::entries},
      {"levels", "", &R::levels},
      {"longest_row", "", [](const R& r) { return r.plan.longest_row; }},
      {"merged_levels", "", [](const R& r) { return r.plan.merged_levels; }},
      {"chosen", "", [](const R& r) { return r.plan.chosen; }},
      {"solve_us", "", &R::solve_us}};
  const auto names = validation_candidates();
  for (std::size_t k = 0; k < names.size(); ++k) {
    // A system that failed has none.
    const auto add = [&](const char* what, const auto& get) {
      columns.emplace_back(names[k] + what, "", [k, get](const R& r) {
        return k < r.candidates.size() ? Cell(std::invoke(get, r.candidates[k]))
                                       : no_cell();
      });
    };
    add("_us", &CandidateTime::solve_us);
    if (names[k] == "tiles") add("_steps", &CandidateTime::steps);
    add("_merged_levels", &CandidateTime::merged_levels);
    add("_timing", timing_text);
  }
  const Columns<R> others{
      {"cusparse_us", "", &R::peer_us},
      {"analysis_us", "", &R::analysis_us},
      {"cusparse_analysis_us", "", &R::peer_analysis_us},
      {"bytes_us", "", &R::bytes_us},
      {"floor_us", "", &R::floor_us},
      {"rowwise_error", "", &R::rowwise_error},
      {"accuracy", "", &R::accuracy},
      {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
      {"message", "", messages}};
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

/// One line about a system, for people.
void print_validation(std::ostream& out, const ValidationResult& r) {
  out << r.family << ' ' << r.system << ": ";
  if (r.outcome == Outcome::right || r.outcome == Outcome::wrong) {
    out << r.rows << " rows, " << r.levels << " level sets, " << r.plan.chosen
        << ' ' << digits(r.solve_us) << " us, regret " << digits(r.regret());
    if (!std::isnan(r.peer_us))
      out << ", " << digits(r.peer_us / r.solve_us)
          << " x cuSPARSE, analysis over cuSPARSE's "
          << digits(r.analysis_us / r.peer_analysis_us);
  }
  if (r.outcome != Outcome::right) out << ' ' << to_string(r.outcome);
  for (const auto& c : r.candidates)
    if (c.outcome == Outcome::wrong || c.outcome == Outcome::failed)
      out << ", " << c.algorithm << ' ' << to_string(c.outcome);
  if (!messages(r).empty()) out << " (" << messages(r) << ')';
  out << '\n' << std::flush;
}

using Space = Kokkos::DefaultExecutionSpace;

std::string validation_usage() {
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
  --rhs N            right-hand sides solved at once (default 1)
  --candidates LIST  comma separated, of the algorithms and cusparse; default all
  --accuracy A       rowwise (default) | componentwise: what the automatic choice
                     and all candidates promise
  --list             print families, names and rows of the systems, and end
  --table FILE       a CSV line for each system, written as soon as it is
                     measured; scripts/summarise validation reads it

Flags of Kokkos (--kokkos-...) work as well. Exit code: 0; 1 on a bad flag, a
system that can't be made, or an output that can't be written; 2 where our own
algorithm failed or was wrong.

Families:
  )" + wrapped(all_families(), "  ") +
         "\n";
}

ValidationOptions parse(int& argc, char** argv) {
  ValidationOptions options;
  auto candidates = validation_candidates();
  candidates.push_back("cusparse");
  take_flags(
      argc, argv,
      {common_flags(options),
       set_flags(options),
       {toggle("--list", options.list),
        real("--milliseconds", options.milliseconds, 1e-6, 1e9),
        whole("--rhs", options.rhs, 1, 1 << 20),
        names("--candidates", options.candidates, candidates, "candidate"),
        choice("--accuracy", options.plan.accuracy)}});
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
  const auto runner = ValidationRunners::make(options.scalar, options);
  TableFile<ValidationResult> table(options.table_file, validation_columns());
  people << "device: " << device_name(Space()) << '\n';
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
