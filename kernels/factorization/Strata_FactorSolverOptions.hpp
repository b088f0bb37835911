// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FACTOR_SOLVER_OPTIONS_HPP
#define STRATA_FACTOR_SOLVER_OPTIONS_HPP

#include <Strata_FactorPrecision.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <Strata_Types.hpp>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

namespace Strata {

/// Of FactorSolver.
struct FactorSolverOptions {
  /// Of the triangular solvers, among them the right-hand sides that memory is
  /// taken for (max_right_hand_sides). Limits of memory hold for each solver by
  /// itself.
  NestedPlanOptions triangular;
  /// Use just the lower triangle of L and the upper one of U: both factors may
  /// be stored in one matrix, which is passed twice then.
  bool take_triangle = false;
  /// Whose diagonal is ones, whatever is stored of it.
  Diag lower_diag = Diag::unit, upper_diag = Diag::non_unit;
  /// Whether apply takes Op::transpose and Op::conjugate_transpose, too. That
  /// costs the analyses and plans of two more triangular solvers.
  bool transpose = false;
  /// That of the triangular solvers.
  FactorPrecision precision = FactorPrecision::working;

  friend bool operator==(const FactorSolverOptions& a,
                         const FactorSolverOptions& b) {
    return a.triangular == b.triangular && a.take_triangle == b.take_triangle &&
           a.lower_diag == b.lower_diag && a.upper_diag == b.upper_diag &&
           a.transpose == b.transpose && a.precision == b.precision;
  }
  friend bool operator!=(const FactorSolverOptions& a,
                         const FactorSolverOptions& b) {
    return !(a == b);
  }
};

/// What a FactorSolver consists of.
struct FactorSolverReport : FactorTriangleReports {
  FactorPrecision precision = FactorPrecision::working;
  std::int64_t rows = 0;
  /// Entries of the matrices that were passed.
  std::int64_t lower_entries = 0, upper_entries = 0;
  /// Bytes of the values in use, which a failed update is undone with, and with
  /// FactorPrecision::single of those on their way to the solvers.
  std::size_t value_bytes = 0;
  /// Bytes of permutations and scalings.
  std::size_t transformation_bytes = 0;

  /// All of these bytes.
  std::size_t bytes() const {
    return plan_bytes + value_bytes + workspace_bytes + transformation_bytes;
  }
};

/// The report as lines of text, `name: value` each, and below them the reports
/// of the triangular solvers.
inline std::string to_string(const FactorSolverReport& report) {
  std::ostringstream out;
  out << "precision: " << to_string(report.precision)
      << "\nrows: " << report.rows << "\nentries: L " << report.lower_entries
      << ", U " << report.upper_entries << "\nmemory: " << report.value_bytes
      << " bytes of values, " << report.transformation_bytes
      << " of permutations and scalings, " << report.plan_bytes << " of plans, "
      << report.workspace_bytes << " of workspace\n"
      << to_string(static_cast<const FactorTriangleReports&>(report));
  return out.str();
}

}  // namespace Strata

#endif
