// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CSV_HPP
#define STRATA_PERF_CSV_HPP

#include <cmath>
#include <cstdio>
#include <detail/Strata_PerfComparison.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

inline std::string csv_text(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t i = 0; (i = text.find('"', i)) != std::string::npos; i += 2)
    text.insert(i, 1, '"');
  return '"' + text + '"';
}

inline std::string csv_number(double value) {
  if (std::isnan(value)) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

inline const char* outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::right:
      return "right";
    case Outcome::wrong:
      return "wrong";
    case Outcome::bad_input:
      return "bad_input";
    case Outcome::failed:
      return "failed";
    default:
      return "not_run";
  }
}

/// A line for each of `results`, which are of one way of timing.
inline void write_csv_rows(std::ostream& out,
                           const std::vector<SptrsvResult>& results) {
  for (const auto& r : results) {
    if (r.outcome == Outcome::not_run) continue;
    const auto own = [&](double value) {
      return r.own && r.timed() ? csv_number(value) : std::string();
    };
    out << csv_text(r.matrix) << ',' << r.algorithm << ',' << r.plan.chosen
        << ',' << r.scalar << ',' << r.rhs << ',' << r.rows << ',' << r.entries
        << ',' << r.levels << ',' << own(static_cast<double>(r.plan.subgraphs))
        << ',' << own(r.plan.subgraph_levels) << ','
        << own(r.plan.external_share) << ','
        << own(static_cast<double>(r.plan.plan_bytes)) << ','
        << csv_number(r.analysis_us) << ',' << csv_number(r.update_us) << ','
        << csv_number(r.solve_us) << ',' << csv_number(r.relative_error) << ','
        << outcome_text(r.outcome);
    for (const auto& family : peer_families())
      out << ','
          << csv_number(speedup(r, best_of_family(results, r.matrix, family)));
    out << ','
        << csv_number(
               solves_to_break_even(r, break_even_peer(results, r.matrix)))
        << ',' << csv_number(r.rowwise_error) << ','
        << csv_number(r.normwise_error) << ','
        << csv_number(r.componentwise_error) << ',' << own(r.plan.merged_levels)
        << ',' << own(r.plan.growth) << ','
        << own(static_cast<double>(r.plan.unmerged_rows)) << ','
        << own(static_cast<double>(r.plan.longest_row)) << ','
        << csv_text(r.plan.partition) << ',' << own(r.plan.max_subgraph_rows)
        << ',' << r.transfers << ',' << r.solves << ',' << csv_number(r.changed)
        << ',' << csv_number(r.pattern.update_us) << ','
        << csv_number(r.pattern.analysis_us) << ','
        << csv_text(r.plan.parameters) << ',' << csv_text(r.message) << '\n';
  }
}

/// The same numbers unrounded, failures too. Empty fields where a number does
/// not apply; pays_after is 0 for "at once" and inf for "never".
inline void write_csv(std::ostream& out,
                      const std::vector<SptrsvResult>& results) {
  out << "matrix,algorithm,chosen,scalar,rhs,rows,nnz,levels,subgraphs,"
         "subgraph_levels,external_share,plan_bytes,analysis_us,"
         "update_us,solve_us,relative_error,outcome,speedup_serial,"
         "speedup_kokkos_kernels,speedup_cusparse,pays_after,rowwise_error,"
         "normwise_error,componentwise_error,merged_levels,growth,"
         "unmerged_rows,longest_row,partition,max_subgraph_rows,transfers,"
         "solves,changed_percent,pattern_update_us,pattern_analysis_us,"
         "parameters,message\n";
  for (const bool transfers : {true, false})
    write_csv_rows(out, of_transfers(results, transfers));
}

}  // namespace PerfTest
}  // namespace Strata

#endif
