// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGED_SUBGRAPH_ROWS_HPP
#define STRATA_ANALYSIS_MERGING_MERGED_SUBGRAPH_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <analysis/merging/MergedRecipe.hpp>
#include <core/memory/PlanStorage.hpp>
#include <cstdint>

namespace Strata {

/// How new values become the numbers of rows that are merged within sub-graphs
/// (see MergeGroups), and where the packed sub-graphs have them: what
/// MergedRows is for the whole graph.
///
/// All arrays are by permuted row, the place of a row in the packed sub-graphs.
/// A merged row has a MergedRecipe. Its slots are of coefficients of b, in the
/// order in which their rows are eliminated, the row itself being the first,
/// then of dependencies. A row that is not merged has one coefficient, itself.
template <class MemorySpace>
struct MergedSubgraphRows {
  int levels = 1;
  /// Most coefficients of a row, and most coefficients and dependencies
  /// together.
  int max_coefficients = 0, max_slots = 0;
  /// What the following arrays are part of.
  typename Detail::PlanStorage<MemorySpace>::Block storage;
  /// A permuted row's entries as the matrix has them. Without value_indices
  /// they stand right before the row's diagonal in the user's values, or, if
  /// `reversed`, after it in the opposite order (see
  /// DependencyGraph::values_in_order).
  Kokkos::View<int*, MemorySpace> row_map;
  Detail::ValueIndex<MemorySpace> value_index;
  bool has_value_indices = true, reversed = false;
  std::int64_t num_entries = 0;
  /// Coefficients of b for a permuted row, beginning with its own row: how many
  /// permuted rows the row of each stands before it (after it, if negative) in
  /// the same sub-graph.
  Kokkos::View<int*, MemorySpace> coefficient_map;
  Kokkos::View<std::int16_t*, MemorySpace> coefficient;
  /// Words. Of a merged permuted row: the number of its dependencies; where the
  /// row's records begin (see byte_of); the recipe, four bytes a word, the
  /// first in the lowest bits. Of one with one coefficient: where its records
  /// begin, then a byte for each entry, its rank among the dependencies. A row
  /// too long for that has a word for each entry instead, its place in the
  /// packed bytes, counted in words of four.
  Kokkos::View<int*, MemorySpace> word_map;
  Kokkos::View<unsigned*, MemorySpace> word;

  /// As in PackedSubgraphs.
  int scalar_bytes = 8, record_entries = 1, row_lanes = 1;

  bool exist() const { return levels > 1; }
  /// Where entry k of a row whose entries end with `end` stands.
  /// @param diagonal  where the row's diagonal stands
  KOKKOS_INLINE_FUNCTION std::int64_t value_index_of(
      int k, int end, std::int64_t diagonal) const {
    if (has_value_indices) return value_index(k);
    return reversed ? diagonal + (end - k) : diagonal - (end - k);
  }
  KOKKOS_INLINE_FUNCTION Detail::MergedRecipe recipe_of_row(
      int permuted_row) const {
    const int coefficients =
        coefficient_map(permuted_row + 1) - coefficient_map(permuted_row);
    if (coefficients == 1) return {};
    const unsigned* const words = word.data() + word_map(permuted_row);
    const int dependencies = static_cast<int>(words[0]);
    return {reinterpret_cast<const unsigned char*>(words + 1 +
                                                   tasks_of(dependencies)),
            coefficients, dependencies};
  }
  /// Records, each on as many lanes as share a row, of so many dependencies.
  KOKKOS_FUNCTION int tasks_of(int dependencies) const {
    const int a_task = record_entries * row_lanes;
    return (dependencies + a_task - 1) / a_task;
  }
  /// Byte of the packed sub-graphs that holds the number of the dependency of
  /// that rank, the newest first. `task` has a word for each of the row's
  /// records: the place of its first lane, counted in 16 bytes, and in the four
  /// upper bits the logarithm of the stage's lanes.
  KOKKOS_FUNCTION std::size_t byte_of(const unsigned* task, int rank) const {
    const int a_task = record_entries * row_lanes;
    const unsigned word = task[rank / a_task];
    const int among = rank % a_task;
    const int byte = (record_entries - 1 - among / row_lanes) * scalar_bytes;
    return (std::size_t{word & task_place} + among % row_lanes +
            (std::size_t(byte / 16) << (word >> task_place_bits))) *
               16 +
           byte % 16;
  }
  std::size_t bytes() const {
    return 4 * (row_map.extent(0) + coefficient_map.extent(0) +
                word_map.extent(0) + word.extent(0)) +
           2 * coefficient.extent(0) + value_index.bytes();
  }
  static constexpr int task_place_bits = 28;
  static constexpr unsigned task_place = (1u << task_place_bits) - 1;
  /// Entries of a row whose ranks are bytes.
  static constexpr int max_ranks = 128;
  /// Rows of a sub-graph at most, so that 16 bits are enough for a coefficient.
  static constexpr int max_subgraph_rows = 32768;
};

}  // namespace Strata

#endif
