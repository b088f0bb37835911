// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PRECONDITIONER_HPP
#define STRATA_PRECONDITIONER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/scalar/RealPart.hpp>

namespace Strata {

/// M = I.
struct NoPreconditioner {};

/// M = the diagonal of A.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class JacobiPreconditioner {
 public:
  using memory_space = typename ExecutionSpace::memory_space;

  /// For no rows, until update_values() or an assignment gives it some.
  JacobiPreconditioner() = default;
  // To move is to copy: a view that was moved from would name freed memory.
  JacobiPreconditioner(const JacobiPreconditioner&) = default;
  JacobiPreconditioner& operator=(const JacobiPreconditioner&) = default;
  ~JacobiPreconditioner() = default;

  /// From a square KokkosSparse::CrsMatrix; entries named twice add up.
  /// @throws NotSquareError, RowMapError, ColumnRangeError,
  ///   MissingDiagonalError, MemoryError, and IndefiniteError where the
  ///   diagonal is not real and positive, or its reciprocal not finite
  /// Cost: one pass over the matrix. Waits for `exec`.
  template <class Matrix>
  JacobiPreconditioner(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A);
  }
  /// The same again for other values (or another matrix): an exception leaves
  /// the old ones.
  template <class Matrix>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      Detail::expect_compiled<JacobiPreconditioner, Scalar, ExecutionSpace>();
      take_diagonal(exec, Detail::crs_arrays(A));
    }
  }

  std::int64_t rows() const {
    return static_cast<std::int64_t>(inverse_diagonal_.extent(0));
  }
  const Kokkos::View<Detail::RealOf<Scalar>*, memory_space>& inverse_diagonal()
      const {
    return inverse_diagonal_;
  }

 private:
  // In JacobiPreconditionerImplementation.hpp.
  void take_diagonal(const ExecutionSpace& exec,
                     const Detail::CrsArrays<Scalar>& A);

  Kokkos::View<Detail::RealOf<Scalar>*, memory_space> inverse_diagonal_;
};

template <class ExecutionSpace, class Matrix>
JacobiPreconditioner(const ExecutionSpace&, const Matrix&)
    -> JacobiPreconditioner<typename Detail::ScalarOf<Matrix>::type,
                            ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/preconditioner/JacobiPreconditionerImplementation.hpp>
#endif

#endif
