// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_krylov: times solves in time steps whose matrix changes, by one
// Krylov method with our preconditioner and its peers, on Google Benchmark, and
// ends with a table. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfKrylov.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <detail/Strata_PerfScalars.hpp>

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

const char* name_of(KrylovMethodName method) {
  switch (method) {
    case KrylovMethodName::cg:
      return "cg";
    case KrylovMethodName::bicgstab:
      return "bicgstab";
    default:
      return "gmres";
  }
}
const char* name_of(FactorizationKind kind) {
  return kind == FactorizationKind::ilu0 ? "ilu0" : "ic0";
}
const char* name_of(BaseValues values) {
  switch (values) {
    case BaseValues::dominant:
      return "dominant";
    case BaseValues::as_is:
      return "as_is";
    default:
      return "laplacian";
  }
}

struct Options : CommonOptions {
  KrylovSettings settings;
};

/// Those of the build.
std::vector<std::string> available() {
  std::vector<std::string> names;
  for (const auto& name : krylov_preconditioners())
    if (is_available(name, Detail::is_gpu<Space>, 1)) names.push_back(name);
  return names;
}

/// The one of `all` whose name is `value`. @throws OptionError
template <class Choice>
Choice choice(const std::string& flag, const std::string& value,
              const std::vector<Choice>& all) {
  std::string names;
  for (const Choice one : all) {
    if (value == name_of(one)) return one;
    names += std::string(names.empty() ? "" : ", ") + name_of(one);
  }
  throw OptionError(flag, "'" + value + "' is none of its choices",
                    "use one of " + names);
}

Options parse(int& argc, char** argv) {
  Options options;
  KrylovSettings& settings = options.settings;
  options.algorithms = available();
  for (const auto& [flag, value] :
       take_flags(argc, argv,
                  with_flags({"--values", "--shift", "--steps", "--method",
                              "--restart", "--factorisation",
                              "--preconditioners", "--tolerance",
                              "--max-iterations", "--max-seconds", "--runs"},
                             common_flags()))) {
    if (take_common_flag(flag, value, options)) {
      continue;
    } else if (flag == "--values") {
      settings.values = choice<BaseValues>(
          flag, value,
          {BaseValues::dominant, BaseValues::as_is, BaseValues::laplacian});
    } else if (flag == "--shift") {
      settings.shift = real_number(flag, value, 0, 1e6);
    } else if (flag == "--steps") {
      settings.steps = whole_number(flag, value, 1, 100000);
    } else if (flag == "--method") {
      settings.method = choice<KrylovMethodName>(
          flag, value,
          {KrylovMethodName::cg, KrylovMethodName::bicgstab,
           KrylovMethodName::gmres});
    } else if (flag == "--restart") {
      settings.restart = whole_number(flag, value, 1, 1000);
    } else if (flag == "--factorisation") {
      settings.kind = choice<FactorizationKind>(
          flag, value, {FactorizationKind::ilu0, FactorizationKind::ic0});
    } else if (flag == "--preconditioners") {
      options.algorithms = chosen_names(value, available(), flag);
    } else if (flag == "--tolerance") {
      settings.tolerance = real_number(flag, value, 1e-300, 0.9);
    } else if (flag == "--max-iterations") {
      settings.max_iterations = whole_number(flag, value, 1, 100000000);
    } else if (flag == "--max-seconds") {
      settings.max_seconds = real_number(flag, value, 1e-3, 1e9);
    } else {
      settings.runs = whole_number(flag, value, 1, 1000);
    }
  }
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
          {"method", "", always(name_of(settings.method))},
          {"factorisation", "", always(name_of(settings.kind))},
          {"values", "", always(name_of(settings.values))},
          {"rows", "rows", &R::rows},
          {"nnz", "nnz", &R::entries},
          {"steps", "", &R::steps},
          {"iterations", "iterations", &R::iterations},
          {"restarts", "", &R::restarts},
          {"total_us", "total", &R::total_us},
          {"ready_us", "ready", &R::ready_us},
          {"relative_error", "residual", error_cell},
          {"outcome", "", [](const R& r) { return outcome_text(r.outcome); }},
          {"message", "", &R::message}};
}

int run_all(const Options& options, std::ostream& people) {
  const KrylovSettings& settings = options.settings;
  const std::string method = name_of(settings.method),
                    kind = name_of(settings.kind),
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
                     {"values", name_of(settings.values)},
                     {"steps", steps}};
  program.iterations = 1;  // the runner repeats by itself
  const auto runner = with_scalar(options.scalar, [&](auto scalar) {
    return make_krylov_runner<decltype(scalar)>(settings);
  });
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
