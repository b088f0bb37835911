// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_MATRIX_TYPES_HPP
#define STRATA_CORE_MATRIX_MATRIX_TYPES_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

template <class CrsMatrix>
struct OwningMatrix;
template <template <class, class, class, class, class> class CrsMatrix,
          class Scalar, class Ordinal, class Device, class Traits, class Offset>
struct OwningMatrix<CrsMatrix<Scalar, Ordinal, Device, Traits, Offset>> {
  using type =
      CrsMatrix<std::remove_const_t<Scalar>, std::remove_const_t<Ordinal>,
                Device, void, std::remove_const_t<Offset>>;
};

/// The types of a KokkosSparse::CrsMatrix, all writable, of views with memory
/// of their own.
template <class CrsMatrix>
struct MatrixTypes {
  using Matrix = typename OwningMatrix<CrsMatrix>::type;
  using ExecutionSpace = typename CrsMatrix::execution_space;
  using MemorySpace = typename CrsMatrix::memory_space;
  using RowMap = typename Matrix::row_map_type::non_const_type;
  using Entries = typename Matrix::index_type::non_const_type;
  using Values = typename Matrix::values_type::non_const_type;
  using Offset = typename RowMap::non_const_value_type;
  using Ordinal = typename Entries::non_const_value_type;
  using Scalar = typename Values::non_const_value_type;
  using Rows =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
};

/// For functions that make the matrix whose type they are told.
template <class CrsMatrix>
constexpr bool owns_its_memory =
    std::is_same<CrsMatrix, typename OwningMatrix<CrsMatrix>::type>::value;

/// IndexOverflowError unless `rows` fits Ordinal and `entries` fits Offset.
template <class Ordinal, class Offset>
void require_index_types_hold(const std::string& argument, double rows,
                              double entries) {
  const auto check = [&](double count, double largest, const char* what,
                         const char* type) {
    if (count <= largest) return;
    std::string text = std::to_string(count);
    text.resize(text.find('.'));
    throw IndexOverflowError(
        argument,
        text + " " + what + " do not fit the " + type + " type of the matrix",
        std::string("use a wider ") + type + " type, or a smaller matrix");
  };
  // 2^53 rows or entries are beyond any memory, and the last counts that a
  // double holds exactly.
  constexpr double exact = 0x1p53;
  const auto largest = [&](double of_type) {
    return of_type < exact ? of_type : exact;
  };
  check(rows, largest(static_cast<double>(std::numeric_limits<Ordinal>::max())),
        "rows", "ordinal");
  check(entries,
        largest(static_cast<double>(std::numeric_limits<Offset>::max())),
        "entries", "offset");
}

/// Fills row_map(1..rows) with the running sum of length(row), and returns the
/// sum. `length` is called more than once a row.
template <class RowMap, class Length>
struct RowMapScan {
  using value_type = std::int64_t;
  Length length;
  RowMap row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, std::int64_t& sum,
                                         bool final) const {
    if (final && row == 0) row_map(0) = 0;
    sum += length(row);
    if (final)
      row_map(row + 1) =
          static_cast<typename RowMap::non_const_value_type>(sum);
  }
};

template <class RowMap, class ExecutionSpace, class Length>
std::int64_t scan_row_lengths(const char* label, const ExecutionSpace& exec,
                              std::int64_t rows, const Length& length,
                              const RowMap& row_map) {
  std::int64_t total = 0;
  if (rows == 0) {
    Kokkos::deep_copy(row_map, 0);
    return total;
  }
  Kokkos::parallel_scan(
      label,
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, rows),
      RowMapScan<RowMap, Length>{length, row_map}, total);
  exec.fence();
  return total;
}

}  // namespace Detail

/// The matrix that a function makes of a KokkosSparse::CrsMatrix given: the
/// same scalar, ordinal, device and offset, none of them const, and memory of
/// its own. It is CrsMatrix itself, unless that is const-valued or has memory
/// traits.
template <class CrsMatrix>
using OwningCrsMatrix = typename Detail::OwningMatrix<CrsMatrix>::type;

}  // namespace Strata

#endif
