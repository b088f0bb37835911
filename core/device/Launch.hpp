// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_LAUNCH_HPP
#define STRATA_CORE_DEVICE_LAUNCH_HPP

// How kernels of teams are started. A kernel is a functor over a team as Kokkos
// has them: league_rank(), league_size(), team_rank(), team_size(),
// team_barrier() and team_scratch(0). It is a template over the team's type, as
// there are three: Kokkos' own, the team of one thread that a host's loop runs,
// and that of a kernel which CUDA starts without Kokkos. What it calls besides
// is below, for every kind of team.

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Warp.hpp>
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaLaunch.hpp>
#endif

#if STRATA_IMPL_ON_DEVICE
#define STRATA_IMPL_TEAM_SHARED __shared__
#else
/// A variable of a kernel that the threads of a team share.
#define STRATA_IMPL_TEAM_SHARED
#endif

namespace Strata {
namespace Detail {

/// A team of one thread, whose kernel has asked for no scratch.
class OneThreadTeam {
 public:
  struct Scratch {
    KOKKOS_INLINE_FUNCTION void* get_shmem(std::size_t) const {
      return nullptr;
    }
  };
  KOKKOS_INLINE_FUNCTION OneThreadTeam(int rank, int size)
      : rank_(rank), size_(size) {}
  KOKKOS_INLINE_FUNCTION int league_rank() const { return rank_; }
  KOKKOS_INLINE_FUNCTION int league_size() const { return size_; }
  KOKKOS_INLINE_FUNCTION int team_rank() const { return 0; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return 1; }
  KOKKOS_INLINE_FUNCTION void team_barrier() const {}
  KOKKOS_INLINE_FUNCTION Scratch team_scratch(int) const { return {}; }

 private:
  int rank_, size_;
};

/// Sum of `value` over the team, the same bits in all its threads and each
/// time. All threads of the team call it.
template <class Team>
KOKKOS_INLINE_FUNCTION double team_sum(const Team& team, double value) {
  Kokkos::Sum<double> sum(value);
  team.team_reduce(sum);
  return value;
}
KOKKOS_INLINE_FUNCTION double team_sum(const OneThreadTeam&, double value) {
  return value;
}

/// The largest `value` of the team, none of which is negative or no number. All
/// threads of the team call it.
template <class Team>
KOKKOS_INLINE_FUNCTION double team_largest(const Team& team, double value) {
  Kokkos::Max<double> largest(value);
  team.team_reduce(largest);
  return value;
}
KOKKOS_INLINE_FUNCTION double team_largest(const OneThreadTeam&, double value) {
  return value;
}

/// team_sum of several values at the price of little more than one.
template <int count, class Team>
KOKKOS_INLINE_FUNCTION void team_sums(const Team& team,
                                      double (&value)[count]) {
  for (int i = 0; i < count; ++i) value[i] = team_sum(team, value[i]);
}

/// What the thread of rank 0 passes. All threads of the team call it.
template <class Team>
KOKKOS_INLINE_FUNCTION int team_broadcast(const Team& team, int value) {
  team.team_broadcast(value, 0);
  return value;
}
KOKKOS_INLINE_FUNCTION int team_broadcast(const OneThreadTeam&, int value) {
  return value;
}

/// For kernels that say `awaits_previous`: returns when the kernels before this
/// one in the instance have ended. Threads that have not called this leave
/// alone what those may write, and write nothing that those use; what was
/// written before publish_writes() may be read.
template <class Team>
KOKKOS_INLINE_FUNCTION void await_previous(const Team&) {}
/// For kernels that say `awaits_previous`: once a thread of every team has
/// called this, or the team has ended, teams of the next kernel may begin.
template <class Team>
KOKKOS_INLINE_FUNCTION void release_next(const Team&) {}

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
KOKKOS_INLINE_FUNCTION double team_sum(const Cuda::NativeTeam& team,
                                       double value) {
  return team.sum(value);
}
KOKKOS_INLINE_FUNCTION double team_largest(const Cuda::NativeTeam& team,
                                           double value) {
  return team.largest(value);
}
template <int count>
KOKKOS_INLINE_FUNCTION void team_sums(const Cuda::NativeTeam& team,
                                      double (&value)[count]) {
  team.sums(value);
}
KOKKOS_INLINE_FUNCTION int team_broadcast(const Cuda::NativeTeam& team,
                                          int value) {
  return team.broadcast(value);
}
KOKKOS_INLINE_FUNCTION void await_previous(const Cuda::NativeTeam& team) {
  team.await_previous();
}
KOKKOS_INLINE_FUNCTION void release_next(const Cuda::NativeTeam& team) {
  team.release_next();
}
#endif

/// A functor for Kokkos' loops, which look at its operator().
template <class Functor, class ExecutionSpace>
struct CallForTeam {
  Functor functor;
  int teams;
  KOKKOS_INLINE_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team)
      const {
    functor(team);
  }
  KOKKOS_INLINE_FUNCTION void operator()(int team) const {
    functor(OneThreadTeam(team, teams));
  }
};

/// Vector lanes by which a thread of Kokkos' teams fills its share of a wave.
template <class ExecutionSpace>
inline constexpr int vector_lanes =
    wave_width<ExecutionSpace> / lane_width<ExecutionSpace>;

/// Kokkos' teams for kernels whose warps wait for each other. Threads of a wave
/// that go different ways run in turns, each as long as it can: a warp must
/// have a wave to itself. Pass vector_lanes, and waiting_kernel(functor).
template <class ExecutionSpace, int threads, int teams_at_once,
          class... Properties>
using WaitingTeams = Kokkos::TeamPolicy<
    ExecutionSpace,
    Kokkos::LaunchBounds<threads * vector_lanes<ExecutionSpace>,
                         bounds_count_teams<ExecutionSpace>
                             ? std::min(teams_at_once,
                                        threads_of_multiprocessor / threads)
                             : 1>,
    Properties...>;

/// Has the first vector lane of each thread do all the work.
template <class Functor, class ExecutionSpace>
struct FirstVectorLane {
  Functor functor;
  KOKKOS_INLINE_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team)
      const {
#if defined(__CUDA_ARCH__)
    // Barriers of a team wait for all threads that have not ended.
    if (threadIdx.x > 0) asm volatile("exit;");
#endif
    Kokkos::single(Kokkos::PerThread(team), [&]() { functor(team); });
  }
};
template <class ExecutionSpace, class Functor>
auto waiting_kernel(const Functor& functor) {
  if constexpr (vector_lanes<ExecutionSpace> == 1) {
    return functor;
  } else {
    return FirstVectorLane<Functor, ExecutionSpace>{functor};
  }
}

