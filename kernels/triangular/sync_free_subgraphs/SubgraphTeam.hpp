// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SUBGRAPH_TEAM_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SUBGRAPH_TEAM_HPP

#include <core/device/Backend.hpp>
#include <kernels/triangular/sync_free_subgraphs/PackedWork.hpp>

namespace Strata {
namespace Detail {

/// Lanes, warps and scratch of a team that solves a sub-graph. Scratch holds a
/// ring of records for each solving warp, then the team's scalars.
///
/// @tparam team_kind  0: four warps, a lane for a row. 1, for rows of many
/// entries: eight warps, of which four lanes share a row
template <class Scalar, class ExecutionSpace, int team_kind>
struct SubgraphTeam {
  using Work = PackedWork<Scalar>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr bool fetches_apart = width > 1;
  static constexpr bool different = fetches_apart;
  static constexpr int row_lanes = different && team_kind == 1 ? 4 : 1;
  /// Solving warps; a host's one thread does all.
  static constexpr int warps = !fetches_apart ? 1 : team_kind == 1 ? 8 : 4;
  /// Teams that share a multiprocessor's registers.
  static constexpr int teams_a_multiprocessor = team_kind == 1 ? 2 : 4;
  static constexpr int fetchers = fetches_apart ? 2 * width : 0;
  static constexpr int solvers = warps * width;
  static constexpr int team_size = solvers + fetchers;
  static constexpr int packets = Work::shape.packets();
  static constexpr int stage_bytes = Work::shape.bytes * width;
  /// Stages of a warp in scratch: the one in use, and the fetch ahead.
  static constexpr int ring_stages = !fetches_apart ? 2
                                     : team_kind == 1 || sizeof(Scalar) == 16
                                         ? 4
                                         : 6;
  static constexpr int ring_bytes = ring_stages * stage_bytes;
  static constexpr int rings_bytes = warps * ring_bytes;
  static_assert(sizeof(Work) == Work::shape.bytes, "a record is as stored");

  /// Scratch: rings, scalars, a byte a step and one to end them, room to align.
  static std::size_t scratch_bytes(int max_local, int max_steps) {
    return rings_bytes + 32 + std::size_t(max_local) * sizeof(Scalar) +
           max_steps;
  }
  /// Byte of scalar number `i` in scratch.
  KOKKOS_INLINE_FUNCTION static unsigned local(int i) {
    return rings_bytes + unsigned(i) * unsigned(sizeof(Scalar));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
