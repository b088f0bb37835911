// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_band: times band solves on Google Benchmark, ours beside LAPACK's
// dgbsv and cuSOLVER's dense LU, and ends with a table. band_usage() tells the
// flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <detail/Strata_PerfBandRunner.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

std::string name_of(const BandResult& r) {
  const std::string system = r.sizes.kl < 0
                                 ? std::string("file")
                                 : std::to_string(r.sizes.n) +
                                       "/kl:" + std::to_string(r.sizes.kl) +
                                       "/ku:" + std::to_string(r.sizes.ku) +
                                       "/rhs:" + std::to_string(r.rhs);
  return "band/" + system + "/" + r.algorithm;
}

void register_all(BandRunner& runner, const BandPerfOptions& options,
                  std::vector<BandResult>& results) {
  for (const auto& sizes : options.cases)
    for (const auto& algorithm : options.algorithms)
      for (const int rhs : options.rhs) {
        BandResult r;
        r.sizes = sizes;
        r.rhs = rhs;
        r.algorithm = algorithm;
        results.push_back(r);
      }
  for (auto& r : results)
    benchmark::RegisterBenchmark(
        name_of(r).c_str(),
        [&runner, &r](benchmark::State& state) {
          for (auto _ : state) {
            runner.run(r);
            if (!r.note.empty())
              state.SkipWithError(r.note.c_str());
            else
              state.SetIterationTime(r.total_us() * 1e-6);
          }
        })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

/// dgbsv's time over that of `r`, NaN where one of them is missing.
double against_dgbsv(const std::vector<BandResult>& results,
                     const BandResult& r) {
  for (const auto& peer : results)
    if (peer.algorithm == "dgbsv" && peer.sizes.n == r.sizes.n &&
        peer.sizes.kl == r.sizes.kl && peer.sizes.ku == r.sizes.ku &&
        peer.rhs == r.rhs && peer.right() && r.right())
      return peer.total_us() / r.total_us();
  return NAN;
}

const std::vector<std::string> header{
    "rows", "kl",       "ku",       "rhs",   "algorithm", "factor us",
    "us",   "us a rhs", "total us", "error", "dgbsv/this"};

std::vector<std::string> cells(const std::vector<BandResult>& results,
                               const BandResult& r) {
  const auto whole = [](std::int64_t v) { return std::to_string(v); };
  return {whole(r.sizes.n),
          whole(r.sizes.kl),
          whole(r.sizes.ku),
          whole(r.rhs),
          r.algorithm,
          digits(r.factor_us),
          digits(r.solve_us),
          digits(r.solve_us / std::max(r.rhs, 1)),
          digits(r.total_us()),
          r.note.empty() ? formatted("%.1e", r.error) : r.note,
          digits(against_dgbsv(results, r))};
}

void report(const std::vector<BandResult>& results,
            const BandPerfOptions& options, std::ostream& people) {
  TextTable table(header, 0);
  std::map<std::string, std::vector<double>> logarithms;
  for (const auto& r : results) {
    table.add(cells(results, r));
    const double ratio = against_dgbsv(results, r);
    if (!std::isnan(ratio) && r.algorithm != "dgbsv")
      logarithms[r.algorithm].push_back(std::log(ratio));
  }
  people << '\n';
  table.print(people);
  for (const auto& entry : logarithms) {
    double sum = 0;
    for (const double l : entry.second) sum += l;
    people << entry.first << ": geometric mean of dgbsv's time over this, of "
           << entry.second.size() << " systems: "
           << digits(std::exp(sum / static_cast<double>(entry.second.size())))
           << '\n';
  }
  if (options.table.empty()) return;
  std::ofstream file(options.table);
  const auto line = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < row.size(); ++c)
      file << (c ? "," : "") << row[c];
    file << '\n';
  };
  line(header);
  for (const auto& r : results) line(cells(results, r));
  file.flush();
  if (!file)
    throw FileError(options.table, "the table can't be written",
                    "check the path given to --table");
}

int run_all(const BandPerfOptions& options) {
  BandRunner runner(options);
  benchmark::AddCustomContext("execution_space", BandRunner::Space::name());
  benchmark::AddCustomContext("device",
                              Detail::device_name(BandRunner::Space()));
  benchmark::AddCustomContext("lapack", runner.lapack());
  std::vector<BandResult> results;
  register_all(runner, options, results);
  run_benchmarks(false);
  benchmark::Shutdown();
  report(results, options, std::cout);
  for (const auto& r : results)
    if (r.note == "WRONG" && r.algorithm.rfind("strata", 0) == 0) return 2;
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  try {
    const BandPerfOptions options = parse_band_options(argc, argv);
    if (options.help) {
      std::cout << band_usage();
      return EXIT_SUCCESS;
    }
    benchmark::Initialize(&argc, argv);
    Kokkos::ScopeGuard guard(argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
    return run_all(options);
  } catch (const std::exception& error) {
    std::cerr << "strata_perf_band: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
