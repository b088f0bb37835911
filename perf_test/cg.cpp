// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_cg: times conjugate gradients on the 7-point Poisson cube, ours
// beside those of Kokkos Kernels' calls, with a table. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCg.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <detail/Strata_PerfSellFlags.hpp>

namespace Strata {
namespace PerfTest {
namespace {

const std::vector<std::string>& cg_algorithms() {
  static const std::vector<std::string> names{
      "strata",     "strata_columns",     "strata_jacobi",
      "strata_ic0", "strata_ic0_natural", "kokkos_kernels"};
  return names;
}

std::string cg_usage() {
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
  --b B              right-hand side: random (default), uniform in [-1, 1),
                     or ones
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

struct Options : CommonOptions {
  std::vector<int> sizes{32, 64};
  CgSettings settings;
};

Options parse(int& argc, char** argv) {
  Options options;
  options.algorithms = {"strata", "strata_jacobi", "strata_ic0",
                        "strata_ic0_natural", "kokkos_kernels"};
  CgSettings& settings = options.settings;
  take_flags(
      argc, argv,
      {common_flags(options),
       sell_flags(settings.sell),
       {wholes("--sizes", options.sizes, 2, 600),
        names("--algorithms", options.algorithms, cg_algorithms()),
        whole("--solves", settings.solves, 1, 1000), choice("--b", settings.b),
        whole("--max-iterations", settings.max_iterations, 1, 100000000),
        real("--tolerance", settings.tolerance, 1e-300, 0.9)}});
  return options;
}

Columns<CgPerfResult> columns() {
  using R = CgPerfResult;
  const auto unknowns = [](const R& r) {
    return static_cast<double>(r.rows) / r.iteration_us;
  };
  return {{"size", "N", &R::size},
          {"algorithm", "algorithm", &R::algorithm},
          {"scalar", "", &R::scalar},
          {"status", "", &R::status},
          {"rows", "", &R::rows},
          {"iterations", "iterations", &R::iterations},
          {"setup_us", "setup", &R::setup_us},
          {"solve_us", "solve", &R::solve_us},
          {"iteration_us", "iteration", &R::iteration_us},
          {"", "MU/s/it.", unknowns},
          {"to_device_us", "to device", &R::to_device_us},
          {"from_device_us", "back", &R::from_device_us},
          {"total_us", "total", &R::total_us},
          {"relative_residual", "residual", error_cell},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
          {"message", "", &R::message}};
}

int run_all(const Options& options, std::ostream& people) {
  Program<CgPerfResult> program{{},
                                columns(),
                                &CgPerfResult::solve_us,
                                options.table_file,
                                "times in microseconds"};
  for (const int size : options.sizes)
    for (const auto& algorithm : options.algorithms) {
      CgPerfResult result;
      result.size = size;
      result.matrix = "poisson:" + std::to_string(size);
      result.algorithm = algorithm;
      result.scalar = options.scalar;
      result.own = is_stratas(algorithm);
      program.results.push_back(result);
    }
  const auto runner = CgRunners::make(options.scalar, options.settings);
  return run_program("cg", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_cg", argc, argv, cg_usage, parse, run_all);
}
