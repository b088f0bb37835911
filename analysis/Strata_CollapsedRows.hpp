// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLLAPSED_ROWS_HPP
#define STRATA_COLLAPSED_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <detail/Strata_OriginIndex.hpp>

namespace Strata {

/// Level sets taken several at a time: how new values become those of a stream
/// whose rows have been rewritten.
///
/// Rows of one sub-graph and of `levels` consecutive level sets, the first of
/// which is a multiple of that, are a group. Within a group x_j is replaced by
/// its own equation, so that
///
///     x_i = sum over terms j of m_j b_j - sum over sources k of c_k x_k
///
/// where terms are of the group and sources are not: what were `levels` steps
/// one after the other has become one. It is the exact inverse of the group's
/// diagonal block, applied to both sides. Rows that would grow too long stay as
/// they are, and have one term.
template <class MemorySpace>
struct CollapsedRows {
  int levels = 1;
  /// Most terms and sources of a rewritten row, to the next multiple of four.
  int max_terms = 0, max_sources = 0;
  // The graph, kept for new values; by vertex.
  Kokkos::View<int*, MemorySpace> row_map;
  /// Source vertices; the top bit marks edges within a group.
  Kokkos::View<unsigned*, MemorySpace> entries;
  Detail::OriginIndex<MemorySpace> origin;
  Kokkos::View<int*, MemorySpace> position;  // vertex -> position

  /// Sources of a vertex, ascending, and where their c_k stand in the stream,
  /// counted in four bytes.
  Kokkos::View<int*, MemorySpace> source_map;
  Kokkos::View<unsigned*, MemorySpace> place;
  /// Terms of a position, in the order of substitution: rows of the matrix.
  Kokkos::View<int*, MemorySpace> term_map;
  Kokkos::View<unsigned*, MemorySpace> term_row;

  bool exist() const { return levels > 1; }
  std::size_t bytes() const {
    return 4 * (row_map.extent(0) + entries.extent(0) + position.extent(0) +
                source_map.extent(0) + place.extent(0) + term_map.extent(0) +
                term_row.extent(0)) +
           origin.bytes();
  }
  static constexpr unsigned inner_edge = 0x80000000u;
};

}  // namespace Strata

#endif
