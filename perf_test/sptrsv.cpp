// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_sptrsv: times sparse triangular solves on Google Benchmark, ours
// beside their peers, and ends with a table. usage() tells the flags.
#include <Kokkos_Core.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <detail/Strata_SptrsvColumns.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::string heading(const SptrsvOptions& options) {
  std::string text =
      options.scalar + ", " + std::to_string(options.rhs) +
      (options.rhs == 1 ? " right-hand side" : " right-hand sides") +
      "; times in microseconds (medians";
  if (options.timing.solves > 0)
    text += "; solves: means of " + std::to_string(options.timing.solves) +
            ", each with its own b";
  if (options.timing.transfers != Transfers::none)
    text += "; with the copies of b and x";
  return text +
         "); backward errors row by row, of norms\nand of components in units "
         "of eps; pays after: solves until the analysis has paid against\n"
         "cuSPARSE, or Kokkos Kernels where cuSPARSE is missing";
}

std::vector<SptrsvResult> planned(const SptrsvOptions& options) {
  std::vector<SptrsvResult> results;
  for (const auto& source : options.matrices)
    for (const auto& algorithm : options.algorithms)
      for (const bool transfers : ways_of_timing(options.timing.transfers)) {
        SptrsvResult result;
        result.matrix = source.name;
        result.source = &source;
        result.algorithm = algorithm;
        result.scalar = options.scalar;
        result.rhs = options.rhs;
        result.transfers = transfers;
        result.variant = "rhs:" + std::to_string(options.rhs);
        if (options.timing.transfers == Transfers::compared && transfers)
          result.variant += ",transfers";
        result.solves = options.timing.solves;
        result.changed = options.timing.changed;
        result.own = is_own(algorithm);
        results.push_back(result);
      }
  return results;
}

int run_all(const SptrsvOptions& options, std::ostream& people) {
  Program<SptrsvResult> program{planned(options), sptrsv_columns(),
                                &SptrsvResult::solve_us, options.table_file,
                                heading(options)};
  program.comparisons = {{"pays after", pays_after}};
  program.context = {{"factor", options.factor_name}};
  // As many as asked for, however short: no repetition until
  // --benchmark_min_time has passed.
  program.iterations = options.timing.solves;
  const auto runner = with_scalar(options.scalar, [&](auto scalar) {
    return make_runner<decltype(scalar)>(options, people);
  });
  return run_program("sptrsv", std::move(program), *runner, people);
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
