// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_factorization: times incomplete factorisations on Google
// Benchmark, ours beside their peers, and ends with a table. --help tells the
// flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <core/device/DeviceInfo.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfComparison.hpp>
#include <detail/Strata_PerfFactorization.hpp>
#include <detail/Strata_PerfFactorizationTable.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <iostream>
#include <stdexcept>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::string factorization_usage() {
  return R"(strata_perf_factorization: times incomplete factorisations without fill, ours
beside their peers.

  --matrix FILE      a Matrix Market file (.mtx or .mtx.gz); may be repeated
  --gallery SPEC     a made matrix (see below), or poisson:N, the 7-point
                     Poisson matrix of N x N x N points; may be repeated
  --factorisation F  ilu0 (default) | ic0, for Hermitian matrices
  --diagonal D       dominant (default): the diagonal becomes the sum of the
                     moduli of the row's other entries plus one, where it is
                     missing too | as_is
  --algorithms LIST  comma separated; default all that this build has:
                     strata, serial (one thread of the host),
                     of ilu0: kokkos_kernels_spiluk, cusparse_csrilu02_no_level,
                     cusparse_csrilu02_use_level
                     of ic0: cusparse_csric02_no_level,
                     cusparse_csric02_use_level
  --scalar S         float | double (default) | complex_float | complex_double
  --table FILE       write the final table as CSV too

Flags of Google Benchmark and of Kokkos (--kokkos-...) work as well. A
benchmark's time is that of the numeric phase, the median over batches. Exit
code: 0; 1 on a bad flag or option, a matrix that can't be read, made or
factorised, or an output that can't be written; 2 where our own algorithm failed
or was wrong.

)" + gallery_help() +
         "\n";
}

struct Options {
  std::vector<MatrixSource> matrices;
  std::vector<std::string> algorithms;
  std::string scalar = "double", table;
  FactorizationSettings settings;
  bool help = false;
};

/// Those of the build.
std::vector<std::string> available(FactorizationKind kind) {
  std::vector<std::string> names;
  for (const auto& name : factorization_algorithms(kind))
    if (is_available(name, Detail::is_gpu<Space>, 1)) names.push_back(name);
  return names;
}

Options parse(int& argc, char** argv) {
  Options options;
  std::string algorithms;
  for (const auto& [flag, value] :
       take_flags(argc, argv,
                  {"--matrix", "--gallery", "--factorisation", "--diagonal",
                   "--algorithms", "--scalar", "--table"})) {
    if (flag == "--help") {
      options.help = true;
    } else if (flag == "--matrix" || flag == "--gallery") {
      options.matrices.push_back(matrix_source(flag, value, true));
    } else if (flag == "--factorisation") {
      if (value != "ilu0" && value != "ic0")
        throw OptionError(flag, "'" + value + "' is not a factorisation",
                          "use ilu0 or ic0");
      options.settings.kind =
          value == "ilu0" ? FactorizationKind::ilu0 : FactorizationKind::ic0;
    } else if (flag == "--diagonal") {
      if (value != "dominant" && value != "as_is")
        throw OptionError(flag, "'" + value + "' is not a diagonal",
                          "use dominant or as_is");
      options.settings.dominant = value == "dominant";
    } else if (flag == "--algorithms") {
      algorithms = value;
    } else if (flag == "--scalar") {
      check_scalar_name(value);
      options.scalar = value;
    } else {
      options.table = value;
    }
  }
  options.algorithms = available(options.settings.kind);
  if (!algorithms.empty())
    options.algorithms = chosen_names(algorithms, options.algorithms);
  if (!options.help && options.matrices.empty())
    throw OptionError("--matrix, --gallery", "no matrix is named",
                      "name at least one, e.g. --gallery grid3d:40");
  return options;
}

std::unique_ptr<FactorizationRunner> make_runner_of(const Options& options) {
  return with_scalar(options.scalar, [&](auto scalar) {
    return make_factorization_runner<decltype(scalar)>(options.settings);
  });
}

int run_all(const Options& options, const OutputFlags& output) {
  std::ostream& people = output.display_for_people ? std::cout : std::cerr;
  TableFile<FactorizationResult> table(options.table, write_factorization_csv,
                                       of_one_matrix<FactorizationResult>);
  benchmark::AddCustomContext(
      "factorisation",
      options.settings.kind == FactorizationKind::ilu0 ? "ilu0" : "ic0");
  benchmark::AddCustomContext("diagonal",
                              options.settings.dominant ? "dominant" : "as_is");
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("device", Detail::device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  const auto runner = make_runner_of(options);
  std::vector<FactorizationResult> results;
  for (const auto& source : options.matrices)
    for (const auto& algorithm : options.algorithms) {
      FactorizationResult result;
      result.matrix = source.name;
      result.algorithm = algorithm;
      result.scalar = options.scalar;
      result.own = is_own_factorization(algorithm);
      results.push_back(result);
    }
  std::size_t index = 0;
  for (const auto& source : options.matrices)
    for (const auto& algorithm : options.algorithms) {
      FactorizationResult& result = results[index++];
      const std::string name = "factorization/" + source.name + '/' +
                               algorithm + '/' + options.scalar;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&runner, &source, &result, &results,
                                    &table](benchmark::State& state) {
                                     table.append_before(results, result);
                                     runner->run(state, source, result);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  run_benchmarks(output);
  benchmark::Shutdown();
  print_factorizations(people, results, options.scalar);
  require_printed(people);
  table.append_rest(results);
  return exit_code(results);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_factorization", argc, argv, factorization_usage,
                   parse, run_all);
}
