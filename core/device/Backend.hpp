// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_BACKEND_HPP
#define STRATA_CORE_DEVICE_BACKEND_HPP

// What an execution space is: all that the library asks of one, apart from the
// numbers of a device (core/device/DeviceInfo.hpp).

#include <core/device/KokkosVersion.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

/// Whether kernels are started by CUDA's own calls where these do more than
/// Kokkos' dispatch: CMake's Strata_ENABLE_CUDA_NATIVE.
#if !defined(STRATA_ENABLE_CUDA_NATIVE)
#define STRATA_ENABLE_CUDA_NATIVE 1
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#error "Strata needs a CUDA architecture of 7.0 or newer"
#endif

// True while the compiler makes code for a GPU. For core/device only.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define STRATA_IMPL_ON_DEVICE 1
#else
#define STRATA_IMPL_ON_DEVICE 0
#endif

// For device functions off the usual path, which inlined would keep registers
// and instructions of the path from being few.
#if defined(__CUDACC__)
#define STRATA_IMPL_NOINLINE __noinline__
#elif defined(__HIPCC__)
#define STRATA_IMPL_NOINLINE __attribute__((noinline))
#else
#define STRATA_IMPL_NOINLINE
#endif

#if STRATA_IMPL_ON_DEVICE
#define STRATA_IMPL_UNROLL _Pragma("unroll")
#else
#define STRATA_IMPL_UNROLL
#endif

// For loops of a host with few instructions and turns: written out twice they
// do not get slower, by a third even, where they happen to lie across two
// lines of the instruction cache.
#if defined(__clang__)
#define STRATA_IMPL_UNROLL_TWICE _Pragma("unroll 2")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define STRATA_IMPL_UNROLL_TWICE _Pragma("GCC unroll 2")
#else
#define STRATA_IMPL_UNROLL_TWICE
#endif

