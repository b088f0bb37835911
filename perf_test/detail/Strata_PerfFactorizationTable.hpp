// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_FACTORIZATION_TABLE_HPP
#define STRATA_PERF_FACTORIZATION_TABLE_HPP

#include <algorithm>
#include <cmath>
#include <detail/Strata_PerfComparison.hpp>
#include <detail/Strata_PerfCsv.hpp>
#include <detail/Strata_PerfFactorization.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Numeric phase of the family's fastest right algorithm over that of `r`; NaN
/// for peers and where there is none.
inline double numeric_speedup(const std::vector<FactorizationResult>& results,
                              const FactorizationResult& r,
                              const std::string& family) {
  constexpr auto time = &FactorizationResult::numeric_us;
  return speedup(r, best_of_family(results, r.matrix, family, time), time);
}

/// The numbers unrounded, failures too. Empty where a number does not apply.
inline void write_factorization_csv(
    std::ostream& out, const std::vector<FactorizationResult>& results) {
  out << "matrix,algorithm,scalar,rows,nnz,levels,analysis_us,numeric_us,"
         "numeric_in_place_us,ready_us,new_values_us,apply_us,relative_error,"
         "outcome,speedup_cusparse,speedup_kokkos_kernels,message\n";
  for (const auto& r : results) {
    if (r.outcome == Outcome::not_run) continue;
    out << csv_text(r.matrix) << ',' << r.algorithm << ',' << r.scalar << ','
        << r.rows << ',' << r.entries << ',' << r.levels;
    for (const double number :
         {r.analysis_us, r.numeric_us, r.numeric_in_place_us, r.ready_us,
          r.new_values_us, r.apply_us, r.relative_error})
      out << ',' << csv_number(number);
    out << ',' << outcome_text(r.outcome);
    for (const char* family : {"cusparse", "kokkos_kernels"})
      out << ',' << csv_number(numeric_speedup(results, r, family));
    out << ',' << csv_text(r.message) << '\n';
  }
}

/// Geometric means of our speedups over the peers, of each time.
inline void print_factorization_means(
    std::ostream& out, const std::vector<FactorizationResult>& results,
    const std::vector<std::string>& families) {
  using Result = FactorizationResult;
  std::vector<std::string> own;
  for (const auto& r : results)
    if (r.own && std::find(own.begin(), own.end(), r.algorithm) == own.end())
      own.push_back(r.algorithm);
  // As if ours needed no copy either: it does not overwrite the values.
  std::vector<Result> in_place = results;
  for (Result& r : in_place)
    if (!r.own && !std::isnan(r.numeric_in_place_us))
      r.numeric_us = r.numeric_in_place_us;
  const std::pair<const char*, double Result::*> times[] = {
      {"numeric", &Result::numeric_us},
      {"analysis", &Result::analysis_us},
      {"ready", &Result::ready_us},
      {"new values", &Result::new_values_us},
      {"apply", &Result::apply_us}};
  for (const auto& algorithm : own) {
    const auto print = [&](const std::string& what, const std::string& means) {
      if (!means.empty())
        out << "geometric mean speedup of " << algorithm << ", " << what << ": "
            << means << '\n';
    };
    for (const auto& [what, time] : times)
      print(what, means_text(results, algorithm, families, time));
    if (std::any_of(results.begin(), results.end(), [](const Result& r) {
          return !std::isnan(r.numeric_in_place_us);
        }))
      print("numeric, cuSPARSE in place",
            means_text(in_place, algorithm, {"cusparse"}, &Result::numeric_us));
  }
}

/// One line for each matrix and algorithm, what the algorithms that failed or
/// were wrong said, and geometric means. Times in microseconds; a speedup above
/// one says that ours is faster.
inline void print_factorizations(std::ostream& out,
                                 const std::vector<FactorizationResult>& all,
                                 const std::string& scalar) {
  std::vector<FactorizationResult> results;
  for (const auto& r : all)
    if (r.outcome != Outcome::not_run) results.push_back(r);
  if (results.empty()) return;
  const std::vector<std::string> families = families_in(results);
  out << '\n' << scalar << "; times in microseconds (medians)\n";
  std::vector<std::string> header{
      "matrix",  "algorithm", "rows",  "nnz",        "levels", "analysis",
      "numeric", "in place",  "ready", "new values", "apply",  "rel. error"};
  for (const auto& family : families)
    header.push_back("x " + short_name(family));
  TextTable table(header, 2);
  for (const auto& r : results) {
    if (!r.timed()) continue;
    std::vector<std::string> row{r.matrix,
                                 r.algorithm,
                                 std::to_string(r.rows),
                                 std::to_string(r.entries),
                                 std::to_string(r.levels),
                                 digits(r.analysis_us),
                                 digits(r.numeric_us),
                                 digits(r.numeric_in_place_us),
                                 digits(r.ready_us),
                                 digits(r.new_values_us),
                                 digits(r.apply_us),
                                 error_text(r)};
    for (const auto& family : families)
      row.push_back(digits(numeric_speedup(results, r, family)));
    table.add(std::move(row));
  }
  table.print(out);
  for (const auto& r : results)
    if (!r.message.empty())
      out << r.matrix << ", " << r.algorithm
          << (r.outcome == Outcome::wrong ? " is wrong: " : " failed: ")
          << r.message << '\n';
  out << "numeric: factors of new values on the analysed pattern; in place: "
         "where the values may be overwritten\n"
         "ready: from the matrix to factors and solvers; new values: the same "
         "on the known pattern; apply: both solves\n"
         "x <peer>: numeric phase of the peer's fastest right algorithm over "
         "ours (KK: Kokkos Kernels)\n";
  print_factorization_means(out, results, families);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
