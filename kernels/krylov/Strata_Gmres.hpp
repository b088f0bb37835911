// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GMRES_HPP
#define STRATA_GMRES_HPP

#include <Strata_KrylovOptions.hpp>
#include <Strata_KrylovSolver.hpp>

namespace Strata {

template <class Scalar, class ExecutionSpace>
class Gmres;

namespace Detail {
template <class Scalar, class ExecutionSpace>
class GmresState;
template <>
struct KrylovTypes<Gmres> {
  using Options = GmresOptions;
  using Result = KrylovResult;
  template <class Scalar, class ExecutionSpace>
  using State = GmresState<Scalar, ExecutionSpace>;
};
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
/// preconditioner one more and its own). An iteration reads the j vectors of
/// the cycle four times. A product more than iterations is done for each cycle,
/// and another at the end for b - A x.
///
/// The small least-squares problem and its rotations stay on the device. Dot
/// products of all basis vectors are one launch, whose last block adds up what
/// the others leave. The host enqueues iterations over the ends of cycles, too,
/// and waits for the stream at the beginning and at the end; behind the last
/// iteration products alone are run.
///
/// The workspace has restart + 3 vectors (no more than rows + 3) and about
/// restart^2 numbers. See KrylovSolver for the members.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class Gmres : public KrylovSolver<Gmres, Scalar, ExecutionSpace> {
 public:
  using KrylovSolver<Gmres, Scalar, ExecutionSpace>::KrylovSolver;
};

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/gmres/GmresImplementation.hpp>
#endif

#endif
