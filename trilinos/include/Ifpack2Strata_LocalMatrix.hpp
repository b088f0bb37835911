// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IFPACK2STRATA_LOCAL_MATRIX_HPP
#define IFPACK2STRATA_LOCAL_MATRIX_HPP

// The part of a distributed matrix that one rank preconditions with.

#include <Kokkos_Core.hpp>
#include <Strata_Types.hpp>
#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_RowMatrix.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace Ifpack2Strata {

/// Ifpack2's "fact: relative threshold" and "fact: absolute threshold": the
/// diagonal entry a becomes relative a - absolute sign(a). The minus, which
/// makes a diagonal weaker, is that of Ifpack2 13.2, whose guide has a plus.
struct DiagonalThresholds {
  double absolute = 0, relative = 1;

  bool change_nothing() const { return absolute == 0 && relative == 1; }
};

namespace Detail {

/// The rows of a new pattern: entry c of a source row is in column table(c), or
/// left out if that is negative.
template <class Matrix, class Table, class Offsets>
struct CountKeptEntries {
  Matrix source;
  Table table;
  Offsets row_map;

  KOKKOS_INLINE_FUNCTION void operator()(int i, std::size_t& sum,
                                         bool is_final) const {
    if (is_final) row_map(i) = sum;
    if (i == source.numRows()) return;
    for (auto k = source.graph.row_map(i); k < source.graph.row_map(i + 1); ++k)
      if (table(source.graph.entries(k)) >= 0) ++sum;
  }
};

/// Entries of that pattern, sorted by column, with their places in the source.
template <class Matrix, class Table, class Offsets, class Columns>
struct FillKeptEntries {
  Matrix source;
  Table table;
  Offsets row_map;
  Columns entries;
  Offsets places;

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    std::size_t end = row_map(i);
    for (auto k = source.graph.row_map(i); k < source.graph.row_map(i + 1);
         ++k) {
      const auto column = table(source.graph.entries(k));
      if (column < 0) continue;
      std::size_t at = end++;
      for (; at > row_map(i) && entries(at - 1) > column; --at) {
        entries(at) = entries(at - 1);
        places(at) = places(at - 1);
      }
      entries(at) = column;
      places(at) = k;
    }
  }
};

template <class Matrix, class Values, class Offsets>
struct GatherValues {
  Matrix local;  // its values are written
  Values source;
  Offsets places;
  double absolute, relative;

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    using Scalar = typename Matrix::non_const_value_type;
    for (auto k = local.graph.row_map(i); k < local.graph.row_map(i + 1); ++k) {
      Scalar value = source(places.extent(0) == 0 ? k : places(k));
      if (local.graph.entries(k) == i) {
        using Arithmetic = Kokkos::ArithTraits<Scalar>;
        const bool is_positive = Arithmetic::real(value) > 0;
        value = Scalar(relative) * value +
                Scalar(is_positive ? -absolute : absolute);
      }
      local.values(k) = value;
    }
  }
};

}  // namespace Detail

/// The square matrix of a rank's rows and the columns of the same global
/// indices, in the order of the row map; entries in columns of other ranks are
/// left out. Ifpack2::LocalFilter in the memory of the execution space.
///
/// A Tpetra::CrsMatrix whose column map is its row map, and which is to be
/// factorised as it is, is not copied. Another Tpetra::CrsMatrix is filtered on
/// the device. Any other Tpetra::RowMatrix is read by its rows on the host.
template <class RowMatrix>
class LocalMatrix {
 public:
  using Crs = Tpetra::CrsMatrix<
      typename RowMatrix::scalar_type, typename RowMatrix::local_ordinal_type,
      typename RowMatrix::global_ordinal_type, typename RowMatrix::node_type>;
  using Matrix = typename Crs::local_matrix_device_type;
  using Space = typename Matrix::execution_space;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  using Offset = typename Matrix::non_const_size_type;
  using Scalar = typename Matrix::non_const_value_type;
  using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>;

