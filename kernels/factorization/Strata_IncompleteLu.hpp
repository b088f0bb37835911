// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_INCOMPLETE_LU_HPP
#define STRATA_INCOMPLETE_LU_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <cstdint>
#include <limits>
#include <memory>

namespace Strata {

/// Factors of a zero-fill incomplete factorisation: (L U)_ij = a_ij wherever A
/// stores an entry. L has the ones of its diagonal stored, as the last entry of
/// each row; U has its diagonal as the first. Rows are sorted.
template <class CrsMatrix>
struct IncompleteLu {
  CrsMatrix L, U;
};

namespace Detail {

/// Which pivots an elimination replaces: see
/// IncompleteFactorizationOptions::small_pivot_threshold.
struct PivotReplacement {
  double threshold = 0;      // 0: none
  bool positive = false;     // pivots have to be real and positive
  bool real = false;         // what replaces a pivot has to be real
  bool takes_zeros = false;  // on the diagonal of A, with any threshold
};
/// What came of it.
struct ReplacedPivots {
  std::int64_t count = 0;
  double largest_change = 0;
};

/// For expect_compiled.
struct IncompleteFactorsTag;

template <class ExecutionSpace>
struct GraphWithLevels;

/// Incomplete factors of matrices that have one pattern: analysed once,
/// computed for the values of each. See incomplete_lu; in
/// kernels/factorization/IncompleteLuImplementation.hpp.
template <class Scalar, class ExecutionSpace>
class IncompleteFactors {
 public:
  /// Makes the patterns of both factors in `L` and `U`, whose arrays have to
  /// live as long as this is used. Checks A; waits for `exec`.
  /// @param graph_of_l  not null: gets the graph of L, where one was made,
  ///   which an analysis of L can begin with
  /// @param most_bytes  that an elimination by fronts may take
  /// @throws what incomplete_lu() does of A's pattern and of memory
  IncompleteFactors(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                    NewMatrix<Scalar>& L, NewMatrix<Scalar>& U,
                    const PivotReplacement& replacement = {},
                    GraphWithLevels<ExecutionSpace>* graph_of_l = nullptr,
                    std::size_t most_bytes =
                        std::numeric_limits<std::size_t>::max());

  /// Fills in the values of both factors and waits for `exec`.
  /// @param A  has passed check_factor_input and has the pattern that the
  ///           constructor has seen
  /// @param lower, upper  where values are stored; null: where L and U are
  /// @throws FactorizationError, and then the factors are of no use
  void compute(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
               Scalar* lower = nullptr, Scalar* upper = nullptr) const;

  /// Holds from now on what enqueue() needs.
  /// @param pattern  of A, whose arrays have to live as long as this is used
  /// @throws MemoryError
  void prepare_enqueue(const ExecutionSpace& exec,
                       const CrsArrays<Scalar>& pattern) const;
  /// compute() without a wait, an allocation or an exception.
  /// @param A  the pattern that prepare_enqueue was given, with values
  /// @returns where the first fault is noted in device memory, as
  ///   raise_factor_fault takes it; null where there is no row
  const std::int64_t* enqueue(const ExecutionSpace& exec,
                              const CrsArrays<Scalar>& A, Scalar* lower,
                              Scalar* upper) const;
  /// By the last compute(). Waits for `exec`.
  ReplacedPivots replaced_pivots(const ExecutionSpace& exec) const;

  /// What is kept for compute(), but for both factors.
  std::size_t bytes() const;

 private:
  struct Analysis;
  std::shared_ptr<Analysis> analysis_;
};

}  // namespace Detail

/// Zero-fill incomplete LU of a square matrix with sorted rows and a complete,
/// non-zero diagonal: row i less l_ik times row k of U for each entry k of its
/// lower part, columns ascending, where both store an entry (Saad, Iterative
/// Methods for Sparse Linear Systems, Algorithm 10.4). The same bits each time;
/// |(L U - A)_ij| <= 10 m eps (|L| |U|)_ij on the pattern, m the entries of the
/// longest row.
///
/// One launch eliminates all rows. On a GPU a plan is made first: rows in the
/// order of level sets, or in pieces of neighbours whose values a team keeps in
/// scratch, and for each pair of a row i and an entry k of its lower part a
/// recipe of the entries of row k that row i takes. Rows of more than 256
/// entries, or of more than 32 where these are few, are eliminated entry by
/// entry instead, with a list of multiplications for each; where the lists
/// would have more than 2^20 multiplications and more than four for each entry
/// of the matrix, such rows look their columns up. On a host one
/// thread eliminates the rows in the order of their numbers.
///
/// On a GPU, complete factors (no entry that elimination makes is left out) with
/// at least four multiplications for each entry of U are computed by tiles of
/// dense fronts instead (multifrontal elimination), unless fronts take more
/// than half of the memory that is free. They are planned on the host. Sums
/// then have another order, that of the elimination tree, and the bound is the
/// same.
///
/// On a GPU, any other matrix that has 2^32 entries or more, or a row of more than
/// 65,535 entries from its diagonal on, or that needs 2^34 searches or more for
/// the recipe (a band of 50 entries on a side needs 3,900 a row) is an
/// IndexOverflowError; a host factorises it.
///
/// A GPU multiplies by reciprocals of pivots: where one overflows (a pivot
/// below 1e-308 in double), the rows that need it are not finite. Cost: that of
/// finding level sets and of a sort by them; a search for each pair and each
/// entry of row i right of k, or for a long row of the shorter one of its own
/// entries and those of row k of U; then a multiplication for each match, and
/// the latency of a dependency for each level set. Memory besides the factors,
/// on a GPU: 40 bytes a row, 4 an entry of L, a value for each of U, and a byte
/// of recipe (two, where a row of U has more than 255 entries) for each search;
/// for rows that are eliminated entry by entry 4 bytes an entry, a value for
/// each of L, and 8 bytes a multiplication: MemoryError where there is no room
/// for it. While the plan is made 150 bytes a row, most of them from the memory
/// pool, 12 an entry of L, and 40 a multiplication of the lists. On a host,
/// while it eliminates, 8 bytes a row and the values of the longest row, and
/// for columns of 64 bits copies of A's and U's with 32.
///
/// Waits for `exec` and returns when both factors are complete. A is not
/// changed; it may be const-valued or unmanaged, and the factors have memory of
/// their own. Raises NotSquareError, SizeMismatchError, RowMapError,
/// ColumnRangeError, UnsortedRowError, DuplicateEntryError,
/// MissingDiagonalError, ZeroDiagonalError, IndexOverflowError for more than
/// 2^31 - 2 rows, and on a GPU for what is said above, FactorizationError for a
/// pivot that becomes zero or a value that is not finite, and MemoryError.
template <class CrsMatrix>
IncompleteLu<OwningCrsMatrix<CrsMatrix>> incomplete_lu(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A) {
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  if constexpr (!Detail::ExpectScalar<Scalar>::value) {
    return {};
  } else {
    Detail::expect_compiled<Detail::IncompleteFactorsTag, Scalar,
                            typename CrsMatrix::execution_space>();
    Detail::NewCrsMatrix<CrsMatrix> L, U;
    const auto arrays = Detail::crs_arrays(A);
    Detail::IncompleteFactors<Scalar, typename CrsMatrix::execution_space>(
        exec, arrays, L, U)
        .compute(exec, arrays);
    return {L.matrix("Strata::IncompleteLu::L"),
            U.matrix("Strata::IncompleteLu::U")};
  }
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/IncompleteLuImplementation.hpp>
#endif

#endif
