// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_CUDA_CUDA_LAUNCH_HPP
#define STRATA_CORE_DEVICE_CUDA_CUDA_LAUNCH_HPP

// Kernels that CUDA starts without Kokkos (Strata_ENABLE_CUDA_NATIVE). What
// that gives beyond a launch by Kokkos: less time to enqueue, kernels that
// overlap, and the scratch that a device has beyond 48 KiB.

#include <atomic>
#include <core/device/Warp.hpp>
#include <core/device/cuda/CudaDeviceInfo.hpp>
#include <stdexcept>
#include <string>

#if defined(__CUDACC__)

namespace Strata {
namespace Detail {
namespace Cuda {

/// A block of threads, as a team.
class NativeTeam {
 public:
  /// All of the block's scratch, whatever is asked for.
  struct Scratch {
    KOKKOS_INLINE_FUNCTION void* get_shmem(std::size_t) const {
#if STRATA_IMPL_ON_DEVICE
      extern __shared__ __align__(16) unsigned char strata_team_scratch[];
      return strata_team_scratch;
#else
      return nullptr;
#endif
    }
  };

#if STRATA_IMPL_ON_DEVICE
  __device__ int league_rank() const { return static_cast<int>(blockIdx.x); }
  __device__ int league_size() const { return static_cast<int>(gridDim.x); }
  __device__ int team_rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int team_size() const { return static_cast<int>(blockDim.x); }
  __device__ void team_barrier() const { __syncthreads(); }

  /// Lanes by exchanges, then warps in their order.
  __device__ double sum(double value) const {
    __shared__ double part[32];
    value = lane_group_sum(value, 32);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += part[warp];
    // The next sum's parts must not come before this one's are read.
    __syncthreads();
    return total;
  }
  /// The same of the largest value; none is negative or no number.
  __device__ double largest(double value) const {
    __shared__ double part[32];
    for (int mask = 16; mask > 0; mask >>= 1) {
      const double other = lane_xor(value, mask);
      if (other > value) value = other;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    double most = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
      if (part[warp] > most) most = part[warp];
    // The next parts must not come before these are read.
    __syncthreads();
    return most;
  }
  /// Sums of several values, as of one, with the barriers of one.
  template <int count>
  __device__ void sums(double (&value)[count]) const {
    __shared__ double part[count][32];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      value[i] = lane_group_sum(value[i], 32);
      if (threadIdx.x % 32 == 0) part[i][threadIdx.x / 32] = value[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < count; ++i) {
      value[i] = 0;
      for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
        value[i] += part[i][warp];
    }
    __syncthreads();
  }
  __device__ int broadcast(int value) const {
    __shared__ int shared;
    if (threadIdx.x == 0) shared = value;
    __syncthreads();
    value = shared;
    __syncthreads();
    return value;
  }
  __device__ void await_previous() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
  __device__ void release_next() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  }
#else
  // Never called: there are such teams on a device only.
  KOKKOS_INLINE_FUNCTION int league_rank() const { return 0; }
  KOKKOS_INLINE_FUNCTION int league_size() const { return 1; }
  KOKKOS_INLINE_FUNCTION int team_rank() const { return 0; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return 1; }
  KOKKOS_INLINE_FUNCTION void team_barrier() const {}
  KOKKOS_INLINE_FUNCTION double sum(double value) const { return value; }
  KOKKOS_INLINE_FUNCTION double largest(double value) const { return value; }
  template <int count>
  KOKKOS_INLINE_FUNCTION void sums(double (&)[count]) const {}
  KOKKOS_INLINE_FUNCTION int broadcast(int value) const { return value; }
  KOKKOS_INLINE_FUNCTION void await_previous() const {}
  KOKKOS_INLINE_FUNCTION void release_next() const {}
#endif
  KOKKOS_INLINE_FUNCTION Scratch team_scratch(int) const { return {}; }
};

/// Whether a functor calls await_previous and release_next itself and says so
/// with a member `awaits_previous`.
template <class Functor, class = void>
struct AwaitsPrevious : std::false_type {};
template <class Functor>
struct AwaitsPrevious<Functor, std::enable_if_t<Functor::awaits_previous>>
    : std::true_type {};

template <int threads, int teams_at_once, class Functor>
__global__ void __launch_bounds__(threads, teams_at_once)
    team_kernel(const Functor functor) {
  const NativeTeam team;
  // See overlaps_launches. This kernel waits for all that the ones before it
  // have written; from then on the next one's teams may take places as its own
  // end. Not sooner: teams of several kernels would fill the device, and those
  // of one would come to lie on few multiprocessors.
  if constexpr (!AwaitsPrevious<Functor>::value) {
    team.await_previous();
    team.release_next();
  }
  functor(team);
}

/// Whether a launch of this kernel may be begun while the kernel before it in
/// the stream still runs (programmatic dependent launch): on devices of compute
/// capability 9.0 and up, and where the code was made for these, as other code
/// lacks the wait.
///
/// Why no team is kept from running: a kernel is begun once all teams of the
/// one before have been, so teams that wait hold no place that these need.
inline bool overlaps_launches(int device, const void* kernel) {
  int major = 0;
  cudaFuncAttributes attributes;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                                device) == cudaSuccess &&
         major >= 9 &&
         cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess &&
         attributes.ptxVersion >= 90;
}

/// Lets teams of a kernel have all the scratch that a device has for one,
/// whatever a launch asks for: without it 48 KiB, of which the kernel's own
/// shared variables are a part. (What a launch does not use is first-level
/// cache: the driver decides.) One of these belongs to a kernel, and asks once
/// for each device.
class ScratchPermission {
 public:
  static constexpr std::size_t granted_bytes = 32 * 1024;

