// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_COMMAND_LINE_HPP
#define STRATA_PERF_COMMAND_LINE_HPP

#include <Strata_Error.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_TriangularOptions.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Whether this build and run have `algorithm`: cuSPARSE only beside a CUDA
/// device, its SpSM only where there are several right-hand sides.
inline bool is_available(const std::string& algorithm, bool cuda, int rhs) {
  if (!starts_with(algorithm, "cusparse")) return true;
  return cuda && (algorithm != "cusparse_spsm" || rhs > 1);
}

/// Those of `all` that are.
inline std::vector<std::string> available_of(std::vector<std::string> all,
                                             bool cuda) {
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const std::string& name) {
                             return !is_available(name, cuda, 1);
                           }),
            all.end());
  return all;
}

/// File name without folders and without .mtx / .mtx.gz.
inline std::string file_stem(const std::string& path) {
  std::string stem = path.substr(path.find_last_of('/') + 1);
  for (const char* ending : {".gz", ".mtx"}) {
    const std::string e(ending);
    if (stem.size() > e.size() &&
        stem.compare(stem.size() - e.size(), e.size(), e) == 0)
      stem.resize(stem.size() - e.size());
  }
  return stem;
}

/// What --matrix and --gallery name. @throws FileError on a file that can't be
/// opened, GalleryError on a gallery name that is none
inline MatrixSource matrix_source(const std::string& flag,
                                  const std::string& value) {
  if (flag == "--gallery") return {false, value, gallery_name(value)};
  if (!std::ifstream(value).good())
    throw FileError(value, "the file can't be opened",
                    "check the path given to --matrix");
  return {true, value, file_stem(value)};
}

/// Flags of all programs.
inline Flags common_flags(CommonOptions& options) {
  return {toggle("--help", options.help), text("--scalar", options.scalar),
          text("--table", options.table_file)};
}
/// Flags that name matrices.
inline Flags matrix_flags(CommonOptions& options) {
  Flags flags;
  for (const char* const flag : {"--matrix", "--gallery"})
    flags.push_back({flag, [flag, &options](const std::string& value) {
                       options.matrices.push_back(matrix_source(flag, value));
                     }});
  return flags;
}
/// @throws OptionError
inline void require_matrix(const CommonOptions& options) {
  if (!options.help && options.matrices.empty())
    throw OptionError("--matrix, --gallery", "no matrix is named",
                      "name at least one, e.g. --gallery grid3d:40");
}

/// A result for each matrix and algorithm, in this order.
/// @param is_own  whether an algorithm is ours
template <class Result, class IsOwn>
std::vector<Result> planned_results(const CommonOptions& options,
                                    const IsOwn& is_own) {
  std::vector<Result> results;
  for (const auto& source : options.matrices)
    for (const auto& algorithm : options.algorithms) {
      Result result;
      result.matrix = source.name;
      result.source = &source;
      result.algorithm = algorithm;
      result.scalar = options.scalar;
      result.own = is_own(algorithm);
      results.push_back(result);
    }
  return results;
}

/// Names with spaces between, in lines of 78 characters at most; all but the
/// first begin with `indent`, which counts for the first, too.
inline std::string wrapped(const std::vector<std::string>& names,
                           const std::string& indent) {
  std::string text;
  std::size_t line = indent.size();
  for (const auto& name : names) {
    const bool fits = text.empty() || line + 1 + name.size() <= 78;
    if (!text.empty()) text += fits ? " " : "\n" + indent;
    line = (fits ? line + 1 : indent.size()) + name.size();
    text += name;
  }
  return text;
}

/// Names of `list` (comma separated): ours in full, peers in full or by the
/// beginning of their name; all that are available where `list` is empty. Those
/// of only_in_full() need their full name.
/// Throws OptionError on an unknown name and where nothing is left to run.
inline std::vector<std::string> resolve_algorithms(const std::string& list,
                                                   bool cuda, int rhs) {
  std::vector<std::string> all = own_algorithms();
  all.insert(all.end(), peer_algorithms().begin(), peer_algorithms().end());
  std::vector<bool> wanted(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    wanted[i] = list.empty() && !only_in_full(all[i]);
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    const auto in_full = std::find(all.begin(), all.end(), item);
    bool known = in_full != all.end();
    if (known) {
      wanted[in_full - all.begin()] = true;
    } else if (!item.empty()) {
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!is_own(all[i]) && !only_in_full(all[i]) &&
            starts_with(all[i], item))
          known = wanted[i] = true;
    }
    if (!known) {
      std::string names;
      for (const auto& name : own_algorithms()) names += name + ", ";
      throw OptionError("--algorithms", "there is no algorithm '" + item + "'",
                        "name some of " + names +
                            "serial, kokkos_kernels, cusparse, with commas "
                            "between");
    }
    begin = end + 1;
  }
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (wanted[i] && is_available(all[i], cuda, rhs)) chosen.push_back(all[i]);
  if (chosen.empty())
    throw OptionError("--algorithms",
                      "none of '" + list + "' is available in this build",
                      "cusparse needs the CUDA backend, cusparse_spsm more "
                      "than one right-hand side as well");
  return chosen;
}

