// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGULAR_REPORT_HPP
#define STRATA_TRIANGULAR_REPORT_HPP

#include <Strata_TriangularOptions.hpp>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace Strata {

/// A plan that was considered.
struct TriangularCandidate {
  Algorithm algorithm;
  /// What the candidate consists of, and what ruled it out.
  std::string note;
  /// It can't be used with these values, or takes more memory than allowed.
  bool ruled_out = false;
};

/// What was chosen and why, in numbers.
struct TriangularReport {
  Algorithm algorithm = Algorithm::automatic;
  std::string reason;
  std::int64_t rows = 0;
  /// Entries the solve uses: strict triangle, and the diagonal unless unit.
  std::int64_t entries = 0;
  /// Level sets; 0 for `blocks`, which is made without them.
  int levels = 0;
  /// Level sets that `sync_free` merges into one.
  int merged_levels = 1;
  /// The contract that solves keep (TriangularOptions::accuracy).
  Accuracy accuracy = Accuracy::rowwise;
  /// The m of the contracts: entries of the longest row, its diagonal included.
  std::int64_t longest_row = 0;
  /// Rows that are not merged for the sake of that contract.
  std::int64_t unmerged_rows = 0;
  /// A bound on the growth of merged rows with the values of the constructor:
  /// |r_i| <= growth m eps (sum_j |a_ij| max|x| + |b_i|), at most 100; 0 where
  /// no rows are merged. The largest growth itself where it had to be looked
  /// at.
  double growth = 0;
  /// Diagonal blocks of `blocks`, the launches of a solve, and the slots of
  /// their storage; 0 for the others.
  int blocks = 0, block_runs = 0;
  std::int64_t block_slots = 0;
  /// Sub-graphs or tiles, and the share of edges between sub-graphs, 0 to 1; 0
  /// for the algorithms that have none.
  int subgraphs = 0;
  double external_share = 0;
  /// Levels of `subgraphs`, and steps of the longest chain of `tiles`.
  int subgraph_levels = 0;
  // The next three are 0 unless the algorithm is `subgraphs`.
  std::int64_t internal_slots = 0, external_slots = 0;
  int max_subgraph_rows = 0;
  /// What made the partition, for people: "whole components", or the sorting
  /// criterion of Picciau et al.'s Algorithm 3. Empty unless the algorithm is
  /// `subgraphs`.
  std::string partition;
  /// Bytes of device memory that the solver holds, and that it may hold by the
  /// options; 0: there is no limit.
  std::size_t plan_bytes = 0, max_plan_bytes = 0;
  /// Bytes of device memory that a solver of TriangularSolver::share_plan takes
  /// beside the plan, whose own workspace is part of plan_bytes.
  std::size_t workspace_bytes = 0;
  /// Bytes of the triangle as a CRS matrix with 32-bit columns and row map.
  std::size_t crs_bytes = 0;
  /// Calls of update_pattern since the solver was made; `reason` says what the
  /// last one has kept.
  int pattern_updates = 0;
  /// Right-hand sides that the choice is for
  /// (TriangularOptions::max_right_hand_sides).
  int right_hand_sides = 1;
  /// Those that one launch takes at most, where the workspace limits them, as
  /// with `sync_free` and `tiles`; 0 elsewhere.
  int launch_right_hand_sides = 0;
  /// Time of the constructor, or of the last update_pattern, microseconds.
  double analysis_us = 0;
  /// The plans that were considered, in order of preference: the first that is
  /// not ruled out was chosen.
  std::vector<TriangularCandidate> candidates;
};