  void require(int device, const void* kernel) {
    const std::uint64_t bit = std::uint64_t{1} << (device % 64);
    const bool counts = device < 64;
    if (counts && (asked_.load(std::memory_order_acquire) & bit)) return;
    int most = 0;
    cudaFuncAttributes attributes;
    if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               device) != cudaSuccess ||
        cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess ||
        cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
            most - static_cast<int>(attributes.sharedSizeBytes)) != cudaSuccess)
      return;  // the launch tells what is wrong
    if (counts) asked_.fetch_or(bit, std::memory_order_release);
  }

 private:
  std::atomic<std::uint64_t> asked_{0};
};

inline void require_launch(cudaError_t error, const char* label) {
  raise_lack_of_memory(error);
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("Strata: launch of ") + label + ": " +
                             cudaGetErrorString(error));
}

/// See Detail::run_native_teams.
template <int teams_at_once, int threads, class Functor>
void run_teams(const char* label, const Kokkos::Cuda& exec, int teams,
               const Functor& functor, std::size_t scratch_bytes,
               bool overlap) {
  std::uint64_t id = 0;
  const bool watched = Kokkos::Profiling::profileLibraryLoaded();
  if (watched) Kokkos::Profiling::beginParallelFor(label, 0, &id);
  // Tells of this launch alone: what an earlier call has left behind in
  // cudaGetLastError is not taken for its failure.
  void* arguments[] = {const_cast<Functor*>(&functor)};
  const auto kernel = reinterpret_cast<const void*>(
      &team_kernel<threads, teams_at_once, Functor>);
  if (scratch_bytes > ScratchPermission::granted_bytes) {
    static ScratchPermission permission;
    permission.require(exec.cuda_device(), kernel);
  }
  static const bool overlaps = overlaps_launches(exec.cuda_device(), kernel);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(teams));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = scratch_bytes;
  config.stream = exec.cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = overlaps && overlap ? 1 : 0;
  const cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
  if (watched) Kokkos::Profiling::endParallelFor(id);
  require_launch(error, label);
}

template <class Functor>
__global__ void __launch_bounds__(Functor::max_team_size)
    resident_kernel(const Functor functor) {
  functor(NativeTeam());
}

/// Lets a kernel of resident teams have the scratch that it asks for.
template <class Functor>
void permit_resident_scratch(const Kokkos::Cuda& exec,
                             std::size_t scratch_bytes) {
  if (scratch_bytes <= ScratchPermission::granted_bytes) return;
  static ScratchPermission permission;
  permission.require(exec.cuda_device(),
                     reinterpret_cast<const void*>(&resident_kernel<Functor>));
}

/// See Detail::max_resident_teams.
template <class Functor>
int max_resident_teams(const Kokkos::Cuda& exec, int team_size,
                       std::size_t scratch_bytes) {
  permit_resident_scratch<Functor>(exec, scratch_bytes);
  int cooperative = 0, teams = 0, multiprocessors = 0;
  const int device = exec.cuda_device();
  return cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch,
                                device) == cudaSuccess &&
                 cooperative &&
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                     &teams, resident_kernel<Functor>, team_size,
                     scratch_bytes) == cudaSuccess &&
                 teams > 0 &&
                 cudaDeviceGetAttribute(&multiprocessors,
                                        cudaDevAttrMultiProcessorCount,
                                        device) == cudaSuccess
             ? multiprocessors
             : 0;
}

/// See Detail::run_resident_teams.
template <class Functor>
void run_resident_teams(const char* label, const Kokkos::Cuda& exec,
                        const Functor& functor, int teams, int team_size,
                        std::size_t scratch_bytes) {
  std::uint64_t id = 0;
  const bool watched = Kokkos::Profiling::profileLibraryLoaded();
  if (watched) Kokkos::Profiling::beginParallelFor(label, 0, &id);
  permit_resident_scratch<Functor>(exec, scratch_bytes);
  void* arguments[] = {const_cast<Functor*>(&functor)};
  const cudaError_t error = cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(&resident_kernel<Functor>),
      dim3(static_cast<unsigned>(teams)),
      dim3(static_cast<unsigned>(team_size)), arguments, scratch_bytes,
      exec.cuda_stream());
  if (watched) Kokkos::Profiling::endParallelFor(id);
  require_launch(error, label);
}

}  // namespace Cuda
}  // namespace Detail
}  // namespace Strata

#endif  // __CUDACC__

#endif
