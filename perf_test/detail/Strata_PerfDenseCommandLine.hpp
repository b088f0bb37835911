// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DENSE_COMMAND_LINE_HPP
#define STRATA_PERF_DENSE_COMMAND_LINE_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <detail/Strata_PerfDense.hpp>
#include <detail/Strata_PerfFlags.hpp>

namespace Strata {
namespace PerfTest {

/// `items`, each of which must be among `known`.
inline std::vector<std::string> known_items(
    const std::string& flag, const std::vector<std::string>& items,
    const std::vector<std::string>& known) {
  for (const auto& item : items)
    if (std::find(known.begin(), known.end(), item) == known.end()) {
      std::string all;
      for (const auto& name : known) all += (all.empty() ? "" : ", ") + name;
      throw OptionError(flag, "there is no '" + item + "'",
                        "name some of " + all);
    }
  return items;
}

/// Takes its own flags out of argv and leaves those of Google Benchmark and
/// Kokkos. `by_name` are algorithms that run only if they are named.
/// @throws OptionError
inline DenseOptions parse_dense_options(
    int& argc, char** argv, std::vector<std::string> available,
    const std::vector<std::string>& by_name) {
  DenseOptions options;
  options.algorithms = available;
  available.insert(available.end(), by_name.begin(), by_name.end());
  for (const auto& [flag, value] : take_flags(
           argc, argv,
           {"--sizes", "--tasks", "--matrices", "--algorithms", "--scalar",
            "--stripe", "--host-limit", "--textbook-limit", "--table"},
           {"--once"})) {
    if (flag == "--help" || flag == "--once") {
      (flag == "--help" ? options.help : options.once) = true;
      continue;
    }
    const auto items = list_parts(value);
    if (flag == "--sizes") {
      for (const auto& item : items)
        options.sizes.push_back(whole_number(flag, item, 1, 65536));
    } else if (flag == "--tasks") {
      options.tasks.clear();
      for (const auto& item : known_items(flag, items, dense_tasks()))
        options.tasks.push_back(static_cast<DenseTask>(
            std::find(dense_tasks().begin(), dense_tasks().end(), item) -
            dense_tasks().begin()));
    } else if (flag == "--matrices") {
      options.kinds = known_items(flag, items, dense_kinds());
    } else if (flag == "--algorithms") {
      options.algorithms = known_items(flag, items, available);
    } else if (flag == "--scalar") {
      options.scalar = known_items(
          flag, {value},
          {"float", "double", "complex_float", "complex_double"})[0];
    } else if (flag == "--stripe") {
      options.stripe = whole_number(flag, value, 0, 512);
      if (options.stripe % 32 != 0)
        throw OptionError(flag, "'" + value + "' is not a multiple of 32",
                          "see --help");
    } else if (flag == "--host-limit") {
      options.host_limit = whole_number(flag, value, 0, 65536);
    } else if (flag == "--textbook-limit") {
      options.textbook_limit = whole_number(flag, value, 0, 65536);
    } else {
      options.table_file = value;
    }
  }
  if (!options.help && options.sizes.empty())
    throw OptionError("--sizes", "no size is named",
                      "name at least one, e.g. --sizes 512,1024");
  return options;
}

inline std::string dense_usage() {
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
                        getri     getrf and getri, on the host; inverses only
                        textbook  one thread of the host
                      by name only, Eyvazov's program for a GPU, without
                      pivoting (solve and augmented): eyvazov_2021
  --scalar S          float | double (default) | complex_float | complex_double
  --stripe W          columns of a stripe; 0 (default): as the library chooses
  --host-limit N      largest n for lapack and getri (default 4096)
  --textbook-limit N  largest n for textbook (default 1024)
  --once              one run of each, the first: for backward errors of large
                      matrices; its times are no measurements
  --table FILE        write the final table as CSV too

Flags of Google Benchmark and of Kokkos work as well. A benchmark's time is the
median over runs, or that of the first run where it takes over a second; copies
of A and B are included where the algorithm overwrites them. Every answer is
checked. "error/lapack" is a backward error over that of
gesv, which is the measure of a stable elimination. Exit code: 0; 1 on a bad flag,
or where the output can't be written; 2 where ours failed or was wrong, or
eyvazov_2021 on a dominant matrix.
)";
}

}  // namespace PerfTest
}  // namespace Strata

#endif
