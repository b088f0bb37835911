// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_band: times band solves on Google Benchmark, ours beside LAPACK's
// gbsv and cuSOLVER's dense LU, and ends with a table. band_usage() tells the
// flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <core/device/DeviceInfo.hpp>
#include <cstdlib>
#include <detail/Strata_PerfBand.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <iostream>
#include <map>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::unique_ptr<BandRunner> make_runner_of(const BandPerfOptions& options) {
  return with_scalar(options.scalar, [&](auto scalar) {
    return make_band_runner<decltype(scalar)>(options);
  });
}

std::string name_of(const BandResult& r, const BandPerfOptions& options) {
  const std::string system = r.sizes.kl < 0
                                 ? std::string("file")
                                 : std::to_string(r.sizes.n) +
                                       "/kl:" + std::to_string(r.sizes.kl) +
                                       "/ku:" + std::to_string(r.sizes.ku) +
                                       "/rhs:" + std::to_string(r.rhs);
  const std::string batch =
      options.batch > 1 ? "/systems:" + std::to_string(options.batch) : "";
  return "band/" + system + batch + "/" + r.algorithm + "/" + options.scalar;
}

void register_all(BandRunner& runner, const BandPerfOptions& options,
                  std::vector<BandResult>& results,
                  TableFile<BandResult>& table) {
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
        name_of(r, options).c_str(),
        [&runner, &r, &results, &table](benchmark::State& state) {
          table.append_before(results, r);
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

/// LAPACK's time over that of `r`, or less where LAPACK did a part.
struct Ratio {
  double value = NAN;
  bool is_bound = false;
};
Ratio against_lapack(const std::vector<BandResult>& results,
                     const BandResult& r, const std::string& lapack) {
  for (const auto& peer : results)
    if (peer.algorithm == lapack && peer.sizes.n == r.sizes.n &&
        peer.sizes.kl == r.sizes.kl && peer.sizes.ku == r.sizes.ku &&
        peer.rhs == r.rhs && peer.right() && r.right() &&
        (&peer == &r || !r.is_bound()))
      return {peer.total_us() / r.total_us(), peer.is_bound() && !r.is_bound()};
  return {};
}

std::vector<std::string> header(const std::string& lapack) {
  return {"rows",           "kl",  "ku",       "rhs",      "algorithm",
          "factor us",      "us",  "us a rhs", "total us", "error",
          lapack + "/this", "part"};
}

/// With '>' before lower bounds.
std::string bounded(double value, bool is_bound) {
  return (is_bound && !std::isnan(value) ? ">" : "") + digits(value);
}

std::vector<std::string> cells(const std::vector<BandResult>& results,
                               const BandResult& r, const std::string& lapack) {
  const auto whole = [](std::int64_t v) { return std::to_string(v); };
  const auto time = [&](double us) { return bounded(us, r.is_bound()); };
  const Ratio ratio = against_lapack(results, r, lapack);
  return {whole(r.sizes.n),
          whole(r.sizes.kl),
          whole(r.sizes.ku),
          whole(r.rhs),
          r.algorithm,
          time(r.factor_time()),
          time(r.solve_time()),
          time(r.solve_time() / std::max(r.rhs, 1)),
          time(r.total_us()),
          r.note.empty() ? formatted("%.1e", r.error) : r.note,
          bounded(ratio.value, ratio.is_bound),
          r.is_bound() ? whole(r.stretches()) + "x" + whole(r.part.rows) + "x" +
                             whole(r.part.rhs)
                       : "-"};
}

void print_means(std::ostream& people, const std::vector<BandResult>& results,
                 const std::string& lapack) {
  std::map<std::string, std::vector<double>> logarithms;
  for (const auto& r : results) {
    const Ratio ratio = against_lapack(results, r, lapack);
    if (!std::isnan(ratio.value) && !ratio.is_bound && r.algorithm != lapack)
      logarithms[r.algorithm].push_back(std::log(ratio.value));
  }
  for (const auto& entry : logarithms) {
    double sum = 0;
    for (const double l : entry.second) sum += l;
    people << entry.first << ": geometric mean of " << lapack
           << "'s time over this, of " << entry.second.size() << " systems: "
           << digits(std::exp(sum / static_cast<double>(entry.second.size())))
           << '\n';
  }
}

void report(const std::vector<BandResult>& results,
            const BandPerfOptions& options, std::ostream& people) {
  const std::string lapack = lapack_band_name(options.scalar);
  TextTable table(header(lapack), 0);
  bool bounds = false;
  for (const auto& r : results) {
    table.add(cells(results, r, lapack));
    bounds |= r.is_bound();
  }
  people << '\n' << options.scalar;
  if (options.batch > 1) people << ", batches of " << options.batch;
  people << "; medians\n";
  table.print(people);
  if (bounds)
    people
        << "> lower bounds: " << lapack
        << " on the leading rows, with some of the right-hand sides, so many "
           "times as they are in the whole (last column: times x rows x "
           "right-hand sides)\n";
  for (const auto& r : results)
    if (!r.message.empty())
      people << name_of(r, options) << " failed: " << r.message << '\n';
  print_means(people, results, lapack);
  require_printed(people);
}

void write_csv(std::ostream& out, const std::vector<BandResult>& results,
               const BandPerfOptions& options) {
  const std::string lapack = lapack_band_name(options.scalar);
  const auto line = [&](const std::vector<std::string>& row) {
    for (const auto& cell : row) out << cell << ',';
  };
  line(header(lapack));
  out << "scalar,systems\n";
  for (const auto& r : results) {
    line(cells(results, r, lapack));
    out << options.scalar << ',' << options.batch << '\n';
  }
}

int run_all(const BandPerfOptions& options, const OutputFlags& output) {
  std::ostream& people = output.display_for_people ? std::cout : std::cerr;
  TableFile<BandResult> table(
      options.table,
      [&](std::ostream& out, const std::vector<BandResult>& lines) {
        write_csv(out, lines, options);
      },
      [](const BandResult& a, const BandResult& b) {
        return a.sizes.n == b.sizes.n && a.sizes.kl == b.sizes.kl &&
               a.sizes.ku == b.sizes.ku;
      });
  if (!options.solution.empty())
    require_writable(options.solution, "--solution");
  const auto runner = make_runner_of(options);
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("device", Detail::device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  benchmark::AddCustomContext("lapack", runner->lapack());
  std::vector<BandResult> results;
  register_all(*runner, options, results, table);
  run_benchmarks(output);
  benchmark::Shutdown();
  report(results, options, people);
  table.append_rest(results);
  for (const auto& r : results)
    if ((r.note == "WRONG" || r.note == "failed") &&
        (r.algorithm.rfind("strata", 0) == 0 ||
         r.algorithm.rfind("row_by_row", 0) == 0))
      return 2;
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_band", argc, argv, band_usage,
                   parse_band_options, run_all);
}
