// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_factorization: times incomplete factorisations on Google
// Benchmark, ours beside their peers, and ends with a table. --help tells the
// flags.
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <detail/Strata_PerfScalars.hpp>
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
                     matrices of the validation set, whole, each once: see
                     strata_perf_validation
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
  bool has_set = false;
  for (const auto& [flag, value] :
       take_flags(argc, argv,
                  with_flags(with_flags({"--factorisation", "--diagonal",
                                         "--algorithms", "--max-seconds"},
                                        set_flags()),
                             common_flags()))) {
    if (take_common_flag(flag, value, options)) continue;
    if (take_set_flag(flag, value, options)) {
      has_set = true;
      continue;
    }
    if (flag == "--factorisation") {
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
    } else if (flag == "--max-seconds") {
      options.settings.max_seconds = real_number(flag, value, 1e-3, 1e9);
    } else {
      algorithms = value;
    }
  }
  options.algorithms = available(options.settings.kind);
  if (!algorithms.empty())
    options.algorithms = chosen_names(algorithms, options.algorithms);
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
          {"numeric_in_place_us", "in place", &R::numeric_in_place_us},
          {"ready_us", "ready", &R::ready_us},
          {"new_values_us", "new values", &R::new_values_us},
          {"apply_us", "apply", &R::apply_us},
          {"relative_error", "rel. error", error_cell},
          {"outcome", "", [](const R& r) { return outcome_text(r.outcome); }},
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
      "<peer> is; in place: where\nthe values may be overwritten; ready: from "
      "the matrix to factors and solvers; new values: the same\non the known "
      "pattern; apply: both solves\n"};
  program.context = {
      {"factorisation",
       options.settings.kind == FactorizationKind::ilu0 ? "ilu0" : "ic0"},
      {"diagonal", options.settings.dominant ? "dominant" : "as_is"}};
  const auto runner = with_scalar(options.scalar, [&](auto scalar) {
    return make_factorization_runner<decltype(scalar)>(options.settings);
  });
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
