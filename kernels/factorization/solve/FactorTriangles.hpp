// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_TRIANGLES_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_TRIANGLES_HPP

#include <Strata_Error.hpp>
#include <Strata_FactorSolverOptions.hpp>
#include <Strata_TriangularSolver.hpp>
#include <Strata_UpdateStatus.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <array>
#include <core/interface/NameMatrixErrors.hpp>
#include <kernels/factorization/solve/SingleFactors.hpp>
#include <kernels/triangular/OptionChecks.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Of each triangular solver.
inline TriangularOptions triangular_options(const FactorSolverOptions& options,
                                            bool enqueue_updates) {
  TriangularOptions of_each{options.triangular};
  of_each.take_triangle = options.take_triangle;
  of_each.enqueue_updates = enqueue_updates;
  return of_each;
}

/// @throws OptionError
template <class Scalar, class ExecutionSpace>
void check_factor_solve_options(const FactorSolverOptions& options,
                                bool enqueue_updates) {
  require_enumerator("lower_diag", options.lower_diag);
  require_enumerator("upper_diag", options.upper_diag);
  require_enumerator("precision", options.precision);
  check_options(triangular_options(options, enqueue_updates));
  if (options.precision == FactorPrecision::single &&
      !has_single_factors<Scalar, ExecutionSpace>)
    throw OptionError(
        "precision",
        "is single, and libstrata was built without " +
            std::string(SinglePrecision<Scalar>::name),
        "add it to Strata_SCALARS where Strata is configured, or include "
        "kernels/triangular/TriangularSolverImplementation.hpp and the "
        "implementation of this class");
}

/// Whether new values come with a pattern that may be another one.
enum class PatternIs { known, checked };

/// The triangular solvers with L and U, and if they are asked for, those with
/// the transposes of L and U.
template <class Scalar, class ExecutionSpace>
class FactorTriangles {
 public:
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;
  using Matrix = CrsArrays<Scalar>;

  FactorTriangles() = default;
  /// @param graph_of_l  which the analysis of L begins with and lets go of, if
  ///   there is one; or null
  FactorTriangles(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                  const FactorSolverOptions& options, bool enqueue_updates,
                  GraphWithLevels<ExecutionSpace>* graph_of_l = nullptr)
      : count_(options.transpose ? 4 : 2) {
    expect_compiled<Solver, Scalar, ExecutionSpace>();
    TriangularOptions how = triangular_options(options, enqueue_updates);
    each(L, U, [&](int i, const Matrix& factor) {
      const bool is_lower = i % 2 == 0;
      if (i >= 2) how.op = Op::transpose;
      Internals::analyse(
          solvers_[i], exec, factor, is_lower ? Uplo::lower : Uplo::upper,
          is_lower ? options.lower_diag : options.upper_diag, how, graph_of_l);
      if (graph_of_l) *graph_of_l = {};
      graph_of_l = nullptr;
    });
  }

  /// The first (0) or the second one (1) of a solve.
  const Solver& solver(bool transposed, int which) const {
    return solvers_[transposed ? 3 - which : which];
  }

  /// Solvers with the same plans and values, and workspaces of their own. Waits
  /// for `exec`.
  FactorTriangles share_plans(const ExecutionSpace& exec) const {
    FactorTriangles made;
    made.count_ = count_;
    for (int i = 0; i < count_; ++i)
      made.solvers_[i] = solvers_[i].share_plan(exec);
    return made;
  }

  /// All solvers get values of L and U. Waits for `exec`.
  void take_values(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                   PatternIs pattern) {
    each(L, U, [&](int i, const Matrix& factor) {
      if (pattern == PatternIs::checked)
        Internals::update(solvers_[i], exec, factor);
      else
        Internals::update(solvers_[i], exec, factor.values, factor.num_values);
    });
    exec.fence();
  }

  /// The same without a wait, see TriangularSolver::enqueue_update_values.
  /// @param status  where it says that values are bad, solvers give NaN; null:
  ///                they are good
  void enqueue_values(const ExecutionSpace& exec, const Matrix& L,
                      const Matrix& U, const UpdateStatus* status) {
    each(L, U, [&](int i, const Matrix& factor) {
      Internals::enqueue_update(solvers_[i], exec, factor.values,
                                factor.num_values, status);
    });
  }
  /// Of those updates; null of solvers that there are not.
  Kokkos::Array<const UpdateStatus*, 4> statuses() const {
    Kokkos::Array<const UpdateStatus*, 4> all{};
    for (int i = 0; i < count_; ++i)
      all[i] = solvers_[i].update_status().data();
    return all;
  }

  FactorTriangleReports reports() const {
    FactorTriangleReports all;
    TriangularReport* const of[] = {
        &all.lower, &all.upper, &all.lower_transposed, &all.upper_transposed};
    for (int i = 0; i < count_; ++i) {
      *of[i] = solvers_[i].report();
      all.plan_bytes += of[i]->plan_bytes;
    }
    return all;
  }

 private:
  /// Calls work(i, factor) with the factor of each solver.
  template <class Work>
  void each(const Matrix& L, const Matrix& U, const Work& work) const {
    for (int i = 0; i < count_; ++i)
      name_matrix_errors(i % 2 == 0 ? "L" : "U",
                         [&] { work(i, i % 2 == 0 ? L : U); });
  }

  /// Of L, of U, of their transposes.
  std::array<Solver, 4> solvers_;
  int count_ = 2;
};

}  // namespace Detail
}  // namespace Strata

#endif