namespace Strata {
namespace Detail {

/// Indices of one dimension.
template <class ExecutionSpace>
using RangeOf =
    Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
/// Calls functor(i) for each i < count. Enqueues on `exec`.
template <class ExecutionSpace, class Functor>
void for_each_index(const std::string& label, const ExecutionSpace& exec,
                    std::int64_t count, const Functor& functor) {
  Kokkos::parallel_for(label, RangeOf<ExecutionSpace>(exec, 0, count), functor);
}

/// Whether libstrata has what is compiled for a space.
template <class ExecutionSpace>
inline constexpr bool library_has_space = false;
#if STRATA_LIBRARY
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(STRATA_LIBRARY_WITHOUT_SERIAL)
template <>
inline constexpr bool library_has_space<Kokkos::Serial> = true;
#endif
#if defined(KOKKOS_ENABLE_OPENMP) && !defined(STRATA_LIBRARY_WITHOUT_OPENMP)
template <>
inline constexpr bool library_has_space<Kokkos::OpenMP> = true;
#endif
#if defined(KOKKOS_ENABLE_THREADS) && !defined(STRATA_LIBRARY_WITHOUT_THREADS)
template <>
inline constexpr bool library_has_space<Kokkos::Threads> = true;
#endif
#if defined(KOKKOS_ENABLE_CUDA) && !defined(STRATA_LIBRARY_WITHOUT_CUDA)
template <>
inline constexpr bool library_has_space<Kokkos::Cuda> = true;
#endif
#if defined(KOKKOS_ENABLE_HIP) && !defined(STRATA_LIBRARY_WITHOUT_HIP)
template <>
inline constexpr bool library_has_space<Kokkos::HIP> = true;
#endif
#endif

/// True for devices with memory of their own, whose teams have many threads:
/// every execution space that can't reach a host's memory. The others are
/// hosts, whose teams have one thread.
template <class ExecutionSpace>
inline constexpr bool is_gpu =
    !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// True if work is done when the call that dispatches it returns, so that the
/// calling thread may follow it up without a wait: OpenMP and Serial.
#if defined(KOKKOS_ENABLE_OPENMP)
template <class ExecutionSpace>
inline constexpr bool is_openmp =
    std::is_same<ExecutionSpace, Kokkos::OpenMP>::value;
#else
template <class ExecutionSpace>
inline constexpr bool is_openmp = false;
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
template <class ExecutionSpace>
inline constexpr bool runs_at_once =
    is_openmp<ExecutionSpace> ||
    std::is_same<ExecutionSpace, Kokkos::Serial>::value;
#else
template <class ExecutionSpace>
inline constexpr bool runs_at_once = is_openmp<ExecutionSpace>;
#endif

/// Whether a loop over so many elements, a nanosecond each or two, is left to
/// the calling thread of a host: everything enqueued is done there, and waking
/// other threads takes some microseconds, or milliseconds where other programs
/// have their cores.
template <class ExecutionSpace>
constexpr bool is_left_to_caller(std::int64_t elements) {
  return runs_at_once<ExecutionSpace> && elements <= 16384;
}

/// Threads of a GPU's warp, whatever the hardware's waves are: votes are words
/// of 32 bits. With unit_test/half_warps, two warps share one of CUDA's.
#if defined(STRATA_IMPL_HALF_WARPS)
constexpr int gpu_log_lanes = 4;
#else
constexpr int gpu_log_lanes = 5;
#endif
constexpr int gpu_lane_width = 1 << gpu_log_lanes;

/// Threads of a warp, which run in lock step and exchange registers
/// (core/device/Warp.hpp). A host's thread is alone.
template <class ExecutionSpace>
inline constexpr int lane_width = is_gpu<ExecutionSpace> ? gpu_lane_width : 1;

/// Threads of a wave, which the hardware runs in lock step. For core/device
/// only: other code means lane_width.
template <class ExecutionSpace>
inline constexpr int wave_width = lane_width<ExecutionSpace>;
/// Whether LaunchBounds' second number counts teams of a multiprocessor, which
/// has room for them.
template <class ExecutionSpace>
inline constexpr bool bounds_count_teams = gpu_lane_width == 32;
/// Threads that the device's multiprocessors have room for. Kokkos refuses a
/// launch whose bounds ask for more.
#if defined(KOKKOS_ARCH_TURING75)
constexpr int threads_of_multiprocessor = 1024;
#elif defined(KOKKOS_ARCH_AMPERE86) || defined(KOKKOS_ARCH_AMPERE87) || \
    defined(KOKKOS_ARCH_ADA89) || defined(KOKKOS_ARCH_BLACKWELL120)
constexpr int threads_of_multiprocessor = 1536;
#else
constexpr int threads_of_multiprocessor = 2048;
#endif
#if defined(KOKKOS_ENABLE_CUDA)
template <>
inline constexpr int wave_width<Kokkos::Cuda> = 32;
static_assert(gpu_lane_width == 32 || !STRATA_ENABLE_CUDA_NATIVE,
              "kernels that CUDA starts have a warp's 32 lanes");
#elif defined(KOKKOS_ENABLE_HIP)
template <>
inline constexpr int wave_width<Kokkos::HIP> =
    Kokkos::Impl::HIPTraits::WarpSize;
template <>
inline constexpr bool bounds_count_teams<Kokkos::HIP> = false;
#endif

/// Names of errors by which a device says that it has no memory left.
inline constexpr const char* device_memory_errors[] = {
    "cudaErrorMemoryAllocation", "hipErrorOutOfMemory"};

/// Whether run_native_teams starts kernels by the backend's own calls.
#if defined(KOKKOS_ENABLE_CUDA)
template <class ExecutionSpace>
inline constexpr bool has_native_launches =
    is_gpu<ExecutionSpace>&& STRATA_ENABLE_CUDA_NATIVE;
#else
template <class ExecutionSpace>
inline constexpr bool has_native_launches = false;
#endif

/// Memory that kernels of ExecutionSpace write and the host reads meanwhile.
template <class ExecutionSpace>
struct HostVisible {
  using type = Kokkos::HostSpace;
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct HostVisible<Kokkos::Cuda> {
  using type = Kokkos::CudaHostPinnedSpace;
};
#elif defined(KOKKOS_ENABLE_HIP)
template <>
struct HostVisible<Kokkos::HIP> {
  using type = Kokkos::HIPHostPinnedSpace;
};
#endif
template <class ExecutionSpace>
using HostVisibleSpace = typename HostVisible<ExecutionSpace>::type;

}  // namespace Detail
}  // namespace Strata

#endif
