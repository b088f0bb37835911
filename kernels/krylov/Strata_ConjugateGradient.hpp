// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CONJUGATE_GRADIENT_HPP
#define STRATA_CONJUGATE_GRADIENT_HPP

#include <Strata_ConjugateGradientOptions.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/SharedElements.hpp>
#include <kernels/krylov/KrylovOperator.hpp>
#include <memory>

namespace Strata {

namespace Detail {
template <class Scalar, class ExecutionSpace>
class ConjugateGradientState;
}  // namespace Detail

/// Conjugate gradients for A x = b with a Hermitian positive definite A, and a
/// Hermitian positive definite preconditioner. Source: M. R. Hestenes,
/// E. Stiefel, J. Res. Natl. Bur. Stand. 49, 1952.
///
/// An iteration is three launches with a SellMatrix and no or a diagonal
/// preconditioner: w = A p with p^H w; the residual with its norms; x and p. Or
/// two: p and w = A p with p^H w; x and the residual (CgOptions::launches).
/// With incomplete Cholesky factors of two colours (IncompletePreconditioner)
/// that were made of A itself, the iteration is one in the Schur complement of
/// the first colour: the same steps in four launches on half of the
/// rows. That the factors are A's own is found out by a product at the
/// beginning, for which the host waits; with factors of other values, each
/// iteration applies them. All scalars stay on the device. Sums are added up in
/// double in a fixed order, each by the kernel after: the same solver gives the
/// same bits each time. The host enqueues some iterations ahead of the newest
/// residual it knows and never waits for the stream to run dry; which iteration
/// is the last one is decided on the device, so the answer does not depend on
/// that.
///
/// A solver is its workspace: three vectors (another for iterations of two
/// launches, another for a preconditioner that is no diagonal, and up to
/// two for one of two colours), and pinned host memory for at most 2 max(1,
/// iterations_ahead) numbers. The history of a solve grows on the host by a
/// number an iteration, whatever max_iterations is. Copies share the workspace;
/// their solves must not overlap. A solver made without arguments is empty, as
/// one that was moved from: for members, which are assigned one that is made.
/// To solve with an empty one, or to ask for its rows, is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ConjugateGradient {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  ConjugateGradient() = default;

  /// Workspace for systems of `rows` unknowns.
  /// @throws OptionError, SizeMismatchError for a negative number,
  ///   IndexOverflowError for one above 2,147,483,646, MemoryError
  ConjugateGradient(const ExecutionSpace& exec, std::int64_t rows,
                    const CgOptions& options = {})
      : options_(options) {
    expect_compiled();
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
  ///   last iterate; not_finite before the first iteration leaves x alone.
  /// Cost: one product more than iterations, and another at the end for b - A x
  template <class Operator, class B, class X>
  CgResult solve(const ExecutionSpace& exec, const Operator& A, const B& b,
                 const X& x) {
    return solve(exec, A, NoPreconditioner(), b, x);
  }
  /// The same with a preconditioner: NoPreconditioner, JacobiPreconditioner,
  /// IncompletePreconditioner, or anything with apply(exec, r, z), z = M^-1 r,
  /// such as IncompleteFactorization and FactorSolver.
  template <class Operator, class Preconditioner, class B, class X>
  CgResult solve(const ExecutionSpace& exec, const Operator& A,
                 const Preconditioner& M, const B& b, const X& x) {
    if constexpr (!Detail::ExpectVectors<Scalar, ExecutionSpace, B, X,
                                         1>::value) {
      return CgResult();
    } else {
      expect_compiled();
      const std::int64_t of = rows();
      Detail::check_krylov_operator("A", A, of);
      Detail::check_krylov_operator("M", M, of);
      return solve_erased(
          exec, Detail::krylov_operator<Scalar, ExecutionSpace>(A),
          Detail::krylov_preconditioner<Scalar, ExecutionSpace>(M),
          Detail::strided_block(b), Detail::strided_block(x));
    }
  }

  const CgOptions& options() const { return options_; }
  /// @throws HandleError
  std::int64_t rows() const;

 private:
  static void expect_compiled() {
    using Expect =
        Detail::ExpectCompiled<ConjugateGradient, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
  }

  // In ConjugateGradientImplementation.hpp.
  void make(const ExecutionSpace& exec, std::int64_t rows);
  CgResult solve_erased(
      const ExecutionSpace& exec,
      const Detail::KrylovOperator<Scalar, ExecutionSpace>& A,
      const Detail::KrylovPreconditioner<Scalar, ExecutionSpace>& M,
      const Detail::StridedBlock& b, const Detail::StridedBlock& x);

  CgOptions options_;
  std::shared_ptr<Detail::ConjugateGradientState<Scalar, ExecutionSpace>>
      state_;
};

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/ConjugateGradientImplementation.hpp>
#endif

#endif
