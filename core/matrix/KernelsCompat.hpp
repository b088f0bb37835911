// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_KERNELS_COMPAT_HPP
#define STRATA_CORE_MATRIX_KERNELS_COMPAT_HPP

// What differs between Kokkos Kernels releases in file input, which 3.4 has in
// KokkosKernels::Impl and later releases in KokkosSparse, and in incomplete
// factorisation.

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spiluk.hpp>
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
#if defined(KOKKOSKERNELS_VERSION) && KOKKOSKERNELS_VERSION >= 40600
namespace SpilukRoom = ::KokkosSparse;
#else
namespace SpilukRoom = ::KokkosSparse::Experimental;
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

/// The parts of an spiluk handle that only later releases have: the level
/// bounds once more on the host, levels in chunks (one each, here), and the
/// work array of `rows_at_once` rows.
template <class Handle>
auto fill_later_spiluk_parts(Handle& handle, std::int64_t levels,
                             std::int64_t rows_at_once, std::int64_t rows, int)
    -> decltype(handle.alloc_iw(rows_at_once, rows)) {
  Kokkos::deep_copy(handle.get_host_level_ptr(), handle.get_level_ptr());
  handle.alloc_level_nchunks(levels);
  handle.alloc_level_nrowsperchunk(levels);
  Kokkos::deep_copy(handle.get_level_nchunks(), 1);
  Kokkos::deep_copy(handle.get_level_nrowsperchunk(), rows_at_once);
  handle.set_level_maxrowsperchunk(rows_at_once);
  handle.alloc_iw(rows_at_once, rows);
}
template <class Handle>
void fill_later_spiluk_parts(Handle&, std::int64_t, std::int64_t, std::int64_t,
                             long) {}

/// spiluk_numeric with no fill.
template <class Handle, class... Views>
void run_spiluk_numeric(Handle& handle, Views&... views) {
  SpilukRoom::spiluk_numeric(&handle, 0, views...);
}

}  // namespace Detail
}  // namespace Strata

#endif
