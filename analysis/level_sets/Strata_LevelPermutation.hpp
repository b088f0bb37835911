// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_LEVEL_PERMUTATION_HPP
#define STRATA_LEVEL_PERMUTATION_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Enumerators.hpp>
#include <core/matrix/NewMatrix.hpp>

namespace Strata {

/// The entries that level_permutation() takes for dependencies between rows:
/// those of one triangle, or of both as if the pattern were symmetric.
enum class LevelPattern { lower, upper, symmetric };

namespace Detail {
template <>
struct EnumeratorNames<LevelPattern> {
  static constexpr const char* list[] = {"lower", "upper", "symmetric"};
};
}  // namespace Detail

/// An order of n rows. New row i is old row old_row(i); old row i becomes row
/// new_row(i).
template <class MemorySpace>
struct Permutation {
  Kokkos::View<int*, MemorySpace> old_row, new_row;
  /// Level sets, which follow each other in the new order.
  int num_levels = 0;

  int size() const { return static_cast<int>(old_row.extent(0)); }
};

namespace Detail {

/// For expect_compiled.
struct LevelPermutations;

// In analysis/level_sets/LevelPermutationImplementation.hpp.
template <class ExecutionSpace>
Permutation<typename ExecutionSpace::memory_space> make_level_permutation(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const StoredValues& values, std::int64_t columns,
    LevelPattern pattern);
template <class ExecutionSpace>
void check_permutation_of(
    const ExecutionSpace& exec,
    const Permutation<typename ExecutionSpace::memory_space>& permutation,
    std::int64_t rows);
template <class Scalar, class ExecutionSpace>
void make_permuted_matrix(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
    const Permutation<typename ExecutionSpace::memory_space>& permutation,
    NewMatrix<Scalar>& made);

/// The same permutation, whose memory a space can access.
template <class ExecutionSpace, class MemorySpace>
Permutation<typename ExecutionSpace::memory_space> permutation_for(
    const Permutation<MemorySpace>& permutation) {
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible,
      "Strata: the permutation must be accessible from the execution space");
  using Rows = Kokkos::View<int*, typename ExecutionSpace::memory_space>;
  const auto refer = [](const auto& view) {
    return Rows(view.data(), view.extent(0));
  };
  return {refer(permutation.old_row), refer(permutation.new_row),
          permutation.num_levels};
}

}  // namespace Detail

/// Orders the rows of a square matrix by their level sets, within a level set
/// by number (Saad, *Iterative Methods for Sparse Linear Systems*, section
/// 11.6). Applied to rows and columns (permute_symmetric), it makes each level
/// set of the pattern a diagonal block without entries off the diagonal; with
/// LevelPattern::symmetric in both triangles, and in the factors of ILU(0).
///
/// @throws NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError,
///   DuplicateEntryError, IndexOverflowError, OptionError, MemoryError. Rows
///   need not be sorted and may lack their diagonal.
/// Cost: that of one or two dependency graphs and of order_by_level, on the
/// device. Waits for `exec`.
template <class CrsMatrix>
Permutation<typename CrsMatrix::memory_space> level_permutation(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    LevelPattern pattern = LevelPattern::symmetric) {
  Detail::expect_compiled<Detail::LevelPermutations, void,
                          typename CrsMatrix::execution_space>();
  return Detail::make_level_permutation(
      exec, A.graph.row_map, A.graph.entries, A.values,
      static_cast<std::int64_t>(A.numCols()), pattern);
}

/// Looks whether `permutation` is one of `rows` rows: old_row and new_row name
/// each row once and are each other's inverse.
///
/// @throws SizeMismatchError, PermutationError (with the new row at fault)
/// Cost: a pass over both orders. Waits for `exec`.
template <class ExecutionSpace, class MemorySpace>
void check_permutation(const ExecutionSpace& exec,
                       const Permutation<MemorySpace>& permutation,
                       std::int64_t rows) {
  Detail::expect_compiled<Detail::LevelPermutations, void, ExecutionSpace>();
  Detail::check_permutation_of(
      exec, Detail::permutation_for<ExecutionSpace>(permutation), rows);
}

/// P A P^T: entry (i, j) becomes (new_row(i), new_row(j)). The result has
/// memory of its own and sorted rows; returns when it is complete.
///
/// @throws NotSquareError, SizeMismatchError, PermutationError, RowMapError,
///   ColumnRangeError before anything is written, MemoryError
/// Cost: three passes over the entries and a sort of the rows, on the device.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> permute_symmetric(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    const Permutation<typename CrsMatrix::memory_space>& permutation) {
  using ExecutionSpace = typename CrsMatrix::execution_space;
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  Detail::expect_compiled<Detail::LevelPermutations, Scalar, ExecutionSpace>();
  Detail::NewCrsMatrix<CrsMatrix> made;
  Detail::make_permuted_matrix(
      exec, Detail::crs_arrays(A),
      Detail::permutation_for<ExecutionSpace>(permutation), made);
  return made.matrix("Strata::permuted");
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <analysis/level_sets/LevelPermutationImplementation.hpp>
#endif

#endif
