// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_KOKKOS_VERSION_HPP
#define STRATA_CORE_DEVICE_KOKKOS_VERSION_HPP

// What differs between releases of Kokkos and of Kokkos Kernels. See also
// core/device/SortRows.hpp.

#include <KokkosKernels_config.h>

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>

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

}  // namespace Detail
}  // namespace Strata

#endif
