// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_ROW_CHUNKS_HPP
#define STRATA_ANALYSIS_PACKING_ROW_CHUNKS_HPP

#include <Kokkos_Core.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/PlanStorage.hpp>
#include <vector>

namespace Strata {

/// Rows in level order, cut into chunks, with their entries in the order of
/// use. Pattern only.
template <class MemorySpace>
struct RowChunks {
  int num_rows = 0;
  std::int64_t num_slots = 0;
  /// Permuted row, in the order of use -> user's row.
  Kokkos::View<unsigned*, MemorySpace> row;
  Kokkos::View<RowChunk*, MemorySpace> chunk;
  /// Slot -> user's row of the dependency, or its permuted row (see
  /// `make_row_chunks`); -1 in padding. Where rows have coefficients, words as
  /// RowChunk says.
  Kokkos::View<int*, MemorySpace> dependency;
  /// Slot -> index of its value among the user's values; -1 in padding. None
  /// where rows are merged.
  Detail::ValueIndex<MemorySpace> value_index;
  /// Permuted row -> index of its diagonal value; -1 where the diagonal is one.
  /// None where rows are merged.
  Detail::ValueIndex<MemorySpace> diagonal_value_index;
  /// Level set -> first chunk; one more at the end.
  std::vector<int> level_chunk_map;
  /// See RowCoefficients.
  std::int64_t recipe_bytes = 0;
  /// What the arrays above are part of.
  typename Detail::PlanStorage<MemorySpace>::Block storage;

  int num_chunks() const { return static_cast<int>(chunk.extent(0)); }
  int num_levels() const {
    return static_cast<int>(level_chunk_map.size()) - 1;
  }
};

/// What a slot's `dependency` names.
enum class DependencyNumbering { row, permuted_row };

}  // namespace Strata

#endif
