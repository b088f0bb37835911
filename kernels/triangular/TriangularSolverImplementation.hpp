// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TRIANGULAR_SOLVER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_TRIANGULAR_TRIANGULAR_SOLVER_IMPLEMENTATION_HPP

// What TriangularSolver does, compiled into libstrata (src/) for the scalars
// and spaces of a build. A program with others includes this file.

#include <Strata_TriangleGraph.hpp>
#include <Strata_TriangularSolver.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/triangular/TriangularSolverState.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<TriangularSolver<Scalar, ExecutionSpace>>
    : std::true_type {};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::analyse(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A, Uplo uplo,
    Diag diag, const TriangularOptions& options,
    const Detail::GraphWithLevels<ExecutionSpace>* known) {
  Detail::with_memory_errors("the analysis of a triangle", [&] {
    state_ =
        std::make_shared<Detail::TriangularSolverState<Scalar, ExecutionSpace>>(
            exec, A, uplo, diag, options, Detail::KeptPartition(), known);
  });
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x) const {
  require_made();
  state_->solve(exec, b, x, workspace_.get());
}

template <class Scalar, class ExecutionSpace>
TriangularSolver<Scalar, ExecutionSpace>
TriangularSolver<Scalar, ExecutionSpace>::share_plan(
    const ExecutionSpace& exec) const {
  require_made();
  TriangularSolver sharer;
  sharer.state_ = state_;
  Detail::with_memory_errors("a workspace of triangular solves", [&] {
    sharer.workspace_ = state_->make_workspace(exec);
  });
  return sharer;
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::solve_checked(
    const ExecutionSpace& exec, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x) const {
  require_made();
  state_->solve_checked(exec, b, x, workspace_.get());
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  require_made();
  const bool same_sizes = state_->same_sizes(A);
  if (same_sizes) state_->check_num_values(A.num_values);
  Detail::with_memory_errors("new values of a triangle",
                             [&] { state_->take_values(exec, A, same_sizes); });
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Scalar* values, std::size_t num_values) {
  require_made();
  state_->check_num_values(num_values);
  // No pattern to compare.
  Detail::CrsArrays<Scalar> A;
  A.values = values;
  A.num_values = num_values;
  Detail::with_memory_errors("new values of a triangle",
                             [&] { state_->take_values(exec, A, true); });
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::enqueue_update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  require_made();
  if (A.columns != state_->report().rows || !state_->same_sizes(A))
    throw PatternMismatchError(
        "matrix", "does not have as many rows and entries as were analysed",
        "pass the matrix the solver was made from with new values, or make a "
        "new solver");
  enqueue_update(exec, A.values, A.num_values, nullptr);
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::enqueue_update(
    const ExecutionSpace& exec, const Scalar* values, std::size_t num_values,
    const UpdateStatus* outside) {
  require_made();
  state_->updates();
  state_->check_num_values(num_values);
  Detail::with_memory_errors("new values of a triangle", [&] {
    state_->enqueue_values(exec, values, outside);
  });
}

template <class Scalar, class ExecutionSpace>
auto TriangularSolver<Scalar, ExecutionSpace>::update_status() const
    -> StatusView {
  require_made();
  return state_->update_status();
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::change_pattern(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  require_made();
  Detail::with_memory_errors("a new pattern of a triangle",
                             [&] { state_->take_pattern(exec, A); });
}

template <class Scalar, class ExecutionSpace>
const TriangularReport& TriangularSolver<Scalar, ExecutionSpace>::report()
    const {
  require_made();
  return state_->report();
}

template <class Scalar, class ExecutionSpace>
void TriangularSolver<Scalar, ExecutionSpace>::require_made() const {
  Detail::require_made(state_, "TriangularSolver", "exec, A, uplo, diag");
}

}  // namespace Strata

#endif
