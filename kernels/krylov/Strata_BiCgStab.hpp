// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BI_CG_STAB_HPP
#define STRATA_BI_CG_STAB_HPP

#include <Strata_KrylovOptions.hpp>
#include <Strata_KrylovSolver.hpp>

namespace Strata {

template <class Scalar, class ExecutionSpace>
class BiCgStab;

namespace Detail {
template <class Scalar, class ExecutionSpace>
class BiCgStabState;
template <>
struct KrylovTypes<BiCgStab> {
  using Options = BiCgStabOptions;
  using Result = KrylovResult;
  template <class Scalar, class ExecutionSpace>
  using State = BiCgStabState<Scalar, ExecutionSpace>;
};
}  // namespace Detail

/// The stabilised method of biconjugate gradients, for A x = b with any A that
/// is not singular. The preconditioner is applied from the right, A M^-1 u = b
/// with x = M^-1 u, so the residual that is made small is b - A x itself.
/// Source: H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992.
///
/// An iteration has two products and is seven launches with a SellMatrix and no
/// or a diagonal preconditioner (others add their own, two times): direction,
/// product, dot products, half a step, product, dot products, the other half.
/// One more product is at the beginning and one at the end, for b - A x. The
/// workspace has five vectors, two more for a preconditioner.
///
/// Unlike that of Gmres the residual may grow from one iteration to the next,
/// and memory and time of an iteration do not grow. Where a scalar that is
/// divided by vanishes, to working precision, the solve begins anew from
/// b - A x with another shadow residual, BiCgStabOptions::max_new_starts times.
/// The host waits for the device there. (That helps where chance had it vanish.
/// On a matrix such as a skew-symmetric one it vanishes each time: Gmres solves
/// these.)
///
/// See KrylovSolver for the members.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class BiCgStab : public KrylovSolver<BiCgStab, Scalar, ExecutionSpace> {
 public:
  using KrylovSolver<BiCgStab, Scalar, ExecutionSpace>::KrylovSolver;
};

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/bi_cg_stab/BiCgStabImplementation.hpp>
#endif

#endif