/// The report as lines of text, `name: value` each; the candidates' lines are
/// indented. Numbers that the algorithm does not have are left out.
inline std::string to_string(const TriangularReport& report) {
  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& {
    return out << name << ": ";
  };
  const auto microseconds = [](double us) {
    std::ostringstream text;
    text << std::setprecision(us < 1000 ? 3 : 6) << us << " us";
    return text.str();
  };
  line("algorithm") << to_string(report.algorithm) << '\n';
  if (!report.reason.empty()) line("reason") << report.reason << '\n';
  line("rows") << report.rows << '\n';
  line("entries") << report.entries << '\n';
  if (report.levels > 0 || report.blocks == 0)
    line("level sets") << report.levels
                       << (report.merged_levels > 1
                               ? ", " + std::to_string(report.merged_levels) +
                                     " merged"
                               : "")
                       << '\n';
  line("accuracy") << to_string(report.accuracy);
  if (report.growth > 0)
    out << ", growth of merged rows " << std::setprecision(3) << report.growth;
  if (report.unmerged_rows > 0)
    out << ", " << report.unmerged_rows << " rows unmerged";
  out << '\n';
  if (report.blocks > 0)
    line("diagonal blocks")
        << report.blocks << " in " << report.block_runs << " launches, "
        << report.block_slots << " slots\n";
  if (report.algorithm == Algorithm::tiles) {
    line("tiles") << report.subgraphs << " in a chain of "
                  << report.subgraph_levels << '\n';
  } else if (report.subgraphs > 0) {
    line("sub-graphs") << report.subgraphs << " in " << report.subgraph_levels
                       << " levels, at most " << report.max_subgraph_rows
                       << " rows each\n";
    line("time slots") << report.internal_slots << " internal, "
                       << report.external_slots << " external\n";
    if (!report.partition.empty())
      line("partition") << report.partition << '\n';
    line("external edges") << std::setprecision(3)
                           << 100 * report.external_share << " %\n";
  }
  line("memory") << report.plan_bytes << " bytes, " << report.crs_bytes
                 << " as a CRS matrix";
  if (report.workspace_bytes > 0)
    out << ", " << report.workspace_bytes << " of workspace";
  if (report.max_plan_bytes > 0)
    out << ", at most " << report.max_plan_bytes << " allowed";
  out << '\n';
  if (report.pattern_updates > 0)
    line("pattern updates") << report.pattern_updates << '\n';
  if (report.right_hand_sides > 1) {
    line("right-hand sides") << report.right_hand_sides;
    if (report.launch_right_hand_sides > 0)
      out << ", up to " << report.launch_right_hand_sides << " a launch";
    out << '\n';
  }
  line("analysis") << microseconds(report.analysis_us) << '\n';
  if (!report.candidates.empty()) out << "candidates:\n";
  for (const auto& candidate : report.candidates) {
    out << "  " << to_string(candidate.algorithm);
    if (candidate.ruled_out) out << ", ruled out";
    if (!candidate.note.empty()) out << ": " << candidate.note;
    out << '\n';
  }
  return out.str();
}

/// Of the triangular solvers with both factors that a FactorSolver or an
/// IncompleteFactorization has.
struct FactorTriangleReports {
  /// Bytes of the plans of all triangular solvers, values and workspace
  /// included.
  std::size_t plan_bytes = 0;
  /// Bytes of vectors between the two triangles: one for each of
  /// `max_right_hand_sides`, or as many as fit 512 MiB.
  std::size_t workspace_bytes = 0;
  /// Of the solvers with L and U; without rows in the coloured order.
  TriangularReport lower, upper;
  /// Of those with their transposes; without rows where the option `transpose`
  /// is false.
  TriangularReport lower_transposed, upper_transposed;
};

/// The reports of those solvers, each below a line that names its factor.
inline std::string to_string(const FactorTriangleReports& reports) {
  std::string text;
  const auto add = [&](const char* factor, const TriangularReport& report) {
    if (report.rows > 0)
      text += std::string("\nsolver with ") + factor + '\n' + to_string(report);
  };
  add("L", reports.lower);
  add("U", reports.upper);
  add("L transposed", reports.lower_transposed);
  add("U transposed", reports.upper_transposed);
  return text;
}

}  // namespace Strata

#endif
