// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_WARP_HPP
#define STRATA_CORE_DEVICE_WARP_HPP

// Stands for the library's core/device/Warp.hpp: within an emulated team lanes
// exchange values as on a GPU, and elsewhere a thread is alone.

#include <EmulatedTeam.hpp>
#include <core/device/Backend.hpp>

namespace Strata {
namespace Detail {

using LaneMask = unsigned;

/// read(value, f, lane), f(i) what lane i has given; `alone` outside of teams.
template <class T, class Read, class Alone>
auto exchange_lanes(const T& value, const Read& read, const Alone& alone) {
  Emulation::Team* const team = Emulation::Team::current();
  return team ? team->exchange(value, read) : alone;
}
template <class T>
T lane_xor(const T& value, int mask) {
  return exchange_lanes(
      value, [&](const auto& of, int lane) { return of(lane ^ mask); }, value);
}
template <class T>
T lane_read(const T& value, int from) {
  return exchange_lanes(
      value, [&](const auto& of, int) { return of(from); }, value);
}
template <class T>
T lane_broadcast(T value, int from) {
  return lane_read(value, from);
}
inline int lane_up(int value, int distance) {
  return exchange_lanes(
      value,
      [&](const auto& of, int lane) {
        return of(lane >= distance ? lane - distance : lane);
      },
      value);
}
inline LaneMask lane_ballot(bool condition) {
  return exchange_lanes(
      condition,
      [](const auto& of, int) {
        LaneMask mask = 0;
        for (int lane = 0; lane < Emulation::lanes; ++lane)
          mask |= LaneMask{of(lane)} << lane;
        return mask;
      },
      LaneMask{condition});
}
inline bool lane_any(bool condition) { return lane_ballot(condition) != 0; }
inline unsigned lane_max(unsigned value) {
  return exchange_lanes(
      value,
      [](const auto& of, int) {
        unsigned most = 0;
        for (int lane = 0; lane < Emulation::lanes; ++lane)
          most = of(lane) > most ? of(lane) : most;
        return most;
      },
      value);
}
inline void lane_barrier() { lane_any(true); }
template <class T>
T lane_group_sum(T value, int group) {
  for (int mask = group / 2; mask > 0; mask /= 2)
    value += lane_xor(value, mask);
  return value;
}
inline int lowest_bit(LaneMask bits) { return __builtin_ctz(bits); }
inline int count_bits(LaneMask bits) { return __builtin_popcount(bits); }

}  // namespace Detail
}  // namespace Strata

#endif
