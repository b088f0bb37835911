// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ILUT_PATTERN_HPP
#define STRATA_ILUT_PATTERN_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/NewMatrix.hpp>

namespace Strata {

/// Of ilut_pattern().
struct IlutOptions {
  /// A fill entry is dropped if its modulus, before a division by the pivot, is
  /// less than this times the 2-norm of the row of A. 0 or more.
  double drop_tolerance = 1e-4;
  /// Of the others a row keeps the largest, as many left of its diagonal, and
  /// as many right of it. 0 or more.
  int fill_per_row = 10;
  /// See IncompleteFactorizationOptions.
  double small_pivot_threshold = 0;
};

namespace Detail {

/// For expect_compiled.
struct IlutPatternTag;

/// In kernels/factorization/IlutPatternImplementation.hpp.
template <class Scalar, class ExecutionSpace>
struct IlutPattern {
  static void make(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                   const IlutOptions& options, NewMatrix<Scalar>& made);
};

}  // namespace Detail

/// Threshold ILU, ILUT(tau, p) (Saad 1994; Iterative Methods for Sparse Linear
/// Systems, Algorithm 10.6), of a square matrix with sorted rows and a stored
/// diagonal. Returns L + U in one matrix: left of the diagonal the entries of
/// L, from it on those of U.
///
/// Entries of A are never dropped, unlike Saad's, so that the graph of the
/// result is a pattern for IncompleteFactorization, which factorises A's and
/// other values on it on the device.
///
/// One thread of the host eliminates the rows in their order, whatever the
/// execution space: which entries a row has depends on the values of all rows
/// that it is reduced by, so that no levels are known in advance. Cost: for
/// each entry of L, those above `fill_per_row` included, a pass over a row of
/// U, and a heap of columns. Memory on the host: A with columns of 64 bits, the
/// result, and 9 bytes and a value per row. Waits for `exec`.
/// Raises OptionError, NotSquareError, SizeMismatchError, RowMapError,
/// ColumnRangeError, UnsortedRowError, DuplicateEntryError,
/// MissingDiagonalError, FactorizationError for a pivot that becomes zero or a
/// value that is not finite, IndexOverflowError for more than 2^31 - 2 rows or
/// more entries than the offset type counts, and MemoryError.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> ilut_pattern(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    const IlutOptions& options = {}) {
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  if constexpr (!Detail::ExpectScalar<Scalar>::value) {
    return {};
  } else {
    Detail::expect_compiled<Detail::IlutPatternTag, Scalar,
                            typename CrsMatrix::execution_space>();
    Detail::NewCrsMatrix<CrsMatrix> made;
    Detail::IlutPattern<Scalar, typename CrsMatrix::execution_space>::make(
        exec, Detail::crs_arrays(A), options, made);
    return made.matrix("Strata::IlutPattern");
  }
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/IlutPatternImplementation.hpp>
#endif

#endif
