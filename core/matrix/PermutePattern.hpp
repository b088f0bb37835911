// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_PERMUTE_PATTERN_HPP
#define STRATA_CORE_MATRIX_PERMUTE_PATTERN_HPP

#include <core/device/SortRows.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/ValueIndex.hpp>

namespace Strata {
namespace Detail {

struct PermutedRowLength {
  IndexArray row_map;
  const int* old_row;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    const int from = old_row[row];
    return row_map(from + 1) - row_map(from);
  }
};

template <class MemorySpace>
struct PermuteRows {
  IndexArray from_row_map, from_entries;
  const int *old_row, *new_column;
  IndexOutput row_map;
  int* columns;
  ValueIndex<MemorySpace> source;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const int old = old_row[row];
    const std::int64_t begin = from_row_map(old);
    const std::int64_t count = from_row_map(old + 1) - begin;
    const std::int64_t first = row_map(row);
    for (std::int64_t e = lane; e < count; e += lanes) {
      columns[first + e] = new_column[from_entries(begin + e)];
      source.set(first + e, begin + e);
    }
  }
};

/// Makes row map and entries, sorted, of a square matrix with other orders of
/// rows and columns. A has been checked. Waits for `exec`.
/// @param old_row     by new row
/// @param new_column  by old column
/// @return where A has the value of each entry
/// Cost: two passes over the entries and a sort of the rows.
template <class Scalar, class ExecutionSpace>
ValueIndex<typename ExecutionSpace::memory_space> permute_pattern(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A, const int* old_row,
    const int* new_column, NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t rows = A.rows();
  const IndexOutput row_map =
      made.make_row_map("Strata::Permuted::row_map", rows);
  const std::int64_t stored =
      scan_row_lengths("Strata::PermutePattern::count", exec, rows,
                       PermutedRowLength{A.row_map, old_row}, row_map);
  const IndexOutput entries =
      made.make_entries("Strata::Permuted::entries", stored);
  const ValueIndex<Memory> source("Strata::Permuted::source", stored,
                                  static_cast<std::int64_t>(A.num_values));
  if (stored == 0) return source;
  // An order's numbers are ints, and so are columns while they are sorted.
  const auto offsets = indices_as<std::int64_t>(exec, row_map);
  const bool narrow = entries.bytes_of_one() == sizeof(int);
  Kokkos::View<int*, DeviceOf<ExecutionSpace>> columns(
      narrow ? static_cast<int*>(const_cast<void*>(entries.data())) : nullptr,
      narrow ? entries.extent(0) : 0);
  if (!narrow) make_unfilled(columns, "Strata::Permuted::columns", stored);
  for_each_row("Strata::PermutePattern::rows", exec, rows, stored,
               PermuteRows<Memory>{A.row_map, A.entries, old_row, new_column,
                                   row_map, columns.data(), source});
  const auto sort = [&](const auto& places) {
    using Place = typename std::decay_t<decltype(places)>::value_type;
    sort_crs_rows(exec, offsets, columns,
                  Kokkos::View<Place*, DeviceOf<ExecutionSpace>>(
                      places.data(), places.extent(0)));
  };
  if (source.wide.extent(0) > 0)
    sort(source.wide);
  else
    sort(source.narrow);
  if (!narrow) copy_indices(exec, columns, entries);
  exec.fence();
  return source;
}

}  // namespace Detail
}  // namespace Strata

#endif
