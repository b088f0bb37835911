// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_krylov: times solves in time steps whose matrix changes, by a
// Krylov method with our preconditioner and its peers. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfKrylov.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::string krylov_usage() {
  return R"(strata_perf_krylov: times solves of a system in time steps, in each of which its
matrix has new values, by one Krylov method with our preconditioner and with its
peers.

  --matrix FILE      a Matrix Market file (.mtx or .mtx.gz); may be repeated
  --gallery SPEC     a made matrix (see below); may be repeated
  --values V         dominant (default): the diagonal becomes the sum of the
                     moduli of the row's other entries plus one | as_is |
                     laplacian: -1 beside the diagonal, on it the number of
                     these entries
  --shift T          the diagonal of the first time step is 1 + T times that,
                     growing to 1 + 2 T; default 0.01
  --steps N          time steps (default 20): in step s of N the matrix is
                     S (A + shift) S, S = 1 + sin(2 pi (s / N + i / n)) / 4 in
                     row i of n
  --method M         cg | bicgstab (default) | gmres, of Strata
  --restart N        iterations of a cycle of gmres (default 30)
  --factorisation F  ilu0 (default) | ic0, for Hermitian matrices; Kokkos
                     Kernels has ilu0 alone, with the same product
  --preconditioners LIST
                     comma separated; default all that this build has: strata,
                     kokkos_kernels (spiluk and sptrsv), cusparse_no_level,
                     cusparse_use_level (csrilu02 or csric02 and SpSV)
  --tolerance T      of the true residual relative to b; default 1e-8, float
                     1e-4. A solve that has not reached it goes on
  --max-iterations N of a solve (default 10000)
  --max-seconds T    that a matrix may take; time steps and preconditioners that
                     begin later are left out (default: no limit)
  --runs N           runs of all time steps that are timed (default 3), one
                     where it takes ten seconds
  --scalar S         float | double (default) | complex_float | complex_double
  --table FILE       a CSV line for each result, written before the next begins

Flags of Google Benchmark and of Kokkos (--kokkos-...) work as well. A
benchmark's time is that of all time steps, each with the new values of
preconditioner and product and the solve from x = 0; the median over runs. Exit
code: 0; 1 on a bad flag or option, a matrix that can't be read or made, or an
output that can't be written; 2 where our own preconditioner failed or a true
residual stayed above the tolerance with it.

)" + gallery_help() +
         "\n";
}

struct Options : CommonOptions {
  KrylovSettings settings;
};

Options parse(int& argc, char** argv) {
  Options options;
  KrylovSettings& settings = options.settings;
  options.algorithms =
      available_of(krylov_preconditioners(), Detail::is_gpu<Space>);
  take_flags(
      argc, argv,
      {common_flags(options),
       matrix_flags(options),
       {choice("--values", settings.values),
        real("--shift", settings.shift, 0, 1e6),
        whole("--steps", settings.steps, 1, 100000),
        choice("--method", settings.method),
        whole("--restart", settings.restart, 1, 1000),
        choice("--factorisation", settings.kind),
        names("--preconditioners", options.algorithms, options.algorithms),
        real("--tolerance", settings.tolerance, 1e-300, 0.9),
        whole("--max-iterations", settings.max_iterations, 1, 100000000),
        real("--max-seconds", settings.max_seconds, 1e-3, 1e9),
        whole("--runs", settings.runs, 1, 1000)}});
  require_matrix(options);
  return options;
}

Columns<KrylovPerfResult> columns(const KrylovSettings& settings) {
  using R = KrylovPerfResult;
  const auto always = [](const char* text) {
    return [text](const R&) { return text; };
  };
  return {{"matrix", "matrix", &R::matrix},
          {"algorithm", "algorithm", &R::algorithm},
          {"scalar", "", &R::scalar},
          {"method", "", always(to_string(settings.method))},
          {"factorisation", "", always(to_string(settings.kind))},
          {"values", "", always(to_string(settings.values))},
          {"rows", "rows", &R::rows},
          {"nnz", "nnz", &R::entries},
          {"steps", "", &R::steps},
          {"iterations", "iterations", &R::iterations},
          {"restarts", "", &R::restarts},
          {"total_us", "total", &R::total_us},
          {"ready_us", "ready", &R::ready_us},
          {"relative_error", "residual", error_cell},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
          {"message", "", &R::message}};
}

int run_all(const Options& options, std::ostream& people) {
  const KrylovSettings& settings = options.settings;
  const std::string method = to_string(settings.method),
                    kind = to_string(settings.kind),
                    steps = std::to_string(settings.steps);
  Program<KrylovPerfResult> program{
      planned_results<KrylovPerfResult>(options, is_stratas),
      columns(settings),
      &KrylovPerfResult::total_us,
      options.table_file,
      options.scalar + ", " + method + " with " + kind + ", " + steps +
          " time steps; times in microseconds, of all steps together",
      "ready: once, from the first matrix to being ready to apply, beside the "
      "total, by which x <peer> is\n"};
  program.context = {{"method", method},
                     {"factorisation", kind},
                     {"values", to_string(settings.values)},
                     {"steps", steps}};
  program.iterations = 1;  // the runner repeats by itself
  const auto runner = KrylovRunners::make(options.scalar, settings);
  return run_program("krylov", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_krylov", argc, argv, krylov_usage, parse,
                   run_all);
}
