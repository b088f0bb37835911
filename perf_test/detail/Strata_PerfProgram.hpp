// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_PROGRAM_HPP
#define STRATA_PERF_PROGRAM_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <detail/Strata_PerfComparison.hpp>
#include <detail/Strata_PerfDevice.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// What a program runs, and how it tells of it.
template <class Result>
struct Program {
  std::vector<Result> results;  ///< to be measured, in this order
  Columns<Result> columns;
  double Result::*time;    ///< that is compared, in microseconds
  std::string table_file;  ///< CSV; empty: none
  std::string heading;     ///< of the table for people
  std::string notes = {};  ///< below it
  Comparisons<Result> comparisons = {};
  /// Context of the JSON output, beside device, space and Kokkos' version.
  std::vector<std::pair<std::string, std::string>> context = {};
  /// Iterations of a benchmark; 0: as Google Benchmark finds fit.
  int iterations = 0;
};

/// The name of a benchmark: program/matrix/algorithm/variant/scalar.
inline std::string benchmark_name(const std::string& program,
                                  const PerfResult& r) {
  return program + '/' + r.matrix + '/' + r.algorithm + '/' +
         (r.variant.empty() ? "" : r.variant + '/') + r.scalar;
}

/// Numbers of the columns as counters; JSON has neither infinity nor NaN.
template <class Result>
void set_counters(benchmark::State& state, const Columns<Result>& columns,
                  const Result& result) {
  for (const auto& column : columns) {
    const double number = column.cell(result).number;
    if (!column.name.empty() && std::isfinite(number))
      state.counters[column.name] = number;
  }
  state.counters["wrong"] = result.outcome == Outcome::wrong ? 1 : 0;
}

/// Runs a benchmark for each result, prints the table and writes the CSV.
/// @param name  of the program, in the names of its benchmarks
/// @return the exit code
template <class Result>
int run_program(const std::string& name, Program<Result> program,
                PerfRunner<Result>& runner, std::ostream& people) {
  using Space = Kokkos::DefaultExecutionSpace;
  std::vector<Result>& results = program.results;
  TableFile<Result> table(program.table_file, program.columns);
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("device", device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  for (const auto& [key, value] : program.context)
    benchmark::AddCustomContext(key, value);
  // Results that have had their lines: what ends the program early loses that
  // of the measurement under way alone.
  auto written = results.begin();
  for (auto next = results.begin(); next != results.end(); ++next) {
    Result& result = *next;
    auto* const registered = benchmark::RegisterBenchmark(
        benchmark_name(name, result).c_str(),
        [&, next](benchmark::State& state) {
          if (next > written) table.append({written, next});
          written = std::max(written, next);
          runner.run(state, result);
          if (!result.timed()) return;
          if (result.outcome == Outcome::wrong) state.SetLabel("WRONG");
          set_counters(state, program.columns, result);
        });
    registered->UseManualTime()->Unit(benchmark::kMicrosecond);
    if (program.iterations > 0) registered->Iterations(program.iterations);
  }
  people << "device: " << device_name(Space()) << '\n';
  require_printed(people);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (std::any_of(results.begin(), results.end(), [](const Result& r) {
        return r.outcome != Outcome::not_run;
      })) {
    people << '\n' << program.heading << '\n';
    print_results(people, program.columns, results, program.time,
                  program.comparisons);
    people << program.notes;
  }
  require_printed(people);
  // Once more, as --benchmark_enable_random_interleaving mixes them.
  table.rewrite(results);
  return exit_code(results);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