  /// Looks at the pattern of A.
  /// Cost: a look-up in a map for each column, on the host; two passes over the
  /// pattern.
  void set_pattern(const RowMatrix& A) {
    using Tpetra::Access::ReadOnly;
    *this = LocalMatrix();
    const Matrix source = read(A);
    source_entries_ = source.nnz();
    const auto& rows = *A.getRowMap();
    const auto& columns = *A.getColMap();
    Kokkos::View<Ordinal*, typename Space::memory_space> table(
        "Ifpack2Strata::table", columns.getMyGlobalIndices().extent(0));
    const auto on_host = Kokkos::create_mirror_view(table);
    bool is_identity = table.extent(0) == std::size_t(source.numRows());
    for (std::size_t c = 0; c < table.extent(0); ++c) {
      const Ordinal row = rows.getLocalElement(
          columns.getGlobalElement(static_cast<Ordinal>(c)));
      on_host(c) = row == Teuchos::OrdinalTraits<Ordinal>::invalid() ? -1 : row;
      is_identity = is_identity && on_host(c) == static_cast<Ordinal>(c);
    }
    if (is_identity && is_sorted(A)) {
      pattern_ = source;
      return;
    }
    const Offsets row_map("Ifpack2Strata::row_map", source.numRows() + 1);
    Kokkos::deep_copy(table, on_host);
    using Table = decltype(table);
    Kokkos::parallel_scan("Ifpack2Strata::count",
                          Range(0, source.numRows() + 1),
                          Detail::CountKeptEntries<Matrix, Table, Offsets>{
                              source, table, row_map});
    Offset kept = 0;
    Kokkos::deep_copy(kept, Kokkos::subview(row_map, source.numRows()));
    const Columns entries("Ifpack2Strata::entries", kept);
    places_ = Offsets("Ifpack2Strata::places", kept);
    Kokkos::parallel_for(
        "Ifpack2Strata::fill", Range(0, source.numRows()),
        Detail::FillKeptEntries<Matrix, Table, Offsets, Columns>{
            source, table, row_map, entries, places_});
    pattern_ =
        Matrix("Ifpack2Strata::A", source.numRows(), source.numRows(), kept,
               Values("Ifpack2Strata::values", kept), row_map, entries);
    has_filter_ = owns_values_ = true;
  }

  /// The local matrix with the values that A has now.
  /// @throws std::runtime_error if A has another number of entries than
  ///   set_pattern has seen
  Matrix with_values(const RowMatrix& A, const DiagonalThresholds& thresholds) {
    const Matrix source = read(A);
    if (static_cast<Offset>(source.nnz()) != source_entries_)
      throw std::runtime_error(
          "Ifpack2Strata: the matrix has " + std::to_string(source.nnz()) +
          " entries on this rank, and had " + std::to_string(source_entries_) +
          " when initialize() was called: call initialize() before compute()");
    if (!has_filter_ && thresholds.change_nothing()) return source;
    if (!owns_values_) {
      pattern_ =
          Matrix("Ifpack2Strata::A", source.numRows(), source.numRows(),
                 source.nnz(), Values("Ifpack2Strata::values", source.nnz()),
                 source.graph.row_map, source.graph.entries);
      owns_values_ = true;
    }
    Kokkos::parallel_for(
        "Ifpack2Strata::gather", Range(0, pattern_.numRows()),
        Detail::GatherValues<Matrix, decltype(source.values), Offsets>{
            pattern_, source.values, places_, thresholds.absolute,
            thresholds.relative});
    return pattern_;
  }

  /// Its values are of no meaning.
  const Matrix& pattern() const { return pattern_; }

 private:
  using Offsets = Kokkos::View<Offset*, typename Matrix::device_type>;
  using Columns = Kokkos::View<Ordinal*, typename Matrix::device_type>;
  using Values = typename Matrix::values_type::non_const_type;

  static bool is_sorted(const RowMatrix& A) {
    const auto crs = dynamic_cast<const Crs*>(&A);
    return crs != nullptr && crs->getCrsGraph()->isSorted();
  }

