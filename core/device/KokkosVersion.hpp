// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_KOKKOS_VERSION_HPP
#define STRATA_CORE_DEVICE_KOKKOS_VERSION_HPP

// What differs between releases of Kokkos and of Kokkos Kernels. See also
// core/matrix/KernelsCompat.hpp.

#include <KokkosKernels_config.h>

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#if __has_include(<KokkosSparse_SortCrs.hpp>)
#include <KokkosSparse_SortCrs.hpp>
#define STRATA_IMPL_SORT_IN_KOKKOSSPARSE 1
#else
#include <KokkosKernels_SparseUtils.hpp>
#define STRATA_IMPL_SORT_IN_KOKKOSSPARSE 0
#endif

#if !defined(KOKKOS_VERSION) || KOKKOS_VERSION < 30400
#error "Strata needs Kokkos 3.4 or newer"
#endif

namespace Strata {
namespace Detail {

/// Whether KokkosBlas::gemm calls cuBLAS on CUDA.
#if defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
inline constexpr bool kernels_have_cublas = true;
#else
inline constexpr bool kernels_have_cublas = false;
#endif

/// Sorts every row of a CRS matrix by column, values along with the columns.
/// Cost: Kokkos Kernels' sort_crs_matrix. Fences `exec`.
template <class ExecutionSpace, class RowMap, class Entries, class Values>
void sort_crs_rows(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values) {
  exec.fence();
#if STRATA_IMPL_SORT_IN_KOKKOSSPARSE
  KokkosSparse::sort_crs_matrix<ExecutionSpace, RowMap, Entries, Values>(
      row_map, entries, values);
#else
  KokkosKernels::Impl::sort_crs_matrix<ExecutionSpace, RowMap, Entries, Values>(
      row_map, entries, values);
#endif
  ExecutionSpace().fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
