// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERMUTE_ROWS_HPP
#define STRATA_PERMUTE_ROWS_HPP

#include <Strata_LevelPermutation.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/MemoryErrors.hpp>

namespace Strata {
namespace Detail {

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

/// @throws SizeMismatchError, AliasError
template <class ExecutionSpace, class MemorySpace, class From, class To>
void permute_vectors(const char* label, const ExecutionSpace& exec,
                     const Permutation<MemorySpace>& permutation,
                     const From& from, const To& to, bool scatters) {
  using Scalar = typename From::non_const_value_type;
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible,
      "Strata: the permutation must be accessible from the execution space");
  const auto rows = static_cast<std::int64_t>(permutation.size());
  const auto check_rows = [&](const char* name, std::size_t extent) {
    if (static_cast<std::int64_t>(extent) != rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(extent) +
                                  " rows, the permutation " +
                                  std::to_string(rows),
                              "pass vectors of the permutation's size");
  };
  check_rows("from", from.extent(0));
  check_rows("to", to.extent(0));
  const std::int64_t columns = num_columns(from);
  if (num_columns(to) != columns)
    throw SizeMismatchError("to",
                            "has " + std::to_string(num_columns(to)) +
                                " columns, from has " + std::to_string(columns),
                            "give one result for every vector");
  if (rows == 0 || columns == 0) return;
  require_distinct_elements("to", to);
  const auto source = multi_vector_ref(from);
  const auto target = multi_vector_ref(to);
  // Different columns of one array are apart although their ranges meet.
  if (share_elements(from, to))
    throw AliasError("to", "shares memory with from",
                     "pass a vector of its own");
  const std::int64_t row_stride =
      scatters ? source.row_stride : target.row_stride;
  const std::int64_t column_stride =
      scatters ? source.column_stride : target.column_stride;
  with_memory_errors("a permutation of vectors", [&] {
    Kokkos::parallel_for(
        label,
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec, 0, rows * columns),
        PermuteVectors<Scalar, MemorySpace>{
            permutation.old_row,
            {source.data, source.row_stride, source.column_stride},
            target,
            rows,
            columns,
            scatters,
            columns > 1 && column_stride < row_stride});
  });
}

}  // namespace Detail

/// The rows of `from` in the new order: to(i, c) = from(old_row(i), c). For the
/// right-hand sides of a system that permute_symmetric() has reordered.
///
/// Asynchronous on `exec`: one launch, no allocation, no transfer, no wait;
/// reads and writes each element once. So it does not look at the numbers in
/// `permutation`: those of level_permutation() and colour_rows() are one,
/// check_permutation() tells of others.
///
/// @param from, to permutation.size() rows, rank 1 or 2, any layout, the same
///   number of columns; `to` apart from `from`
/// @throws SizeMismatchError, AliasError before anything is enqueued
template <class ExecutionSpace, class MemorySpace, class From, class To>
void permute_rows(const ExecutionSpace& exec,
                  const Permutation<MemorySpace>& permutation, const From& from,
                  const To& to) {
  if constexpr (Detail::ExpectMove<ExecutionSpace, From, To>::value) {
    Detail::permute_vectors("Strata::permute_rows", exec, permutation, from, to,
                            false);
  }
}

/// The way back: to(old_row(i), c) = from(i, c). For the solution of the
/// reordered system. All else as for permute_rows().
template <class ExecutionSpace, class MemorySpace, class From, class To>
void inverse_permute_rows(const ExecutionSpace& exec,
                          const Permutation<MemorySpace>& permutation,
                          const From& from, const To& to) {
  if constexpr (Detail::ExpectMove<ExecutionSpace, From, To>::value) {
    Detail::permute_vectors("Strata::inverse_permute_rows", exec, permutation,
                            from, to, true);
  }
}

}  // namespace Strata

#endif
