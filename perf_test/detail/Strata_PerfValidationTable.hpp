// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_VALIDATION_TABLE_HPP
#define STRATA_PERF_VALIDATION_TABLE_HPP

#include <detail/Strata_PerfTable.hpp>
#include <detail/Strata_PerfValidation.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

inline const char* timing_text(const CandidateTime& candidate) {
  if (candidate.outcome == Outcome::wrong ||
      candidate.outcome == Outcome::failed)
    return outcome_text(candidate.outcome);
  switch (candidate.timing) {
    case Timing::full:
      return "full";
    case Timing::once:
      return "once";
    default:
      return "refused";
  }
}

/// Of the system, then of each candidate that has one.
inline std::string messages(const ValidationResult& result) {
  std::string text = result.message;
  for (const auto& c : result.candidates)
    if (!c.message.empty())
      text += (text.empty() ? "" : "; ") + c.algorithm + ": " + c.message;
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text;
}

/// A line for each system; empty fields where there is no number.
inline void write_validation_csv(std::ostream& out,
                                 const std::vector<ValidationResult>& results) {
  const auto names = validation_candidates();
  out << "family,system,scalar,rows,nnz,levels,longest_row,merged_levels,"
         "near_share,chosen,solve_us";
  for (const auto& name : names)
    out << ',' << name << "_us," << name << "_merged_levels," << name
        << "_timing";
  out << ",cusparse_us,analysis_us,cusparse_analysis_us,bytes_us,floor_us,"
         "rowwise_error,accuracy,outcome,message\n";
  for (const auto& r : results) {
    out << r.family << ',' << csv_text(r.system) << ',' << r.scalar << ','
        << r.rows << ',' << r.entries << ',' << r.levels << ','
        << r.plan.longest_row << ',' << r.plan.merged_levels << ','
        << csv_number(r.near_share) << ',' << r.plan.chosen << ','
        << csv_number(r.solve_us);
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (k >= r.candidates.size()) {
        out << ",,,";
        continue;
      }
      const auto& c = r.candidates[k];
      out << ',' << csv_number(c.solve_us) << ',' << c.merged_levels << ','
          << timing_text(c);
    }
    out << ',' << csv_number(r.peer_us) << ',' << csv_number(r.analysis_us)
        << ',' << csv_number(r.peer_analysis_us) << ','
        << csv_number(r.bytes_us) << ',' << csv_number(r.floor_us) << ','
        << csv_number(r.rowwise_error) << ',' << r.accuracy << ','
        << outcome_text(r.outcome) << ',' << csv_text(messages(r)) << '\n';
  }
}

/// One line about a system, for people.
inline void print_validation(std::ostream& out, const ValidationResult& r) {
  out << r.family << ' ' << r.system << ": ";
  if (r.outcome == Outcome::right || r.outcome == Outcome::wrong) {
    out << r.rows << " rows, " << r.levels << " level sets, " << r.plan.chosen
        << ' ' << digits(r.solve_us) << " us, regret " << digits(r.regret());
    if (!std::isnan(r.peer_us))
      out << ", " << digits(r.peer_us / r.solve_us)
          << " x cuSPARSE, analysis over cuSPARSE's "
          << digits(r.analysis_us / r.peer_analysis_us);
  }
  if (r.outcome != Outcome::right) out << ' ' << outcome_text(r.outcome);
  for (const auto& c : r.candidates)
    if (c.outcome == Outcome::wrong || c.outcome == Outcome::failed)
      out << ", " << c.algorithm << ' ' << outcome_text(c.outcome);
  if (!messages(r).empty()) out << " (" << messages(r) << ')';
  out << '\n' << std::flush;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
