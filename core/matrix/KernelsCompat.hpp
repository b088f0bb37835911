// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_KERNELS_COMPAT_HPP
#define STRATA_CORE_MATRIX_KERNELS_COMPAT_HPP

// What differs between Kokkos Kernels releases in file input, which 3.4 has in
// KokkosKernels::Impl and later releases in KokkosSparse.

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <memory>
#include <string>
#if __has_include(<KokkosSparse_IOUtils.hpp>)
#include <KokkosSparse_IOUtils.hpp>
#else
#include <KokkosKernels_IOUtils.hpp>
#endif

namespace Strata {
namespace Detail {

#if __has_include(<KokkosSparse_IOUtils.hpp>)
namespace ReaderRoom = ::KokkosSparse::Impl;
#else
namespace ReaderRoom = ::KokkosKernels::Impl;
#endif

/// Host arrays of a CRS matrix, as Kokkos Kernels' reader allocates them.
template <class Ordinal, class Offset, class Number>
struct CoordinateArrays {
  Offset entries = 0;
  std::unique_ptr<Offset[]> row_map;
  std::unique_ptr<Ordinal[]> columns;
  std::unique_ptr<Number[]> values;
};

/// Kokkos Kernels' Matrix Market reader, without its rules for file names. It
/// takes a file on trust: every line must have been checked.
template <class Ordinal, class Offset, class Number>
CoordinateArrays<Ordinal, Offset, Number> read_coordinates(
    const std::string& path) {
  CoordinateArrays<Ordinal, Offset, Number> result;
  Ordinal rows = 0;
  Offset* row_map = nullptr;
  Ordinal* columns = nullptr;
  Number* values = nullptr;
  constexpr bool symmetrize = false, remove_diagonal = false, transpose = false;
  const auto own = [&] {
    result.row_map.reset(row_map);
    result.columns.reset(columns);
    result.values.reset(values);
  };
  try {
    ReaderRoom::read_mtx<Ordinal, Offset, Number>(
        path.c_str(), &rows, &result.entries, &row_map, &columns, &values,
        symmetrize, remove_diagonal, transpose);
  } catch (...) {
    // The reader leaves the arrays that it has made.
    own();
    throw;
  }
  own();
  return result;
}

}  // namespace Detail
}  // namespace Strata

#endif
