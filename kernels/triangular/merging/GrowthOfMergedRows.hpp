// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_GROWTH_OF_MERGED_ROWS_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_GROWTH_OF_MERGED_ROWS_HPP

#include <analysis/merging/MergedRows.hpp>
#include <analysis/merging/MergedSubgraphRows.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <kernels/triangular/merging/MergedGrowth.hpp>

namespace Strata {
namespace Detail {

/// Where CheckGrowth finds merged rows of the whole graph: a group is a chunk.
/// Spreads are numbered by the user's rows.
template <class Scalar, class MemorySpace>
struct GrowthOfChunkRows {
  MergedRows<MemorySpace> rows;
  Kokkos::View<const RowChunk*, MemorySpace> chunk;
  Kokkos::View<const unsigned*, MemorySpace> row_at;
  Kokkos::View<const int*, MemorySpace> dependency;
  GivenValues<Scalar> values;

  std::int64_t num_groups() const {
    return static_cast<std::int64_t>(chunk.extent(0));
  }
  struct Row : CheckedRow {
    RowChunk chunk;
    int r, user;
    typename MergedRows<MemorySpace>::Row own;
  };
  KOKKOS_INLINE_FUNCTION Row find(std::int64_t group, int thread) const {
    const RowChunk found = chunk(group);
    const int r = thread >> found.log_lanes;
    Row row{};
    row.lanes = 1 << found.log_lanes;
    if (r >= found.rows) return row;
    const int p = found.first_permuted_row + r;
    const MergedRecipe recipe = rows.recipe_of_row(p);
    if (!recipe.exists()) return row;
    row.chunk = found;
    row.r = r;
    row.user = user_row_at(row_at, p);
    row.coefficients = recipe.coefficients;
    row.slots = recipe.slots;
    row.own = rows.row(row.user);
    const bool follows = !rows.values_in_order && p + 1 < rows.num_vertices();
    row.entries =
        rows.end(row.user, follows ? user_row_at(row_at, p + 1) : -1) -
        row.own.first;
    return row;
  }
  KOKKOS_INLINE_FUNCTION Scalar value(const Row& row, int q) const {
    return values(rows(row.own.first + q));
  }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(const Row& row) const {
    return values.or_one(row.own.diagonal < 0 ? -1 : rows(row.own.diagonal));
  }
  KOKKOS_INLINE_FUNCTION int key(const Row& row) const { return row.user; }
  KOKKOS_INLINE_FUNCTION int key_of_coefficient(const Row& row,
                                                int slot) const {
    return row.chunk.coefficient_of(
        row.chunk.stored(dependency.data(),
                         row.chunk.place_of_coefficient(row.r, slot)),
        row.user);
  }
  KOKKOS_INLINE_FUNCTION int vertex(const Row& row) const {
    return rows.vertex(row.user);
  }
  KOKKOS_INLINE_FUNCTION int user_row(const Row& row) const { return row.user; }
};

/// Where CheckGrowth finds merged rows of sub-graphs: by permuted row. A group
/// has as many as `lanes` a row leave room for.
template <class Scalar, class MemorySpace>
struct GrowthOfSubgraphRows {
  MergedSubgraphRows<MemorySpace> rows;
  GivenValues<Scalar> values;
  ValueIndex<MemorySpace> diagonal_value_index;
  Kokkos::View<const unsigned*, MemorySpace> row_at;
  bool reversed;
  int num_rows, group_rows, lanes;

  std::int64_t num_groups() const {
    return (std::int64_t{num_rows} + group_rows - 1) / group_rows;
  }
  struct Row : CheckedRow {
    int permuted_row, first_coefficient, first;
  };
  KOKKOS_INLINE_FUNCTION Row find(std::int64_t group, int thread) const {
    Row row{};
    row.lanes = lanes;
    const std::int64_t number = group * group_rows + thread / lanes;
    if (number >= num_rows) return row;
    const int p = static_cast<int>(number);
    const MergedRecipe recipe = rows.recipe_of_row(p);
    if (!recipe.exists()) return row;
    row.coefficients = recipe.coefficients;
    row.slots = recipe.slots;
    row.permuted_row = p;
    row.first_coefficient = rows.coefficient_map(p);
    row.first = rows.row_map(p);
    row.entries = rows.row_map(p + 1) - row.first;
    return row;
  }
  KOKKOS_INLINE_FUNCTION Scalar value(const Row& row, int q) const {
    return values(rows.value_index_of(row.first + q, row.first + row.entries,
                                      diagonal_value_index(row.permuted_row)));
  }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(const Row& row) const {
    return values.or_one(diagonal_value_index(row.permuted_row));
  }
  KOKKOS_INLINE_FUNCTION int key(const Row& row) const {
    return row.permuted_row;
  }
  KOKKOS_INLINE_FUNCTION int key_of_coefficient(const Row& row,
                                                int slot) const {
    return row.permuted_row - rows.coefficient(row.first_coefficient + slot);
  }
  KOKKOS_INLINE_FUNCTION int vertex(const Row& row) const {
    const int user = user_row(row);
    return reversed ? num_rows - 1 - user : user;
  }
  KOKKOS_INLINE_FUNCTION int user_row(const Row& row) const {
    return user_row_at(row_at, row.permuted_row);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
