// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_TRIANGLES_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_TRIANGLES_HPP

#include <Strata_TriangularSolver.hpp>
#include <Strata_UpdateStatus.hpp>
#include <analysis/level_sets/GraphWithLevels.hpp>
#include <array>
#include <core/interface/NameMatrixErrors.hpp>
#include <kernels/factorization/solve/FactorSolveOptions.hpp>

namespace Strata {
namespace Detail {

/// Whether new values come with a pattern that may be another one.
enum class PatternIs { known, checked };

/// The triangular solvers with L and U. Those with the transposes are empty
/// unless they are asked for.
template <class Scalar, class ExecutionSpace>
struct FactorTriangles {
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;
  using Matrix = CrsArrays<Scalar>;

  Solver lower, upper, lower_transposed, upper_transposed;
  bool transpose = false;

  FactorTriangles() = default;
  /// @param graph_of_l  which the analysis of L begins with and lets go of, if
  ///   there is one; or null
  FactorTriangles(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                  const FactorSolveOptions& options,
                  GraphWithLevels<ExecutionSpace>* graph_of_l = nullptr)
      : transpose(options.transpose) {
    using Expect = ExpectCompiled<Solver, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    TriangularOptions how = options.triangular;
    const Diag of_lower = options.lower_diag, of_upper = options.upper_diag;
    const auto make = [&](Solver& solver, const char* name,
                          const Matrix& factor, Uplo uplo, Diag diag,
                          GraphWithLevels<ExecutionSpace>* known = nullptr) {
      name_matrix_errors(name, [&] {
        Internals::analyse(solver, exec, factor, uplo, diag, how, known);
      });
    };
    make(lower, "L", L, Uplo::lower, of_lower, graph_of_l);
    if (graph_of_l) *graph_of_l = {};
    make(upper, "U", U, Uplo::upper, of_upper);
    if (!transpose) return;
    how.op = Op::transpose;
    make(lower_transposed, "L", L, Uplo::lower, of_lower);
    make(upper_transposed, "U", U, Uplo::upper, of_upper);
  }

  /// Solvers with the same plans and values, and workspaces of their own. Waits
  /// for `exec`.
  FactorTriangles share_plans(const ExecutionSpace& exec) const {
    FactorTriangles made;
    made.transpose = transpose;
    made.lower = lower.share_plan(exec);
    made.upper = upper.share_plan(exec);
    if (!transpose) return made;
    made.lower_transposed = lower_transposed.share_plan(exec);
    made.upper_transposed = upper_transposed.share_plan(exec);
    return made;
  }

  /// All solvers get values of L and U. Waits for `exec`.
  void take_values(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                   PatternIs pattern) {
    const auto give = [&](Solver& solver, const char* name,
                          const Matrix& factor) {
      name_matrix_errors(name, [&] {
        if (pattern == PatternIs::checked)
          Internals::update(solver, exec, factor);
        else
          Internals::update(solver, exec, factor.values, factor.num_values);
      });
    };
    give(lower, "L", L);
    give(upper, "U", U);
    if (transpose) {
      give(lower_transposed, "L", L);
      give(upper_transposed, "U", U);
    }
    exec.fence();
  }

  /// The same without a wait, see TriangularSolver::enqueue_update_values.
  /// @param status  where it says that values are bad, solvers give NaN; null:
  ///                they are good
  void enqueue_values(const ExecutionSpace& exec, const Matrix& L,
                      const Matrix& U, const UpdateStatus* status) {
    const auto give = [&](Solver& solver, const Matrix& factor) {
      Internals::enqueue_update(solver, exec, factor.values, factor.num_values,
                                status);
    };
    give(lower, L);
    give(upper, U);
    if (!transpose) return;
    give(lower_transposed, L);
    give(upper_transposed, U);
  }
  /// Of those updates; null of solvers that there are not.
  std::array<const UpdateStatus*, 4> statuses() const {
    const auto of = [](const Solver& solver) {
      return solver.update_status().data();
    };
    std::array<const UpdateStatus*, 4> all{of(lower), of(upper), nullptr,
                                           nullptr};
    if (transpose) {
      all[2] = of(lower_transposed);
      all[3] = of(upper_transposed);
    }
    return all;
  }
};

/// What is told of the triangular solvers.
struct FactorTriangleReports {
  TriangularReport lower, upper, lower_transposed, upper_transposed;

  template <class Triangles>
  static FactorTriangleReports of(const Triangles& triangles) {
    FactorTriangleReports reports;
    reports.lower = triangles.lower.report();
    reports.upper = triangles.upper.report();
    if (triangles.transpose) {
      reports.lower_transposed = triangles.lower_transposed.report();
      reports.upper_transposed = triangles.upper_transposed.report();
    }
    return reports;
  }
  std::size_t plan_bytes() const {
    return lower.plan_bytes + upper.plan_bytes + lower_transposed.plan_bytes +
           upper_transposed.plan_bytes;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
