// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_GALLERY_GALLERY_EDGES_HPP
#define STRATA_CORE_GALLERY_GALLERY_EDGES_HPP

#include <core/gallery/GalleryBuild.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

template <class Edges, class Lengths>
struct CountEdges {
  Edges edges;
  Lengths lengths;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t generator) const {
    edges(generator, [&](std::int64_t i, std::int64_t j) {
      Kokkos::atomic_fetch_add(&lengths(i), 1);
      Kokkos::atomic_fetch_add(&lengths(j), 1);
    });
  }
};

template <class Lengths>
struct LengthWithDiagonal {
  Lengths lengths;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return lengths(row) + 1;
  }
};

/// Puts both ends of every edge into its row, behind the diagonal. The counts
/// run down to serve as positions; the order within a row is left to chance
/// and the sort that follows.
template <class Types, class Edges, class Lengths>
struct ScatterEdges {
  Edges edges;
  Lengths lengths;
  typename Types::RowMap row_map;
  typename Types::Entries entries;

  KOKKOS_INLINE_FUNCTION void put(std::int64_t row, std::int64_t column) const {
    const int place = Kokkos::atomic_fetch_add(&lengths(row), -1);
    entries(row_map(row) + place) =
        static_cast<typename Types::Ordinal>(column);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t generator) const {
    edges(generator, [&](std::int64_t i, std::int64_t j) {
      put(i, j);
      put(j, i);
    });
  }
};

template <class Types>
struct PlaceDiagonals {
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    entries(row_map(row)) = static_cast<typename Types::Ordinal>(row);
  }
};

template <class Types>
struct DistinctInRow {
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    std::int64_t distinct = 0;
    for (auto k = row_map(row); k < row_map(row + 1); ++k)
      distinct += k == row_map(row) || entries(k) != entries(k - 1);
    return distinct;
  }
};

template <class Types>
struct CopyDistinct {
  typename Types::RowMap from_map, to_map;
  typename Types::Entries from, to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    auto place = to_map(row);
    for (auto k = from_map(row); k < from_map(row + 1); ++k)
      if (k == from_map(row) || from(k) != from(k - 1)) to(place++) = from(k);
  }
};

template <class Types>
struct FillValues {
  GalleryValues value;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto length =
        static_cast<std::int64_t>(row_map(row + 1) - row_map(row));
    for (auto k = row_map(row); k < row_map(row + 1); ++k)
      values(k) = value.operator()<typename Types::Scalar>(
          row, static_cast<std::int64_t>(entries(k)), length);
  }
};

/// Structurally symmetric matrix of an edge set: ends counted, scattered with
/// atomics, rows sorted, repeated edges merged, values filled. The result does
/// not depend on the order in which threads run. Besides the result, needs two
/// integers a row, and the entries once more while repeated edges are merged.
template <class CrsMatrix, class Edges>
CrsMatrix build_from_edges(const typename CrsMatrix::execution_space& exec,
                           const std::string& spec, std::int64_t rows,
                           const Edges& edges, const GalleryValues& value) {
  using Types = MatrixTypes<CrsMatrix>;
  using Rows = typename Types::Rows;
  using RowMap = typename Types::RowMap;
  using Entries = typename Types::Entries;
  using Lengths = Kokkos::View<int*, typename Types::MemorySpace>;

  Lengths lengths("Strata::Gallery::lengths", rows);
  auto row_map = make_unfilled<RowMap>("Strata::Gallery::row_map", rows + 1);
  Kokkos::parallel_for("Strata::Gallery::count::edges",
                       Rows(exec, 0, edges.generators()),
                       CountEdges<Edges, Lengths>{edges, lengths});
  std::int64_t stored =
      scan_row_lengths("Strata::Gallery::scan::edges", exec, rows,
                       LengthWithDiagonal<Lengths>{lengths}, row_map);
  require_index_types_hold<typename Types::Ordinal, typename Types::Offset>(
      spec, static_cast<double>(rows), static_cast<double>(stored));

  auto entries = make_unfilled<Entries>("Strata::Gallery::entries", stored);
  Kokkos::parallel_for("Strata::Gallery::fill::diagonals", Rows(exec, 0, rows),
                       PlaceDiagonals<Types>{row_map, entries});
  Kokkos::parallel_for(
      "Strata::Gallery::fill::edges", Rows(exec, 0, edges.generators()),
      ScatterEdges<Types, Edges, Lengths>{edges, lengths, row_map, entries});
  sort_crs_entries(exec, row_map, entries);

  auto merged_map = make_unfilled<RowMap>("Strata::Gallery::row_map", rows + 1);
  const std::int64_t distinct =
      scan_row_lengths("Strata::Gallery::count::distinct", exec, rows,
                       DistinctInRow<Types>{row_map, entries}, merged_map);
  if (distinct != stored) {
    auto merged = make_unfilled<Entries>("Strata::Gallery::entries", distinct);
    Kokkos::parallel_for(
        "Strata::Gallery::fill::distinct", Rows(exec, 0, rows),
        CopyDistinct<Types>{row_map, merged_map, entries, merged});
    exec.fence();
    entries = merged;
    row_map = merged_map;
    stored = distinct;
  }
  auto values =
      make_unfilled<typename Types::Values>("Strata::Gallery::values", stored);
  Kokkos::parallel_for("Strata::Gallery::fill::values", Rows(exec, 0, rows),
                       FillValues<Types>{value, row_map, entries, values});
  exec.fence();
  return CrsMatrix("Strata::gallery", rows, rows, stored, values, row_map,
                   entries);
}

}  // namespace Detail
}  // namespace Strata

#endif
