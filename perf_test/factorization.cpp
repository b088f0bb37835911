// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_factorization: times incomplete factorisations, ours beside their
// peers, and ends with a table. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <detail/Strata_PerfValidation.hpp>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::string factorization_usage() {
  return R"(strata_perf_factorization: times incomplete factorisations without fill, ours
beside their peers.

  --matrix FILE      a Matrix Market file (.mtx or .mtx.gz); may be repeated
  --gallery SPEC     a made matrix (see below); may be repeated
  --families LIST, --systems TEXT, --per-family N, --scale FACTOR, --seed N
                     matrices of the set of strata_perf_validation, each once
  --factorisation F  ilu0 (default) | ic0, for Hermitian matrices
  --diagonal D       dominant (default): the diagonal becomes the sum of the
                     moduli of the row's other entries plus one, where it is
                     missing too | as_is
  --algorithms LIST  comma separated; default all that this build has:
                     strata, serial (one thread of the host),
                     kokkos_kernels_spiluk (ilu0), and cusparse_csrilu02 or
                     cusparse_csric02 with _no_level and _use_level
  --enqueue-updates  time our new values without a wait of the host
  --scalar S         float | double (default) | complex_float | complex_double
  --max-seconds T    that a matrix may take; algorithms and phases that begin
                     later are left out (default: no limit)
  --table FILE       a CSV line for each result, written before the next begins

Flags of Google Benchmark and of Kokkos (--kokkos-...) work as well. A
benchmark's time is that of the numeric phase, the median over batches. Exit
code: 0; 1 on a bad flag or option, a matrix that can't be read, made or
factorised, or an output that can't be written; 2 where our own algorithm failed
or was wrong.

)" + gallery_help() +
         "\n";
}

struct Options : ValidationOptions {
  FactorizationSettings settings;
};

Options parse(int& argc, char** argv) {
  Options options;
  FactorizationSettings& settings = options.settings;
  std::string algorithms;
  bool has_set = false;
  Flags of_set = set_flags(options);
  for (Flag& flag : of_set)
    flag.take = [&has_set, take = flag.take](const std::string& value) {
      has_set = true;
      take(value);
    };
  take_flags(argc, argv,
             {common_flags(options),
              matrix_flags(options),
              of_set,
              {choice("--factorisation", settings.kind),
               choice("--diagonal", settings.diagonal),
               text("--algorithms", algorithms),
               toggle("--enqueue-updates", settings.enqueue_updates),
               real("--max-seconds", settings.max_seconds, 1e-3, 1e9)}});
  options.algorithms = available_of(factorization_algorithms(settings.kind),
                                    Detail::is_gpu<Space>);
  if (!algorithms.empty())
    names("--algorithms", options.algorithms, options.algorithms)
        .take(algorithms);
  if (has_set)
    for (const auto& source : matrices_of(chosen_systems(options)))
      options.matrices.push_back(source);
  require_matrix(options);
  return options;
}

Columns<FactorizationResult> columns() {
  using R = FactorizationResult;
  return {{"matrix", "matrix", &R::matrix},
          {"algorithm", "algorithm", &R::algorithm},
          {"scalar", "", &R::scalar},
          {"family", "", &R::family},
          {"rows", "rows", &R::rows},
          {"nnz", "nnz", &R::entries},
          {"levels", "levels", &R::levels},
          {"analysis_us", "analysis", &R::analysis_us},
          {"numeric_us", "numeric", &R::numeric_us},
          {"ready_us", "ready", &R::ready_us},
          {"new_values_us", "new values", &R::new_values_us},
          {"apply_us", "apply", &R::apply_us},
          {"relative_error", "rel. error", error_cell},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
          {"message", "", &R::message}};
}

int run_all(const Options& options, std::ostream& people) {
  Program<FactorizationResult> program{
      planned_results<FactorizationResult>(options, is_stratas),
      columns(),
      &FactorizationResult::numeric_us,
      options.table_file,
      options.scalar + "; times in microseconds (medians)",
      "numeric: factors of new values on the analysed pattern, by which x "
      "<peer> is; ready: from the matrix\nto factors and solvers; new values: "
      "the same on the known pattern; apply: both solves\n"};
  program.context = {{"factorisation", to_string(options.settings.kind)},
                     {"diagonal", to_string(options.settings.diagonal)}};
  const auto runner =
      FactorizationRunners::make(options.scalar, options.settings);
  return run_program("factorization", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_factorization", argc, argv, factorization_usage,
                   parse, run_all);
}
