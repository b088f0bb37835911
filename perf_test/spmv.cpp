// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_spmv: times products of sparse matrices with vectors on Google
// Benchmark, ours beside their peers, and ends with a table. --help tells the
// flags.
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <algorithm>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfCopy.hpp>
#include <detail/Strata_PerfCsv.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <detail/Strata_PerfReporter.hpp>
#include <detail/Strata_PerfScalars.hpp>
#include <detail/Strata_PerfSellFlags.hpp>
#include <detail/Strata_PerfSpmv.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <iostream>
#include <stdexcept>

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
  --gallery SPEC     a made matrix (see below), or poisson:N, the 7-point
                     Poisson matrix of N x N x N points; may be repeated
  --factor F         multiply by that triangle of the matrix, or of its
                     incomplete LU: lower | upper | ilu0-l | ilu0-u
  --reorder level    rows and columns in the order of level sets before that
  --algorithms LIST  comma separated; default all but crs:
                     strata, strata_columns (no diagonals), strata_blocks (ELL
                     blocks of a triangle, with --factor), crs (a thread a
                     row), kokkos_kernels,
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

struct Options {
  std::vector<MatrixSource> matrices;
  std::vector<std::string> algorithms = spmv_algorithms();
  std::string scalar = "double", table;
  std::vector<int> vectors{1};
  SpmvSettings settings;
  bool help = false;
};

Options parse(int& argc, char** argv) {
  Options options;
  std::vector<std::string> known{"--matrix",  "--gallery", "--algorithms",
                                 "--vectors", "--scalar",  "--table",
                                 "--factor",  "--reorder"};
  known.insert(known.end(), sell_flags().begin(), sell_flags().end());
  bool chosen = false;
  for (const auto& [flag, value] : take_flags(argc, argv, known)) {
    if (take_sell_flag(flag, value, options.settings.sell)) {
      continue;
    } else if (flag == "--help") {
      options.help = true;
    } else if (flag == "--matrix" || flag == "--gallery") {
      options.matrices.push_back(matrix_source(flag, value, true));
    } else if (flag == "--algorithms") {
      options.algorithms = chosen_names(value, spmv_algorithms());
      chosen = true;
    } else if (flag == "--factor") {
      options.settings.factor = factor_from_string(value);
    } else if (flag == "--reorder") {
      options.settings.reorder = reorder_from_string(value);
    } else if (flag == "--vectors") {
      options.vectors.clear();
      for (const auto& part : list_parts(value))
        options.vectors.push_back(whole_number(flag, part, 1, 65536));
    } else if (flag == "--scalar") {
      check_scalar_name(value);
      options.scalar = value;
    } else {
      options.table = value;
    }
  }
  auto& names = options.algorithms;
  const auto leave_out = [&](const char* name) {
    names.erase(std::remove(names.begin(), names.end(), name), names.end());
  };
  if (!chosen) leave_out("crs");
  if (!options.settings.factor) {
    if (options.settings.reorder != Reorder::none)
      throw OptionError("--reorder", "goes with --factor", "see --help");
    if (chosen &&
        std::find(names.begin(), names.end(), "strata_blocks") != names.end())
      throw OptionError("--algorithms", "strata_blocks is for triangles",
                        "name one with --factor");
    leave_out("strata_blocks");
  }
  if (!options.help && options.matrices.empty())
    throw OptionError("--matrix, --gallery", "no matrix is named",
                      "name at least one, e.g. --gallery grid3d:40");
  return options;
}

std::unique_ptr<SpmvRunner> make_runner_of(const Options& options) {
  return with_scalar(options.scalar, [&](auto scalar) {
    return make_spmv_runner<decltype(scalar)>(options.settings);
  });
}

double gbytes(const SpmvResult& r) {
  return r.useful_bytes / r.product_us * 1e-3;
}
/// Time of the fastest right peer on the same system over that of `r`.
double over_best_peer(const std::vector<SpmvResult>& results,
                      const SpmvResult& r) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const auto& other : results)
    if (other.matrix == r.matrix && other.vectors == r.vectors &&
        !is_own_spmv(other.algorithm) && other.right &&
        !(best <= other.product_us))
      best = other.product_us;
  return best / r.product_us;
}

