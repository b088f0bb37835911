// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_EDGES_HPP
#define STRATA_GALLERY_GALLERY_EDGES_HPP

#include <core/memory/AllocateView.hpp>
#include <gallery/GalleryBuild.hpp>
#include <limits>

namespace Strata {
namespace Detail {

template <class Edges, class Lengths>
struct CountEdges {
  Edges edges;
  Lengths lengths;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t generator) const {
    edges(generator, [&](std::int64_t i, std::int64_t j) {
      Kokkos::atomic_fetch_add(&lengths(i), 1ull);
      Kokkos::atomic_fetch_add(&lengths(j), 1ull);
    });
  }
};

template <class Lengths>
struct LengthWithDiagonal {
  Lengths lengths;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return static_cast<std::int64_t>(lengths(row)) + 1;
  }
};

/// Puts both ends of every edge into its row, behind the diagonal. The counts
/// run down to serve as positions; the order within a row is left to chance
/// and the sort that follows.
template <class Edges, class Lengths>
struct ScatterEdges {
  Edges edges;
  Lengths lengths;
  IndexOutput row_map, entries;

  KOKKOS_INLINE_FUNCTION void put(std::int64_t row, std::int64_t column) const {
    const auto place = Kokkos::atomic_fetch_sub(&lengths(row), 1ull);
    entries.set(row_map(row) + static_cast<std::int64_t>(place), column);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t generator) const {
    edges(generator, [&](std::int64_t i, std::int64_t j) {
      put(i, j);
      put(j, i);
    });
  }
};

struct PlaceDiagonals {
  IndexOutput row_map, entries;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    entries.set(row_map(row), row);
  }
};

struct DistinctInRow {
  IndexArray row_map, entries;
  KOKKOS_INLINE_FUNCTION bool is_first(std::int64_t k,
                                       std::int64_t begin) const {
    return k == begin || entries(k) != entries(k - 1);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    std::int64_t distinct = 0;
    const std::int64_t begin = row_map(row), end = row_map(row + 1);
    for (std::int64_t k = begin; k < end; ++k) distinct += is_first(k, begin);
    return distinct;
  }
};

/// The distinct columns of each row, and their values.
template <class Scalar>
struct FillDistinct {
  DistinctInRow from;
  GalleryValues value;
  IndexOutput row_map, entries;
  Scalar* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t place = row_map(row);
    const std::int64_t length = row_map(row + 1) - place;
    const std::int64_t begin = from.row_map(row), end = from.row_map(row + 1);
    for (std::int64_t k = begin; k < end; ++k) {
      if (!from.is_first(k, begin)) continue;
      const std::int64_t column = from.entries(k);
      entries.set(place, column);
      values[place] = value.operator()<Scalar>(row, column, length);
      ++place;
    }
  }
};

/// Structurally symmetric matrix of an edge set: ends counted, scattered with
/// atomics, rows sorted, repeated edges merged, values filled. The result does
/// not depend on the order in which threads run. Besides the result, needs
/// two integers of 64 bits a row, and the entries' columns once more.
template <class Scalar, class ExecutionSpace, class Edges>
void build_from_edges(const ExecutionSpace& exec, const std::string& spec,
                      std::int64_t rows, const Edges& edges,
                      const GalleryValues& value, NewMatrix<Scalar>& made) {
  using Rows = GalleryRows<ExecutionSpace>;
  using Memory = typename ExecutionSpace::memory_space;
  using Lengths = Kokkos::View<unsigned long long*, Memory>;
  using Long = Kokkos::View<std::int64_t*, Memory>;
  using Short = Kokkos::View<int*, Memory>;

  Lengths lengths("Strata::Gallery::lengths", rows);
  const auto ends =
      make_unfilled<Long>("Strata::Gallery::repeated_row_map", rows + 1);
  Kokkos::parallel_for("Strata::Gallery::count::edges",
                       Rows(exec, 0, edges.generators()),
                       CountEdges<Edges, Lengths>{edges, lengths});
  const std::int64_t stored =
      scan_row_lengths("Strata::Gallery::scan::edges", exec, rows,
                       LengthWithDiagonal<Lengths>{lengths}, ends);
  require_index_types_hold(spec, made, static_cast<double>(rows),
                           static_cast<double>(stored));

  const bool fits = rows <= std::numeric_limits<int>::max();
  Short narrow;
  Long wide;
  const char* const label = "Strata::Gallery::repeated_entries";
  if (fits)
    narrow = make_unfilled<Short>(label, stored);
  else
    wide = make_unfilled<Long>(label, stored);
  const IndexOutput columns = fits ? IndexOutput(narrow) : IndexOutput(wide);
  Kokkos::parallel_for("Strata::Gallery::fill::diagonals", Rows(exec, 0, rows),
                       PlaceDiagonals{ends, columns});
  Kokkos::parallel_for(
      "Strata::Gallery::fill::edges", Rows(exec, 0, edges.generators()),
      ScatterEdges<Edges, Lengths>{edges, lengths, ends, columns});
  if (fits)
    sort_crs_entries(exec, ends, narrow);
  else
    sort_crs_entries(exec, ends, wide);

  const DistinctInRow distinct{ends, columns};
  const IndexOutput row_map =
      made.make_row_map("Strata::Gallery::row_map", rows);
  const std::int64_t count = scan_row_lengths(
      "Strata::Gallery::count::distinct", exec, rows, distinct, row_map);
  const IndexOutput entries =
      made.make_entries("Strata::Gallery::entries", count);
  Scalar* const values = made.make_values("Strata::Gallery::values", count);
  Kokkos::parallel_for(
      "Strata::Gallery::fill::distinct", Rows(exec, 0, rows),
      FillDistinct<Scalar>{distinct, value, row_map, entries, values});
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
