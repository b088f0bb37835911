// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KRYLOV_SOLVER_HPP
#define STRATA_KRYLOV_SOLVER_HPP

#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/SharedElements.hpp>
#include <kernels/krylov/solve/KrylovOperator.hpp>
#include <memory>

namespace Strata {

namespace Detail {
/// Options, Result and State<Scalar, ExecutionSpace> of a method: the State is
/// the workspace, and defined by the method's implementation.
template <template <class, class> class Method>
struct KrylovTypes;
}  // namespace Detail

/// The members of Gmres, BiCgStab and ConjugateGradient, whose comments say
/// what an iteration costs.
///
/// A solver is its workspace. Copies share it; their solves must not overlap. A
/// solver made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. To solve with an empty one, or
/// to ask for its rows, is a HandleError.
///
/// All scalars and decisions stay on the device, and sums are added up in
/// double in a fixed order: the same solver gives the same bits each time. The
/// host enqueues some iterations ahead of the newest residual it knows, for
/// which it has pinned memory for at most 2 max(1, iterations_ahead) numbers;
/// which iteration is the last one is decided on the device, so the answer does
/// not depend on that. The history of a solve grows on the host by a number an
/// iteration, whatever max_iterations is.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <template <class, class> class Method, class Scalar,
          class ExecutionSpace>
class KrylovSolver {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using Options = typename Detail::KrylovTypes<Method>::Options;
  using Result = typename Detail::KrylovTypes<Method>::Result;

  /// An empty solver.
  KrylovSolver() = default;

  /// Workspace for systems of `rows` unknowns.
  /// @throws OptionError, SizeMismatchError for a negative number,
  ///   IndexOverflowError for one above 2,147,483,646, MemoryError
  KrylovSolver(const ExecutionSpace& exec, std::int64_t rows,
               const Options& options = {})
      : options_(options) {
    Detail::expect_compiled<Method<Scalar, ExecutionSpace>, Scalar,
                            ExecutionSpace>();
    make(exec, rows);
  }

  /// Solves A x = b from the x given. Returns when the solve is over.
  ///
  /// @param A a SellMatrix, or anything with apply(exec, p, w), w = A p, for
  ///          Kokkos::View<Scalar*, memory space> and enqueued on exec
  /// @param b, x views of rank 1 and any layout, `rows` long, apart
  /// @throws NotSquareError, SizeMismatchError, AliasError, HandleError before
  ///   anything is written; MemoryError, after which x is some iterate. What
  ///   the numbers do wrong is told by the result's status, and x is then the
  ///   last iterate; not_finite before the first iteration (Gmres: before the
  ///   end of the first cycle) leaves x alone, later x may have an infinity
  ///   itself.
  template <class Operator, class B, class X>
  Result solve(const ExecutionSpace& exec, const Operator& A, const B& b,
               const X& x) {
    return solve(exec, A, NoPreconditioner(), b, x);
  }
  /// The same with a preconditioner: NoPreconditioner, JacobiPreconditioner,
  /// IncompleteFactorization, FactorSolver, or anything with apply(exec, r, z),
  /// z = M^-1 r, that is the same linear map each time.
  template <class Operator, class Preconditioner, class B, class X>
  Result solve(const ExecutionSpace& exec, const Operator& A,
               const Preconditioner& M, const B& b, const X& x) {
    if constexpr (!Expect::template vectors<B, X, 1>) {
      return Result();
    } else {
      const std::int64_t of = rows();
      Detail::check_krylov_operator("A", A, of);
      Detail::check_krylov_operator("M", M, of);
      return solve_erased(
          exec, Detail::krylov_operator<Scalar, ExecutionSpace>(A),
          Detail::krylov_preconditioner<Scalar, ExecutionSpace>(M),
          Detail::strided_block(b), Detail::strided_block(x));
    }
  }

  const Options& options() const { return options_; }
  /// @throws HandleError
  std::int64_t rows() const;

 private:
  using State =
      typename Detail::KrylovTypes<Method>::template State<Scalar,
                                                           ExecutionSpace>;

  using Expect =
      Detail::Expects<Method<Scalar, ExecutionSpace>, Scalar, ExecutionSpace>;

  // In KrylovSolverImplementation.hpp.
  void make(const ExecutionSpace& exec, std::int64_t rows);
  Result solve_erased(
      const ExecutionSpace& exec,
      const Detail::KrylovOperator<Scalar, ExecutionSpace>& A,
      const Detail::KrylovPreconditioner<Scalar, ExecutionSpace>& M,
      const Detail::StridedBlock& b, const Detail::StridedBlock& x);

  Options options_;
  std::shared_ptr<State> state_;
};

}  // namespace Strata

#endif
