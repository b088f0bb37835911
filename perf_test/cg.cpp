// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_cg: times conjugate gradients on the 7-point Poisson cube on
// Google Benchmark, ours beside those made of Kokkos Kernels' calls, and ends
// with a table. usage() tells the flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCg.hpp>
#include <detail/Strata_PerfCopy.hpp>
#include <detail/Strata_PerfCsv.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <detail/Strata_PerfSellFlags.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <iostream>
#include <stdexcept>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

const std::vector<std::string>& cg_algorithms() {
  static const std::vector<std::string> names{
      "strata",     "strata_columns",     "strata_jacobi",
      "strata_ic0", "strata_ic0_natural", "kokkos_kernels"};
  return names;
}

std::string usage() {
  return R"(strata_perf_cg: times conjugate gradients on the 7-point Poisson cube.

  --sizes LIST       points along an edge, comma separated (default 32,64)
  --algorithms LIST  comma separated; default all but strata_columns:
                     strata, strata_columns (no diagonals), strata_jacobi,
                     strata_ic0 (incomplete Cholesky, two colours),
                     strata_ic0_natural, kokkos_kernels
  --scalar S         float | double (default) | complex_float | complex_double
  --tolerance T      of the residual relative to b; default 1e-8, float 1e-5
  --max-iterations N stop there (default 100000); the status says so, and the
                     answer is right where its residual is the one it states
  --b B              right-hand side: random (default), uniform in [-0.5, 0.5),
                     or ones
  --launches N       CgOptions::launches of our own solves: 0 (default) to 3
  --solves N         solves timed at least (default 3); with 1 the first one is
                     all there is, for systems that take seconds
  --table FILE       write the final table as CSV too
)" + std::string(sell_flags_usage()) +
         R"(
Flags of Google Benchmark and of Kokkos (--kokkos-...) work as well. A
benchmark's time is that of a solve from x = 0, the median of so many. "total"
is what a system in the host's (pageable) memory takes: to the device, set-up,
solve, and x back.
Exit code: 0; 1 on a bad flag, or where the output can't be written; 2 where one
of our own solves failed or was wrong.
)";
}

struct Options {
  std::vector<int> sizes{32, 64};
  std::vector<std::string> algorithms{"strata", "strata_jacobi", "strata_ic0",
                                      "strata_ic0_natural", "kokkos_kernels"};
  std::string scalar = "double", table;
  CgSettings settings;
  bool help = false;
};

Options parse(int& argc, char** argv) {
  Options options;
  std::vector<std::string> known{
      "--sizes",  "--algorithms", "--scalar", "--tolerance", "--max-iterations",
      "--solves", "--table",      "--b",      "--launches"};
  known.insert(known.end(), sell_flags().begin(), sell_flags().end());
  for (const auto& [flag, value] : take_flags(argc, argv, known)) {
    if (take_sell_flag(flag, value, options.settings.sell)) {
      continue;
    } else if (flag == "--help") {
      options.help = true;
    } else if (flag == "--sizes") {
      options.sizes.clear();
      for (const auto& part : list_parts(value))
        options.sizes.push_back(whole_number(flag, part, 2, 600));
    } else if (flag == "--algorithms") {
      options.algorithms = chosen_names(value, cg_algorithms());
    } else if (flag == "--scalar") {
      check_scalar_name(value);
      options.scalar = value;
    } else if (flag == "--launches") {
      options.settings.launches = whole_number(flag, value, 0, 3);
    } else if (flag == "--solves") {
      options.settings.solves = whole_number(flag, value, 1, 1000);
    } else if (flag == "--b") {
      if (value != "ones" && value != "random")
        throw OptionError(flag, "'" + value + "' is no right-hand side",
                          "use random or ones");
      options.settings.ones = value == "ones";
    } else if (flag == "--max-iterations") {
      options.settings.max_iterations = whole_number(flag, value, 1, 100000000);
    } else if (flag == "--tolerance") {
      char* end = nullptr;
      double& tolerance = options.settings.tolerance;
      tolerance = std::strtod(value.c_str(), &end);
      if (*end != '\0' || !(tolerance > 0) || tolerance >= 1)
        throw OptionError(flag, "'" + value + "' is not between 0 and 1",
                          "give a relative tolerance, e.g. 1e-8");
    } else {
      options.table = value;
    }
  }
  return options;
}

std::unique_ptr<CgRunner> make_runner_of(const Options& options,
                                         double bandwidth) {
  return with_scalar(options.scalar, [&](auto scalar) {
    return make_cg_runner<decltype(scalar)>(options.settings, bandwidth);
  });
}

