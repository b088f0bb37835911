// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_gauss_jordan: times Gauss-Jordan elimination, ours beside its
// peers, and ends with a table. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <core/device/KokkosVersion.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfDense.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>

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
#endif
  names.push_back("textbook");
  return names;
}

std::string dense_usage() {
  return R"(strata_perf_gauss_jordan: times Gauss-Jordan elimination of dense n x n
matrices, ours beside its peers.

  --sizes LIST        numbers n, comma separated
  --tasks LIST        solve (one right-hand side), inverse, reduce (the reduced
                      row echelon form of n x 2n numbers), augmented (that of
                      n x (n + 1)); default the first three
  --matrices LIST     random (default) positive graded nearly_singular dominant
  --algorithms LIST   default all that this build has of
                        strata    ours
                        cusolver  getrf and getrs
                        lapack    gesv, on the host
                        textbook  one thread of the host
                      by name only, Eyvazov's program for a GPU, without
                      pivoting (solve and augmented): eyvazov_2021
  --scalar S          float | double (default) | complex_float | complex_double
  --stripe W          columns of a stripe; 0 (default): as the library chooses
  --host-limit N      largest n for lapack (default 4096)
  --textbook-limit N  largest n for textbook (default 1024)
  --once              one run of each, the first: for backward errors of large
                      matrices; its times are no measurements
  --table FILE        write the final table as CSV too

Flags of Google Benchmark and of Kokkos work as well. A benchmark's time is the
median over runs, or that of the first run where it takes over a second; copies
of A and B are included where the algorithm overwrites them. Every answer is
checked. Exit code: 0; 1 on a bad flag, or where the output can't be written; 2 where ours failed or was wrong, or
eyvazov_2021 on a dominant matrix.
)";
}

DenseOptions parse(int& argc, char** argv) {
  DenseOptions options;
  options.algorithms = available_algorithms();
  auto known = options.algorithms;
  known.push_back("eyvazov_2021");
  using TaskNames = Detail::EnumeratorNames<DenseTask>;
  const std::vector<std::string> all_tasks(std::begin(TaskNames::list),
                                           std::end(TaskNames::list));
  std::vector<std::string> tasks;
  take_flags(argc, argv,
             {common_flags(options),
              {toggle("--once", options.once),
               wholes("--sizes", options.sizes, 1, 65536),
               names("--tasks", tasks, all_tasks, "task"),
               names("--matrices", options.kinds, dense_kinds(), "matrix"),
               names("--algorithms", options.algorithms, known),
               whole("--stripe", options.stripe, 0, 512),
               whole("--host-limit", options.host_limit, 0, 65536),
               whole("--textbook-limit", options.textbook_limit, 0, 65536)}});
  if (!tasks.empty()) options.tasks.clear();
  for (const auto& task : tasks)
    choice("--tasks", options.tasks.emplace_back()).take(task);
  if (options.stripe % 32 != 0)
    throw OptionError(
        "--stripe", std::to_string(options.stripe) + " is not a multiple of 32",
        "see --help");
  if (!options.help && options.sizes.empty())
    throw OptionError("--sizes", "no size is named",
                      "name at least one, e.g. --sizes 512,1024");
  return options;
}

/// Whether an algorithm does a case.
bool does(const std::string& algorithm, DenseTask task, int n,
          const DenseOptions& options) {
  if (algorithm == "lapack") return n <= options.host_limit;
  if (algorithm == "textbook") return n <= options.textbook_limit;
  return algorithm != "eyvazov_2021" || has_one_column(task);
}

std::vector<DenseResult> planned(const DenseOptions& options) {
  std::vector<DenseResult> results;
  for (const auto& kind : options.kinds)
    for (const int n : options.sizes)
      for (const auto task : options.tasks)
        for (const auto& algorithm : options.algorithms) {
          if (!does(algorithm, task, n, options)) continue;
          DenseResult result;
          result.matrix = kind;
          result.n = n;
          result.task = task;
          result.variant = std::to_string(n) + "/" + to_string(task);
          result.algorithm = algorithm;
          result.scalar = options.scalar;
          result.own = algorithm == "strata";
          result.reference = algorithm == "eyvazov_2021" && kind == "dominant";
          results.push_back(result);
        }
  return results;
}

Columns<DenseResult> columns() {
  using R = DenseResult;
  return {{"matrix", "matrix", &R::matrix},
          {"n", "n", &R::n},
          {"task", "task", [](const R& r) { return to_string(r.task); }},
          {"algorithm", "algorithm", &R::algorithm},
          {"ms", "ms", [](const R& r) { return 1e-3 * r.us; }},
          {"Gflop/s", "Gflop/s",
           [](const R& r) { return 1e-3 * r.operations() / r.us; }},
          {"backward error", "backward error",
           [](const R& r) {
             if (!r.timed()) return std::string("failed");
             return (r.outcome == Outcome::wrong ? "WRONG " : "") +
                    formatted("%.1e", r.backward_error);
           }},
          {"scalar", "", &R::scalar},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }}};
}

int run_all(const DenseOptions& options, std::ostream& people) {
  Program<DenseResult> program{
      planned(options),
      columns(),
      &DenseResult::us,
      options.table_file,
      options.scalar +
          (options.once ? "; times of one first run" : "; medians"),
      "Gflop/s: operations of LU factorisation and substitution over time, for "
      "all algorithms\n"};
#ifdef STRATA_PERF_LAPACK
  program.context.emplace_back("lapack", STRATA_PERF_LAPACK);
#endif
  if (Detail::is_gpu<Space>)
    program.context.emplace_back(
        "product", Detail::kernels_have_cublas ? "cuBLAS" : "tiles of ours");
  program.iterations = options.once ? 1 : 0;
  const auto runner = DenseRunners::make(options.scalar, options);
  return run_program("gauss_jordan", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_gauss_jordan", argc, argv, dense_usage, parse,
                   run_all);
}
