// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_COMPARISON_HPP
#define STRATA_PERF_COMPARISON_HPP

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <detail/Strata_PerfTable.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// The peers that ours are compared with; each stands for its fastest right
/// algorithm whose name begins like this.
inline const std::vector<std::string>& peer_families() {
  static const std::vector<std::string> families{
      "serial", "textbook", "lapack", "dgbsv",          "sgbsv",   "cgbsv",
      "zgbsv",  "cusolver", "crs",    "kokkos_kernels", "cusparse"};
  return families;
}

/// The family's right answer on the system of `ours` with the shortest `time`;
/// null where there is none.
template <class Result>
const Result* best_of_family(const std::vector<Result>& results,
                             const Result& ours, const std::string& family,
                             double Result::*time) {
  const Result* best = nullptr;
  for (const auto& r : results)
    if (r.matrix == ours.matrix && r.variant == ours.variant && !r.own &&
        r.outcome == Outcome::right && starts_with(r.algorithm, family) &&
        !std::isnan(r.*time) && (!best || r.*time < best->*time))
      best = &r;
  return best;
}

/// `time` of that answer over that of `ours`; NaN where either is missing.
template <class Result>
double speedup(const std::vector<Result>& results, const Result& ours,
               const std::string& family, double Result::*time) {
  if (!ours.own || ours.outcome != Outcome::right) return NAN;
  const Result* const peer = best_of_family(results, ours, family, time);
  return peer ? peer->*time / ours.*time : NAN;
}

/// Further columns for people, by their titles: what a result is beside others.
template <class Result>
using Comparisons = std::vector<std::pair<
    std::string,
    std::function<std::string(const std::vector<Result>&, const Result&)>>>;

/// The table for people: a line for each result that was timed, with our
/// speedups in `time` over the peers, what those that failed or were wrong
/// said, and the geometric means of the speedups. A speedup above one says that
/// ours is faster.
template <class Result>
void print_results(std::ostream& out, const Columns<Result>& columns,
                   const std::vector<Result>& results, double Result::*time,
                   const Comparisons<Result>& comparisons) {
  std::vector<std::string> header, families;
  for (const auto& column : columns)
    if (!column.title.empty()) header.push_back(column.title);
  for (const auto& family : peer_families())
    if (std::any_of(results.begin(), results.end(), [&](const Result& r) {
          return !std::isnan(speedup(results, r, family, time));
        }))
      families.push_back(family);
  for (const auto& family : families) header.push_back("x " + family);
  for (const auto& comparison : comparisons) header.push_back(comparison.first);
  TextTable table(header, 2);
  for (const auto& r : results) {
    if (!r.timed()) continue;
    std::vector<std::string> row;
    for (const auto& column : columns)
      if (!column.title.empty()) row.push_back(column.cell(r).shown);
    for (const auto& family : families)
      row.push_back(digits(speedup(results, r, family, time)));
    for (const auto& comparison : comparisons)
      row.push_back(comparison.second(results, r));
    table.add(std::move(row));
  }
  table.print(out);
  for (const auto& r : results)
    if (!r.message.empty())
      out << r.matrix << ", " << r.algorithm
          << (r.outcome == Outcome::wrong      ? " is wrong: "
              : r.outcome == Outcome::left_out ? " is left out: "
                                               : " failed: ")
          << r.message << '\n';
  if (!families.empty())
    out << "x <peer>: time of the peer's fastest right algorithm over ours\n";
  std::vector<std::string> own;
  for (const auto& r : results)
    if (r.own && std::find(own.begin(), own.end(), r.algorithm) == own.end())
      own.push_back(r.algorithm);
  for (const auto& algorithm : own)
    for (const auto& family : families) {
      double logarithms = 0;
      int systems = 0;
      for (const auto& r : results) {
        const double s = speedup(results, r, family, time);
        if (r.algorithm != algorithm || std::isnan(s)) continue;
        logarithms += std::log(s);
        ++systems;
      }
      if (systems > 0)
        out << "geometric mean speedup of " << algorithm << " over " << family
            << ": " << digits(std::exp(logarithms / systems)) << " (" << systems
            << (systems == 1 ? " system)\n" : " systems)\n");
    }
}

/// Of a program: 1 for a matrix that can't be used, 2 where one of ours,
/// or of those that have to be right, failed or was wrong.
template <class Result>
int exit_code(const std::vector<Result>& results) {
  int code = EXIT_SUCCESS;
  for (const auto& r : results) {
    if (r.outcome == Outcome::bad_input) return EXIT_FAILURE;
    if ((r.own || r.reference) &&
        (r.outcome == Outcome::wrong || r.outcome == Outcome::failed))
      code = 2;
  }
  return code;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
