// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_OPTIONS_HPP
#define STRATA_PERF_BAND_OPTIONS_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <detail/Strata_PerfFlags.hpp>
#include <map>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// A system by its sizes. kl and ku below 0: those of the file.
struct BandCase {
  std::int64_t n = 0, kl = -1, ku = -1;
};

struct BandPerfOptions {
  std::vector<BandCase> cases;
  std::vector<int> rhs;
  std::vector<std::string> algorithms;
  std::string matrix, vectors, solution;  ///< files
  std::string table, lapack;
  std::string scalar = "double";
  int batch = 1;
  double max_host_seconds = 20;
  bool lower_bounds = false;
  bool help = false;
};

/// LAPACK's letter for a scalar type.
inline char lapack_letter(const std::string& scalar) {
  return scalar == "float"           ? 's'
         : scalar == "double"        ? 'd'
         : scalar == "complex_float" ? 'c'
                                     : 'z';
}
inline std::string lapack_band_name(const std::string& scalar) {
  return lapack_letter(scalar) + std::string("gbsv");
}
inline std::vector<std::string> band_algorithms(const std::string& scalar) {
  return {"strata", "strata_pivoting", "strata_host", lapack_band_name(scalar),
          "cusolver_dense"};
}
/// Those that run by name only: see Strata_PerfBandRowByRow.hpp.
inline std::vector<std::string> named_band_algorithms(
    const std::string& scalar) {
  auto all = band_algorithms(scalar);
  for (const char* name :
       {"row_by_row", "row_by_row_rhs", "row_by_row_parallel"})
    all.push_back(name);
  return all;
}

inline const char* band_usage() {
  return R"(Times solves of band systems, ours beside LAPACK's dgbsv and cuSOLVER's
dense LU, and ends with a table. Two modes:

  strata_perf_band --size N,... --bandwidth K,... [--rhs M,...]
      generated matrices, diagonally dominant, with right-hand sides that make
      every element of the solution one. K is an odd number of diagonals
      (51), a share of N (10%) or both sides apart (kl/ku: 3/40)
  strata_perf_band --matrix A.mtx --vectors b.mtx [--solution x.mtx]
      A from a Matrix Market coordinate file, b from an array file

  --figure 6|7|9|10   sizes for that figure of Biondo's report
  --scalar S          float | double (default) | complex_float | complex_double
  --batch K           K systems of each size in one call (1), generated ones.
                      LAPACK then takes a system a host thread at a time, each
                      in one thread; cuSOLVER's dense LU is left out
  --algorithms LIST   of strata, strata_pivoting, strata_host, dgbsv (sgbsv,
                      cgbsv, zgbsv in the other scalars), cusolver_dense;
                      default: all that there are. By name only, Biondo's
                      programs: row_by_row (one thread of the host),
                      row_by_row_rhs (threads share the right-hand sides),
                      row_by_row_parallel (each step a launch)
  --lapack FILE       shared library with dgbtrf and dgbtrs (or those of the
                      scalar); default: OpenBLAS, else LAPACK, where the system
                      has one
  --max-host-seconds S
                      leaves dgbsv out where it is likely to take longer (20),
                      and so row_by_row
  --lower-bounds      instead of leaving dgbsv out, gives it the leading rows
                      of the system, and as many of the right-hand sides, as it
                      is likely to do in that time. The whole has at least the
                      work of (its rows / these) such parts, rounded down: so
                      many times their time is a lower bound, marked '>'
  --table FILE.csv    the table once more
and the flags of Google Benchmark and Kokkos.

Answers are held against what rounding may leave. The matrices have an inverse
of at most 1 (largest row sum), so x is to be within 10 eps (kl + ku + 2), ten
times what rounding b alone may change; with --matrix, the backward error
|b - A x| / (|A| |x| + |b|) is to be within N eps. Exit code: 0; 1 on a bad flag
or file, or an output that can't be written; 2 where ours failed or was wrong.
)";
}

inline double positive_number(const std::string& flag, const std::string& text,
                              double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(value >= least && value <= 1e9))
    throw OptionError(flag, "'" + text + "' is not a fitting number",
                      "see --help");
  return value;
}
inline std::int64_t whole_size(const std::string& flag, const std::string& text,
                               int least) {
  const double value = positive_number(flag, text, least);
  if (value != static_cast<double>(static_cast<std::int64_t>(value)))
    throw OptionError(flag, "'" + text + "' is not a whole number",
                      "see --help");
  return static_cast<std::int64_t>(value);
}

