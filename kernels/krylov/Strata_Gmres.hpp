// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GMRES_HPP
#define STRATA_GMRES_HPP

#include <Strata_KrylovOptions.hpp>
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
class GmresState;
}  // namespace Detail

/// GMRES with restarts, for A x = b with any A that is not singular. The
/// preconditioner is applied from the right, A M^-1 u = b with x = M^-1 u, so
/// the residual that is made small is b - A x itself. Source: Y. Saad, M. H.
/// Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986.
///
/// An iteration is five launches with a SellMatrix and no or a diagonal
/// preconditioner (others add their own): the product; three passes over the
/// basis, classical Gram-Schmidt, the same again, and the norm; a new basis
/// vector, which the last one of a cycle does without. After each cycle of
/// GmresOptions::restart iterations come six more, one of them Kokkos' copy of
/// x: the triangle, the correction of x, and a new residual (with another
/// preconditioner one more and its own).
///
/// The small least-squares problem, its rotations and all decisions stay on the
/// device. Dot products of all basis vectors are one launch, whose last block
/// adds up what the others leave, in double and in a fixed order: the same
/// solver gives the same bits each time. The host enqueues some iterations
/// ahead of the newest residual it knows, over the ends of cycles, too, and
/// waits for the stream at the beginning and at the end; which iteration is the
/// last one is decided on the device, and behind it products alone are run.
///
/// A solver is its workspace: restart + 3 vectors (no more than rows + 3),
/// about restart^2 numbers, and pinned host memory for at most 2 max(1,
/// iterations_ahead) numbers. Copies share it; their solves must not overlap. A
/// solver made without arguments is empty, as one that was moved from: to solve
/// with it, or to ask for its rows, is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class Gmres {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  Gmres() = default;

  /// Workspace for systems of `rows` unknowns.
  /// @throws OptionError, SizeMismatchError for a negative number,
  ///   IndexOverflowError for one above 2,147,483,646, MemoryError
  Gmres(const ExecutionSpace& exec, std::int64_t rows,
        const GmresOptions& options = {})
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
  ///   last iterate; not_finite before the end of the first cycle leaves x
  ///   alone, later x may have an infinity itself.
  /// Cost: a product more than iterations for each cycle, and another at the
  ///   end for b - A x; an iteration reads the j vectors of the cycle four
  ///   times
  template <class Operator, class B, class X>
  KrylovResult solve(const ExecutionSpace& exec, const Operator& A, const B& b,
                     const X& x) {
    return solve(exec, A, NoPreconditioner(), b, x);
  }
  /// The same with a preconditioner: NoPreconditioner, JacobiPreconditioner,
  /// IncompletePreconditioner, or anything with apply(exec, r, z), z = M^-1 r,
  /// that is the same linear map each time, such as IncompleteFactorization and
  /// FactorSolver.
  template <class Operator, class Preconditioner, class B, class X>
  KrylovResult solve(const ExecutionSpace& exec, const Operator& A,
                     const Preconditioner& M, const B& b, const X& x) {
    if constexpr (!Detail::ExpectVectors<Scalar, ExecutionSpace, B, X,
                                         1>::value) {
      return KrylovResult();
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

  const GmresOptions& options() const { return options_; }
  /// @throws HandleError
  std::int64_t rows() const;

 private:
  static void expect_compiled() {
    using Expect = Detail::ExpectCompiled<Gmres, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
  }

  // In GmresImplementation.hpp.
  void make(const ExecutionSpace& exec, std::int64_t rows);
  KrylovResult solve_erased(
      const ExecutionSpace& exec,
      const Detail::KrylovOperator<Scalar, ExecutionSpace>& A,
      const Detail::KrylovPreconditioner<Scalar, ExecutionSpace>& M,
      const Detail::StridedBlock& b, const Detail::StridedBlock& x);

  GmresOptions options_;
  std::shared_ptr<Detail::GmresState<Scalar, ExecutionSpace>> state_;
};

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/GmresImplementation.hpp>
#endif

#endif
