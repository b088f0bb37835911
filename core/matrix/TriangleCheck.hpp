// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_TRIANGLE_CHECK_HPP
#define STRATA_CORE_MATRIX_TRIANGLE_CHECK_HPP

#include <Strata_Error.hpp>
#include <Strata_Types.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// What can be wrong with one row, in the order in which it is reported.
enum RowFault : int {
  row_map_fault = 0,
  column_fault,
  duplicate_fault,
  triangle_fault,
  missing_diagonal_fault,
  zero_diagonal_fault,
  num_row_faults
};

/// The smallest is the first row's.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t row_fault(std::int64_t row,
                                                        RowFault kind) {
  return row * num_row_faults + kind;
}
constexpr std::int64_t no_fault = std::numeric_limits<std::int64_t>::max();

/// One pass over a CRS matrix: every row is checked by the lanes that share
/// it, the first faulty row is kept by an atomic minimum of
/// (row, kind of fault), and each row's strict entries and diagonal are
/// counted for the dependency graph on the way.
///
/// A row whose row map is wrong is not read. Ordering of a row's columns is
/// judged by neighbouring pairs, so each lane looks at one entry before its
/// own.
template <class MemorySpace>
struct TriangleCheck {
  IndexArray row_map, entries;
  StoredValues values;
  std::int64_t columns;
  std::int64_t stored;
  bool lower, unit, take_triangle;
  Kokkos::View<std::int64_t*, MemorySpace> status;  // first fault, unsorted row
  Kokkos::View<int*, MemorySpace> strict;           // strict entries per row
  Kokkos::View<std::int64_t*, MemorySpace> diagonal;  // per row, or -1

  /// Of a row whose row map is wrong it may be anything.
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void fault(std::int64_t row, RowFault kind) const {
    Kokkos::atomic_fetch_min(&status(0), row_fault(row, kind));
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t begin = row_map(row);
    const std::int64_t end = row_map(row + 1);
    if ((row == 0 && begin != 0) || begin < 0 || end < begin || end > stored) {
      if (lane == 0) fault(row, row_map_fault);
      return;
    }
    int mine = 0;
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column < 0 || column >= columns) {
        fault(row, column_fault);
        continue;
      }
      if (k > begin) {
        const std::int64_t previous = entries(k - 1);
        if (previous == column)
          fault(row, duplicate_fault);
        else if (previous > column)
          Kokkos::atomic_fetch_min(&status(1), row);
      }
      if (column == row) {
        diagonal(row) = k;
        if (!unit && values.is_zero(k)) fault(row, zero_diagonal_fault);
      } else if ((column < row) == lower) {
        ++mine;
      } else if (!take_triangle) {
        fault(row, triangle_fault);
      }
    }
    if (mine > 0) Kokkos::atomic_fetch_add(&strict(row), mine);
  }
};

/// A non-unit triangle needs a diagonal entry in every row whose row map and
/// columns are sound.
template <class MemorySpace>
struct DiagonalPresence {
  Kokkos::View<const std::int64_t*, MemorySpace> diagonal;
  Kokkos::View<std::int64_t*, MemorySpace> status;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    if (diagonal(row) < 0)
      Kokkos::atomic_fetch_min(&status(0),
                               row_fault(row, missing_diagonal_fault));
  }
};

template <class View>
typename View::non_const_value_type fetch_element(const View& view,
                                                  std::size_t index) {
  typename View::non_const_value_type value;
  Kokkos::deep_copy(value, Kokkos::subview(view, index));
  return value;
}

/// @throws NotSquareError
inline void require_square(const char* name, std::int64_t rows,
                           std::int64_t columns,
                           const char* advice = "pass a square matrix") {
  if (rows != columns)
    throw NotSquareError(name,
                         "has " + std::to_string(rows) + " rows and " +
                             std::to_string(columns) + " columns",
                         advice);
}
/// @throws SizeMismatchError
inline void require_values(std::size_t values, std::size_t entries) {
  if (values != entries)
    throw SizeMismatchError("values",
                            "has " + std::to_string(values) + " elements for " +
                                std::to_string(entries) + " entries",
                            "give one value for every entry");
}

