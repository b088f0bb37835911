// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_PERMUTE_ROWS_IMPLEMENTATION_HPP
#define STRATA_KERNELS_TRIANGULAR_PERMUTE_ROWS_IMPLEMENTATION_HPP

#include <Strata_PermuteRows.hpp>
#include <analysis/level_sets/LevelPermutationImplementation.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/memory/MemoryErrors.hpp>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<PermutedVectors> : std::true_type {};

/// to(i) = from(source(i)), or to(source(i)) = from(i) where it scatters.
/// Neighbouring threads have neighbours along the shorter stride of `to`, or
/// of `from` where that is scattered to.
template <class Scalar, class MemorySpace>
struct PermuteVectors {
  Kokkos::View<const int*, MemorySpace> source;
  MultiVectorRef<const Scalar> from;
  MultiVectorRef<Scalar> to;
  std::int64_t rows, columns;
  bool scatters, by_rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = by_rows ? i / columns : i % rows;
    const std::int64_t column = by_rows ? i % columns : i / rows;
    const std::int64_t other = source(row);
    if (scatters)
      to(other, column) = from(row, column);
    else
      to(row, column) = from(other, column);
  }
};

template <class Scalar, class ExecutionSpace>
void permute_vectors(
    const char* label, const ExecutionSpace& exec,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& old_row,
    const StridedBlock& from, const StridedBlock& to, bool scatters) {
  const auto rows = static_cast<std::int64_t>(old_row.extent(0));
  const auto check_rows = [&](const char* name, std::int64_t extent) {
    if (extent != rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(extent) +
                                  " rows, the permutation " +
                                  std::to_string(rows),
                              "pass vectors of the permutation's size");
  };
  check_rows("from", from.extent[0]);
  check_rows("to", to.extent[0]);
  const std::int64_t columns = from.extent[1];
  if (to.extent[1] != columns)
    throw SizeMismatchError("to",
                            "has " + std::to_string(to.extent[1]) +
                                " columns, from has " + std::to_string(columns),
                            "give one result for every vector");
  if (rows == 0 || columns == 0) return;
  require_distinct_elements("to", to);
  const auto source = multi_vector_ref<const Scalar>(from);
  const auto target = multi_vector_ref<Scalar>(to);
  // Different columns of one array are apart although their ranges meet.
  if (share_elements(from, to))
    throw AliasError("to", "shares memory with from",
                     "pass a vector of its own");
  const std::int64_t row_stride =
      scatters ? source.row_stride : target.row_stride;
  const std::int64_t column_stride =
      scatters ? source.column_stride : target.column_stride;
  with_memory_errors("a permutation of vectors", [&] {
    for_each_index(
        label, exec, rows * columns,
        PermuteVectors<Scalar, typename ExecutionSpace::memory_space>{
            old_row, source, target, rows, columns, scatters,
            columns > 1 && column_stride < row_stride});
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
