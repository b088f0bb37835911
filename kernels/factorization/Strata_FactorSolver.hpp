// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FACTOR_SOLVER_HPP
#define STRATA_FACTOR_SOLVER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_FactorSolverOptions.hpp>
#include <Strata_FactorTransformation.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/SharedElements.hpp>
#include <memory>

namespace Strata {

namespace Detail {
template <class Scalar, class ExecutionSpace>
class FactorSolves;
template <class Scalar, class ExecutionSpace>
struct FactorSolverState;
}  // namespace Detail

/// Solves A x = b with factors that others have computed: par_ilut, ILUT,
/// SuperLU, PETSc. With a FactorTransformation, Pr Dr A Dc Pc = L U; without
/// one, A = L U.
///
/// It has the member apply(exec, b, x) that Strata's Krylov methods and
/// KokkosKernelsPreconditioner ask of a preconditioner.
///
/// L and U are not referred to once the constructor has returned. Copies share
/// plans, values and workspace. Calls of apply that share a workspace must not
/// overlap in time; give each stream that works at the same time an object that
/// share_plan returns.
///
/// One made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use is a
/// HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where L, U, b and x are accessible and solves run
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class FactorSolver {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using Transformation = FactorTransformation<Scalar, ExecutionSpace>;

  /// An empty one.
  FactorSolver() = default;

  /// From two KokkosSparse::CrsMatrix objects of n x n, which may have
  /// different index types: L lower and U upper triangular.
  /// @throws SizeMismatchError for factors of different sizes; OptionError for
  ///   options that nothing honours, and for FactorPrecision::single in a
  ///   program without triangular solvers of float; what TriangularSolver's
  ///   constructor throws, its argument being of L or of U; PrecisionError (an
  ///   entry is beyond the range of float); of the transformation
  ///   SizeMismatchError, PermutationError (row() is the first place that names
  ///   no row, or one that an earlier place names), NotFiniteError and
  ///   ZeroDiagonalError (a factor of a scaling is 0)
  /// Cost: the analysis of two triangles, of four with `transpose`; with
  /// FactorPrecision::single some passes over the factors. Memory: see
  /// FactorSolverReport. Waits for `exec`.
  template <class Lower, class Upper>
  FactorSolver(const ExecutionSpace& exec, const Lower& L, const Upper& U,
               const FactorSolverOptions& options = {})
      : FactorSolver(exec, L, U, Transformation(), options) {}
  template <class Lower, class Upper>
  FactorSolver(const ExecutionSpace& exec, const Lower& L, const Upper& U,
               const Transformation& transformation,
               const FactorSolverOptions& options = {}) {
    if constexpr (expect_factors<Lower, Upper>()) {
      analyse(exec, Detail::crs_arrays(L), Detail::crs_arrays(U),
              transformation, options);
    }
  }

  /// Takes new values of factors with the analysed patterns, for all copies.
  /// There is no analysis unless triangular solvers can't take the values as
  /// they are planned (ScalingError of TriangularSolver), which makes new
  /// solvers. Waits for `exec`.
  /// @throws PatternMismatchError, HandleError, and what the constructor throws
  ///   of values and memory. After an exception the old factors stay: apply
  ///   gives the same bits as before. Where some solvers had taken new values,
  ///   they get the old ones back; where memory or a launch fails in that, too,
  ///   the next apply does it first, and throws MemoryError while it can't
  /// Cost: passes over the patterns for the checks, the new values of each
  /// solver, and a copy of the factors' values. A CUDA graph that recorded an
  /// apply must be recorded again.
  template <class Lower, class Upper>
  void update_values(const ExecutionSpace& exec, const Lower& L,
                     const Upper& U) {
    if constexpr (expect_factors<Lower, Upper>()) {
      update(exec, Detail::crs_arrays(L), Detail::crs_arrays(U), nullptr);
    }
  }
  /// The same with another transformation in place of the one before.
  template <class Lower, class Upper>
  void update_values(const ExecutionSpace& exec, const Lower& L, const Upper& U,
                     const Transformation& transformation) {
    if constexpr (expect_factors<Lower, Upper>()) {
      update(exec, Detail::crs_arrays(L), Detail::crs_arrays(U),
             &transformation);
    }
  }

  /// x = Dc Pc U^-1 L^-1 Pr Dr b, or with op, x = op(A)^-1 b. Asynchronous on
  /// `exec`: no allocation, no transfer and no wait, as
  /// TriangularSolver::solve. Two solves; where b, or x, is permuted or scaled,
  /// a pass over it; with FactorPrecision::single three passes over vectors,
  /// which permute and scale on the way. More right-hand sides than the
  /// workspace has vectors for (max_right_hand_sides) are solved in batches.
  ///
  /// @param b n, or n x k: k right-hand sides; any layout
  /// @param x as b; may be b itself
  /// @param op other than none where the option `transpose` was set
  /// @throws SizeMismatchError, AliasError, OptionError, HandleError before
  ///   anything is enqueued; MemoryError after an update that failed (see
  ///   there)
  template <class B, class X>
  void apply(const ExecutionSpace& exec, const B& b, const X& x,
             Op op = Op::none) const {
    if constexpr (Expect::template vectors<B, X>) {
      solve_strided(exec, Detail::strided_block(b), Detail::strided_block(x),
                    op);
    }
  }

  /// An object with these plans, values and this transformation, and workspaces
  /// of its own, so that calls of apply of both may overlap in time. They have
  /// the same bits. An update_values of either is for both, and must not
  /// overlap in time with an apply of either: see TriangularSolver::share_plan.
  /// May be called from several threads at the same time, and beside apply.
  /// @throws HandleError, MemoryError
  /// Cost: a few launches. Memory: workspace_bytes of each triangular solver in
  /// report(), and report().workspace_bytes. Waits for `exec`.
  FactorSolver share_plan(const ExecutionSpace& exec) const;

  /// These three: @throws HandleError
  std::int64_t rows() const;
  const FactorSolverOptions& options() const;
  /// What was made. It changes where an update makes new solvers or takes
  /// another transformation.
  const FactorSolverReport& report() const;

 private:
  friend struct Detail::Internals;
  using State = Detail::FactorSolverState<Scalar, ExecutionSpace>;

  using Expect = Detail::Expects<FactorSolver, Scalar, ExecutionSpace>;
  template <class Lower, class Upper>
  static constexpr bool expect_factors() {
    return Expect::template matrix<Lower> && Expect::template matrix<Upper>;
  }

  // In FactorSolverImplementation.hpp.
  State& made_state() const;
  void analyse(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& L,
               const Detail::CrsArrays<Scalar>& U,
               const Transformation& transformation,
               const FactorSolverOptions& options);
  void update(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& L,
              const Detail::CrsArrays<Scalar>& U,
              const Transformation* transformation);
  void solve_strided(const ExecutionSpace& exec, const Detail::StridedBlock& b,
                     const Detail::StridedBlock& x, Op op) const;

  std::shared_ptr<State> state_;
  /// Null: the state's own.
  std::shared_ptr<Detail::FactorSolves<Scalar, ExecutionSpace>> solves_;
};

template <class ExecutionSpace, class Lower, class Upper>
FactorSolver(const ExecutionSpace&, const Lower&, const Upper&,
             const FactorSolverOptions& = {})
    -> FactorSolver<typename Detail::ScalarOf<Lower>::type, ExecutionSpace>;
template <class ExecutionSpace, class Lower, class Upper, class Scalar>
FactorSolver(const ExecutionSpace&, const Lower&, const Upper&,
             const FactorTransformation<Scalar, ExecutionSpace>&,
             const FactorSolverOptions& = {})
    -> FactorSolver<Scalar, ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/FactorSolverImplementation.hpp>
#endif

#endif