/// What a matrix without rows may be given as: a row map that is empty or {0},
/// and no entries. @throws RowMapError, SizeMismatchError
template <class MemorySpace>
void require_empty_without_rows(const IndexArray& row_map,
                                const IndexArray& entries) {
  if (row_map.extent(0) > 0) {
    const std::string first =
        row_map.text(row_map.template fetch<MemorySpace>(0));
    if (first != "0")
      throw RowMapError("row_map",
                        "begins with " + first + " in a matrix without rows",
                        "make it start at 0", -1, first);
  }
  if (entries.extent(0) > 0)
    throw SizeMismatchError(
        "entries",
        "has " + std::to_string(entries.extent(0)) +
            " elements in a matrix without rows",
        "pass no entries, or the row map of rows + 1 offsets that goes with "
        "them");
}

[[noreturn]] inline void raise_changed_matrix(std::int64_t row) {
  throw MatrixError(
      "matrix", "changed while it was checked in row " + std::to_string(row),
      "do not write to the matrix during a call", row);
}

/// Reads the faulty row back from the device and raises the exception that
/// names it. Never returns.
template <class MemorySpace>
[[noreturn]] void raise_row_fault(std::int64_t code, const IndexArray& row_map,
                                  const IndexArray& entries,
                                  std::int64_t columns,
                                  const StoredValues& values = {},
                                  Uplo uplo = Uplo::lower) {
  const std::int64_t row = code / num_row_faults;
  const auto kind = static_cast<RowFault>(code % num_row_faults);
  const std::string in_row = " in row " + std::to_string(row);
  const std::int64_t begin = row_map.template fetch<MemorySpace>(row);
  const std::int64_t end = row_map.template fetch<MemorySpace>(row + 1);
  const std::int64_t stored = static_cast<std::int64_t>(entries.extent(0));
  if (kind == row_map_fault) {
    const bool at_begin = begin < 0 || begin > stored || (row == 0 && begin);
    throw RowMapError(
        "row_map",
        "row " + std::to_string(row) + " spans [" + std::to_string(begin) +
            ", " + std::to_string(end) + ") of " + std::to_string(stored) +
            " entries",
        "make it start at 0, never decrease, and end within the entries", row,
        std::to_string(at_begin ? begin : end));
  }
  if (kind == missing_diagonal_fault)
    throw MissingDiagonalError(
        "matrix", "no diagonal entry" + in_row,
        "store the diagonal, or pass Diag::unit if it is meant to be one", row);

  // The remaining faults are in one entry: look for the first that has it.
  const auto row_entries = entries.template fetch<MemorySpace>(begin, end);
  for (std::int64_t k = 0; k < end - begin; ++k) {
    const std::int64_t column = row_entries[k];
    const std::string at = "column " + std::to_string(column) + in_row;
    if (kind == column_fault && (column < 0 || column >= columns))
      throw ColumnRangeError(
          "entries", at + " is outside [0, " + std::to_string(columns) + ")",
          "use zero-based columns of the matrix", row, std::to_string(column));
    if (kind == duplicate_fault && k > 0 &&
        row_entries[k - 1] == row_entries[k])
      throw DuplicateEntryError("entries", at + " is stored twice",
                                "add the two values into one entry", row,
                                std::to_string(column));
    if (kind == triangle_fault && column != row &&
        (column < row) != (uplo == Uplo::lower))
      throw WrongTriangleError(
          "entries", at + " is not in the " + to_string(uplo) + " triangle",
          "pass the other Uplo, or set take_triangle to use only the stated "
          "triangle of a full matrix",
          row, std::to_string(column));
    if (kind == zero_diagonal_fault && column == row)
      throw ZeroDiagonalError(
          "values", "the diagonal entry" + in_row + " is zero",
          "the system is singular: change the matrix, or pass Diag::unit if "
          "the diagonal is meant to be one",
          row, values.template text_of_zero<MemorySpace>(begin + k));
  }
  raise_changed_matrix(row);
}

}  // namespace Detail
}  // namespace Strata

#endif