/// Calls functor(team) for `teams` teams, asynchronously on `exec`. Teams have
/// `threads` threads on a GPU, in registers so few that a multiprocessor has
/// room for `teams_at_once` of them, and one thread on a host.
///
/// @param scratch_bytes for each team; without any a host runs a plain loop
template <int teams_at_once, int threads = 256, class ExecutionSpace,
          class Functor>
void run_teams(const char* label, const ExecutionSpace& exec, int teams,
               const Functor& functor, std::size_t scratch_bytes = 0) {
  if (teams == 0) return;
  // A kernel asks for all of it at once, and Kokkos hands out whole words.
  const auto of_words = static_cast<int>((scratch_bytes + 15) / 16 * 16);
  using Call = CallForTeam<Functor, ExecutionSpace>;
  if constexpr (is_gpu<ExecutionSpace>) {
    WaitingTeams<ExecutionSpace, threads, teams_at_once> policy(
        exec, teams, threads, vector_lanes<ExecutionSpace>);
    policy.set_scratch_size(0, Kokkos::PerTeam(of_words));
    // Light: functors are handed over with the launch. Through Kokkos' constant
    // buffer the host would have to wait for the kernel before.
    Kokkos::parallel_for(
        label,
        Kokkos::Experimental::require(
            policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        waiting_kernel<ExecutionSpace>(Call{functor, teams}));
  } else if (scratch_bytes == 0) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<ExecutionSpace, int>(exec, 0, teams),
        Call{functor, teams});
  } else {
    Kokkos::TeamPolicy<ExecutionSpace> policy(exec, teams, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(of_words));
    Kokkos::parallel_for(label, policy, Call{functor, teams});
  }
}

/// The same for kernels by which a user's call gains a tenth or more
/// (docs/developer/architecture.md) if CUDA's own call starts them, as it does
/// where Strata_ENABLE_CUDA_NATIVE is on: enqueuing takes half the time that
/// Kokkos spends on a launch of teams, and kernels overlap (see
/// Cuda::overlaps_launches). Kokkos' tools are told of a parallel_for.
///
/// @param overlap  whether it may begin while the kernel before it ends
template <int teams_at_once, int threads = 256, class ExecutionSpace,
          class Functor>
void run_native_teams(const char* label, const ExecutionSpace& exec, int teams,
                      const Functor& functor, std::size_t scratch_bytes = 0,
                      bool overlap = true) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__) && \
    STRATA_ENABLE_CUDA_NATIVE
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
    if (teams > 0)
      Cuda::run_teams<teams_at_once, threads>(label, exec, teams, functor,
                                              scratch_bytes, overlap);
  } else
#endif
  {
    (void)overlap;
    run_teams<teams_at_once, threads>(label, exec, teams, functor,
                                      scratch_bytes);
  }
}

/// Calls functor(team) for one team, which on a host whose work is done when
/// the call returns is the calling thread: no other thread is woken, or waited
/// for. Kokkos' tools are told of a parallel_for.
template <class ExecutionSpace, class Functor>
void run_alone(const char* label, const ExecutionSpace& exec,
               const Functor& functor) {
  if constexpr (runs_at_once<ExecutionSpace>) {
    std::uint64_t id = 0;
    const bool watched = Kokkos::Profiling::profileLibraryLoaded();
    if (watched) Kokkos::Profiling::beginParallelFor(label, 0, &id);
    functor(OneThreadTeam(0, 1));
    if (watched) Kokkos::Profiling::endParallelFor(id);
  } else {
    run_native_teams<1, 1>(label, exec, 1, functor);
  }
}

/// The work of publish_writes.
struct NoTeamsWork {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team&) const {}
};

/// Enqueues on `exec` what makes all that was written before it known to
/// threads of later kernels that have not called await_previous yet. (A kernel
/// that may overlap the one before it begins when that one's teams have ended,
/// which is not to say that what they wrote has arrived; a kernel in between
/// waits for that.)
template <class ExecutionSpace>
void publish_writes(const ExecutionSpace& exec) {
  if constexpr (has_native_launches<ExecutionSpace>) {
    run_native_teams<1, 32>("Strata::publish_writes", exec, 1, NoTeamsWork());
  }
  (void)exec;
}

}  // namespace Detail
}  // namespace Strata

#endif
