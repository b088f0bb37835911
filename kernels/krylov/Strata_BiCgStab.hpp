// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BI_CG_STAB_HPP
#define STRATA_BI_CG_STAB_HPP

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
class BiCgStabState;
}  // namespace Detail

/// The stabilised method of biconjugate gradients, for A x = b with any A that
/// is not singular. The preconditioner is applied from the right, A M^-1 u = b
/// with x = M^-1 u, so the residual that is made small is b - A x itself.
/// Source: H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992.
///
/// An iteration has two products and is seven launches with a SellMatrix and no
/// or a diagonal preconditioner (others add their own, two times): direction,
/// product, dot products, half a step, product, dot products, the other half.
/// All scalars and decisions stay on the device; sums are added up in double in
/// a fixed order, by the last block of a launch: the same solver gives the same
/// bits each time. The host enqueues some iterations ahead of the newest
/// residual it knows; which iteration is the last one is decided on the device.
///
/// Unlike that of Gmres the residual may grow from one iteration to the next,
/// and memory and time of an iteration do not grow. Where a scalar that is
/// divided by vanishes, to working precision, the solve begins anew from
/// b - A x with another shadow residual, BiCgStabOptions::max_new_starts times.
/// The host waits for the device there. (That helps where chance had it vanish.
/// On a matrix such as a skew-symmetric one it vanishes each time: Gmres solves
/// these.)
///
/// A solver is its workspace: five vectors (two more for a preconditioner), and
/// pinned host memory for at most 2 max(1, iterations_ahead) numbers. Copies
/// share it; their solves must not overlap. A solver made without arguments is
/// empty, as one that was moved from: to solve with it, or to ask for its rows,
/// is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class BiCgStab {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  BiCgStab() = default;

  /// Workspace for systems of `rows` unknowns.
  /// @throws OptionError, SizeMismatchError for a negative number,
  ///   IndexOverflowError for one above 2,147,483,646, MemoryError
  BiCgStab(const ExecutionSpace& exec, std::int64_t rows,
           const BiCgStabOptions& options = {})
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
  ///   last iterate; not_finite before the first iteration leaves x alone,
  ///   later x may have an infinity itself.
  /// Cost: two products for each iteration, one at the beginning and one at the
  ///   end for b - A x
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

  const BiCgStabOptions& options() const { return options_; }
  /// @throws HandleError
  std::int64_t rows() const;

 private:
  static void expect_compiled() {
    using Expect = Detail::ExpectCompiled<BiCgStab, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
  }

  // In BiCgStabImplementation.hpp.
  void make(const ExecutionSpace& exec, std::int64_t rows);
  KrylovResult solve_erased(
      const ExecutionSpace& exec,
      const Detail::KrylovOperator<Scalar, ExecutionSpace>& A,
      const Detail::KrylovPreconditioner<Scalar, ExecutionSpace>& M,
      const Detail::StridedBlock& b, const Detail::StridedBlock& x);

  BiCgStabOptions options_;
  std::shared_ptr<Detail::BiCgStabState<Scalar, ExecutionSpace>> state_;
};

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/BiCgStabImplementation.hpp>
#endif

#endif
