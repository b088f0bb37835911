// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_OPERATOR_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_OPERATOR_HPP

#include <Strata_Error.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <core/scalar/RealPart.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace Strata {

template <class Scalar, class ExecutionSpace>
class IncompleteFactorization;

namespace Detail {

template <class Scalar, class ExecutionSpace>
class TwoColourBlocks;

// What a caller's operators are to a solve, so that its kernels are compiled
// for none of their types: those that the library knows are pointed to, and the
// others have a function that calls their apply().

template <class Scalar, class ExecutionSpace>
using KrylovVector =
    Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>;
template <class Scalar, class ExecutionSpace>
using KrylovApply =
    std::function<void(const ExecutionSpace& exec,
                       const KrylovVector<Scalar, ExecutionSpace>& from,
                       const KrylovVector<Scalar, ExecutionSpace>& to)>;

/// Calls apply() of an operator, which has to live as long.
template <class Operator>
auto krylov_apply(const Operator& op) {
  return [&op](const auto& exec, const auto& from, const auto& to) {
    op.apply(exec, from, to);
  };
}

template <class Scalar, class ExecutionSpace>
struct KrylovOperator {
  KrylovApply<Scalar, ExecutionSpace> apply;
  /// A matrix that adds up p^H A p on the way, or null.
  const SellMatrix<Scalar, ExecutionSpace>* sell = nullptr;
};

template <class Scalar, class ExecutionSpace, class Operator>
KrylovOperator<Scalar, ExecutionSpace> krylov_operator(const Operator& A) {
  KrylovOperator<Scalar, ExecutionSpace> made;
  made.apply = krylov_apply(A);
  if constexpr (std::is_same<Operator,
                             SellMatrix<Scalar, ExecutionSpace>>::value) {
    made.sell = &A;
  }
  return made;
}

template <class Scalar, class ExecutionSpace>
struct KrylovPreconditioner {
  /// None where the preconditioner is diagonal.
  KrylovApply<Scalar, ExecutionSpace> apply;
  /// One that the vector kernels apply themselves: none at all, or the diagonal
  /// whose reciprocal this is.
  bool diagonal = false;
  const RealOf<Scalar>* inverse_diagonal = nullptr;
  /// Those of one whose system can be reduced to one colour, or null.
  const TwoColourBlocks<Scalar, ExecutionSpace>* reduced = nullptr;
};

template <class Preconditioner>
struct IsJacobi : std::false_type {};
template <class Scalar, class ExecutionSpace>
struct IsJacobi<JacobiPreconditioner<Scalar, ExecutionSpace>> : std::true_type {
};

template <class Scalar, class ExecutionSpace, class Preconditioner>
KrylovPreconditioner<Scalar, ExecutionSpace> krylov_preconditioner(
    const Preconditioner& M) {
  KrylovPreconditioner<Scalar, ExecutionSpace> made;
  if constexpr (std::is_same<Preconditioner, NoPreconditioner>::value) {
    made.diagonal = true;
    (void)M;
  } else if constexpr (IsJacobi<Preconditioner>::value) {
    made.diagonal = true;
    made.inverse_diagonal = M.inverse_diagonal().data();
  } else {
    made.apply = krylov_apply(M);
    if constexpr (std::is_same<
                      Preconditioner,
                      IncompleteFactorization<Scalar, ExecutionSpace>>::value) {
      made.reduced = Internals::reduced(M);
    }
  }
  return made;
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
void check_krylov_operator(const char* name, const Operator& A,
                           std::int64_t rows) {
  if constexpr (HasRows<Operator>::value && HasColumns<Operator>::value) {
    require_square(name, A.rows(), A.columns());
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
