// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_EMULATEDDEVICE_HPP
#define STRATA_EMULATEDDEVICE_HPP

// What kernels of the library find where an emulated team stands for a GPU. To
// be included before any other header of the library.

#include <Kokkos_Core.hpp>

#define pause_while_waiting pause_of_a_host
#include <core/device/Atomics.hpp>
#undef pause_while_waiting
#include <core/device/Launch.hpp>

// One team runs at a time.
#undef STRATA_IMPL_TEAM_SHARED
#define STRATA_IMPL_TEAM_SHARED static

namespace Strata {
namespace Emulation {

/// Stands for a GPU.
struct Device {
  using memory_space = Kokkos::HostSpace;
};

/// The team of a kernel, in one of its threads.
struct TeamOfDevice {
  int rank, threads, team = 0;
  int league_size() const { return 1; }
  int league_rank() const { return team; }
  int team_rank() const { return rank; }
  int team_size() const { return threads; }
  void team_barrier() const { Team::current()->barrier(); }
};

}  // namespace Emulation

namespace Detail {
template <>
inline constexpr bool is_gpu<Emulation::Device> = true;
template <>
inline constexpr int lane_width<Emulation::Device> = Emulation::lanes;

inline void pause_while_waiting(int) {
  if (auto* const team = Emulation::Team::current()) team->let_others_run();
}
}  // namespace Detail
}  // namespace Strata

#endif