const CgPerfResult* peer_of(const std::vector<CgPerfResult>& results,
                            const CgPerfResult& r) {
  for (const auto& other : results)
    if (other.size == r.size && !is_own_cg(other.algorithm) && other.right)
      return &other;
  return nullptr;
}

void print(std::ostream& out, const std::vector<CgPerfResult>& results,
           double bandwidth) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  out << "\ncopy bandwidth " << digits(bandwidth * 1e-9)
      << " GB/s; x KK: time of Kokkos Kernels' over ours; it./floor: an "
         "iteration over its bytes at the copy bandwidth\n";
  TextTable table({"N", "algorithm", "iterations", "setup ms", "solve ms",
                   "it. us", "it./floor", "MU/s/it.", "x KK it.", "x KK solve",
                   "to dev. ms", "back ms", "total ms", "residual"},
                  2);
  for (const auto& r : results) {
    if (!r.measured) continue;
    const auto* peer = is_own_cg(r.algorithm) ? peer_of(results, r) : nullptr;
    table.add({std::to_string(r.size), r.algorithm + (r.right ? "" : " WRONG"),
               std::to_string(r.iterations), digits(1e-3 * r.setup_us),
               digits(1e-3 * r.solve_us), digits(r.iteration_us),
               digits(r.floor_us > 0 ? r.iteration_us / r.floor_us : none),
               digits(static_cast<double>(r.rows) / r.iteration_us),
               digits(peer ? peer->iteration_us / r.iteration_us : none),
               digits(peer ? peer->solve_us / r.solve_us : none),
               digits(1e-3 * r.to_device_us), digits(1e-3 * r.from_device_us),
               digits(1e-3 * r.total_us()), formatted("%.1e", r.residual)});
  }
  table.print(out);
  for (const auto& r : results)
    if (!r.message.empty())
      out << r.size << ", " << r.algorithm << " failed: " << r.message << '\n';
}

void write_csv_of(std::ostream& out, const std::vector<CgPerfResult>& results,
                  const std::string& scalar) {
  out << "size,algorithm,scalar,status,rows,iterations,setup_us,solve_us,"
         "iteration_us,"
         "floor_us,to_device_us,from_device_us,total_us,relative_residual,"
         "right\n";
  for (const auto& r : results)
    if (r.measured)
      out << r.size << ',' << r.algorithm << ',' << scalar << ',' << r.status
          << ',' << r.rows << ',' << r.iterations << ','
          << csv_number(r.setup_us) << ',' << csv_number(r.solve_us) << ','
          << csv_number(r.iteration_us) << ',' << csv_number(r.floor_us) << ','
          << csv_number(r.to_device_us) << ',' << csv_number(r.from_device_us)
          << ',' << csv_number(r.total_us()) << ',' << csv_number(r.residual)
          << ',' << r.right << '\n';
}

int run_all(const Options& options, const OutputFlags& output) {
  std::ostream& people = output.display_for_people ? std::cout : std::cerr;
  TableFile<CgPerfResult> table(
      options.table,
      [&](std::ostream& out, const std::vector<CgPerfResult>& lines) {
        write_csv_of(out, lines, options.scalar);
      },
      [](const CgPerfResult& a, const CgPerfResult& b) {
        return a.size == b.size;
      });
  const double bandwidth = copy_bandwidth(Space());
  benchmark::AddCustomContext("device", Detail::device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  benchmark::AddCustomContext("copy_gbytes_per_second",
                              std::to_string(bandwidth * 1e-9));
  const auto runner = make_runner_of(options, bandwidth);
  std::vector<CgPerfResult> results;
  for (const int size : options.sizes)
    for (const auto& algorithm : options.algorithms) {
      results.emplace_back();
      results.back().size = size;
      results.back().algorithm = algorithm;
    }
  for (CgPerfResult& result : results) {
    const std::string name = "cg/poisson:" + std::to_string(result.size) + '/' +
                             result.algorithm + '/' + options.scalar;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&runner, &result, &results, &table](benchmark::State& state) {
          table.append_before(results, result);
          runner->run(state, result.size, result.algorithm, result);
        })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  run_benchmarks(output);
  benchmark::Shutdown();
  print(people, results, bandwidth);
  require_printed(people);
  table.append_rest(results);
  int code = EXIT_SUCCESS;
  for (const auto& r : results) {
    const bool bad = !r.message.empty() || (r.measured && !r.right);
    if (bad && is_own_cg(r.algorithm)) code = 2;
  }
  return code;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_cg", argc, argv, usage, parse, run_all);
}