/// Takes its own flags out of argv and leaves those of Google Benchmark and
/// Kokkos. Throws OptionError on a flag that nobody knows, a missing or a bad
/// value, GalleryError on a gallery name that is none, FileError on a file that
/// can't be opened.
inline SptrsvOptions parse_options(int& argc, char** argv, bool cuda) {
  SptrsvOptions options;
  TriangularOptions& plan = options.plan;
  SolveTiming& timing = options.timing;
  std::string algorithms;
  bool transfers = false, compare_transfers = false;
  take_flags(
      argc, argv,
      {common_flags(options),
       matrix_flags(options),
       {choice("--factor", options.factor),
        choice("--reorder", options.reorder), text("--algorithms", algorithms),
        whole("--rhs", options.rhs, 1, 65536),
        whole("--max-plan-bytes", plan.max_plan_bytes, 1,
              std::int64_t{1} << 53),
        choice("--accuracy", plan.accuracy),
        whole("--merged-levels", plan.merged_levels, 0, 1 << 30),
        whole("--max-subgraph-rows", plan.experimental.max_subgraph_rows, 0,
              1 << 30),
        whole("--solves", timing.solves, 1, 1000000),
        real("--changed-entries", timing.changed, 1e-9, 100),
        toggle("--explain", options.explain), toggle("--transfers", transfers),
        toggle("--compare-transfers", compare_transfers)}});
  if (options.help) return options;
  timing.transfers = compare_transfers ? Transfers::compared
                     : transfers       ? Transfers::timed
                                       : Transfers::none;
  options.algorithms = resolve_algorithms(algorithms, cuda, options.rhs);
  require_matrix(options);
  return options;
}

inline std::string usage() {
  return R"(strata_perf_sptrsv: times sparse triangular solves, ours beside their peers.

  --matrix FILE       a Matrix Market file (.mtx or .mtx.gz); may be repeated
  --gallery SPEC      a made matrix, e.g. grid3d:100 (see below); may be repeated
  --factor F          lower (default) | upper: that triangle of the matrix;
                      ilu0-l | ilu0-u: a factor of its incomplete LU without fill
  --reorder O         order of rows and columns, before a factor is taken: natural
                      (default) | reverse | random | rcm | dissection | level (of
                      level sets) | colours
  --algorithms LIST   comma separated; default all that this build has
)"
         "                        ours:  " +
         wrapped(own_algorithms(), std::string(31, ' ')) + R"(
                        peers: serial kokkos_kernels cusparse (or one in full)
                        Only if they are named in full: sptrsv_drop_in,
                        automatic by the functions in the style of Kokkos
                        Kernels, whose solves pack the values;
                        sptrsv_drop_in_fixed, the same with values that stay;
                        cusparse_spsv_sell, SpSV on sliced ELL, which ends the
                        program on some matrices
  --rhs N             right-hand sides solved at once (default 1)
  --max-plan-bytes N  memory that a plan of ours may hold (default: no limit); what
                      does not fit is left out by automatic and fails by name
  --accuracy A        rowwise (default) | componentwise: what solves promise
                      (docs/accuracy.md)
  --merged-levels K   level sets merged into one; 1: none are (default: what
                      the analysis finds best)
  --max-subgraph-rows N  rows of a sub-graph at most, Picciau et al.'s n_max
                      (default: what a team's scratch holds)
  --scalar S          float | double (default) | complex_float | complex_double
  --transfers         b comes from the host's memory and x goes back to it in each
                      solve; both copies are timed. The serial peer needs none
  --compare-transfers time solves with these copies and without them, after one
                      analysis: two rows for each algorithm
  --solves N          time N solves, each by itself and with a random b of its own,
                      and take their mean, whatever --benchmark_min_time is
                      (default: batches of solves with one b, and their median)
  --changed-entries P change P % of the entries beside the diagonal, as many added
                      as removed, and time update_pattern beside a new analysis
  --explain           print what the solver chose, and why
  --table FILE        write the final table as CSV too

Flags of Google Benchmark (--benchmark_filter=..., --benchmark_min_time=...,
--benchmark_out=FILE --benchmark_out_format=json, ...) and of Kokkos
(--kokkos-...) work as well. A benchmark's time is the median over batches of
solves, unless --solves says otherwise. Exit code: 0; 1 on a bad flag or matrix,
or an output that can't be written; 2 where one of our own algorithms failed or
gave a wrong answer.

)" + gallery_help() +
         "\n";
}

}  // namespace PerfTest
}  // namespace Strata

#endif
