// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_TABLE_HPP
#define STRATA_PERF_TABLE_HPP

#include <cstdio>
#include <detail/Strata_PerfComparison.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Columns of text, the first ones flush left and the others flush right.
class TextTable {
 public:
  TextTable(std::vector<std::string> header, std::size_t left_columns)
      : left_columns_(left_columns) {
    rows_.push_back(std::move(header));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_[0].size(), 0);
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < widths.size(); ++c)
        widths[c] = std::max(widths[c], row[c].size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        const std::string& cell = rows_[r][c];
        const std::string fill(widths[c] - cell.size(), ' ');
        line += (c > 0 ? "  " : "") +
                (c < left_columns_ ? cell + fill : fill + cell);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
      if (r == 0) out << std::string(line.size(), '-') << '\n';
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_columns_;
};

inline std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Three to four digits, "-" where there is no number.
inline std::string digits(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (size >= 99.95) return formatted("%.0f", value);
  if (size >= 9.995) return formatted("%.1f", value);
  return formatted("%.2f", value);
}

inline std::string break_even_text(double solves) {
  if (std::isnan(solves)) return "-";
  if (std::isinf(solves)) return "never";
  return solves > 0 ? formatted("%.0f", solves) : "at once";
}

inline std::string error_text(const SptrsvResult& r) {
  if (r.outcome == Outcome::wrong)
    return "WRONG " + formatted("%.0e", r.relative_error);
  return r.timed() ? formatted("%.1e", r.relative_error) : "failed";
}

/// One line for each matrix and algorithm, then what the algorithms that
/// failed said, then the geometric means of our speedups over each peer.
/// Times in microseconds; a speedup above one says that ours is faster.
inline void print_table(std::ostream& out,
                        const std::vector<SptrsvResult>& all) {
  std::vector<SptrsvResult> results;
  for (const auto& r : all)
    if (r.outcome != Outcome::not_run) results.push_back(r);
  if (results.empty()) return;

  std::vector<std::string> families;
  for (const auto& family : peer_families())
    if (std::any_of(results.begin(), results.end(), [&](const auto& r) {
          return !r.own && starts_with(r.algorithm, family);
        }))
      families.push_back(family);

  std::vector<std::string> header{
      "matrix",     "algorithm", "rows",   "nnz",      "levels",    "subgraphs",
      "external %", "analysis",  "update", "solve us", "rel. error"};
  for (const auto& family : families) header.push_back("x " + family);
  header.push_back("pays after");
  TextTable table(header, 2);
  for (const auto& r : results) {
    if (!r.timed()) continue;
    std::string algorithm = r.algorithm;
    if (r.own && r.plan.chosen != algorithm)
      algorithm += " (" + r.plan.chosen + ")";
    std::vector<std::string> row{
        r.matrix,
        algorithm,
        std::to_string(r.rows),
        std::to_string(r.entries),
        std::to_string(r.levels),
        r.own ? std::to_string(r.plan.subgraphs) : "-",
        r.own ? digits(100 * r.plan.external_share) : "-",
        digits(r.analysis_us),
        digits(r.update_us),
        digits(r.solve_us),
        error_text(r)};
    for (const auto& family : families)
      row.push_back(
          digits(speedup(r, best_of_family(results, r.matrix, family))));
    row.push_back(break_even_text(
        solves_to_break_even(r, break_even_peer(results, r.matrix))));
    table.add(std::move(row));
  }

  out << '\n'
      << results[0].scalar << ", " << results[0].rhs
      << (results[0].rhs == 1 ? " right-hand side" : " right-hand sides")
      << "; times in microseconds (medians)\n";
  table.print(out);
  for (const auto& r : results)
    if (!r.timed())
      out << r.matrix << ", " << r.algorithm << " failed: " << r.message
          << '\n';
  const bool cusparse =
      std::find(families.begin(), families.end(), "cusparse") != families.end();
  out << "x <peer>: the peer's solve time over ours, its fastest right "
         "algorithm; pays after: solves until our analysis has paid for\n"
         "itself against "
      << (cusparse ? "cuSPARSE" : "Kokkos Kernels") << '\n';
  for (const auto& algorithm : own_algorithms()) {
    std::string line;
    for (const auto& family : families) {
      const auto s = mean_speedup(results, algorithm, family);
      if (s.matrices == 0) continue;
      line += (line.empty() ? "" : ", ") + digits(s.mean) + " x " + family +
              " (" + std::to_string(s.matrices) +
              (s.matrices == 1 ? " matrix)" : " matrices)");
    }
    if (!line.empty())
      out << "geometric mean speedup of " << algorithm << ": " << line << '\n';
  }
}

inline std::string csv_text(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t i = 0; (i = text.find('"', i)) != std::string::npos; i += 2)
    text.insert(i, 1, '"');
  return '"' + text + '"';
}

inline std::string csv_number(double value) {
  return std::isnan(value) ? "" : formatted("%.9g", value);
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

/// The same numbers unrounded, failures too. Empty fields where a number does
/// not apply; pays_after is 0 for "at once" and inf for "never".
inline void write_csv(std::ostream& out,
                      const std::vector<SptrsvResult>& results) {
  out << "matrix,algorithm,chosen,scalar,rhs,rows,nnz,levels,subgraphs,"
         "subgraph_levels,external_share,plan_bytes,predicted_us,analysis_us,"
         "update_us,solve_us,relative_error,outcome,speedup_serial,"
         "speedup_kokkos_kernels,speedup_cusparse,pays_after,message\n";
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
        << own(r.plan.predicted_us) << ',' << csv_number(r.analysis_us) << ','
        << csv_number(r.update_us) << ',' << csv_number(r.solve_us) << ','
        << csv_number(r.relative_error) << ',' << outcome_text(r.outcome);
    for (const auto& family : peer_families())
      out << ','
          << csv_number(speedup(r, best_of_family(results, r.matrix, family)));
    out << ','
        << csv_number(
               solves_to_break_even(r, break_even_peer(results, r.matrix)))
        << ',' << csv_text(r.message) << '\n';
  }
}

}  // namespace PerfTest
}  // namespace Strata

#endif
