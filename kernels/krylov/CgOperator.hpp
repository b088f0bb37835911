// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CG_OPERATOR_HPP
#define STRATA_KERNELS_KRYLOV_CG_OPERATOR_HPP

#include <Strata_Error.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <kernels/krylov/CgKernels.hpp>

namespace Strata {
namespace Detail {

/// A matrix that adds up p^H A p on the way.
template <class Operator, class Scalar, class ExecutionSpace>
struct IsSellMatrix
    : std::is_same<Operator, SellMatrix<Scalar, ExecutionSpace>> {};

/// A preconditioner that the vector kernels apply themselves.
template <class Preconditioner>
struct IsDiagonal : std::is_same<Preconditioner, NoPreconditioner> {};
template <class Scalar, class ExecutionSpace>
struct IsDiagonal<JacobiPreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

template <class Preconditioner>
struct IsJacobi : std::false_type {};
template <class Scalar, class ExecutionSpace>
struct IsJacobi<JacobiPreconditioner<Scalar, ExecutionSpace>> : std::true_type {
};

template <class Preconditioner>
struct IsIncomplete : std::false_type {};
template <class Scalar, class ExecutionSpace>
struct IsIncomplete<IncompletePreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

/// The reciprocal of the diagonal; null for none.
template <class Scalar, class Preconditioner>
const RealOf<Scalar>* inverse_diagonal(const Preconditioner&) {
  return nullptr;
}
template <class Scalar, class ExecutionSpace>
const RealOf<Scalar>* inverse_diagonal(
    const JacobiPreconditioner<Scalar, ExecutionSpace>& M) {
  return M.inverse_diagonal().data();
}

template <class Operator, class = void>
struct HasRows : std::false_type {};
template <class Operator>
struct HasRows<Operator,
               std::void_t<decltype(std::declval<const Operator&>().rows())>>
    : std::true_type {};
template <class Operator, class = void>
struct HasColumns : std::false_type {};
template <class Operator>
struct HasColumns<
    Operator, std::void_t<decltype(std::declval<const Operator&>().columns())>>
    : std::true_type {};

/// Sizes of an operator that tells them.
/// @throws NotSquareError, SizeMismatchError
template <class Operator>
void check_cg_operator(const char* name, const Operator& A, std::int64_t rows) {
  if constexpr (HasRows<Operator>::value && HasColumns<Operator>::value) {
    if (A.rows() != A.columns())
      throw NotSquareError(name,
                           std::to_string(A.rows()) + " rows but " +
                               std::to_string(A.columns()) + " columns",
                           "pass a square matrix");
  }
  if constexpr (HasRows<Operator>::value) {
    if (A.rows() != rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(A.rows()) +
                                  " rows, the solver " + std::to_string(rows),
                              "make a solver of the system's size");
  }
  (void)name;
  (void)A;
  (void)rows;
}

}  // namespace Detail
}  // namespace Strata

#endif
