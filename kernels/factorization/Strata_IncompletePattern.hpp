// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_INCOMPLETE_PATTERN_HPP
#define STRATA_INCOMPLETE_PATTERN_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <kernels/factorization/symbolic/FillLimit.hpp>

namespace Strata {
namespace Detail {

/// For expect_compiled.
struct PatternOfFactors;

/// The pattern phase of ILU(k) for matrices of any index types. See
/// incomplete_pattern; in
/// kernels/factorization/IncompletePatternImplementation.hpp.
template <class Scalar, class ExecutionSpace>
struct IncompletePattern {
  /// Checks A, makes the matrix in `made` and waits for `exec`.
  /// @param scratch_slots  slots of the tables in scratch, a power of two; 0:
  /// as
  ///   many as are usual. The same pattern comes out with any
  static void make(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                   int level, NewMatrix<Scalar>& made,
                   const FillLimit& limit = {}, int scratch_slots = 0);
};

}  // namespace Detail

/// The matrix A with the fill entries of ILU(level) stored as zeros, so that
/// incomplete_lu() of it is the factorisation ILU(level) of A. A is square,
/// has sorted rows and stores its diagonal, which may be zero.
///
/// Entry (i, j) is kept where the graph of A has a path from i to j of at most
/// level + 1 edges whose interior vertices are all smaller than min(i, j). The
/// shortest such path has one edge more than the level of fill, lev(i, j), that
/// elimination gives the entry by the rule of sums, lev(i, j) = min over k <
/// min(i, j) of lev(i, k) + lev(k, j) + 1, where A's entries have level 0
/// (Rose and Tarjan 1978; Hysom and Pothen 2002). Level 0 is a copy of A; level
/// n - 1 and all above it have the fill of a complete elimination without
/// pivoting. A's values keep their bits.
///
/// Rows are independent of each other: each is searched by itself, once to
/// count its entries and once to store them (see FillSearch). Cost: for each
/// row, the entries of all rows that up to `level` edges over vertices smaller
/// than it lead to, at most `level` times each; on a GPU a warp searches a row.
/// Besides the new matrix it takes 8 bytes a row, 4 more for each time that a
/// row's search does not fit a table, and where searches do not fit scratch,
/// tables in memory: up to 128 MiB, or 16 bytes a row if that is more.
///
/// Waits for `exec` and returns when the matrix is complete. A is not changed;
/// it may be const-valued or unmanaged, and the matrix has memory of its own.
/// @param level  of fill, from 0 on
/// Raises OptionError for a negative level, NotSquareError, SizeMismatchError,
/// RowMapError, ColumnRangeError, UnsortedRowError, DuplicateEntryError,
/// MissingDiagonalError, IndexOverflowError for more than 2^31 - 2 rows or more
/// entries than the offset type counts, and MemoryError. The last two come as
/// soon as as many entries have been counted, and before any is stored: more
/// than the offset type counts, or than the execution space has memory for.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> incomplete_pattern(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    int level) {
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  if constexpr (!Detail::ExpectScalar<Scalar>::value) {
    return {};
  } else {
    Detail::expect_compiled<Detail::PatternOfFactors, Scalar,
                            typename CrsMatrix::execution_space>();
    Detail::NewCrsMatrix<CrsMatrix> made;
    Detail::IncompletePattern<Scalar, typename CrsMatrix::execution_space>::
        make(exec, Detail::crs_arrays(A), level, made);
    return made.matrix("Strata::IncompletePattern");
  }
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/IncompletePatternImplementation.hpp>
#endif

#endif
