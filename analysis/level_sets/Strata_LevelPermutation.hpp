// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_LEVEL_PERMUTATION_HPP
#define STRATA_LEVEL_PERMUTATION_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/SortRows.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/MemoryErrors.hpp>

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

/// Both edges of a graph of lower triangles and one of transposed upper ones,
/// ascending; an edge of both is there twice, which levels do not mind.
template <class MemorySpace>
struct UniteGraphs {
  DependencyGraph<MemorySpace> a, b, both;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    std::int64_t i = a.row_map(v), j = b.row_map(v), k = i + j;
    const std::int64_t i_end = a.row_map(v + 1), j_end = b.row_map(v + 1);
    both.row_map(v) = k;
    if (v + 1 == both.num_vertices) both.row_map(v + 1) = i_end + j_end;
    while (i < i_end || j < j_end) {
      const bool from_a =
          j >= j_end || (i < i_end && a.entries(i) <= b.entries(j));
      both.entries(k++) = from_a ? a.entries(i++) : b.entries(j++);
    }
  }
};

/// Rows of an upper triangle are ordered by the end of the solve, first level
/// last.
template <class MemorySpace>
struct RowsOfOrder {
  Kokkos::View<const int*, MemorySpace> vertex;
  bool reversed;
  Kokkos::View<int*, MemorySpace> old_row, new_row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t n = static_cast<std::int64_t>(vertex.extent(0));
    const std::int64_t row = reversed ? n - 1 - vertex(p) : vertex(p);
    const std::int64_t at = reversed ? n - 1 - p : p;
    old_row(at) = static_cast<int>(row);
    new_row(row) = static_cast<int>(at);
  }
};

/// Finds the first new row that is no old one, or whose old row does not lead
/// back to it.
template <class MemorySpace>
struct PermutationCheck {
  Kokkos::View<const int*, MemorySpace> old_row, new_row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const std::int64_t old = old_row(row);
    const bool in_range =
        old >= 0 && old < static_cast<std::int64_t>(new_row.extent(0));
    if (!(in_range && new_row(old) == row) && row < first) first = row;
  }
};

template <class CrsMatrix>
struct PermutedRowLength {
  typename CrsMatrix::row_map_type row_map;
  Kokkos::View<const int*, typename CrsMatrix::memory_space> old_row;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    const int from = old_row(row);
    return static_cast<std::int64_t>(row_map(from + 1)) -
           static_cast<std::int64_t>(row_map(from));
  }
};

template <class CrsMatrix>
struct PermuteRows {
  using Types = MatrixTypes<CrsMatrix>;
  CrsMatrix from;
  Permutation<typename CrsMatrix::memory_space> permutation;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const int old = permutation.old_row(row);
    const std::int64_t begin = from.graph.row_map(old);
    const std::int64_t count = from.graph.row_map(old + 1) - begin;
    for (std::int64_t e = lane; e < count; e += lanes) {
      const std::int64_t at = row_map(row) + e;
      entries(at) = static_cast<typename Types::Ordinal>(
          permutation.new_row(from.graph.entries(begin + e)));
      values(at) = from.values(begin + e);
    }
  }
};

