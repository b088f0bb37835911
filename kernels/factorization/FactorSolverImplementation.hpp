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
struct FactorSolverState {
  FactorSolverOptions options;
  FactorSolves<Scalar, ExecutionSpace> solves;
  FactorSolverReport report;
};

/// Before values are looked at by rows.
template <class Scalar, class ExecutionSpace>
void check_for_rounding(const ExecutionSpace& exec, const CrsArrays<Scalar>& L,
                        const CrsArrays<Scalar>& U, FactorPrecision precision) {
  if (precision == FactorPrecision::working) return;
  name_matrix_errors("L", [&] { check_square_matrix(exec, L); });
  name_matrix_errors("U", [&] { check_square_matrix(exec, U); });
}

template <class Scalar>
void require_analysed_sizes(const char* name, const CrsArrays<Scalar>& factor,
                            std::int64_t rows, std::int64_t entries) {
  const auto analysed = static_cast<std::size_t>(entries);
  if (factor.rows() != rows || factor.entries.extent(0) != analysed ||
      factor.num_values != analysed)
    throw PatternMismatchError(
        name, "does not have the pattern that was analysed",
        "pass factors with the patterns that the solver was made from, or "
        "make a new solver");
}

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
  using namespace Detail;
  check_factor_solve_options<Scalar, ExecutionSpace>(options, false);
  if (L.rows() != U.rows())
    throw SizeMismatchError("U",
                            "has " + std::to_string(U.rows()) +
                                " rows, and L has " + std::to_string(L.rows()),
                            "pass the factors of one matrix");
  with_memory_errors("the analysis of factors", [&] {
    check_for_rounding(exec, L, U, options.precision);
    const FactorMaps<Scalar, ExecutionSpace> maps(exec, L.rows(),
                                                  transformation);
    const auto made = std::make_shared<State>();
    made->options = options;
    made->solves = {exec, L, U, options, maps};
    FactorSolverReport& report = made->report;
    static_cast<FactorTriangleReports&>(report) = made->solves.reports();
    report.precision = options.precision;
    report.rows = L.rows();
    report.lower_entries = static_cast<std::int64_t>(L.num_values);
    report.upper_entries = static_cast<std::int64_t>(U.num_values);
    report.value_bytes = made->solves.value_bytes();
    report.transformation_bytes = maps.bytes();
    state_ = made;
  });
}

template <class Scalar, class ExecutionSpace>
void FactorSolver<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& L,
    const Detail::CrsArrays<Scalar>& U, const Transformation* transformation) {
  using namespace Detail;
  State& state = made_state();
  FactorSolverReport& report = state.report;
  require_analysed_sizes("L", L, report.rows, report.lower_entries);
  require_analysed_sizes("U", U, report.rows, report.upper_entries);
  with_memory_errors("new values of factors", [&] {
    check_for_rounding(exec, L, U, report.precision);
    FactorMaps<Scalar, ExecutionSpace> maps;
    if (transformation) maps = {exec, report.rows, *transformation};
    state.solves.take_values(exec, L, U, PatternIs::checked, report);
    if (!transformation) return;
    state.solves.put_maps(maps);
    report.transformation_bytes = maps.bytes();
  });
}

template <class Scalar, class ExecutionSpace>
void FactorSolver<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x, Op op) const {
  State& state = made_state();
  Detail::with_memory_errors("a solve with both factors", [&] {
    const Detail::ProfilingRegion region("Strata::FactorSolver::apply");
    (solves_ ? *solves_ : state.solves).apply(exec, b, x, op);
  });
}

template <class Scalar, class ExecutionSpace>
FactorSolver<Scalar, ExecutionSpace>
FactorSolver<Scalar, ExecutionSpace>::share_plan(
    const ExecutionSpace& exec) const {
  const State& state = made_state();
  FactorSolver sharer;
  sharer.state_ = state_;
  Detail::with_memory_errors("the workspace of solves with both factors", [&] {
    const Detail::ProfilingRegion region("Strata::FactorSolver::share_plan");
    sharer.solves_ = state.solves.share(exec);
  });
  return sharer;
}

template <class Scalar, class ExecutionSpace>
std::int64_t FactorSolver<Scalar, ExecutionSpace>::rows() const {
  return report().rows;
}
template <class Scalar, class ExecutionSpace>
const FactorSolverOptions& FactorSolver<Scalar, ExecutionSpace>::options()
    const {
  return made_state().options;
}
template <class Scalar, class ExecutionSpace>
const FactorSolverReport& FactorSolver<Scalar, ExecutionSpace>::report() const {
  return made_state().report;
}

}  // namespace Strata

#endif
