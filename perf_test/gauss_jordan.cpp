// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_gauss_jordan: times Gauss-Jordan elimination on Google
// Benchmark, ours beside its peers, and ends with a table. dense_usage() tells
// the flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/KokkosVersion.hpp>
#include <cstdlib>
#include <detail/Strata_PerfDenseCommandLine.hpp>
#include <detail/Strata_PerfDenseTable.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <iostream>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::vector<std::string> available_algorithms() {
  std::vector<std::string> names{"strata"};
#ifdef STRATA_PERF_CUSOLVER
  names.push_back("cusolver");
#endif
#ifdef STRATA_PERF_LAPACK
  names.push_back("lapack");
  names.push_back("getri");
#endif
  names.push_back("textbook");
  return names;
}

std::unique_ptr<DenseRunner> make_runner_of(const DenseOptions& options) {
  return with_scalar(options.scalar, [&](auto scalar) {
    return make_dense_runner<decltype(scalar)>(options);
  });
}

std::vector<DenseResult> planned(const DenseOptions& options) {
  std::vector<DenseResult> results;
  for (const auto& kind : options.kinds)
    for (const int n : options.sizes)
      for (const auto task : options.tasks)
        for (const auto& algorithm : options.algorithms) {
          const bool getri = algorithm == "getri";
          if (getri && task != DenseTask::inverse) continue;
          if ((getri || algorithm == "lapack") && n > options.host_limit)
            continue;
          if (algorithm == "textbook" && n > options.textbook_limit) continue;
          if (algorithm == "eyvazov_2021" && !has_one_column(task)) continue;
          DenseResult result;
          result.system = {kind, n, task};
          result.algorithm = algorithm;
          result.scalar = options.scalar;
          result.own = algorithm == "strata";
          result.must_be_right =
              result.own || (algorithm == "eyvazov_2021" && kind == "dominant");
          results.push_back(result);
        }
  return results;
}

int run_all(const DenseOptions& options, const OutputFlags& output) {
  std::ostream& people = output.display_for_people ? std::cout : std::cerr;
  TableFile<DenseResult> table(options.table_file, write_dense_csv, same_case);
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("device", Detail::device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
#ifdef STRATA_PERF_LAPACK
  benchmark::AddCustomContext("lapack", STRATA_PERF_LAPACK);
#endif
  if (Detail::is_gpu<Space>)
    benchmark::AddCustomContext(
        "product", Detail::kernels_have_cublas ? "cuBLAS" : "tiles of ours");
  const auto runner = make_runner_of(options);
  std::vector<DenseResult> results = planned(options);
  for (auto& result : results) {
    const std::string name = "gauss_jordan/" + result.system.kind + "/" +
                             std::to_string(result.system.n) + "/" +
                             to_string(result.system.task) + "/" +
                             result.algorithm + "/" + result.scalar;
    auto* const registered = benchmark::RegisterBenchmark(
        name.c_str(),
        [&runner, &result, &results, &table](benchmark::State& state) {
          table.append_before(results, result);
          runner->run(state, result);
        });
    registered->UseManualTime()->Unit(benchmark::kMillisecond);
    if (options.once) registered->Iterations(1);
  }
  run_benchmarks(output);
  benchmark::Shutdown();
  print_dense_table(people, results, options.once);
  require_printed(people);
  table.append_rest(results);
  for (const auto& r : results)
    if (r.must_be_right &&
        (r.outcome == Outcome::wrong || r.outcome == Outcome::failed))
      return 2;
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main(
      "strata_perf_gauss_jordan", argc, argv, dense_usage,
      [](int& count, char** words) {
        return parse_dense_options(count, words, available_algorithms(),
                                   {"eyvazov_2021"});
      },
      run_all);
}