void print(std::ostream& out, const std::vector<SpmvResult>& results,
           double bandwidth) {
  out << "\ncopy bandwidth " << digits(bandwidth * 1e-9)
      << " GB/s; times in microseconds (medians)\n";
  TextTable table(
      {"matrix", "algorithm", "rows", "nnz", "vectors", "C", "padding %",
       "build", "update", "product", "GB/s", "% of copy", "x best peer"},
      2);
  for (const auto& r : results) {
    if (!r.measured) continue;
    const bool own = is_own_spmv(r.algorithm);
    table.add({r.matrix, r.algorithm + (r.right ? "" : " WRONG"),
               std::to_string(r.rows), std::to_string(r.entries),
               std::to_string(r.vectors),
               own ? std::to_string(r.chunk_rows) : "-",
               own ? digits(100 * r.padding) : "-", digits(r.build_us),
               own ? digits(r.update_us) : "-", digits(r.product_us),
               digits(gbytes(r)), digits(100e9 * gbytes(r) / bandwidth),
               own ? digits(over_best_peer(results, r)) : "-"});
  }
  table.print(out);
  for (const auto& r : results)
    if (!r.message.empty())
      out << r.matrix << ", " << r.algorithm
          << (r.bad_input ? ": " : " failed: ") << r.message << '\n';
}

void write_csv_of(std::ostream& out, const std::vector<SpmvResult>& results,
                  double bandwidth, const std::string& scalar) {
  out << "matrix,algorithm,scalar,rows,nnz,vectors,padding,build_us,update_us,"
         "product_us,gbytes_per_second,share_of_copy,over_best_peer,chunk_rows,"
         "sigma,lanes,copy_gbytes_per_second,right\n";
  for (const auto& r : results)
    if (r.measured)
      out << csv_text(r.matrix) << ',' << r.algorithm << ',' << scalar << ','
          << r.rows << ',' << r.entries << ',' << r.vectors << ','
          << csv_number(r.padding) << ',' << csv_number(r.build_us) << ','
          << csv_number(r.update_us) << ',' << csv_number(r.product_us) << ','
          << csv_number(gbytes(r)) << ','
          << csv_number(1e9 * gbytes(r) / bandwidth) << ','
          << csv_number(over_best_peer(results, r)) << ',' << r.chunk_rows
          << ',' << r.sigma << ',' << r.lanes << ','
          << csv_number(bandwidth * 1e-9) << ',' << r.right << '\n';
}

int run_all(const Options& options, const OutputFlags& output) {
  std::ostream& people = output.display_for_people ? std::cout : std::cerr;
  double bandwidth = 0;
  TableFile<SpmvResult> table(
      options.table,
      [&](std::ostream& out, const std::vector<SpmvResult>& lines) {
        write_csv_of(out, lines, bandwidth, options.scalar);
      },
      [](const SpmvResult& a, const SpmvResult& b) {
        return a.matrix == b.matrix && a.vectors == b.vectors;
      });
  bandwidth = copy_bandwidth(Space());
  benchmark::AddCustomContext("device", Detail::device_name(Space()));
  benchmark::AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  benchmark::AddCustomContext("copy_gbytes_per_second",
                              std::to_string(bandwidth * 1e-9));
  const auto runner = make_runner_of(options);
  std::vector<SpmvResult> results;
  std::vector<const MatrixSource*> sources;
  for (const auto& source : options.matrices)
    for (const int vectors : options.vectors)
      for (const auto& algorithm : options.algorithms) {
        const bool together = starts_with(algorithm, "cusparse_spmm");
        if (together && vectors == 1) continue;
        results.emplace_back();
        results.back().matrix = source.name;
        results.back().algorithm = algorithm;
        results.back().vectors = vectors;
        sources.push_back(&source);
      }
  for (std::size_t i = 0; i < results.size(); ++i) {
    SpmvResult& result = results[i];
    const MatrixSource& source = *sources[i];
    const std::string name = "spmv/" + source.name + '/' + result.algorithm +
                             "/vectors:" + std::to_string(result.vectors) +
                             '/' + options.scalar;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&runner, &source, &result, &results, &table](benchmark::State& state) {
          table.append_before(results, result);
          runner->run(state, source, result);
        })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  run_benchmarks(output);
  benchmark::Shutdown();
  print(people, results, bandwidth);
  require_printed(people);
  table.append_rest(results);
  int code = EXIT_SUCCESS;
  for (const auto& r : results) {
    if (r.bad_input) return EXIT_FAILURE;
    const bool bad = !r.message.empty() || (r.measured && !r.right);
    if (bad && is_own_spmv(r.algorithm)) code = 2;
  }
  return code;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_spmv", argc, argv, spmv_usage, parse, run_all);
}
