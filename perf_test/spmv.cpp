// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_spmv: times products of sparse matrices with vectors, ours beside
// their peers, and ends with a table. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <algorithm>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <detail/Strata_PerfSellFlags.hpp>
#include <detail/Strata_PerfSpmv.hpp>
#include <detail/Strata_PerfTiming.hpp>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::vector<std::string> spmv_algorithms() {
  std::vector<std::string> names{"strata", "strata_columns", "strata_blocks",
                                 "crs", "kokkos_kernels"};
  if (Detail::is_gpu<Space>)
    for (const char* name :
         {"cusparse_csr_alg1", "cusparse_csr_alg2", "cusparse_sell",
          "cusparse_spmm_alg1", "cusparse_spmm_alg2", "cusparse_spmm_alg3"})
      names.push_back(name);
  return names;
}

std::string spmv_usage() {
  return R"(strata_perf_spmv: times y = A x, ours beside its peers.

  --matrix FILE      a Matrix Market file (.mtx or .mtx.gz); may be repeated
  --gallery SPEC     a made matrix (see below); may be repeated
  --factor F         multiply by that triangle of the matrix, or of its
                     incomplete LU: lower | upper | ilu0-l | ilu0-u
  --reorder O        rows and columns in that order before: reverse, random, rcm,
                     dissection, level (of level sets) or colours
  --algorithms LIST  comma separated; default all but crs:
                     strata, strata_columns (no diagonals), strata_blocks (ELL
                     blocks of a triangle, with --factor), crs (a thread a
                     row), kokkos_kernels (complex: one vector after the other),
                     cusparse_csr_alg1, cusparse_csr_alg2, cusparse_sell
                     (SpMV, one vector after the other), cusparse_spmm_alg1,
                     ..._alg2, ..._alg3 (SpMM, several vectors at once)
  --vectors LIST     columns of x, comma separated (default 1)
  --scalar S         float | double (default) | complex_float | complex_double
  --table FILE       write the final table as CSV too
)" + std::string(sell_flags_usage()) +
         R"(
Flags of Google Benchmark and of Kokkos (--kokkos-...) work as well. A
benchmark's time is the median over batches of products. GB/s counts entries,
columns, x and y once each, for every algorithm alike. Exit code: 0; 1 on a bad
flag or option, a matrix that can't be read or made, or an output that can't be written; 2
where one of our own algorithms failed or was wrong.

)" + gallery_help() +
         "\n";
}

struct Options : CommonOptions {
  std::vector<int> vectors{1};
  SpmvSettings settings;
};

Options parse(int& argc, char** argv) {
  Options options;
  SpmvSettings& settings = options.settings;
  std::string algorithms;
  const auto factor = [&](const std::string& value) {
    choice("--factor", settings.factor.emplace()).take(value);
  };
  take_flags(argc, argv,
             {common_flags(options),
              matrix_flags(options),
              sell_flags(settings.sell),
              {{"--factor", factor},
               choice("--reorder", settings.reorder),
               text("--algorithms", algorithms),
               wholes("--vectors", options.vectors, 1, 65536)}});
  options.algorithms = spmv_algorithms();
  const bool chosen = !algorithms.empty();
  if (chosen)
    names("--algorithms", options.algorithms, options.algorithms)
        .take(algorithms);
  auto& left = options.algorithms;
  const auto leave_out = [&](const char* name) {
    left.erase(std::remove(left.begin(), left.end(), name), left.end());
  };
  if (!chosen) leave_out("crs");
  if (!settings.factor) {
    if (settings.reorder != GalleryOrder::natural)
      throw OptionError("--reorder", "goes with --factor", "see --help");
    if (chosen &&
        std::find(left.begin(), left.end(), "strata_blocks") != left.end())
      throw OptionError("--algorithms", "strata_blocks is for triangles",
                        "name one with --factor");
    leave_out("strata_blocks");
  }
  require_matrix(options);
  return options;
}

Columns<SpmvResult> columns(double bandwidth) {
  using R = SpmvResult;
  return {{"matrix", "matrix", &R::matrix},
          {"algorithm", "algorithm", &R::algorithm},
          {"scalar", "", &R::scalar},
          {"rows", "rows", &R::rows},
          {"nnz", "nnz", &R::entries},
          {"vectors", "vectors", &R::vectors},
          {"padding", "padding", &R::padding},
          {"build_us", "build", &R::build_us},
          {"update_us", "update", &R::update_us},
          {"product_us", "product", &R::product_us},
          {"gbytes_per_second", "GB/s", &R::gbytes_per_second},
          {"chunk_rows", "C", &R::chunk_rows},
          {"sigma", "", &R::sigma},
          {"lanes", "", &R::lanes},
          {"copy_gbytes_per_second", "",
           [bandwidth](const R&) { return bandwidth * 1e-9; }},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
          {"message", "", &R::message},
          {"", "error / bound", error_cell}};
}

std::vector<SpmvResult> planned(const Options& options) {
  std::vector<SpmvResult> results;
  for (const auto& source : options.matrices)
    for (const int vectors : options.vectors)
      for (const auto& algorithm : options.algorithms) {
        if (starts_with(algorithm, "cusparse_spmm") && vectors == 1) continue;
        SpmvResult result;
        result.matrix = source.name;
        result.source = &source;
        result.algorithm = algorithm;
        result.scalar = options.scalar;
        result.vectors = vectors;
        result.variant = "vectors:" + std::to_string(vectors);
        result.own = is_stratas(algorithm);
        results.push_back(result);
      }
  return results;
}

int run_all(const Options& options, std::ostream& people) {
  const double bandwidth = copy_bandwidth(Space());
  Program<SpmvResult> program{planned(options), columns(bandwidth),
                              &SpmvResult::product_us, options.table_file,
                              "copy bandwidth " + digits(bandwidth * 1e-9) +
                                  " GB/s; times in microseconds (medians)"};
  program.context = {
      {"copy_gbytes_per_second", std::to_string(bandwidth * 1e-9)}};
  const auto runner = SpmvRunners::make(options.scalar, options.settings);
  return run_program("spmv", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_spmv", argc, argv, spmv_usage, parse, run_all);
}
