// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PRECONDITIONER_REPORT_HPP
#define STRATA_PRECONDITIONER_REPORT_HPP

#include <core/interface/Enumerators.hpp>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace Strata {

/// Order of rows in which IncompletePreconditioner factorises.
enum class FactorOrder {
  /// natural, coloured or level_sets, by the predicted time of a solve, for
  /// incomplete Cholesky on a device, where no row of the matrix has more than
  /// 1,024 entries and the options of triangular solvers are left at their
  /// defaults; else natural. PreconditionerReport says why.
  automatic,
  /// The order given: fewest iterations, and triangular solves whose chains of
  /// dependencies cost their length whatever the bandwidth.
  natural,
  /// Colour by colour (colour_rows), a multicolour order: more iterations than
  /// natural, but a solve with both factors is two launches, whose chains are
  /// as long as there are colours. A must be Hermitian.
  coloured,
  /// Level set by level set (level_permutation with LevelPattern::symmetric).
  /// The factors are those of the natural order, permuted, and so are their
  /// dependencies: as many iterations. Rows that are solved at the same time
  /// are neighbours, each level set is one of `blocks`, and no edge stays
  /// within a level set. An application permutes its vectors on the way in and
  /// out.
  level_sets
};

namespace Detail {
template <>
struct EnumeratorNames<FactorOrder> {
  static constexpr const char* list[] = {"automatic", "natural", "coloured",
                                         "level_sets"};
};
}  // namespace Detail

inline const char* to_string(FactorOrder order) {
  return Detail::enumerator_name(order);
}

/// An order that the automatic choice of an IncompletePreconditioner has
/// considered. Times are predicted, in microseconds.
struct PreconditionerCandidate {
  FactorOrder order = FactorOrder::natural;
  /// Of the set-up, and of the iterations with their applications and all else
  /// that they do: what candidates are compared by.
  double predicted_us = 0;
  double setup_us = 0, application_us = 0;
  /// Iterations expected in this order, where the natural one takes
  /// PreconditionerReport::applications of them.
  double iterations = 0;
  /// Where the numbers come from.
  std::string note;
};

/// What an IncompletePreconditioner has chosen and why, in numbers.
struct PreconditionerReport {
  FactorOrder order = FactorOrder::natural;
  std::string reason;
  std::int64_t rows = 0, entries = 0;
  /// Level sets, where the choice has looked at those of the lower triangle or
  /// rows are in their order, and colours where rows were coloured; else 0.
  int levels = 0, colours = 0;
  /// Iterations in the natural order that the choice is for.
  int applications = 0;
  /// None where there was nothing to choose.
  std::vector<PreconditionerCandidate> candidates;
};

/// The report as lines of text, `name: value` each; the candidates' lines are
/// indented.
inline std::string to_string(const PreconditionerReport& report) {
  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& {
    return out << name << ": ";
  };
  const auto microseconds = [](double us) {
    std::ostringstream text;
    text << std::setprecision(us < 1000 ? 3 : 6) << us << " us";
    return text.str();
  };
  line("order") << to_string(report.order) << '\n';
  line("reason") << report.reason << '\n';
  line("rows") << report.rows << '\n';
  line("entries") << report.entries << '\n';
  if (report.levels > 0) line("level sets") << report.levels << '\n';
  if (report.colours > 0) line("colours") << report.colours << '\n';
  if (report.candidates.empty()) return out.str();
  line("applications") << report.applications << '\n';
  out << "candidates:\n";
  for (const auto& candidate : report.candidates) {
    out << "  " << to_string(candidate.order) << ": "
        << microseconds(candidate.predicted_us) << ", set-up "
        << microseconds(candidate.setup_us) << ", " << std::setprecision(4)
        << candidate.iterations << " iterations, "
        << microseconds(candidate.application_us) << " an application";
    if (!candidate.note.empty()) out << ", " << candidate.note;
    out << '\n';
  }
  return out.str();
}

}  // namespace Strata

#endif
