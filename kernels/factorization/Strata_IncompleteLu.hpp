// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_INCOMPLETE_LU_HPP
#define STRATA_INCOMPLETE_LU_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/NewMatrix.hpp>

namespace Strata {

/// Factors of a zero-fill incomplete factorisation: (L U)_ij = a_ij wherever A
/// stores an entry. L has the ones of its diagonal stored, as the last entry of
/// each row; U has its diagonal as the first. Rows are sorted.
template <class CrsMatrix>
struct IncompleteLu {
  CrsMatrix L, U;
};

namespace Detail {

/// For ExpectCompiled.
struct IncompleteFactorization;

/// See incomplete_lu. In kernels/factorization/IncompleteLuImplementation.hpp.
template <class Scalar, class ExecutionSpace>
void factor_incompletely(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                         std::int64_t work_bytes, NewMatrix<Scalar>& L,
                         NewMatrix<Scalar>& U);

}  // namespace Detail

/// Zero-fill incomplete LU of a square matrix with sorted rows and a complete,
/// non-zero diagonal, through Kokkos Kernels' spiluk_numeric.
///
/// spiluk_symbolic is not called: with no fill, L and U have the pattern of A,
/// and it would have the numeric phase hold (rows of the largest level set) x
/// (rows) integers, 30 GB for a 7-point grid of 100^3 points. Instead the
/// levels are cut into steps for which that array stays within `work_bytes` (0:
/// 1 GiB on a host, 4 GiB on a device), or a row a thread, or one row, if those
/// exceed it. Each step is a kernel.
///
/// Waits for `exec`, works on the default instance of its space, and returns
/// when both factors are complete. A is not changed; it may be const-valued or
/// unmanaged, and the factors have memory of their own.
/// Raises NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError,
/// UnsortedRowError, DuplicateEntryError, MissingDiagonalError,
/// ZeroDiagonalError, IndexOverflowError where the ordinal type can't number
/// the entries of a factor, FactorizationError for a pivot that becomes zero or
/// a value that is not finite, and MemoryError.
template <class CrsMatrix>
IncompleteLu<OwningCrsMatrix<CrsMatrix>> incomplete_lu(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    std::int64_t work_bytes = 0) {
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  if constexpr (!Detail::ExpectScalar<Scalar>::value) {
    return {};
  } else {
    using Expect =
        Detail::ExpectCompiled<Detail::IncompleteFactorization, Scalar,
                               typename CrsMatrix::execution_space>;
    static_assert(Expect::value, "");
    Detail::NewCrsMatrix<CrsMatrix> L, U;
    Detail::factor_incompletely(exec, Detail::crs_arrays(A), work_bytes, L, U);
    return {L.matrix("Strata::IncompleteLu::L"),
            U.matrix("Strata::IncompleteLu::U")};
  }
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/IncompleteLuImplementation.hpp>
#endif

#endif
