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

/// Columns of text one space apart, the first ones flush left and the others
/// flush right.
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
        line += (c > 0 ? " " : "") +
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

template <class Result>
std::string error_text(const Result& r) {
  if (r.outcome == Outcome::wrong)
    return "WRONG " + formatted("%.0e", r.relative_error);
  return r.timed() ? formatted("%.1e", r.relative_error) : "failed";
}

/// Peer families with at least one result.
template <class Result>
std::vector<std::string> families_in(const std::vector<Result>& results) {
  std::vector<std::string> families;
  for (const auto& family : peer_families())
    if (std::any_of(results.begin(), results.end(), [&](const auto& r) {
          return !r.own && starts_with(r.algorithm, family);
        }))
      families.push_back(family);
  return families;
}

inline std::string short_name(const std::string& family) {
  if (family == "kokkos_kernels") return "KK";
  return family == "cusparse" ? "cuSPARSE" : family;
}

inline TextTable make_table(const std::vector<SptrsvResult>& results,
                            const std::vector<std::string>& families,
                            bool compare) {
  std::vector<std::string> header{
      "matrix",     "algorithm", "rows",     "nnz",      "levels",
      "subgraphs",  "ext. %",    "analysis", "update",   "solve",
      "rel. error", "rowwise",   "normwise", "comp.wise"};
  if (compare) {
    for (const auto& family : families)
      header.push_back("x " + short_name(family));
    header.push_back("pays after");
  }
  TextTable table(header, 2);
  for (const auto& r : results) {
    if (!r.timed()) continue;
    std::string algorithm = r.algorithm;
    if (r.own && r.plan.chosen != algorithm) algorithm += ": " + r.plan.chosen;
    for (const auto& text : {r.plan.partition, r.plan.parameters})
      if (!text.empty()) algorithm += " (" + text + ")";
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
        error_text(r),
        formatted("%.2g", r.rowwise_error),
        formatted("%.2g", r.normwise_error),
        formatted("%.2g", r.componentwise_error)};
    if (compare) {
      for (const auto& family : families)
        row.push_back(
            digits(speedup(r, best_of_family(results, r.matrix, family))));
      row.push_back(break_even_text(
          solves_to_break_even(r, break_even_peer(results, r.matrix))));
    }
    table.add(std::move(row));
  }
  return table;
}

/// Geometric means of our `algorithm`'s speedups in `time` over each family;
/// empty where there are none.
template <class Result>
std::string means_text(const std::vector<Result>& results,
                       const std::string& algorithm,
                       const std::vector<std::string>& families,
                       double Result::*time) {
  std::string line;
  for (const auto& family : families) {
    const auto s = mean_speedup(results, algorithm, family, time);
    if (s.matrices == 0) continue;
    line += (line.empty() ? "" : ", ") + digits(s.mean) + " x " + family +
            " (" + std::to_string(s.matrices) +
            (s.matrices == 1 ? " matrix)" : " matrices)");
  }
  return line;
}

inline void print_means(std::ostream& out,
                        const std::vector<SptrsvResult>& results,
                        const std::vector<std::string>& families) {
  for (const auto& algorithm : own_algorithms()) {
    const std::string line =
        means_text(results, algorithm, families, &SptrsvResult::solve_us);
    if (!line.empty())
      out << "geometric mean speedup of " << algorithm << ": " << line << '\n';
  }
}

/// Pattern updates, where they were timed.
inline void print_pattern_updates(std::ostream& out,
                                  const std::vector<SptrsvResult>& results) {
  TextTable table({"matrix", "algorithm", "changed %", "update_pattern",
                   "new analysis", "new / update"},
                  2);
  bool any = false;
  for (const auto& r : results) {
    if (!r.timed() || std::isnan(r.pattern.update_us)) continue;
    table.add({r.matrix, r.algorithm, formatted("%g", r.changed),
               digits(r.pattern.update_us), digits(r.pattern.analysis_us),
               digits(r.pattern.analysis_us / r.pattern.update_us)});
    any = true;
  }
  if (any) table.print(out);
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
  const std::vector<std::string> families = families_in(results);
  const bool compare =
      !families.empty() &&
      std::any_of(results.begin(), results.end(),
                  [](const SptrsvResult& r) { return r.own && r.timed(); });

  const SptrsvResult& first = results.front();
  out << '\n'
      << first.scalar << ", " << first.rhs
      << (first.rhs == 1 ? " right-hand side" : " right-hand sides")
      << "; times in microseconds ("
      << (first.solves > 0
              ? "solves: means of " + std::to_string(first.solves) +
                    ", each with "
                    "its own b; others: medians"
              : std::string("medians"))
      << (first.transfers ? "; solves with the copies of b and x" : "")
      << "); backward errors row by row, of norms\nand of components in units "
         "of "
         "eps\n";
  make_table(results, families, compare).print(out);
  for (const auto& r : results)
    if (!r.timed())
      out << r.matrix << ", " << r.algorithm << " failed: " << r.message
          << '\n';
  print_pattern_updates(out, results);
  if (!compare) return;
  out << "x <peer>: solve time of the peer's fastest right algorithm over ours "
         "(KK: Kokkos Kernels)\n"
         "pays after: solves until our analysis has paid for itself against "
         "cuSPARSE, or Kokkos Kernels where cuSPARSE is missing\n";
  print_means(out, results, families);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
