// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_PRECONDITIONER_JACOBI_PRECONDITIONER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_PRECONDITIONER_JACOBI_PRECONDITIONER_IMPLEMENTATION_HPP

// What JacobiPreconditioner does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_Preconditioner.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/input/PositiveDiagonal.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<JacobiPreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
void JacobiPreconditioner<Scalar, ExecutionSpace>::take_diagonal(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  Detail::with_memory_errors("a diagonal preconditioner", [&] {
    inverse_diagonal_ = Detail::positive_diagonal_inverse<Scalar>(exec, A);
  });
}

}  // namespace Strata

#endif
