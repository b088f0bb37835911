// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_SORT_ROWS_HPP
#define STRATA_CORE_DEVICE_SORT_ROWS_HPP

// Kokkos Kernels' sort of rows, which 3.4 has in KokkosKernels::Impl and later
// releases in KokkosSparse.

#include <core/device/KokkosVersion.hpp>
#if __has_include(<KokkosSparse_SortCrs.hpp>)
#include <KokkosSparse_SortCrs.hpp>
#else
#include <KokkosKernels_SparseUtils.hpp>
#endif

namespace Strata {
namespace Detail {

#if __has_include(<KokkosSparse_SortCrs.hpp>)
namespace SortRoom = ::KokkosSparse;
#else
namespace SortRoom = ::KokkosKernels::Impl;
#endif

/// Sorts every row of a CRS matrix by column, values along with the columns.
/// Cost: Kokkos Kernels' sort_crs_matrix. Fences `exec`.
template <class ExecutionSpace, class RowMap, class Entries, class Values>
void sort_crs_rows(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values) {
  exec.fence();
  SortRoom::sort_crs_matrix<ExecutionSpace, RowMap, Entries, Values>(
      row_map, entries, values);
  ExecutionSpace().fence();
}

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
