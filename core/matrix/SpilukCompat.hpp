// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_SPILUK_COMPAT_HPP
#define STRATA_CORE_MATRIX_SPILUK_COMPAT_HPP

// What differs between Kokkos Kernels releases in incomplete factorisation.

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spiluk.hpp>
#include <Kokkos_Core.hpp>

namespace Strata {
namespace Detail {

#if defined(KOKKOSKERNELS_VERSION) && KOKKOSKERNELS_VERSION >= 40600
namespace SpilukRoom = ::KokkosSparse;
#else
namespace SpilukRoom = ::KokkosSparse::Experimental;
#endif

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
