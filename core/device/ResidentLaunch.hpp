// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_RESIDENT_LAUNCH_HPP
#define STRATA_CORE_DEVICE_RESIDENT_LAUNCH_HPP

#include <core/device/Launch.hpp>

namespace Strata {
namespace Detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__) && \
    STRATA_ENABLE_CUDA_NATIVE
/// Whether the backend can run teams all at the same time.
template <class ExecutionSpace>
inline constexpr bool has_resident_teams =
    std::is_same<ExecutionSpace, Kokkos::Cuda>::value;
#else
template <class ExecutionSpace>
inline constexpr bool has_resident_teams = false;
#endif

/// Most teams of `team_size` threads, one a multiprocessor, that
/// run_resident_teams can have run at the same time; 0 where the backend
/// promises no such thing.
template <class Functor, class ExecutionSpace>
int max_resident_teams(const ExecutionSpace& exec, int team_size,
                       std::size_t scratch_bytes) {
  (void)exec;
  (void)team_size;
  (void)scratch_bytes;
  if constexpr (has_resident_teams<ExecutionSpace>) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
    return Cuda::max_resident_teams<Functor>(exec, team_size, scratch_bytes);
#endif
  }
  return 0;
}

/// Runs `functor` by `teams` teams that all run at the same time, so that they
/// may wait for each other; asynchronous. At most max_resident_teams.
///
/// The driver schedules a cooperative launch as a whole or not at all. What is
/// running beside it ends by itself, and a second cooperative launch waits for
/// the first, so teams never wait for one that has no place to run.
template <class Functor, class ExecutionSpace>
void run_resident_teams(const char* label, const ExecutionSpace& exec,
                        const Functor& functor, int teams, int team_size,
                        std::size_t scratch_bytes) {
  static_assert(has_resident_teams<ExecutionSpace>,
                "this backend does not run teams at the same time");
  (void)label, (void)exec, (void)functor, (void)teams;
  (void)team_size, (void)scratch_bytes;
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
  Cuda::run_resident_teams(label, exec, functor, teams, team_size,
                           scratch_bytes);
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
