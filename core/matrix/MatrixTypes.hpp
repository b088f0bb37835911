// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_MATRIX_TYPES_HPP
#define STRATA_CORE_MATRIX_MATRIX_TYPES_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <core/matrix/IndexArray.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>
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
};

/// For functions that make the matrix whose type they are told.
template <class CrsMatrix>
constexpr bool owns_its_memory =
    std::is_same<CrsMatrix, typename OwningMatrix<CrsMatrix>::type>::value;

/// IndexOverflowError unless `rows` is at most `largest_ordinal` and `entries`
/// at most `largest_offset`.
inline void require_index_types_hold(const std::string& argument,
                                     double largest_ordinal,
                                     double largest_offset, double rows,
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
  check(rows, largest_ordinal < exact ? largest_ordinal : exact, "rows",
        "ordinal");
  check(entries, largest_offset < exact ? largest_offset : exact, "entries",
        "offset");
}

/// Fills row_map(0..rows) with the running sum of length(row), and returns the
/// sum. `length` is called more than once a row.
template <class Length>
struct RowMapScan {
  using value_type = std::int64_t;
  Length length;
  IndexOutput row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, std::int64_t& sum,
                                         bool final) const {
    if (final && row == 0) row_map.set(0, 0);
    sum += length(row);
    if (final) row_map.set(row + 1, sum);
  }
};
/// For scan_row_lengths, of lengths that are stored.
struct StoredLength {
  const int* length;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return length[row];
  }
};
struct EmptyRowMap {
  IndexOutput row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    row_map.set(k, 0);
  }
};

template <class ExecutionSpace, class Length>
std::int64_t scan_row_lengths(const char* label, const ExecutionSpace& exec,
                              std::int64_t rows, const Length& length,
                              const IndexOutput& row_map) {
  using Range = RangeOf<ExecutionSpace>;
  std::int64_t total = 0;
  if (rows == 0)
    for_each_index(label, exec, 1, EmptyRowMap{row_map});
  else
    Kokkos::parallel_scan(label, Range(exec, 0, rows),
                          RowMapScan<Length>{length, row_map}, total);
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