/// See level_permutation.
template <class CrsMatrix>
Permutation<typename CrsMatrix::memory_space> find_level_permutation(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    LevelPattern pattern) {
  using ExecutionSpace = typename CrsMatrix::execution_space;
  using Memory = typename CrsMatrix::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  Detail::require_enumerator("pattern", pattern);
  const auto graph_of = [&](Uplo uplo, Op op) {
    TriangleInput input;
    input.uplo = uplo;
    input.diag = Diag::unit;
    input.op = op;
    input.take_triangle = true;
    return triangle_graph(exec, A.graph.row_map, A.graph.entries, A.values,
                          static_cast<std::int64_t>(A.numCols()), input);
  };
  DependencyGraph<Memory> graph = graph_of(
      pattern == LevelPattern::upper ? Uplo::upper : Uplo::lower, Op::none);
  const std::int64_t n = graph.num_vertices;
  if (pattern == LevelPattern::symmetric && n > 0) {
    const auto other = graph_of(Uplo::upper, Op::transpose);
    DependencyGraph<Memory> both;
    both.num_vertices = graph.num_vertices;
    both.row_map = Detail::make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
        "Strata::LevelPermutation::row_map", n + 1);
    both.entries = Detail::make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::LevelPermutation::entries",
        graph.num_edges() + other.num_edges());
    Kokkos::parallel_for("Strata::LevelPermutation::unite", Range(exec, 0, n),
                         Detail::UniteGraphs<Memory>{graph, other, both});
    exec.fence();
    graph = both;
  }
  const auto order = order_by_level(exec, graph, WithinLevel::ascending);
  Permutation<Memory> permutation;
  permutation.num_levels = order.num_levels();
  permutation.old_row = Detail::make_unfilled<Kokkos::View<int*, Memory>>(
      "Strata::Permutation::old_row", n);
  permutation.new_row = Detail::make_unfilled<Kokkos::View<int*, Memory>>(
      "Strata::Permutation::new_row", n);
  if (n == 0) return permutation;
  Kokkos::parallel_for(
      "Strata::LevelPermutation::rows", Range(exec, 0, n),
      Detail::RowsOfOrder<Memory>{order.vertex, graph.reversed,
                                  permutation.old_row, permutation.new_row});
  exec.fence();
  return permutation;
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
  return Detail::with_memory_errors("an order of rows by level sets", [&] {
    return Detail::find_level_permutation<CrsMatrix>(exec, A, pattern);
  });
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
  const auto check_size = [&](const char* name, std::size_t size) {
    if (static_cast<std::int64_t>(size) != rows)
      throw SizeMismatchError(name,
                              "is of " + std::to_string(size) +
                                  " rows, the matrix has " +
                                  std::to_string(rows),
                              "pass a permutation of the matrix's rows");
  };
  check_size("permutation.old_row", permutation.old_row.extent(0));
  check_size("permutation.new_row", permutation.new_row.extent(0));
  if (rows == 0) return;
  std::int64_t first = rows;
  Kokkos::parallel_reduce(
      "Strata::check_permutation",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, rows),
      Detail::PermutationCheck<MemorySpace>{permutation.old_row,
                                            permutation.new_row},
      Kokkos::Min<std::int64_t>(first));
  exec.fence();
  if (first >= rows) return;
  const std::int64_t old = Detail::fetch_element(permutation.old_row, first);
  const std::string named =
      "new row " + std::to_string(first) + " is old row " + std::to_string(old);
  if (old < 0 || old >= rows)
    throw PermutationError(
        "permutation.old_row",
        named + ", outside [0, " + std::to_string(rows) + ")",
        "name each row once", first, std::to_string(old));
  const std::int64_t back = Detail::fetch_element(permutation.new_row, old);
  throw PermutationError(
      "permutation.new_row",
      named + ", which new_row makes row " + std::to_string(back),
      "name each row once, and make both orders each other's inverse", first,
      std::to_string(back));
}

namespace Detail {

/// See permute_symmetric.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> permute_rows_and_columns(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    const Permutation<typename CrsMatrix::memory_space>& permutation) {
  using Types = Detail::MatrixTypes<CrsMatrix>;
  const auto rows = static_cast<std::int64_t>(A.numRows());
  Detail::check_square_matrix(exec, A);
  check_permutation(exec, permutation, rows);
  const auto row_map = Detail::make_unfilled<typename Types::RowMap>(
      "Strata::Permuted::row_map", rows + 1);
  const std::int64_t stored =
      Detail::scan_row_lengths("Strata::PermuteSymmetric::count", exec, rows,
                               Detail::PermutedRowLength<CrsMatrix>{
                                   A.graph.row_map, permutation.old_row},
                               row_map);
  const auto entries = Detail::make_unfilled<typename Types::Entries>(
      "Strata::Permuted::entries", stored);
  const auto values = Detail::make_unfilled<typename Types::Values>(
      "Strata::Permuted::values", stored);
  if (stored > 0) {
    Detail::for_each_row("Strata::PermuteSymmetric::rows", exec, rows, stored,
                         Detail::PermuteRows<CrsMatrix>{A, permutation, row_map,
                                                        entries, values});
    Detail::sort_crs_rows(exec, row_map, entries, values);
  }
  exec.fence();
  return typename Types::Matrix("Strata::permuted", A.numRows(), A.numCols(),
                                stored, values, row_map, entries);
}

}  // namespace Detail

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
  return Detail::with_memory_errors("a permuted matrix", [&] {
    return Detail::permute_rows_and_columns<CrsMatrix>(exec, A, permutation);
  });
}

}  // namespace Strata

#endif