  /// All entries of the rank's rows, with local columns of the column map.
  static Matrix read(const RowMatrix& A) {
    if (const auto crs = dynamic_cast<const Crs*>(&A))
      return crs->getLocalMatrixDevice();
    const auto rows =
        static_cast<Ordinal>(A.getRowMap()->getMyGlobalIndices().extent(0));
    const Offsets row_map("Ifpack2Strata::row_map", rows + 1);
    const auto offsets = Kokkos::create_mirror_view(row_map);
    for (Ordinal i = 0; i < rows; ++i)
      offsets(i + 1) = offsets(i) + A.getNumEntriesInLocalRow(i);
    const Columns entries("Ifpack2Strata::entries", offsets(rows));
    const Values values("Ifpack2Strata::values", offsets(rows));
    const auto host_entries = Kokkos::create_mirror_view(entries);
    const auto host_values = Kokkos::create_mirror_view(values);
    typename RowMatrix::nonconst_local_inds_host_view_type row_entries(
        "Ifpack2Strata::row", A.getGlobalMaxNumRowEntries());
    typename RowMatrix::nonconst_values_host_view_type row_values(
        "Ifpack2Strata::row", A.getGlobalMaxNumRowEntries());
    for (Ordinal i = 0; i < rows; ++i) {
      std::size_t count = 0;
      A.getLocalRowCopy(i, row_entries, row_values, count);
      for (std::size_t k = 0; k < count; ++k) {
        host_entries(offsets(i) + k) = row_entries(k);
        host_values(offsets(i) + k) = row_values(k);
      }
    }
    Kokkos::deep_copy(row_map, offsets);
    Kokkos::deep_copy(entries, host_entries);
    Kokkos::deep_copy(values, host_values);
    return Matrix("Ifpack2Strata::A", rows, rows, offsets(rows), values,
                  row_map, entries);
  }

  Matrix pattern_;
  Offsets places_;  // in A; empty if nothing is filtered
  Offset source_entries_ = 0;
  bool has_filter_ = false;
  bool owns_values_ = false;  // they are not A's
};

namespace Detail {

/// The triangle that a pattern is, and whether it stores its diagonal.
struct TriangleShape {
  Strata::Uplo uplo;
  Strata::Diag diag;
};

template <class Matrix>
struct CountSides {
  Matrix A;
  struct Sides {
    std::int64_t below, on, above;
  };
  using value_type = Sides;

  KOKKOS_INLINE_FUNCTION void init(Sides& sides) const { sides = {0, 0, 0}; }
  KOKKOS_INLINE_FUNCTION void join(volatile Sides& sides,
                                   const volatile Sides& others) const {
    add(sides, others);
  }
  KOKKOS_INLINE_FUNCTION void join(Sides& sides, const Sides& others) const {
    add(sides, others);
  }
  KOKKOS_INLINE_FUNCTION void operator()(int i, Sides& sides) const {
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k) {
      const auto column = A.graph.entries(k);
      sides.below += column < i;
      sides.on += column == i;
      sides.above += column > i;
    }
  }

 private:
  template <class To, class From>
  KOKKOS_INLINE_FUNCTION static void add(To& sides, const From& others) {
    sides.below = sides.below + others.below;
    sides.on = sides.on + others.on;
    sides.above = sides.above + others.above;
  }
};

}  // namespace Detail

/// @throws std::invalid_argument if there are entries on both sides of the
///   diagonal, or if some rows store their diagonal entry and others do not
template <class Space, class Matrix>
Detail::TriangleShape find_shape(const Matrix& T) {
  typename Detail::CountSides<Matrix>::Sides sides;
  Kokkos::parallel_reduce(
      "Ifpack2Strata::sides",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(0, T.numRows()),
      Detail::CountSides<Matrix>{T}, sides);
  Space().fence();
  const std::string who = "Ifpack2Strata::LocalTriangularSolver: ";
  if (sides.below > 0 && sides.above > 0)
    throw std::invalid_argument(
        who + "the matrix is not triangular on this rank: " +
        std::to_string(sides.below) + " entries are below its diagonal, and " +
        std::to_string(sides.above) + " above");
  if (sides.on > 0 && sides.on < T.numRows())
    throw std::invalid_argument(
        who + std::to_string(sides.on) + " of " + std::to_string(T.numRows()) +
        " rows of this rank store their diagonal entry: store all, or none for "
        "a unit diagonal");
  return {sides.above > 0 ? Strata::Uplo::upper : Strata::Uplo::lower,
          sides.on > 0 || T.numRows() == 0 ? Strata::Diag::non_unit
                                           : Strata::Diag::unit};
}

}  // namespace Ifpack2Strata

#endif
