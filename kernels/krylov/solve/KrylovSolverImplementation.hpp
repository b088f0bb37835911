// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_SOLVER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_SOLVER_IMPLEMENTATION_HPP

// What a KrylovSolver calls of its method's State, which has
//   static constexpr const char *name, *region, *workspace, *task;
//   static void check(const Options&), which throws OptionError;
//   State(exec, rows, options);
//   Result solve(exec, options, A, M, b, x), for checked operators and vectors.

#include <Strata_KrylovSolver.hpp>
#include <kernels/krylov/solve/KrylovSolve.hpp>

namespace Strata {

template <template <class, class> class Method, class Scalar,
          class ExecutionSpace>
void KrylovSolver<Method, Scalar, ExecutionSpace>::make(
    const ExecutionSpace& exec, std::int64_t rows) {
  State::check(options_);
  Detail::check_unknowns(rows);
  Detail::with_memory_errors(State::workspace, [&] {
    state_ = std::make_shared<State>(exec, rows, options_);
  });
}

template <template <class, class> class Method, class Scalar,
          class ExecutionSpace>
auto KrylovSolver<Method, Scalar, ExecutionSpace>::solve_erased(
    const ExecutionSpace& exec,
    const Detail::KrylovOperator<Scalar, ExecutionSpace>& A,
    const Detail::KrylovPreconditioner<Scalar, ExecutionSpace>& M,
    const Detail::StridedBlock& b, const Detail::StridedBlock& x) -> Result {
  return Detail::checked_solve<Result>(
      exec, rows(), options_, A, M, b, x, State::region, State::task,
      [&](const Options& options,
          const Detail::KrylovOperator<Scalar, ExecutionSpace>& scaled_a,
          const Detail::StridedBlock& scaled_b,
          const Detail::StridedBlock& scaled_x) {
        return state_->solve(exec, options, scaled_a, M, scaled_b, scaled_x);
      });
}

template <template <class, class> class Method, class Scalar,
          class ExecutionSpace>
std::int64_t KrylovSolver<Method, Scalar, ExecutionSpace>::rows() const {
  Detail::require_made(state_, State::name, "exec, rows");
  return state_->rows();
}

}  // namespace Strata

#endif
