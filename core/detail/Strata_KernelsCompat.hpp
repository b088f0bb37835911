// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_COMPAT_HPP
#define STRATA_KERNELS_COMPAT_HPP

// The one place for what differs between Kokkos Kernels releases: 3.4 has the
// sorts and the Matrix Market reader in KokkosKernels::Impl, later releases in
// KokkosSparse.

#include <Kokkos_Core.hpp>

#if __has_include(<KokkosSparse_SortCrs.hpp>)
#include <KokkosSparse_SortCrs.hpp>
#else
#include <KokkosKernels_SparseUtils.hpp>
#endif

namespace Strata {
namespace Detail {

#if __has_include(<KokkosSparse_SortCrs.hpp>)
namespace SortRoom = KokkosSparse;
#else
namespace SortRoom = KokkosKernels::Impl;
#endif

/// Sorts the columns of every row of a CRS graph. Fences `exec`: the sort runs
/// on the default instance.
template <class ExecutionSpace, class RowMap, class Entries>
void sort_crs_entries(const ExecutionSpace& exec, const RowMap& row_map,
                      const Entries& entries) {
  exec.fence();
  SortRoom::sort_crs_graph<ExecutionSpace, RowMap, Entries>(row_map, entries);
  ExecutionSpace().fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