/// The band that `text` means in a matrix of n rows.
inline BandCase band_case(std::int64_t n, const std::string& text) {
  const std::string flag = "--bandwidth";
  BandCase c;
  c.n = n;
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    c.kl = whole_size(flag, text.substr(0, slash), 0);
    c.ku = whole_size(flag, text.substr(slash + 1), 0);
  } else if (!text.empty() && text.back() == '%') {
    const double share =
        positive_number(flag, text.substr(0, text.size() - 1), 0);
    c.kl = c.ku =
        static_cast<std::int64_t>(share * static_cast<double>(n) / 200);
  } else {
    const std::int64_t width = whole_size(flag, text, 1);
    if (width % 2 == 0)
      throw OptionError(flag, "'" + text + "' diagonals have no middle one",
                        "give an odd number, or lower/upper diagonals");
    c.kl = c.ku = (width - 1) / 2;
  }
  if (std::max(c.kl, c.ku) >= n)
    throw OptionError(flag,
                      "'" + text + "' is wider than a matrix of " +
                          std::to_string(n) + " rows",
                      "a side has at most N - 1 diagonals");
  return c;
}

/// Takes its own flags out of argv and leaves those of Google Benchmark and
/// Kokkos. @throws OptionError
inline BandPerfOptions parse_band_options(int& argc, char** argv) {
  BandPerfOptions options;
  std::string sizes, bandwidths, rhs, algorithms, figure;
  const std::map<std::string, std::string*> texts{
      {"--size", &sizes},
      {"--bandwidth", &bandwidths},
      {"--rhs", &rhs},
      {"--algorithms", &algorithms},
      {"--figure", &figure},
      {"--matrix", &options.matrix},
      {"--vectors", &options.vectors},
      {"--solution", &options.solution},
      {"--table", &options.table},
      {"--scalar", &options.scalar},
      {"--lapack", &options.lapack}};
  std::vector<std::string> known{"--max-host-seconds", "--batch"};
  for (const auto& text : texts) known.push_back(text.first);
  for (const auto& [flag, value] :
       take_flags(argc, argv, known, {"--lower-bounds"})) {
    if (flag == "--help")
      options.help = true;
    else if (flag == "--lower-bounds")
      options.lower_bounds = true;
    else if (flag == "--batch")
      options.batch = whole_number(flag, value, 1, 1 << 24);
    else if (flag == "--max-host-seconds")
      options.max_host_seconds = positive_number(flag, value, 0);
    else
      *texts.at(flag) = value;
  }
  if (options.help) return options;

  check_scalar_name(options.scalar);
  options.algorithms =
      algorithms.empty()
          ? band_algorithms(options.scalar)
          : chosen_names(algorithms, named_band_algorithms(options.scalar));
  if (!options.matrix.empty() || !options.vectors.empty()) {
    if (options.matrix.empty() || options.vectors.empty() || !sizes.empty() ||
        !bandwidths.empty() || !figure.empty() || !rhs.empty())
      throw OptionError("--matrix", "goes with --vectors and without sizes",
                        "see --help");
    if (options.batch > 1)
      throw OptionError("--batch", "a file holds one system", "see --help");
    if (options.scalar != "float" && options.scalar != "double")
      throw OptionError("--scalar",
                        "'" + options.scalar + "' does not go with --matrix",
                        "right-hand sides are read as real numbers");
    options.cases.emplace_back();
    options.rhs = {0};
    return options;
  }
  if (!options.solution.empty())
    throw OptionError("--solution", "goes with --matrix", "see --help");
  if (figure == "6") {
    if (sizes.empty()) sizes = "100,200,500,1000,2000,5000,10000";
    if (bandwidths.empty()) bandwidths = "10%,50%";
  } else if (figure == "9") {
    if (sizes.empty()) sizes = "100,200,500,1000,2000,5000,10000";
    if (bandwidths.empty()) bandwidths = "50%";
  } else if (figure == "7" || figure == "10") {
    if (sizes.empty()) sizes = "1000";
    if (bandwidths.empty()) bandwidths = "501";
    if (rhs.empty()) rhs = "1,10,20,50,100,200,500,1000";
  } else if (!figure.empty()) {
    throw OptionError("--figure", "'" + figure + "' is not 6, 7, 9 or 10",
                      "see --help");
  }
  if (sizes.empty() || bandwidths.empty())
    throw OptionError("--size", "no system is named",
                      "give --size and --bandwidth, --figure, or --matrix");
  for (const auto& bandwidth : list_parts(bandwidths))
    for (const auto& size : list_parts(sizes))
      options.cases.push_back(
          band_case(whole_size("--size", size, 1), bandwidth));
  for (const auto& m : list_parts(rhs.empty() ? "1" : rhs))
    options.rhs.push_back(static_cast<int>(whole_size("--rhs", m, 1)));
  return options;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
