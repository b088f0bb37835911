// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_sptrsv: times sparse triangular solves on Google Benchmark, ours
// beside their peers, and ends with a table. usage() tells the flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <core/device/DeviceInfo.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfComparison.hpp>
#include <detail/Strata_PerfCsv.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::unique_ptr<SptrsvRunner> make_runner_of(const SptrsvOptions& options,
                                             std::ostream& explanations) {
  return with_scalar(options.scalar, [&](auto scalar) {
    return make_runner<decltype(scalar)>(options, explanations);
  });
}

/// Registers every matrix with every algorithm and way of timing; `results`
/// gets one element each, in the same order.
void register_all(SptrsvRunner& runner, const SptrsvOptions& options,
                  std::vector<SptrsvResult>& results,
                  TableFile<SptrsvResult>& table) {
  for (const auto& source : options.matrices)
    for (const auto& algorithm : options.algorithms)
      for (const bool transfers : ways_of_timing(options.timing.transfers)) {
        SptrsvResult result;
        result.matrix = source.name;
        result.algorithm = algorithm;
        result.scalar = options.scalar;
        result.rhs = options.rhs;
        result.transfers = transfers;
        result.solves = options.timing.solves;
        result.changed = options.timing.changed;
        result.own = is_own(algorithm);
        results.push_back(result);
      }
  const bool two_ways = options.timing.transfers == Transfers::compared;
  const std::size_t per_matrix = results.size() / options.matrices.size();
  std::size_t index = 0;
  for (const auto& source : options.matrices)
    for (std::size_t k = 0; k < per_matrix; ++k) {
      SptrsvResult& result = results[index++];
      const std::string name =
          "sptrsv/" + source.name + "/" + result.algorithm +
          "/rhs:" + std::to_string(options.rhs) + "/" + options.scalar +
          (two_ways && result.transfers ? "/transfers" : "");
      auto* const registered = benchmark::RegisterBenchmark(
          name.c_str(), [&runner, &source, &result, &results,
                         &table](benchmark::State& state) {
            table.append_before(results, result);
            runner.run(state, source, result.algorithm, result);
          });
      registered->UseManualTime()->Unit(benchmark::kMicrosecond);
      // As many as asked for, however short: no repetition until
      // --benchmark_min_time has passed.
      if (options.timing.solves > 0)
        registered->Iterations(options.timing.solves);
    }
}

int run_all(const SptrsvOptions& options, const OutputFlags& output) {
  std::ostream& people = output.display_for_people ? std::cout : std::cerr;
  TableFile<SptrsvResult> table(options.table_file, write_csv,
                                of_one_matrix<SptrsvResult>);
  benchmark::AddCustomContext("factor", options.factor_name);
  if (options.timing.transfers == Transfers::timed)
    benchmark::AddCustomContext("transfers", "b and x copied in each solve");
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("device", Detail::device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  const auto runner = make_runner_of(options, people);
  std::vector<SptrsvResult> results;
  register_all(*runner, options, results, table);
  run_benchmarks(output);
  benchmark::Shutdown();

  for (const bool transfers : {true, false})
    print_table(people, of_transfers(results, transfers));
  require_printed(people);
  table.append_rest(results);
  return exit_code(results);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main(
      "strata_perf_sptrsv", argc, argv, usage,
      [](int& count, char** words) {
        return parse_options(count, words, Strata::Detail::is_gpu<Space>);
      },
      run_all);
}
