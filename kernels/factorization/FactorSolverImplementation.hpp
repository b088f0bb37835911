// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_SOLVER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_SOLVER_IMPLEMENTATION_HPP

// What FactorSolver does, compiled into libstrata (src/) for the scalars and
// spaces of a build. A program with others includes this file.

#include <Strata_FactorSolver.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/NameMatrixErrors.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/solve/FactorMaps.hpp>
#include <kernels/factorization/solve/FactorSolves.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<FactorSolver<Scalar, ExecutionSpace>>
    : std::true_type {};

/// What copies of a FactorSolver share.
template <class Scalar, class ExecutionSpace>
class FactorSolverState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Options = FactorSolverOptions;
  using Report = FactorSolverReport;
  using Transformation = FactorTransformation<Scalar, ExecutionSpace>;
  using Solves = FactorSolves<Scalar, ExecutionSpace>;

  /// See FactorSolver's constructor.
  FactorSolverState(const ExecutionSpace& exec, const Matrix& L,
                    const Matrix& U, const Transformation& transformation,
                    const Options& options)
      : options_(options), lower_(sizes_of(L)), upper_(sizes_of(U)) {
    FactorSolveOptions how{{options.triangular},
                           options.lower_diag,
                           options.upper_diag,
                           options.transpose,
                           options.precision};
    how.triangular.take_triangle = options.take_triangle;
    check_factor_solve_options<Scalar, ExecutionSpace>(how);
    if (L.rows() != U.rows())
      throw SizeMismatchError("U",
                              "has " + std::to_string(U.rows()) +
                                  " rows, and L has " +
                                  std::to_string(L.rows()),
                              "pass the factors of one matrix");
    check_for_rounding(exec, L, U);
    maps_ = Maps(exec, L.rows(), transformation);
    solves_ = Solves(exec, L, U, how);
    report_ = report_of(solves_.reports(), maps_);
  }
  FactorSolverState(const FactorSolverState&) = delete;
  FactorSolverState& operator=(const FactorSolverState&) = delete;

  /// @param transformation  null: it stays
  void take_values(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                   const Transformation* transformation) {
    require_sizes("L", L, lower_);
    require_sizes("U", U, upper_);
    check_for_rounding(exec, L, U);
    Maps maps = transformation ? Maps(exec, rows(), *transformation) : maps_;
    Report report = report_of(solves_.reports(), maps);
    solves_.take_values(exec, L, U, PatternIs::checked,
                        [&](const FactorTriangleReports& made) {
                          report = report_of(made, maps);
                        });
    maps_ = std::move(maps);
    report_ = std::move(report);
  }

  /// @param solves  those of share(), null: the state's own
  void apply(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, Op op, Solves* solves) {
    const ProfilingRegion region("Strata::FactorSolver::apply");
    (solves ? *solves : solves_)
        .apply(exec, b, x, op, maps_.rows(), maps_.columns());
  }
  std::shared_ptr<Solves> share(const ExecutionSpace& exec) const {
    const ProfilingRegion region("Strata::FactorSolver::share_plan");
    return solves_.share(exec);
  }

  std::int64_t rows() const { return solves_.rows(); }
  const Options& options() const { return options_; }
  const Report& report() const { return report_; }

 private:
  using Maps = FactorMaps<Scalar, ExecutionSpace>;

  /// Extents of a matrix that was analysed.
  struct Sizes {
    std::size_t offsets, entries;
  };
  static Sizes sizes_of(const Matrix& factor) {
    return {factor.row_map.extent(0), factor.num_values};
  }
  static void require_sizes(const char* name, const Matrix& factor,
                            const Sizes& sizes) {
    if (factor.row_map.extent(0) != sizes.offsets ||
        factor.entries.extent(0) != sizes.entries ||
        factor.num_values != sizes.entries)
      throw PatternMismatchError(
          name, "does not have the pattern that was analysed",
          "pass factors with the patterns that the solver was made from, or "
          "make a new solver");
  }
  /// Before values are looked at by rows.
  void check_for_rounding(const ExecutionSpace& exec, const Matrix& L,
                          const Matrix& U) const {
    if (options_.precision == FactorPrecision::working) return;
    name_matrix_errors("L", [&] { check_square_matrix(exec, L); });
    name_matrix_errors("U", [&] { check_square_matrix(exec, U); });
  }

  Report report_of(const FactorTriangleReports& solvers,
                   const Maps& maps) const {
    Report report;
    report.precision = options_.precision;
    report.rows = rows();
    report.lower_entries = static_cast<std::int64_t>(lower_.entries);
    report.upper_entries = static_cast<std::int64_t>(upper_.entries);
    report.plan_bytes = solvers.plan_bytes();
    report.value_bytes = solves_.value_bytes();
    report.workspace_bytes = solves_.workspace_bytes();
    report.transformation_bytes = maps.bytes();
    report.lower = solvers.lower;
    report.upper = solvers.upper;
    report.lower_transposed = solvers.lower_transposed;
    report.upper_transposed = solvers.upper_transposed;
    return report;
  }

  Options options_;
  Sizes lower_, upper_;
  Maps maps_;
  Solves solves_;
  Report report_;
};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
auto FactorSolver<Scalar, ExecutionSpace>::made_state() const -> State& {
  Detail::require_made(state_, "FactorSolver", "exec, L, U");
  return *state_;
}

template <class Scalar, class ExecutionSpace>
void FactorSolver<Scalar, ExecutionSpace>::analyse(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& L,
    const Detail::CrsArrays<Scalar>& U, const Transformation& transformation,
    const FactorSolverOptions& options) {
  Detail::with_memory_errors("the analysis of factors", [&] {
    state_ = std::make_shared<State>(exec, L, U, transformation, options);
  });
}

template <class Scalar, class ExecutionSpace>
void FactorSolver<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& L,
    const Detail::CrsArrays<Scalar>& U, const Transformation* transformation) {
  State& state = made_state();
  Detail::with_memory_errors("new values of factors", [&] {
    state.take_values(exec, L, U, transformation);
  });
}

template <class Scalar, class ExecutionSpace>
void FactorSolver<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x, Op op) const {
  State& state = made_state();
  Detail::with_memory_errors("a solve with both factors", [&] {
    state.apply(exec, b, x, op, solves_.get());
  });
}

template <class Scalar, class ExecutionSpace>
FactorSolver<Scalar, ExecutionSpace>
FactorSolver<Scalar, ExecutionSpace>::share_plan(
    const ExecutionSpace& exec) const {
  const State& state = made_state();
  FactorSolver sharer;
  sharer.state_ = state_;
  Detail::with_memory_errors("the workspace of solves with both factors",
                             [&] { sharer.solves_ = state.share(exec); });
  return sharer;
}

template <class Scalar, class ExecutionSpace>
std::int64_t FactorSolver<Scalar, ExecutionSpace>::rows() const {
  return made_state().rows();
}
template <class Scalar, class ExecutionSpace>
const FactorSolverOptions& FactorSolver<Scalar, ExecutionSpace>::options()
    const {
  return made_state().options();
}
template <class Scalar, class ExecutionSpace>
const FactorSolverReport& FactorSolver<Scalar, ExecutionSpace>::report() const {
  return made_state().report();
}

}  // namespace Strata

#endif
