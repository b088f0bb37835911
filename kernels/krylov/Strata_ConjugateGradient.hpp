// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CONJUGATE_GRADIENT_HPP
#define STRATA_CONJUGATE_GRADIENT_HPP

#include <Strata_ConjugateGradientOptions.hpp>
#include <Strata_KrylovSolver.hpp>

namespace Strata {

template <class Scalar, class ExecutionSpace>
class ConjugateGradient;

namespace Detail {
template <class Scalar, class ExecutionSpace>
class ConjugateGradientState;
template <>
struct KrylovTypes<ConjugateGradient> {
  using Options = CgOptions;
  using Result = CgResult;
  template <class Scalar, class ExecutionSpace>
  using State = ConjugateGradientState<Scalar, ExecutionSpace>;
};
}  // namespace Detail

/// Conjugate gradients for A x = b with a Hermitian positive definite A, and a
/// Hermitian positive definite preconditioner. Source: M. R. Hestenes,
/// E. Stiefel, J. Res. Natl. Bur. Stand. 49, 1952.
///
/// An iteration is three launches with a SellMatrix and no or a diagonal
/// preconditioner: w = A p with p^H w; the residual with its norms; x and p. Or
/// one launch does many iterations (CgOptions::launches).
/// With incomplete Cholesky factors in the coloured order
/// (IncompleteFactorization) that were made of A itself, the iteration is one
/// in the Schur complement of the first colour: the same steps in four launches
/// on half of the rows. That the factors are A's own is found out by a product
/// at the beginning, for which the host waits; with factors of other values,
/// each iteration applies them. One product more than iterations is done, and
/// another at the end for b - A x. Sums are added up by the kernel after, and
/// the host never waits for the stream to run dry.
///
/// The workspace has three vectors: another for launches of many iterations,
/// another for a preconditioner that is no diagonal, and up to two for one of
/// two colours. See KrylovSolver for the members.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ConjugateGradient
    : public KrylovSolver<ConjugateGradient, Scalar, ExecutionSpace> {
 public:
  using KrylovSolver<ConjugateGradient, Scalar, ExecutionSpace>::KrylovSolver;
};

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/conjugate_gradient/ConjugateGradientImplementation.hpp>
#endif

#endif
