// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_PATTERN_CHECK_HPP
#define STRATA_CORE_MATRIX_PATTERN_CHECK_HPP

#include <Strata_Error.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/TriangleCheck.hpp>

namespace Strata {
namespace Detail {

/// Whether offsets can be those of a row of a matrix with `stored` entries.
KOKKOS_INLINE_FUNCTION bool is_crs_row(std::int64_t row, std::int64_t begin,
                                       std::int64_t end, std::int64_t stored) {
  return (row > 0 || begin == 0) && begin >= 0 && end >= begin &&
         end <= stored && end - begin <= 0x7ffffffe;
}

/// One pass over a CRS pattern of any shape: the first row that is no row, by
/// an atomic minimum of its fault, whether all rows have ascending columns
/// without repetition, and every row's length where somewhere to put it is
/// given.
template <class MemorySpace>
struct PatternCheck {
  IndexArray row_map, entries;
  std::int64_t columns, stored;
  Kokkos::View<std::int64_t[2], MemorySpace> status;  // fault, rows unsorted
  Kokkos::View<int*, MemorySpace> measured;

  /// For RowByLanes, which deals long rows to more lanes: of a row that is
  /// none, any number will do.
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t begin = row_map(row), end = row_map(row + 1);
    if (!is_crs_row(row, begin, end, stored)) {
      if (lane == 0)
        Kokkos::atomic_fetch_min(&status(0), row_fault(row, row_map_fault));
      return;
    }
    if (lane == 0 && measured.extent(0) > 0)
      measured(row) = static_cast<int>(end - begin);
    bool ascending = true, in_range = true;
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column < 0 || column >= columns) in_range = false;
      if (k > begin && entries(k - 1) >= column) ascending = false;
    }
    if (!in_range)
      Kokkos::atomic_fetch_min(&status(0), row_fault(row, column_fault));
    if (!ascending && status(1) == 0)
      Kokkos::atomic_fetch_max(&status(1), std::int64_t{1});
  }
};

/// Equal for equal patterns. Waits for `exec`.
template <class ExecutionSpace>
std::uint64_t pattern_fingerprint(const ExecutionSpace& exec,
                                  const IndexArray& row_map,
                                  const IndexArray& entries) {
  using Memory = typename ExecutionSpace::memory_space;
  return inspect_values<double>(exec, DiagonalPlaces<Memory>{},
                                static_cast<const double*>(nullptr), row_map,
                                entries)
      .fingerprint();
}

/// Checks a pattern, before anything is read through it, and measures its rows.
///
/// @param length one element a row, or none
/// @throws RowMapError, ColumnRangeError, SizeMismatchError for entries without
///   rows
/// Cost: one pass over the pattern, which the host waits for.
/// @return whether all rows have strictly ascending columns
template <class ExecutionSpace>
bool check_crs_pattern(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, std::int64_t rows, std::int64_t columns,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length =
        {}) {
  using Memory = typename ExecutionSpace::memory_space;
  if (rows == 0) {
    require_empty_without_rows<Memory>(row_map, entries);
    return true;
  }
  Kokkos::View<std::int64_t[2], Memory> status("Strata::PatternCheck::status");
  std::int64_t found[2] = {no_fault, 0};
  const UnmanagedView<std::int64_t, Kokkos::HostSpace> host(found, 2);
  Kokkos::deep_copy(exec, status, host);
  const auto stored = static_cast<std::int64_t>(entries.extent(0));
  for_each_row(
      "Strata::PatternCheck::rows", exec, rows, stored,
      PatternCheck<Memory>{row_map, entries, columns, stored, status, length});
  Kokkos::deep_copy(exec, host, status);
  exec.fence();
  if (found[0] == no_fault) return found[1] == 0;

  raise_row_fault<Memory>(found[0], row_map, entries, columns);
}

/// What the sizes of its arrays say of a matrix: square, a value for every
/// entry, and no entries without rows.
/// @throws NotSquareError, SizeMismatchError
template <class MemorySpace, class Scalar>
void check_square_sizes(const CrsArrays<Scalar>& A) {
  require_square("A", A.rows(), A.columns);
  require_values(A.num_values, A.entries.extent(0));
  if (A.rows() == 0)
    require_empty_without_rows<MemorySpace>(A.row_map, A.entries);
}

/// A CRS matrix that anything may be read through: square, a value
/// for every entry, and a pattern that is one.
///
/// @throws NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError
/// Cost: as check_crs_pattern.
template <class Scalar, class ExecutionSpace>
void check_square_matrix(const ExecutionSpace& exec,
                         const CrsArrays<Scalar>& A) {
  check_square_sizes<typename ExecutionSpace::memory_space>(A);
  check_crs_pattern(exec, A.row_map, A.entries, A.rows(), A.rows());
}
template <class CrsMatrix>
void check_square_matrix(const typename CrsMatrix::execution_space& exec,
                         const CrsMatrix& A) {
  check_square_matrix(exec, crs_arrays(A));
}

}  // namespace Detail
}  // namespace Strata

#endif
