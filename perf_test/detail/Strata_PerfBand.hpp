// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_HPP
#define STRATA_PERF_BAND_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// A system by its sizes.
struct BandCase {
  std::int64_t n = 0, kl = 0, ku = 0;
};

/// One algorithm on one system. Times in microseconds; the relative error is
/// the distance from the all-ones solution.
struct BandResult : PerfResult {
  BandCase sizes;
  int rhs = 0;
  double factor_us = NAN, solve_us = NAN;
  double total_us = NAN;  ///< of both
};

struct BandPerfOptions : CommonOptions {
  std::vector<BandCase> cases;
  std::vector<int> rhs{1};
  double max_host_seconds = 20;
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
  return {"strata", "strata_pivoting", lapack_band_name(scalar),
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
dense LU, and ends with a table.

  --size N,...        rows. The matrices are generated, diagonally dominant, with
                      right-hand sides that make every element of the solution
                      one
  --bandwidth K,...   an odd number of diagonals (51), a share of N (10%) or both
                      sides apart (kl/ku: 3/40)
  --rhs M,...         right-hand sides (1)
  --scalar S          float | double (default) | complex_float | complex_double
  --algorithms LIST   of strata, strata_pivoting, dgbsv (sgbsv, cgbsv, zgbsv in
                      the other scalars), cusolver_dense; default: all that
                      there are. By name only, Biondo's programs: row_by_row
                      (one thread of the host), row_by_row_rhs (threads share
                      the right-hand sides), row_by_row_parallel (each step a
                      launch)
  --max-host-seconds S
                      leaves dgbsv out where it is likely to take longer (20),
                      and so row_by_row
  --table FILE.csv    the table once more
and the flags of Google Benchmark and Kokkos.

Answers are held against what rounding may leave. The matrices have an inverse
of at most 1 (largest row sum), so x is to be within 10 eps (kl + ku + 2), ten
times what rounding b alone may change. Exit code: 0; 1 on a bad flag, or an
output that can't be written; 2 where ours or Biondo's failed or was wrong.
)";
}

constexpr int most = 1000000000;  ///< rows, diagonals, right-hand sides

/// The band that `text` means in a matrix of n rows.
inline BandCase band_case(std::int64_t n, const std::string& text) {
  const std::string flag = "--bandwidth";
  BandCase c;
  c.n = n;
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    c.kl = whole_number(flag, text.substr(0, slash), 0, most);
    c.ku = whole_number(flag, text.substr(slash + 1), 0, most);
  } else if (!text.empty() && text.back() == '%') {
    const double share =
        real_number(flag, text.substr(0, text.size() - 1), 0, 100);
    c.kl = c.ku =
        static_cast<std::int64_t>(share * static_cast<double>(n) / 200);
  } else {
    const std::int64_t width = whole_number(flag, text, 1, most);
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
  std::vector<int> sizes;
  std::string bandwidths, algorithms;
  take_flags(
      argc, argv,
      {common_flags(options),
       {wholes("--size", sizes, 1, most), text("--bandwidth", bandwidths),
        wholes("--rhs", options.rhs, 1, most), text("--algorithms", algorithms),
        real("--max-host-seconds", options.max_host_seconds, 0, 1e9)}});
  if (options.help) return options;
  options.algorithms =
      algorithms.empty()
          ? band_algorithms(options.scalar)
          : chosen_names(algorithms, named_band_algorithms(options.scalar),
                         "--algorithms", "algorithm");
  if (sizes.empty() || bandwidths.empty())
    throw OptionError("--size", "no system is named",
                      "give --size and --bandwidth");
  for (const auto& bandwidth : list_parts(bandwidths))
    for (const int size : sizes)
      options.cases.push_back(band_case(size, bandwidth));
  return options;
}

using BandRunners = RunnersOf<PerfRunner<BandResult>, const BandPerfOptions&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
