// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_RECORD_RING_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_RECORD_RING_HPP

#include <core/device/Scratch.hpp>
#include <cstring>
#include <kernels/triangular/sync_free_subgraphs/SubgraphTeam.hpp>

namespace Strata {
namespace Detail {

/// The ring of records of each solving warp, in the scratch of a team. Records
/// reach it some steps ahead, by asynchronous copies that only the lane itself
/// waits for.
template <class Scalar, class ExecutionSpace, int team_kind>
struct RecordRing : SubgraphTeam<Scalar, ExecutionSpace, team_kind> {
  using Base = SubgraphTeam<Scalar, ExecutionSpace, team_kind>;
  using Base::packets, Base::width, Base::ring_bytes, Base::stage_bytes,
      Base::ring_stages;
  using typename Base::Work;

  struct alignas(16) Packet {
    std::uint64_t half[2];
  };
  /// Copies the lane's record at `from`, if there is any, to its place in the
  /// ring; `pitch` bytes lie between packets. Every call makes one group.
  KOKKOS_INLINE_FUNCTION static void copy_record(const ScratchBytes& scratch,
                                                 unsigned to,
                                                 const unsigned char* from,
                                                 int pitch, bool any) {
    if (any)
      for (int u = 0; u < packets; ++u)
        scratch.copy_async_16(to + u * width * 16, from + u * pitch);
    copy_async_commit();
  }
  KOKKOS_INLINE_FUNCTION static Work load_record(const ScratchBytes& scratch,
                                                 unsigned at) {
    Packet packet[packets];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < packets; ++u)
      packet[u] = scratch.load<Packet>(at + u * width * 16);
    Work work;
    memcpy(&work, packet, sizeof(Work));
    return work;
  }
  /// The lane's part of the warp's records. `kernel` has the packed `bytes`.
  template <class Kernel>
  KOKKOS_INLINE_FUNCTION static const unsigned char* packed_of(
      const Kernel& kernel, const PackedSubgraph& mine, int warp, int lane) {
    return kernel.bytes + mine.first_record[warp] * Work::shape.bytes +
           lane * 16;
  }
  template <class Kernel>
  KOKKOS_INLINE_FUNCTION static void start_ring(const Kernel& kernel,
                                                const PackedSubgraph& mine,
                                                int warp, int lane,
                                                const ScratchBytes& scratch) {
    const unsigned char* const from = packed_of(kernel, mine, warp, lane);
    const int stage = mine.lanes * Work::shape.bytes;
    for (int s = 0; s < ring_stages; ++s) {
      const unsigned to = warp * ring_bytes + s * stage_bytes + lane * 16;
      if (lane >= mine.lanes) {
        // Lanes beyond are idle all the time.
        Work idle = {};
        idle.out = record_idle;
        Packet packet[packets];
        memcpy(packet, &idle, sizeof(Work));
        for (int u = 0; u < packets; ++u)
          scratch.store(to + u * width * 16, packet[u]);
      }
      copy_record(scratch, to, from + s * stage, mine.lanes * 16,
                  lane < mine.lanes && s < mine.stages[warp]);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
